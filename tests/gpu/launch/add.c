/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Vector add, as one function over four launchers: algo 0 with blocks of 256
 * and algo 1 with blocks of 1,024, each for any n and for multiples of 16.
 */
#include "gpu.h"

#include <pthread.h>

#include "add.h"

enum {
	LIMIT = 1 << 20,
	THREADS = 8,
	LAUNCHES = 20000
};

static float *x, *y, *sum;

static void fill(void)
{
	x = malloc(LIMIT * sizeof(*x));
	y = malloc(LIMIT * sizeof(*y));
	sum = malloc(LIMIT * sizeof(*sum));
	if (x == NULL || y == NULL || sum == NULL)
		exit(1);
	for (int i = 0; i < LIMIT; i++) {
		x[i] = (float)gpu_random() / 1000.0f - 8000.0f;
		y[i] = (float)gpu_random() / 77777.0f;
	}
}

/* Add n numbers in `stream`: right, and nothing behind them is touched? */
static int is_right(CUstream stream, int32_t n, int algo_id)
{
	const size_t size = ((size_t)n + 64) * sizeof(float);
	const CUdeviceptr one = gpu_copy(x, size);
	const CUdeviceptr other = gpu_copy(y, size);
	const CUdeviceptr out = gpu_copy(NULL, size);
	float *const got = malloc(size);
	uint32_t untouched;
	int wrong = 0;

	CHECK_CUDA(add_kernel(stream, one, other, out, n, algo_id));
	CHECK_CUDA(cuStreamSynchronize(stream));
	CHECK_CUDA(cuMemcpyDtoH(got, out, size));
	for (int32_t i = 0; i < n; i++)
		wrong += got[i] != x[i] + y[i];
	for (int32_t i = n; i < n + 64; i++) {
		memcpy(&untouched, &got[i], sizeof(untouched));
		wrong += untouched != 0xffffffff;
	}
	free(got);
	CHECK_CUDA(cuMemFree(one));
	CHECK_CUDA(cuMemFree(other));
	CHECK_CUDA(cuMemFree(out));
	if (wrong != 0)
		printf("# n = %d, algo %d: %d wrong\n", n, algo_id, wrong);
	return wrong == 0;
}

static void sums_are_the_cpus(void)
{
	static const int32_t sizes[] = { 0,    1,    15,   16,    17,
		                         255,  256,  257,  1000,  1023,
		                         1024, 1025, 4096, 98432, LIMIT - 64 };

	CHECK(add_kernel_get_num_algos() == 2);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		CHECK(is_right(NULL, sizes[i], 0));
		CHECK(is_right(NULL, sizes[i], 1));
	}
}

static void a_wrong_call_is_an_error_and_harms_nothing(void)
{
	const CUdeviceptr memory = gpu_copy(x, 4096);

	CHECK(add_kernel(NULL, memory + 4, memory, memory, 16, 0) ==
	      CUDA_ERROR_INVALID_VALUE);
	CHECK(add_kernel(NULL, memory, memory, memory, -1000000, 0) ==
	      CUDA_ERROR_INVALID_VALUE);
	CHECK(add_kernel(NULL, memory, memory, memory, 16, 2) ==
	      CUDA_ERROR_INVALID_VALUE);
	CHECK(add_kernel(NULL, memory, memory, memory, 0, 0) == CUDA_SUCCESS);
	CHECK_CUDA(cuMemFree(memory));
	CHECK(is_right(NULL, 1000, 0));
}

static void it_can_be_unloaded_and_loaded_again(void)
{
	CHECK_CUDA(unload_add_kernel());
	CHECK_CUDA(load_add_kernel());
	CHECK_CUDA(load_add_kernel());
	CHECK(is_right(NULL, 1000, 0));
	CHECK_CUDA(unload_add_kernel());
	CHECK_CUDA(unload_add_kernel());
	CHECK(is_right(NULL, 1000, 1));
}

static CUcontext contexts[2];
static pthread_barrier_t barrier;

struct job {
	int number;
	int is_right;
};

/* Each in a stream of its own, every second one in the second context. */
static void *work(void *argument)
{
	struct job *const job = argument;
	CUstream stream = NULL;

	gpu_must(cuCtxSetCurrent(contexts[job->number % 2]), "cuCtxSetCurrent");
	gpu_must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING),
	         "cuStreamCreate");
	(void)pthread_barrier_wait(&barrier);
	job->is_right = 1;
	for (int i = 0; i < 20; i++)
		job->is_right &=
			is_right(stream, 10000 + 16 * i + job->number, i % 2);
	CHECK_CUDA(cuStreamDestroy(stream));
	return NULL;
}

static void threads_in_two_contexts_load_and_launch_at_once(void)
{
	pthread_t threads[THREADS];
	struct job jobs[THREADS];

	CHECK_CUDA(unload_add_kernel());
	(void)pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		jobs[i].number = i;
		if (pthread_create(&threads[i], NULL, work, &jobs[i]) != 0)
			abort();
	}
	for (int i = 0; i < THREADS; i++) {
		(void)pthread_join(threads[i], NULL);
		CHECK(jobs[i].is_right);
	}
	(void)pthread_barrier_destroy(&barrier);
}

static void tell_the_time_of_a_launch(void)
{
	const CUdeviceptr memory = gpu_copy(x, 4096);
	double start;

	CHECK_CUDA(add_kernel(NULL, memory, memory, memory, 16, 0));
	CHECK_CUDA(cuCtxSynchronize());
	start = gpu_seconds();
	for (int i = 0; i < LAUNCHES; i++)
		CHECK_CUDA(add_kernel(NULL, memory, memory, memory, 16, 0));
	CHECK_CUDA(cuCtxSynchronize());
	printf("# a launch takes %.2f us\n",
	       (gpu_seconds() - start) / LAUNCHES * 1e6);
	CHECK_CUDA(cuMemFree(memory));
}

int main(void)
{
	CUdevice device = 0;

	contexts[0] = gpu_start();
	gpu_must(cuCtxGetDevice(&device), "cuCtxGetDevice");
	contexts[1] = gpu_context(device);
	gpu_must(cuCtxSetCurrent(contexts[0]), "cuCtxSetCurrent");
	fill();
	RUN(threads_in_two_contexts_load_and_launch_at_once);
	RUN(sums_are_the_cpus);
	RUN(a_wrong_call_is_an_error_and_harms_nothing);
	RUN(it_can_be_unloaded_and_loaded_again);
	tell_the_time_of_a_launch();
	return gpu_failures == 0 ? 0 : 1;
}
