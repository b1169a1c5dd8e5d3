/* SPDX-License-Identifier: Apache-2.0 */
#include "toolchain/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/buf.h"

#include "base/path.h"
#include "worker/fail.h"
#include "toolchain/gpu.h"
#include "toolchain/ptx.h"

enum {
	OPTIONS_LIMIT = 256,
	NAME_SIZE = 1024
};

static bool bind_nvrtc(struct nvrtc *nvrtc)
{
	const struct cuda_library *library = &nvrtc->library;

	return cuda_find(library, "nvrtcGetErrorString", &nvrtc->get_error) &&
	       cuda_find(library, "nvrtcVersion", &nvrtc->get_version) &&
	       cuda_find(library, "nvrtcCreateProgram", &nvrtc->create) &&
	       cuda_find(library, "nvrtcDestroyProgram", &nvrtc->destroy) &&
	       cuda_find(library, "nvrtcCompileProgram", &nvrtc->compile) &&
	       cuda_find(library, "nvrtcAddNameExpression", &nvrtc->add_name) &&
	       cuda_find(library, "nvrtcGetLoweredName", &nvrtc->get_name) &&
	       cuda_find(library, "nvrtcGetProgramLogSize",
	                 &nvrtc->get_log_size) &&
	       cuda_find(library, "nvrtcGetProgramLog", &nvrtc->get_log) &&
	       cuda_find(library, "nvrtcGetPTXSize", &nvrtc->get_ptx_size) &&
	       cuda_find(library, "nvrtcGetPTX", &nvrtc->get_ptx);
}

/* The library reports only its release, but its PTX has the exact version. */
static void query_version(struct nvrtc *nvrtc, const char *arch)
{
	static const char nothing[] = "extern \"C\" __global__ void k() {}";
	TKB_AUTO(tkb_buf_release) struct tkb_buf ptx = TKB_BUF_INIT(1 << 20);
	const struct nvrtc_request request = { .path = "k",
		                               .options = { .arch = arch } };
	const struct tkb_sink sink = tkb_buf_sink(&ptx);
	struct tkb_error ignored;
	char kernel[NAME_SIZE];

	if (nvrtc_compile(nvrtc, &request, nothing, &sink, &cuda_no_log, kernel,
	                  &ignored) != 0)
		return;
	cuda_read_version(&ptx, nvrtc->version);
}

/*
 * NVRTC opens its builtins by name. The loader finds those in the system's
 * folders, but not in Python packages.
 */
static void open_builtins(struct nvrtc *nvrtc, int major, int minor)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "libnvrtc-builtins.so.%d.%d", major,
	               minor);
	cuda_open_beside(&nvrtc->library, name);
}

int nvrtc_open(struct nvrtc *nvrtc, const char *arch, struct tkb_error *err)
{
	const void *before = nvrtc->library.handle;
	int major = 0;
	int minor = 0;

	if (!cuda_open(&nvrtc->library, "libnvrtc"))
		return fail(err, TKB_ERR_UNSUPPORTED,
		            "there is no NVRTC of CUDA 12 or 13, "
		            "not even in '%s'",
		            cuda_toolkit());
	if (nvrtc->library.handle == before)
		return 0;
	if (!bind_nvrtc(nvrtc) || nvrtc->get_version(&major, &minor) != 0) {
		(void)fail(err, TKB_ERR_UNSUPPORTED,
		           "'%s' is not NVRTC of CUDA 12 or 13",
		           nvrtc->library.path);
		nvrtc_close(nvrtc);
		return TKB_ERR_UNSUPPORTED;
	}
	(void)snprintf(nvrtc->version, sizeof(nvrtc->version), "%d.%d", major,
	               minor);
	open_builtins(nvrtc, major, minor);
	query_version(nvrtc, arch);
	return 0;
}

void nvrtc_close(struct nvrtc *nvrtc)
{
	cuda_close(&nvrtc->library);
	nvrtc->version[0] = '\0';
}

/* The options; the arrays hold those that are composed here. */
struct arguments {
	const char *items[OPTIONS_LIMIT + 8];
	int count;
	char arch[64];
	char beside[CUDA_PATH_SIZE]; /* "-I" and the source's folder */
	char toolkit[CUDA_PATH_SIZE];
};

static int list_nvrtc_arguments(const struct nvrtc_request *request,
                                struct arguments *out, struct tkb_error *err)
{
	const int folder =
		(int)(tkb_path_base_name(request->path) - request->path);
	char gpu[GPU_NAME_SIZE];

	if (request->options.count > OPTIONS_LIMIT)
		return fail(err, TKB_ERR_INVALID,
		            "NVRTC cannot have more than %d options",
		            OPTIONS_LIMIT);
	gpu_name(request->options.arch, gpu);
	(void)snprintf(out->arch, sizeof(out->arch),
	               "--gpu-architecture=compute_%s", gpu + strlen("sm_"));
	(void)snprintf(out->toolkit, sizeof(out->toolkit), "-I%s/include",
	               cuda_toolkit());
	out->items[out->count++] = out->arch;
	if (!request->options.is_line_info_off)
		out->items[out->count++] = "-lineinfo";
	if (request->options.is_fusion_off)
		out->items[out->count++] = "--fmad=false";
	if (folder > 0 && snprintf(out->beside, sizeof(out->beside), "-I%.*s",
	                           folder, request->path) < CUDA_PATH_SIZE)
		out->items[out->count++] = out->beside;
	for (size_t i = 0; i < request->options.count; i++)
		out->items[out->count++] = request->options.items[i];
	out->items[out->count++] = out->toolkit;
	return 0;
}

static int report_nvrtc_log(const struct nvrtc *nvrtc, nvrtc_program handle,
                            int number, const struct tkb_sink *log,
                            struct tkb_error *err)
{
	char *words =
		cuda_read_log(handle, nvrtc->get_log_size, nvrtc->get_log);
	char line[FAIL_LINE_SIZE];
	int rc = 0;

	if (words != NULL)
		rc = log->write(log->self,
		                (struct tkb_bytes){ words, strlen(words) },
		                err);
	if (rc == 0 && number != 0) {
		if (words == NULL)
			(void)snprintf(line, sizeof(line), "%s",
			               nvrtc->get_error(number));
		else
			fail_first_error(words, line);
		rc = fail(err, TKB_ERR_INVALID, "NVRTC: %s", line);
	}
	free(words);
	return rc;
}

static int send_ptx(const struct nvrtc *nvrtc, nvrtc_program handle,
                    const struct tkb_sink *ptx, struct tkb_error *err)
{
	size_t size = 0;
	char *text = NULL;
	int rc;

	if (nvrtc->get_ptx_size(handle, &size) == 0 && size != 0)
		text = calloc(1, size);
	if (text == NULL || nvrtc->get_ptx(handle, text) != 0)
		rc = fail(err, TKB_ERR_INVALID, "NVRTC made no PTX");
	else /* without its NUL */
		rc = ptx_strip_folders((struct tkb_bytes){ text, size - 1 },
		                       ptx, err);
	free(text);
	return rc;
}

/* Set `kernel` to the PTX name of the C++ name `name`. */
static void find_lowered_name(const struct nvrtc *nvrtc, nvrtc_program handle,
                              const char *name, char kernel[NAME_SIZE])
{
	const char *lowered = NULL;

	if (nvrtc->get_name(handle, name, &lowered) == 0 && lowered != NULL)
		(void)snprintf(kernel, NAME_SIZE, "%s", lowered);
}

/*
 * Compile once. `name` is the kernel's C++ name, or NULL. TKB_MISS: NVRTC
 * failed, perhaps because it does not know that name.
 */
static int compile_once(const struct nvrtc *nvrtc,
                        const struct nvrtc_request *request, const char *source,
                        const char *name, const struct tkb_sink *ptx,
                        const struct tkb_sink *log, char kernel[NAME_SIZE],
                        struct tkb_error *err)
{
	struct arguments arguments = { .count = 0 };
	nvrtc_program handle = NULL;
	int number;
	int rc;

	rc = list_nvrtc_arguments(request, &arguments, err);
	if (rc < 0)
		return rc;
	number =
		nvrtc->create(&handle, source,
	                      tkb_path_base_name(request->path), 0, NULL, NULL);
	if (number != 0)
		return fail(err, TKB_ERR_INVALID, "NVRTC: %s",
		            nvrtc->get_error(number));
	if (name != NULL)
		number = nvrtc->add_name(handle, name);
	if (number == 0)
		number = nvrtc->compile(handle, arguments.count,
		                        arguments.items);
	rc = name != NULL && number != 0
	             ? TKB_MISS
	             : report_nvrtc_log(nvrtc, handle, number, log, err);
	if (rc == 0 && name != NULL)
		find_lowered_name(nvrtc, handle, name, kernel);
	if (rc == 0)
		rc = send_ptx(nvrtc, handle, ptx, err);
	(void)nvrtc->destroy(&handle);
	return rc;
}

int nvrtc_compile(const struct nvrtc *nvrtc,
                  const struct nvrtc_request *request, const char *source,
                  const struct tkb_sink *ptx, const struct tkb_sink *log,
                  char kernel[1024], struct tkb_error *err)
{
	int rc = TKB_MISS;

	kernel[0] = '\0';
	if (request->kernel != NULL && strncmp(request->kernel, "_Z", 2) != 0)
		rc = compile_once(nvrtc, request, source, request->kernel, ptx,
		                  log, kernel, err);
	if (rc != TKB_MISS)
		return rc;

	/* Either C++ does not know the name, or the source is wrong. */
	rc = compile_once(nvrtc, request, source, NULL, ptx, log, kernel, err);
	if (rc == 0 && request->kernel != NULL)
		(void)snprintf(kernel, NAME_SIZE, "%s", request->kernel);
	return rc;
}
