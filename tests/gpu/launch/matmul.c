/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Products of matrices of 16-bit numbers, by the six kernels that Triton's
 * autotuner tried, as algos of one function. Half of them use more shared memory
 * than a kernel may without asking.
 */
#include "gpu.h"

#include "matmul.h"

enum {
	M = 256,
	N = 512,
	K = 192,
	LAUNCHES = 20000
};

/* Small whole numbers: every sum is exact in 16 bits, in any order. */
static uint16_t half_of(int number)
{
	static const uint16_t halves[] = { 0xc000, 0xbc00, 0, 0x3c00, 0x4000 };

	return halves[number + 2];
}

static double value_of(uint16_t half)
{
	const int power = half >> 10 & 31;
	const double fraction = (half & 1023) / 1024.0;
	double value = power == 0 ? fraction / 16384 : 1 + fraction;

	for (int i = 15; i < power; i++)
		value *= 2;
	for (int i = power; i < 15 && power != 0; i++)
		value /= 2;
	return half >> 15 != 0 ? -value : value;
}

static int a[M][K], b[K][N], right[M][N];
static uint16_t a_halves[M][K], b_halves[K][N], got[M][N];

static void fill(void)
{
	for (int i = 0; i < M * K; i++)
		a[i / K][i % K] = (int)(gpu_random() % 5) - 2;
	for (int i = 0; i < K * N; i++)
		b[i / N][i % N] = (int)(gpu_random() % 5) - 2;
	for (int i = 0; i < M * K; i++)
		a_halves[i / K][i % K] = half_of(a[i / K][i % K]);
	for (int i = 0; i < K * N; i++)
		b_halves[i / N][i % N] = half_of(b[i / N][i % N]);
	for (int i = 0; i < M; i++) {
		for (int k = 0; k < K; k++) {
			for (int j = 0; j < N; j++)
				right[i][j] += a[i][k] * b[k][j];
		}
	}
}

/* In the current context; `stream` may be another's, `memory` is its. */
static int is_right(CUstream stream, CUcontext memory, int algo_id)
{
	CUcontext current = NULL;
	CUdeviceptr one;
	CUdeviceptr other;
	CUdeviceptr out;
	int wrong = 0;

	gpu_must(cuCtxPushCurrent(memory), "cuCtxPushCurrent");
	one = gpu_copy(a_halves, sizeof(a_halves));
	other = gpu_copy(b_halves, sizeof(b_halves));
	out = gpu_copy(NULL, sizeof(got));
	gpu_must(cuCtxPopCurrent(&current), "cuCtxPopCurrent");

	CHECK_CUDA(matmul_kernel(stream, one, other, out, M, N, K, K, N, N,
	                         algo_id));
	gpu_must(cuCtxPushCurrent(memory), "cuCtxPushCurrent");
	CHECK_CUDA(cuStreamSynchronize(stream));
	CHECK_CUDA(cuMemcpyDtoH(got, out, sizeof(got)));
	CHECK_CUDA(cuMemFree(one));
	CHECK_CUDA(cuMemFree(other));
	CHECK_CUDA(cuMemFree(out));
	gpu_must(cuCtxPopCurrent(&current), "cuCtxPopCurrent");
	for (int i = 0; i < M * N; i++)
		wrong += value_of(got[i / N][i % N]) != right[i / N][i % N];
	if (wrong != 0)
		printf("# algo %d: %d wrong\n", algo_id, wrong);
	return wrong == 0;
}

static CUcontext contexts[2];

static void products_of_every_algo_are_the_cpus(void)
{
	CHECK(matmul_kernel_get_num_algos() == 6);
	for (int i = 0; i < matmul_kernel_get_num_algos(); i++)
		CHECK(is_right(NULL, contexts[0], i));
}

static void another_context_needs_nothing_more(void)
{
	CUcontext current = NULL;

	gpu_must(cuCtxPushCurrent(contexts[1]), "cuCtxPushCurrent");
	for (int i = 0; i < matmul_kernel_get_num_algos(); i++)
		CHECK(is_right(NULL, contexts[1], i));
	gpu_must(cuCtxPopCurrent(&current), "cuCtxPopCurrent");
}

static void the_stream_may_be_of_another_context(void)
{
	CUcontext current = NULL;
	CUstream stream = NULL;

	CHECK_CUDA(unload_matmul_kernel());
	gpu_must(cuCtxPushCurrent(contexts[1]), "cuCtxPushCurrent");
	gpu_must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING),
	         "cuStreamCreate");
	gpu_must(cuCtxPopCurrent(&current), "cuCtxPopCurrent");
	for (int i = 0; i < matmul_kernel_get_num_algos(); i++)
		CHECK(is_right(stream, contexts[1], i));
	CHECK_CUDA(cuCtxGetCurrent(&current));
	CHECK(current == contexts[0]);
	CHECK_CUDA(cuStreamDestroy(stream));
}

/* Where there are several. */
static void every_device_needs_nothing_more(void)
{
	CUcontext current = NULL;
	CUstream stream = NULL;
	int count = 0;

	CHECK_CUDA(cuDeviceGetCount(&count));
	for (int device = 1; device < count; device++) {
		const CUcontext context = gpu_context(device);

		gpu_must(cuCtxPopCurrent(&current), "cuCtxPopCurrent");
		gpu_must(cuCtxPushCurrent(context), "cuCtxPushCurrent");
		gpu_must(cuStreamCreate(&stream, 0), "cuStreamCreate");
		CHECK(is_right(NULL, context, 0));
		gpu_must(cuCtxPopCurrent(&current), "cuCtxPopCurrent");
		for (int i = 0; i < matmul_kernel_get_num_algos(); i++)
			CHECK(is_right(stream, context, i));
	}
	printf("# there are %d devices\n", count);
}

static void tell_the_time_of_a_launch(void)
{
	const CUdeviceptr memory = gpu_copy(NULL, sizeof(b_halves));
	double start;

	CHECK_CUDA(matmul_kernel_default(NULL, memory, memory, memory, 128, 256,
	                                 64, 64, 256, 256));
	CHECK_CUDA(cuCtxSynchronize());
	start = gpu_seconds();
	for (int i = 0; i < LAUNCHES; i++)
		CHECK_CUDA(matmul_kernel_default(NULL, memory, memory, memory,
		                                 128, 256, 64, 64, 256, 256));
	CHECK_CUDA(cuCtxSynchronize());
	printf("# a launch with much shared memory takes %.2f us\n",
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
	RUN(products_of_every_algo_are_the_cpus);
	RUN(another_context_needs_nothing_more);
	RUN(the_stream_may_be_of_another_context);
	RUN(every_device_needs_nothing_more);
	tell_the_time_of_a_launch();
	return gpu_failures == 0 ? 0 : 1;
}
