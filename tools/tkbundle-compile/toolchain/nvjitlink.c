/* SPDX-License-Identifier: Apache-2.0 */
#include "toolchain/nvjitlink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tkbundle/machine.h>

#include "base/base.h"
#include "base/buf.h"

#include "worker/fail.h"
#include "toolchain/gpu.h"

enum {
	ARGUMENTS_LIMIT = 128,
	ARGUMENT_SIZE = 256,
	INPUT_PTX = 2 /* NVJITLINK_INPUT_PTX in nvJitLink.h */
};

static bool bind_nvjitlink(struct nvjitlink *linker)
{
	const struct cuda_library *library = &linker->library;

	return cuda_find(library, "nvJitLinkCreate", &linker->create) &&
	       cuda_find(library, "nvJitLinkDestroy", &linker->destroy) &&
	       cuda_find(library, "nvJitLinkAddData", &linker->add) &&
	       cuda_find(library, "nvJitLinkComplete", &linker->complete) &&
	       cuda_find(library, "nvJitLinkGetLinkedCubinSize",
	                 &linker->get_cubin_size) &&
	       cuda_find(library, "nvJitLinkGetLinkedCubin",
	                 &linker->get_cubin) &&
	       cuda_find(library, "nvJitLinkGetErrorLogSize",
	                 &linker->get_errors_size) &&
	       cuda_find(library, "nvJitLinkGetErrorLog",
	                 &linker->get_errors) &&
	       cuda_find(library, "nvJitLinkGetInfoLogSize",
	                 &linker->get_infos_size) &&
	       cuda_find(library, "nvJitLinkGetInfoLog", &linker->get_infos);
}

/* Query the release: the library itself reports nothing more exact. */
static bool query_release(struct nvjitlink *linker)
{
	int (*get_version)(unsigned *major, unsigned *minor) = NULL;
	unsigned major = 0;
	unsigned minor = 0;

	if (!cuda_find(&linker->library, "nvJitLinkVersion", &get_version) ||
	    get_version(&major, &minor) != 0)
		return false;
	linker->ptx_version = tkb_ptx_of_cuda(major, minor);
	(void)snprintf(linker->version, sizeof(linker->version), "%u.%u", major,
	               minor);
	return true;
}

/* Find the exact version, "V13.0.88", in a cubin that it makes. */
static void query_version(struct nvjitlink *linker, const char *arch)
{
	static const char nothing[] = ".version 8.8\n.target sm_%.16s\n"
				      ".address_size 64\n"
				      ".visible .entry k() { ret; }\n";

	TKB_AUTO(tkb_buf_release) struct tkb_buf cubin = TKB_BUF_INIT(1 << 20);
	const struct cuda_options options = { .arch = arch,
		                              .is_line_info_off = true };
	const struct tkb_sink sink = tkb_buf_sink(&cubin);
	struct tkb_error ignored;
	char ptx[256];

	(void)snprintf(ptx, sizeof(ptx), nothing, arch);
	if (nvjitlink_compile(linker, &options,
	                      (struct tkb_bytes){ ptx, strlen(ptx) }, &sink,
	                      &cuda_no_log, &ignored) == 0)
		cuda_read_version(&cubin, linker->version);
}

int nvjitlink_open(struct nvjitlink *linker, const char *arch,
                   struct tkb_error *err)
{
	const void *before = linker->library.handle;

	if (!cuda_open(&linker->library, "libnvJitLink"))
		return fail(err, TKB_ERR_UNSUPPORTED,
		            "there is no nvJitLink of CUDA 12 or 13, "
		            "not even in '%s'",
		            cuda_toolkit());
	if (linker->library.handle == before)
		return 0;
	if (!bind_nvjitlink(linker) || !query_release(linker)) {
		(void)fail(err, TKB_ERR_UNSUPPORTED,
		           "'%s' is not nvJitLink of CUDA 12 or 13",
		           linker->library.path);
		nvjitlink_close(linker);
		return TKB_ERR_UNSUPPORTED;
	}
	query_version(linker, arch);
	return 0;
}

void nvjitlink_close(struct nvjitlink *linker)
{
	cuda_close(&linker->library);
	linker->version[0] = '\0';
}

/* The options; `room` holds those that are composed here. */
struct arguments {
	const char *items[ARGUMENTS_LIMIT];
	char room[ARGUMENTS_LIMIT][ARGUMENT_SIZE];
	uint32_t count;
};

static bool add_argument(struct arguments *out, const char *format,
                         const char *text)
{
	const size_t i = out->count;
	int length;

	if (i == ARGUMENTS_LIMIT)
		return false;
	length = snprintf(out->room[i], ARGUMENT_SIZE, "%s%s", format, text);
	if (length >= ARGUMENT_SIZE)
		return false;
	out->items[i] = out->room[i];
	out->count++;
	return true;
}

static int list_nvjitlink_arguments(const struct cuda_options *options,
                                    struct arguments *out,
                                    struct tkb_error *err)
{
	char gpu[GPU_NAME_SIZE];
	bool fits;

	gpu_name(options->arch, gpu);
	fits = add_argument(out, "-arch=", gpu) &&
	       add_argument(out, "-Xptxas=", "-v");
	if (!options->is_line_info_off)
		fits = fits && add_argument(out, "-lineinfo", "");
	if (options->is_fusion_off)
		fits = fits && add_argument(out, "-Xptxas=", "--fmad=false");
	for (size_t i = 0; i < options->count; i++)
		fits = fits && add_argument(out, "-Xptxas=", options->items[i]);
	return fits ? 0
	            : fail(err, TKB_ERR_INVALID,
	                   "the options of ptxas are too many or too long");
}

static int log_text(const char *text, const struct tkb_sink *log,
                    struct tkb_error *err)
{
	const struct tkb_bytes end = { "\n", 1 };
	const size_t size = text == NULL ? 0 : strlen(text);
	int rc;

	if (size == 0)
		return 0;
	rc = log->write(log->self, (struct tkb_bytes){ text, size }, err);
	if (rc == 0 && text[size - 1] != '\n')
		rc = log->write(log->self, end, err);
	return rc;
}

/* Write both logs, and on failure set `err`. */
static int report_nvjitlink_logs(const struct nvjitlink *linker, void *handle,
                                 int number, const struct tkb_sink *log,
                                 struct tkb_error *err)
{
	char *infos = cuda_read_log(handle, linker->get_infos_size,
	                            linker->get_infos);
	char *errors = cuda_read_log(handle, linker->get_errors_size,
	                             linker->get_errors);
	char line[FAIL_LINE_SIZE];
	int rc;

	rc = log_text(infos, log, err);
	if (rc == 0)
		rc = log_text(errors, log, err);
	if (rc == 0 && number != 0) {
		fail_first_error(errors, line);
		rc = fail(err, TKB_ERR_INVALID, "nvJitLink (error %d): %s",
		          number, line);
	}
	free(infos);
	free(errors);
	return rc;
}

static int send_cubin(const struct nvjitlink *linker, void *handle,
                      const struct tkb_sink *cubin, struct tkb_error *err)
{
	size_t size = 0;
	void *bytes = NULL;
	int rc;

	if (linker->get_cubin_size(handle, &size) == 0 && size != 0)
		bytes = malloc(size);
	if (bytes == NULL || linker->get_cubin(handle, bytes) != 0)
		rc = fail(err, TKB_ERR_INVALID, "nvJitLink made no cubin");
	else
		rc = cubin->write(cubin->self,
		                  (struct tkb_bytes){ bytes, size }, err);
	free(bytes);
	return rc;
}

int nvjitlink_compile(const struct nvjitlink *linker,
                      const struct cuda_options *options, struct tkb_bytes ptx,
                      const struct tkb_sink *cubin, const struct tkb_sink *log,
                      struct tkb_error *err)
{
	struct arguments arguments = { .count = 0 };
	void *handle = NULL;
	char *text; /* nvJitLink ignores the size and reads up to a NUL */
	int number;
	int rc;

	rc = list_nvjitlink_arguments(options, &arguments, err);
	if (rc < 0)
		return rc;
	text = strndup(ptx.data, ptx.size);
	if (text == NULL)
		return fail(err, TKB_ERR_NOMEM, "out of memory");
	number = linker->create(&handle, arguments.count, arguments.items);
	if (number == 0)
		number = linker->add(handle, INPUT_PTX, text, strlen(text),
		                     "the PTX");
	if (number == 0)
		number = linker->complete(handle);
	rc = report_nvjitlink_logs(linker, handle, number, log, err);
	if (rc == 0)
		rc = send_cubin(linker, handle, cubin, err);
	if (handle != NULL)
		(void)linker->destroy(&handle);
	free(text);
	return rc;
}
