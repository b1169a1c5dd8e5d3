/* SPDX-License-Identifier: Apache-2.0 */
#include "fake.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	DEVICES = 2,
	CONTEXTS = 8,
	LIBRARIES = 256,
	NAMES = 65536
};

struct CUctx_st {
	int device;
};

struct CUstream_st {
	CUcontext context;
};

struct CUkern_st {
	char name[256];
	CUlibrary library;
};

struct CUlib_st {
	int is_loaded;
	const void *cubin;
	struct CUkern_st kernel;
};

static struct CUctx_st contexts[DEVICES] = { { 0 }, { 1 } };
static struct CUstream_st streams[DEVICES] = { { &contexts[0] },
	                                       { &contexts[1] } };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* All of it under the mutex. */
static struct {
	char sizes[FAKE_PARAMETERS + 1];
	char calls[NAMES];
	size_t used;
	int until; /* the call that fails; 0: none */
	CUresult with;
	const char *failing;
	CUresult failing_with;
	int delay;
	CUcontext stack[CONTEXTS]; /* above the first context */
	int depth;
	int asked[DEVICES][16];
	struct fake_launch last;
	int launches;
} fake;

static struct CUlib_st libraries[LIBRARIES];

void fake_reset(const char *sizes)
{
	memset(&fake, 0, sizeof(fake));
	strncpy(fake.sizes, sizes, FAKE_PARAMETERS);
}

void fake_fail(int n, CUresult with)
{
	fake.until = n;
	fake.with = with;
}

void fake_fail_all(const char *function, CUresult with)
{
	fake.failing = function;
	fake.failing_with = with;
}

void fake_delay(int milliseconds)
{
	fake.delay = milliseconds;
}

const char *fake_calls(void)
{
	return fake.calls;
}

int fake_count(const char *function)
{
	const size_t length = strlen(function);
	int count = 0;

	for (const char *at = fake.calls; *at != '\0';) {
		const size_t word = strcspn(at, " ");

		count += word == length && memcmp(at, function, word) == 0;
		at += word + 1;
	}
	return count;
}

int fake_loaded(void)
{
	int count = 0;

	for (int i = 0; i < LIBRARIES; i++)
		count += libraries[i].is_loaded;
	return count;
}

int fake_asked(int device, int attribute)
{
	return fake.asked[device][attribute];
}

const struct fake_launch *fake_last(void)
{
	return &fake.last;
}

int fake_launches(void)
{
	return fake.launches;
}

int fake_depth(void)
{
	return fake.depth;
}

CUstream fake_stream(int device)
{
	return &streams[device];
}

CUcontext fake_context(int device)
{
	return &contexts[device];
}

static CUcontext current(void)
{
	return fake.depth > 0 ? fake.stack[fake.depth - 1] : &contexts[0];
}

/*
 * Begin a call, which is written down, and end it with its result: what begin()
 * returns, if not success.
 */
static CUresult begin(const char *function)
{
	const size_t length = strlen(function);

	(void)pthread_mutex_lock(&mutex);
	if (fake.used + length + 2 > NAMES)
		abort();
	memcpy(fake.calls + fake.used, function, length);
	fake.calls[fake.used + length] = ' ';
	fake.used += length + 1;
	if (fake.failing != NULL && strcmp(fake.failing, function) == 0)
		return fake.failing_with;
	if (fake.until == 0)
		return CUDA_SUCCESS;
	fake.until--;
	return fake.until == 0 ? fake.with : CUDA_SUCCESS;
}

static CUresult end(CUresult rc)
{
	(void)pthread_mutex_unlock(&mutex);
	return rc;
}

static CUlibrary free_place(void)
{
	for (int i = 0; i < LIBRARIES; i++) {
		if (!libraries[i].is_loaded)
			return &libraries[i];
	}
	abort();
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code,
                           CUjit_option *jit, void **jit_values,
                           unsigned int jit_count, CUlibraryOption *options,
                           void **values, unsigned int count)
{
	const struct timespec pause = { 0, fake.delay * 1000000L };
	CUresult rc;

	(void)nanosleep(&pause, NULL);
	if (jit != NULL || jit_values != NULL || jit_count != 0 ||
	    options != NULL || values != NULL || count != 0)
		abort();
	if (memcmp(code, "\177ELF", 4) != 0)
		return CUDA_ERROR_INVALID_VALUE;
	rc = begin("cuLibraryLoadData");
	if (rc == CUDA_SUCCESS) {
		*library = free_place();
		(*library)->is_loaded = 1;
		(*library)->cubin = code;
	}
	return end(rc);
}

CUresult cuLibraryUnload(CUlibrary library)
{
	const CUresult rc = begin("cuLibraryUnload");

	if (library == NULL || !library->is_loaded)
		abort();
	library->is_loaded = 0;
	return end(rc);
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library,
                            const char *name)
{
	const CUresult rc = begin("cuLibraryGetKernel");

	if (!library->is_loaded || strlen(name) >= sizeof(library->kernel.name))
		abort();
	if (rc == CUDA_SUCCESS) {
		strncpy(library->kernel.name, name,
		        sizeof(library->kernel.name) - 1);
		library->kernel.library = library;
		*kernel = &library->kernel;
	}
	return end(rc);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value,
                              CUkernel kernel, CUdevice device)
{
	const CUresult rc = begin("cuKernelSetAttribute");

	if (!kernel->library->is_loaded)
		abort();
	if (rc == CUDA_SUCCESS)
		fake.asked[device][attribute] = value;
	return end(rc);
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
	const CUresult rc = begin("cuStreamGetCtx");

	if (rc == CUDA_SUCCESS)
		*context = stream == NULL ? current() : stream->context;
	return end(rc);
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
	const CUresult rc = begin("cuCtxGetCurrent");

	if (rc == CUDA_SUCCESS)
		*context = current();
	return end(rc);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	const CUresult rc = begin("cuCtxGetDevice");

	if (rc == CUDA_SUCCESS)
		*device = current()->device;
	return end(rc);
}

CUresult cuCtxPushCurrent(CUcontext context)
{
	const CUresult rc = begin("cuCtxPushCurrent");

	if (fake.depth == CONTEXTS)
		abort();
	if (rc == CUDA_SUCCESS) {
		fake.stack[fake.depth] = context;
		fake.depth++;
	}
	return end(rc);
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
	const CUresult rc = begin("cuCtxPopCurrent");

	if (fake.depth == 0)
		abort();
	*context = current();
	fake.depth--;
	return end(rc);
}

/* Keep a launch, and what its parameters point to. */
static CUresult launched(const char *call, struct fake_launch launch,
                         CUfunction function, void **parameters, void **extra)
{
	const CUkernel kernel = (CUkernel)function;
	const CUresult rc = begin(call);

	if (extra != NULL || !kernel->library->is_loaded)
		abort();
	if (rc != CUDA_SUCCESS)
		return end(rc);
	launch.kernel = kernel->name;
	launch.cubin = kernel->library->cubin;
	for (size_t i = 0; fake.sizes[i] != '\0'; i++)
		memcpy(&launch.parameters[i], parameters[i],
		       (size_t)(fake.sizes[i] - '0'));
	fake.last = launch;
	fake.launches++;
	return end(rc);
}

CUresult cuLaunchKernel(CUfunction function, unsigned int x, unsigned int y,
                        unsigned int z, unsigned int block_x,
                        unsigned int block_y, unsigned int block_z,
                        unsigned int shared, CUstream stream, void **parameters,
                        void **extra)
{
	const struct fake_launch launch = {
		.grid = { x, y, z },
		.block = { block_x, block_y, block_z },
		.shared = shared,
		.stream = stream,
	};

	return launched("cuLaunchKernel", launch, function, parameters, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                          void **parameters, void **extra)
{
	struct fake_launch launch = {
		.is_extended = 1,
		.grid = { config->gridDimX, config->gridDimY,
		          config->gridDimZ },
		.block = { config->blockDimX, config->blockDimY,
		           config->blockDimZ },
		.shared = config->sharedMemBytes,
		.stream = config->hStream,
		.attribute_count = config->numAttrs,
	};

	if (config->numAttrs > FAKE_ATTRIBUTES)
		abort();
	memcpy(launch.attributes, config->attrs,
	       config->numAttrs * sizeof(config->attrs[0]));
	return launched("cuLaunchKernelEx", launch, function, parameters,
	                extra);
}
