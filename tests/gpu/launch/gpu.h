/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPU_LAUNCH_GPU_H
#define GPU_LAUNCH_GPU_H

/*
 * What the programs that run launchers on a GPU share. They use the CUDA driver
 * and nothing else. Each test is a line, "ok" or "not ok" and its name.
 */

#include <cuda.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int gpu_failures;

#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			printf("# %s:%d: %s\n", __FILE__, __LINE__,            \
			       #condition);                                    \
			gpu_failures++;                                        \
		}                                                              \
	} while (0)

/* A call of the driver's, or of a launcher's. */
#define CHECK_CUDA(call) gpu_check((call), #call, __FILE__, __LINE__)

#define RUN(test)                                                              \
	do {                                                                   \
		const int before = gpu_failures;                               \
                                                                               \
		test();                                                        \
		printf("%s %s\n", gpu_failures == before ? "ok" : "not ok",    \
		       #test);                                                 \
		(void)fflush(stdout);                                          \
	} while (0)

static void gpu_check(CUresult rc, const char *call, const char *file, int line)
{
	const char *name = "?";

	if (rc == CUDA_SUCCESS)
		return;
	(void)cuGetErrorName(rc, &name);
	printf("# %s:%d: %s: %s\n", file, line, call, name);
	gpu_failures++;
}

/* What nothing can be tested without. */
static void gpu_must(CUresult rc, const char *what)
{
	const char *name = "?";

	if (rc == CUDA_SUCCESS)
		return;
	(void)cuGetErrorName(rc, &name);
	printf("Bail out! %s: %s\n", what, name);
	exit(1);
}

/* A context of its own on `device`. */
static inline CUcontext gpu_context(CUdevice device)
{
	CUcontext context = NULL;

#if CUDA_VERSION >= 13000
	gpu_must(cuCtxCreate(&context, NULL, 0, device), "cuCtxCreate");
#else
	gpu_must(cuCtxCreate(&context, 0, device), "cuCtxCreate");
#endif
	return context;
}

static CUcontext gpu_start(void)
{
	CUcontext context = NULL;
	CUdevice device = 0;

	gpu_must(cuInit(0), "cuInit");
	gpu_must(cuDeviceGet(&device, 0), "cuDeviceGet");
	gpu_must(cuDevicePrimaryCtxRetain(&context, device),
	         "cuDevicePrimaryCtxRetain");
	gpu_must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	return context;
}

/* Memory of the current context, with a copy of `data`, if there is one. */
static CUdeviceptr gpu_copy(const void *data, size_t size)
{
	CUdeviceptr memory = 0;

	gpu_must(cuMemAlloc(&memory, size), "cuMemAlloc");
	if (data != NULL)
		gpu_must(cuMemcpyHtoD(memory, data, size), "cuMemcpyHtoD");
	else
		gpu_must(cuMemsetD8(memory, 0xff, size), "cuMemsetD8");
	/* Another stream would not wait for it. */
	gpu_must(cuCtxSynchronize(), "cuCtxSynchronize");
	return memory;
}

/* A number that looks random, the same in every run. */
static inline uint32_t gpu_random(void)
{
	static uint32_t state = 12345;

	state = state * 1664525u + 1013904223u;
	return state >> 8;
}

static inline double gpu_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif
