/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Kernels that the Triton at hand made (tests/launch/c_launcher/kernels.py): SCALARS,
 * with every type of number, and `fill` in clusters, cooperative and
 * programmatic: PLAIN, CLUSTERED, COOPERATIVE, PROGRAMMATIC.
 */
#include "gpu.h"

#include SCALARS_HEADER
#include PLAIN_HEADER
#include CLUSTERED_HEADER
#include COOPERATIVE_HEADER
#include PROGRAMMATIC_HEADER

static void numbers_arrive(void)
{
	static const float wanted[] = {
		1,    -2,    -300,          -5000000000.0f,
		200,  60000, 4000000000.0f, 10000000000000000000.0f,
		1.5f, -2.5f, 0.1f,          1e10f + 7
	};
	const CUdeviceptr out = gpu_copy(NULL, sizeof(wanted));
	float got[12];

	CHECK_CUDA(SCALARS(NULL, 1, 1, 1, out, 1, -2, -300, -5000000000, 200,
	                   60000, 4000000000u, 10000000000000000000ull, 1.5,
	                   -2.5, 0.1, 1e10));
	CHECK_CUDA(cuCtxSynchronize());
	CHECK_CUDA(cuMemcpyDtoH(got, out, sizeof(got)));
	for (int i = 0; i < 12; i++) {
		if (got[i] != wanted[i])
			printf("# number %d: %g, not %g\n", i, got[i],
			       wanted[i]);
		CHECK(got[i] == wanted[i]);
	}
	CHECK_CUDA(cuMemFree(out));
}

typedef CUresult (*launcher)(CUstream stream, unsigned int gX, unsigned int gY,
                             unsigned int gZ, CUdeviceptr int_, int32_t n,
                             int32_t stream_);

/* The kernel writes i + 32 to place 3 * i, for i below 100. */
static void check(launcher launch)
{
	int32_t got[400];
	const CUdeviceptr out = gpu_copy(NULL, sizeof(got));
	int wrong = 0;

	CHECK_CUDA(launch(NULL, 2, 1, 1, out, 3, 32));
	CHECK_CUDA(launch(NULL, 2, 1, 1, out, 3, 32));
	CHECK_CUDA(cuCtxSynchronize());
	CHECK_CUDA(cuMemcpyDtoH(got, out, sizeof(got)));
	for (int i = 0; i < 400; i++)
		wrong += got[i] != (i % 3 == 0 && i < 300 ? i / 3 + 32 : -1);
	if (wrong != 0)
		printf("# %d wrong\n", wrong);
	CHECK(wrong == 0);
	CHECK_CUDA(cuMemFree(out));
}

static void a_plain_launch_is_right(void)
{
	check(PLAIN);
}

static void a_launch_in_clusters_is_right(void)
{
	check(CLUSTERED);
}

static void a_cooperative_launch_is_right(void)
{
	check(COOPERATIVE);
}

static void a_programmatic_launch_is_right(void)
{
	check(PROGRAMMATIC);
}

int main(void)
{
	(void)gpu_start();
	RUN(numbers_arrive);
	RUN(a_plain_launch_is_right);
	RUN(a_launch_in_clusters_is_right);
	RUN(a_cooperative_launch_is_right);
	RUN(a_programmatic_launch_is_right);
	return gpu_failures == 0 ? 0 : 1;
}
