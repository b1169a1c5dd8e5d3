/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Softmax of rows, by three launchers for rows of up to 512, 1,024 and 4,096
 * numbers; how many rows there are, the caller says. SMALL, MIDDLE and LARGE
 * are their names.
 */
#include "gpu.h"

#include <math.h>

#include SMALL_HEADER
#include MIDDLE_HEADER
#include LARGE_HEADER

enum {
	ROWS = 37
};

typedef CUresult (*launcher)(CUstream stream, unsigned int gX, unsigned int gY,
                             unsigned int gZ, CUdeviceptr o_ptr,
                             CUdeviceptr x_ptr, int32_t s, int32_t n_cols);

/* The largest error over all, of what should be the softmax of `x`. */
static double error_of(const float *x, const float *got, int32_t columns,
                       int32_t stride)
{
	double worst = 0;

	for (int row = 0; row < ROWS; row++) {
		const float *const in = x + (size_t)row * (size_t)stride;
		const float *const out = got + (size_t)row * (size_t)stride;
		double most = -INFINITY;
		double total = 0;

		for (int32_t i = 0; i < columns; i++)
			most = fmax(most, in[i]);
		for (int32_t i = 0; i < columns; i++)
			total += exp(in[i] - most);
		for (int32_t i = 0; i < columns; i++) {
			const double right = exp(in[i] - most) / total;

			worst = fmax(worst,
			             fabs(out[i] - right) / fmax(right, 1e-30));
		}
	}
	return worst;
}

static void check(launcher launch, int32_t columns, int32_t stride)
{
	const size_t size = (size_t)ROWS * (size_t)stride * sizeof(float);
	float *const x = malloc(size);
	float *const got = malloc(size);
	CUdeviceptr in;
	CUdeviceptr out;
	double error;

	if (x == NULL || got == NULL)
		exit(1);
	for (size_t i = 0; i < size / sizeof(float); i++)
		x[i] = (float)(gpu_random() % 20000) / 1000.0f - 10.0f;
	in = gpu_copy(x, size);
	out = gpu_copy(NULL, size);
	CHECK_CUDA(launch(NULL, ROWS, 1, 1, out, in, stride, columns));
	CHECK_CUDA(cuCtxSynchronize());
	CHECK_CUDA(cuMemcpyDtoH(got, out, size));
	error = error_of(x, got, columns, stride);
	printf("# %d columns: the largest relative error is %.2g\n", columns,
	       error);
	CHECK(error < 2e-5);
	CHECK_CUDA(cuMemFree(in));
	CHECK_CUDA(cuMemFree(out));
	free(x);
	free(got);
}

static void rows_are_the_cpus(void)
{
	check(SMALL, 512, 512);
	check(SMALL, 16, 512);
	check(MIDDLE, 781, 781);
	check(MIDDLE, 1, 1023);
	check(MIDDLE, 1024, 1024);
	check(LARGE, 4096, 4096);
	check(LARGE, 2000, 4096);
}

static void what_is_no_multiple_is_refused(void)
{
	CHECK(SMALL(NULL, 1, 1, 1, 16, 16, 512, 500) ==
	      CUDA_ERROR_INVALID_VALUE);
	CHECK(LARGE(NULL, 1, 1, 1, 16, 16, 511, 16) ==
	      CUDA_ERROR_INVALID_VALUE);
	CHECK(MIDDLE(NULL, 0, 1, 1, 16, 16, 1, 1) == CUDA_SUCCESS);
}

int main(void)
{
	(void)gpu_start();
	RUN(rows_are_the_cpus);
	RUN(what_is_no_multiple_is_refused);
	return gpu_failures == 0 ? 0 : 1;
}
