/* SPDX-License-Identifier: Apache-2.0 */
#include "nvrtc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "ptxas.h"

enum {
	OPTIONS_LIMIT = 256
};

/* NVRTC's interface, as far as it is used: nvrtc.h of CUDA 12 and 13. */
typedef struct _nvrtcProgram *program;

struct nvrtc {
	void *library; /* owned */
	char version[32];
	char include[4096]; /* "-I<toolkit>/include", or "" */
	const char *(*get_error)(int rc);
	int (*get_version)(int *major, int *minor);
	int (*create)(program *out, const char *source, const char *name,
	              int header_count, const char *const *headers,
	              const char *const *header_names);
	int (*destroy)(program *program);
	int (*compile)(program handle, int option_count,
	               const char *const *options);
	int (*get_log_size)(program handle, size_t *size);
	int (*get_log)(program handle, char *log);
	int (*get_ptx_size)(program handle, size_t *size);
	int (*get_ptx)(program handle, char *ptx);
};

static const char *toolkit(void)
{
	const char *folder = getenv("CUDA_HOME");

	if (folder == NULL || folder[0] == '\0')
		folder = getenv("CUDA_PATH");
	return folder == NULL || folder[0] == '\0' ? "/usr/local/cuda" : folder;
}

static void *open_library(void)
{
	static const char *const names[] = { "libnvrtc.so.13", "libnvrtc.so.12",
		                             "libnvrtc.so" };
	static const char *const folders[] = { "lib64", "lib" };
	void *library = NULL;
	char path[4096];

	for (size_t i = 0; library == NULL && i < 3; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; library == NULL && i < 6; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s/%s", toolkit(),
		               folders[i % 2], names[i / 2]);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return library;
}

/* POSIX lets dlsym() give functions; C does not say how to take them. */
static bool find(void *library, const char *name, void *place)
{
	void *symbol = dlsym(library, name);

	memcpy(place, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static bool bind(struct nvrtc *nvrtc)
{
	void *library = nvrtc->library;

	return find(library, "nvrtcGetErrorString", &nvrtc->get_error) &&
	       find(library, "nvrtcVersion", &nvrtc->get_version) &&
	       find(library, "nvrtcCreateProgram", &nvrtc->create) &&
	       find(library, "nvrtcDestroyProgram", &nvrtc->destroy) &&
	       find(library, "nvrtcCompileProgram", &nvrtc->compile) &&
	       find(library, "nvrtcGetProgramLogSize", &nvrtc->get_log_size) &&
	       find(library, "nvrtcGetProgramLog", &nvrtc->get_log) &&
	       find(library, "nvrtcGetPTXSize", &nvrtc->get_ptx_size) &&
	       find(library, "nvrtcGetPTX", &nvrtc->get_ptx);
}

int nvrtc_open(struct nvrtc **out, struct tkb_error *err)
{
	struct nvrtc *nvrtc = calloc(1, sizeof(*nvrtc));
	int major = 0;
	int minor = 0;

	if (nvrtc == NULL)
		return fail(err, TKB_ERR_NOMEM, "out of memory");
	nvrtc->library = open_library();
	if (nvrtc->library == NULL || !bind(nvrtc) ||
	    nvrtc->get_version(&major, &minor) != 0) {
		nvrtc_close(nvrtc);
		return fail(err, TKB_ERR_UNSUPPORTED,
		            "there is no NVRTC of CUDA 12 or 13 to be found, "
		            "nor in '%s'",
		            toolkit());
	}
	(void)snprintf(nvrtc->version, sizeof(nvrtc->version), "%d.%d", major,
	               minor);
	(void)snprintf(nvrtc->include, sizeof(nvrtc->include), "-I%s/include",
	               toolkit());
	*out = nvrtc;
	return 0;
}

void nvrtc_close(struct nvrtc *nvrtc)
{
	if (nvrtc == NULL)
		return;
	if (nvrtc->library != NULL)
		(void)dlclose(nvrtc->library);
	free(nvrtc);
}

const char *nvrtc_version(const struct nvrtc *nvrtc)
{
	return nvrtc->version;
}

/* Its log, or NULL; the caller frees it. */
static char *read_log(const struct nvrtc *nvrtc, program handle)
{
	size_t size = 0;
	char *log;

	if (nvrtc->get_log_size(handle, &size) != 0 || size == 0)
		return NULL;
	log = calloc(1, size + 1);
	if (log != NULL && nvrtc->get_log(handle, log) != 0)
		log[0] = '\0';
	return log;
}

static int send_ptx(const struct nvrtc *nvrtc, program handle,
                    const struct tkb_sink *ptx, struct tkb_error *err)
{
	size_t size = 0;
	char *text;
	int rc;

	rc = nvrtc->get_ptx_size(handle, &size);
	text = rc == 0 && size != 0 ? calloc(1, size) : NULL;
	if (text == NULL)
		return fail(err, TKB_ERR_NOMEM, "NVRTC gives no PTX");
	rc = nvrtc->get_ptx(handle, text);
	if (rc != 0)
		rc = fail(err, TKB_ERR_INVALID, "NVRTC: %s",
		          nvrtc->get_error(rc));
	else /* without its NUL */
		rc = ptx->write(ptx->self, (struct tkb_bytes){ text, size - 1 },
		                err);
	free(text);
	return rc;
}

static int compile(const struct nvrtc *nvrtc, program handle,
                   const char *const *options, size_t count,
                   const struct tkb_sink *ptx, const struct tkb_sink *log,
                   struct tkb_error *err)
{
	const int number = nvrtc->compile(handle, (int)count, options);
	char *text = read_log(nvrtc, handle);
	int rc = 0;

	if (text != NULL && text[0] != '\0')
		rc = log->write(log->self,
		                (struct tkb_bytes){ text, strlen(text) }, err);
	if (rc == 0 && number != 0)
		rc = fail(err, TKB_ERR_INVALID, "NVRTC: %s",
		          text != NULL && text[0] != '\0'
		                  ? text
		                  : nvrtc->get_error(number));
	free(text);
	return rc == 0 ? send_ptx(nvrtc, handle, ptx, err) : rc;
}

int nvrtc_compile(const struct nvrtc *nvrtc, const struct nvrtc_order *order,
                  const char *source, const struct tkb_sink *ptx,
                  const struct tkb_sink *log, struct tkb_error *err)
{
	const char *options[OPTIONS_LIMIT + 8];
	char arch[64] = "--gpu-architecture=";
	program handle = NULL;
	size_t count = 0;
	char gpu[32];
	int rc;

	if (order->option_count > OPTIONS_LIMIT)
		return fail(err, TKB_ERR_INVALID, "too many options of NVRTC");
	ptxas_gpu_name(order->arch, gpu);
	(void)snprintf(arch, sizeof(arch), "--gpu-architecture=compute_%s",
	               gpu + strlen("sm_"));
	options[count++] = arch;
	if (!order->no_lines)
		options[count++] = "-lineinfo";
	if (order->no_fusion)
		options[count++] = "--fmad=false";
	for (size_t i = 0; i < order->option_count; i++)
		options[count++] = order->options[i];
	options[count++] = nvrtc->include;
	rc = nvrtc->create(&handle, source, order->name, 0, NULL, NULL);
	if (rc != 0)
		return fail(err, TKB_ERR_INVALID, "NVRTC: %s",
		            nvrtc->get_error(rc));
	rc = compile(nvrtc, handle, options, count, ptx, log, err);
	(void)nvrtc->destroy(&handle);
	return rc;
}
