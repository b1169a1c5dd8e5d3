/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Runs launchers of the fixtures against a driver that writes down what it is
 * told: what is called, with what, and what comes of each failure.
 *
 * Built with their names: ADD (of *fp32:16, *fp32:16, *fp32:16, i32, with its
 * grid), ADD_FREE (the same without), MATMUL (more than 48 KiB of shared
 * memory), SCRATCH (which needs both kinds of memory), DIVIDED (whose grid
 * divides by arguments), WIDE (clusters of 16) and BOUND (clusters of 4, a bound
 * grid), and with the prefixes load_ and unload_.
 */
#include <pthread.h>
#include <stdlib.h>

#include ADD_HEADER
#include ADD_FREE_HEADER
#include MATMUL_HEADER
#include SCRATCH_HEADER
#include DIVIDED_HEADER
#include WIDE_HEADER
#include BOUND_HEADER

#include "check.h"

#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
#define LOAD(name) GLUE(load_, name)
#define UNLOAD(name) GLUE(unload_, name)

enum {
	THREADS = 16,
	SHARED = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
	CLUSTER = CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
};

static const char add_sizes[] = "888488";

static CUresult add(int32_t n)
{
	return ADD(NULL, 0x1000, 0x2000, 0x3000, n);
}

static CUresult matmul(CUstream stream)
{
	return MATMUL(stream, 16, 32, 48, 128, 256, 64, 64, 256, 256);
}

static void start(const char *sizes)
{
	fake_reset("");
	(void)UNLOAD(ADD)();
	(void)UNLOAD(ADD_FREE)();
	(void)UNLOAD(MATMUL)();
	(void)UNLOAD(SCRATCH)();
	(void)UNLOAD(DIVIDED)();
	(void)UNLOAD(WIDE)();
	fake_reset(sizes);
}

static void the_first_launch_loads_and_later_ones_do_not(void)
{
	start(add_sizes);
	CHECK(add(1000) == CUDA_SUCCESS);
	CHECK_CALLS("cuLibraryLoadData cuLibraryGetKernel cuLaunchKernel ");
	CHECK(add(1000) == CUDA_SUCCESS);
	CHECK_CALLS("cuLibraryLoadData cuLibraryGetKernel cuLaunchKernel "
	            "cuLaunchKernel ");
}

static void a_launch_has_its_arguments_grid_and_block(void)
{
	const struct fake_launch *const last = fake_last();

	start(add_sizes);
	CHECK(ADD(fake_stream(1), 0x1230, 0x4560, 0xffffffffffff0ull,
	          -2147483647 + 4096) == CUDA_ERROR_INVALID_VALUE);
	CHECK(ADD(fake_stream(1), 0x1230, 0x4560, 0xffffffffffff0ull, 1000) ==
	      CUDA_SUCCESS);
	CHECK(strcmp(last->kernel, "add_kernel") == 0);
	CHECK(last->parameters[0] == 0x1230);
	CHECK(last->parameters[1] == 0x4560);
	CHECK(last->parameters[2] == 0xffffffffffff0ull);
	CHECK(last->parameters[3] == 1000);
	CHECK(last->parameters[4] == 0 && last->parameters[5] == 0);
	CHECK(last->grid[0] == 4 && last->grid[1] == 1 && last->grid[2] == 1);
	CHECK(last->block[0] == 128 && last->block[1] == 1);
	CHECK(last->shared == 0 && last->stream == fake_stream(1));
	CHECK(!last->is_extended);
}

static void a_grid_may_be_the_callers(void)
{
	const struct fake_launch *const last = fake_last();

	start(add_sizes);
	CHECK(ADD_FREE(NULL, 3, 4, 5, 16, 16, 16, 1) == CUDA_SUCCESS);
	CHECK(last->grid[0] == 3 && last->grid[1] == 4 && last->grid[2] == 5);
	CHECK(ADD_FREE(NULL, 2147483647u, 1, 1, 16, 16, 16, 1) == CUDA_SUCCESS);
	CHECK(ADD_FREE(NULL, 2147483648u, 1, 1, 16, 16, 16, 1) ==
	      CUDA_ERROR_INVALID_VALUE);
	CHECK(fake_launches() == 2);
}

static void an_empty_grid_is_success_and_does_nothing(void)
{
	start(add_sizes);
	CHECK(add(0) == CUDA_SUCCESS);
	CHECK(ADD_FREE(NULL, 0, 1, 1, 16, 16, 16, 1) == CUDA_SUCCESS);
	CHECK(ADD_FREE(NULL, 1, 0, 1, 16, 16, 16, 1) == CUDA_SUCCESS);
	CHECK(ADD_FREE(NULL, 1, 1, 0, 1, 1, 1, 1) == CUDA_SUCCESS);
	CHECK_CALLS("");
}

static void a_negative_grid_is_an_error(void)
{
	start(add_sizes);
	CHECK(add(-1000) == CUDA_ERROR_INVALID_VALUE);
	CHECK_CALLS("");
}

static void an_argument_that_is_no_multiple_is_an_error(void)
{
	start(add_sizes);
	CHECK(ADD(NULL, 8, 16, 16, 1) == CUDA_ERROR_INVALID_VALUE);
	CHECK(ADD(NULL, 16, 17, 16, 1) == CUDA_ERROR_INVALID_VALUE);
	CHECK(ADD(NULL, 16, 16, 31, 1) == CUDA_ERROR_INVALID_VALUE);
	CHECK_CALLS("");
}

/* Of every call, one after the other; then all is well again. */
static void each_failure_is_returned_and_leaves_nothing(void)
{
	for (int n = 1; n <= 3; n++) {
		start(add_sizes);
		fake_fail(n, CUDA_ERROR_OUT_OF_MEMORY);
		CHECK(add(1) == CUDA_ERROR_OUT_OF_MEMORY);
		CHECK(add(1) == CUDA_SUCCESS);
		CHECK(fake_loaded() == 1);
		CHECK(UNLOAD(ADD)() == CUDA_SUCCESS);
		CHECK(fake_loaded() == 0);
	}
}

static void loading_and_unloading_can_be_asked_for(void)
{
	start(add_sizes);
	CHECK(LOAD(ADD)() == CUDA_SUCCESS && LOAD(ADD)() == CUDA_SUCCESS);
	CHECK_CALLS("cuLibraryLoadData cuLibraryGetKernel ");
	CHECK(UNLOAD(ADD)() == CUDA_SUCCESS && UNLOAD(ADD)() == CUDA_SUCCESS);
	CHECK(fake_loaded() == 0 && fake_count("cuLibraryUnload") == 1);
	CHECK(add(1) == CUDA_SUCCESS);
	CHECK(fake_loaded() == 1 && fake_count("cuLibraryLoadData") == 2);

	fake_fail_all("cuLibraryUnload", CUDA_ERROR_INVALID_CONTEXT);
	CHECK(UNLOAD(ADD)() == CUDA_ERROR_INVALID_CONTEXT);
	fake_fail_all("cuLibraryLoadData", CUDA_ERROR_NOT_INITIALIZED);
	CHECK(LOAD(ADD)() == CUDA_ERROR_NOT_INITIALIZED);
}

static pthread_barrier_t barrier;

static void *race(void *result)
{
	(void)pthread_barrier_wait(&barrier);
	*(CUresult *)result = matmul(NULL);
	return NULL;
}

static void threads_that_meet_in_the_first_launch_load_it_once(void)
{
	pthread_t threads[THREADS];
	CUresult results[THREADS];

	start("88844444488");
	fake_delay(30);
	(void)pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		results[i] = CUDA_ERROR_NOT_FOUND;
		if (pthread_create(&threads[i], NULL, race, &results[i]) != 0)
			abort();
	}
	for (int i = 0; i < THREADS; i++) {
		(void)pthread_join(threads[i], NULL);
		CHECK(results[i] == CUDA_SUCCESS);
	}
	(void)pthread_barrier_destroy(&barrier);
	CHECK(fake_launches() == THREADS);
	CHECK(fake_loaded() == 1);
	CHECK(fake_count("cuLibraryLoadData") ==
	      fake_count("cuLibraryUnload") + 1);
	CHECK(fake_asked(0, SHARED) == 98304);
}

static void much_shared_memory_is_asked_of_each_device_once(void)
{
	start("88844444488");
	CHECK(matmul(NULL) == CUDA_SUCCESS && matmul(NULL) == CUDA_SUCCESS);
	CHECK(fake_last()->shared == 98304 && fake_last()->block[0] == 128);
	CHECK(fake_last()->grid[0] == 2 && fake_last()->grid[1] == 2);
	CHECK(fake_asked(0, SHARED) == 98304 && fake_asked(1, SHARED) == 0);
	CHECK(fake_count("cuKernelSetAttribute") == 1);
	CHECK(fake_count("cuCtxPushCurrent") == 0);

	CHECK(matmul(fake_stream(1)) == CUDA_SUCCESS);
	CHECK(matmul(fake_stream(1)) == CUDA_SUCCESS);
	CHECK(matmul(fake_stream(0)) == CUDA_SUCCESS);
	CHECK(fake_asked(1, SHARED) == 98304);
	CHECK(fake_count("cuKernelSetAttribute") == 2);
	CHECK(fake_count("cuLibraryLoadData") == 1 && fake_depth() == 0);

	CHECK(UNLOAD(MATMUL)() == CUDA_SUCCESS);
	CHECK(matmul(NULL) == CUDA_SUCCESS);
	CHECK(fake_count("cuKernelSetAttribute") == 3);
}

static void each_failure_to_ask_is_returned(void)
{
	/* Load, find; the stream's, the current; push, device, pop; ask, go. */
	for (int n = 1; n <= 9; n++) {
		start("88844444488");
		fake_fail(n, CUDA_ERROR_OUT_OF_MEMORY);
		CHECK(matmul(fake_stream(1)) == CUDA_ERROR_OUT_OF_MEMORY);
		CHECK(fake_depth() == 0);
		CHECK(fake_launches() == 0);
		CHECK(matmul(fake_stream(1)) == CUDA_SUCCESS);
		CHECK(fake_asked(1, SHARED) == 98304);
	}
}

static void the_stream_of_a_green_context_is_for_the_current_device(void)
{
	start("88844444488");
	fake_fail_all("cuStreamGetCtx", CUDA_ERROR_NOT_SUPPORTED);
	CHECK(matmul(fake_stream(1)) == CUDA_SUCCESS);
	CHECK(fake_asked(0, SHARED) == 98304);
}

static void memory_that_a_kernel_needs_is_the_callers(void)
{
	const struct fake_launch *const last = fake_last();

	start(add_sizes);
	CHECK(SCRATCH(NULL, 16, 16, 16, 1, 0, 1) == CUDA_ERROR_INVALID_VALUE);
	CHECK(SCRATCH(NULL, 16, 16, 16, 1, 1, 0) == CUDA_ERROR_INVALID_VALUE);
	CHECK_CALLS("");
	CHECK(SCRATCH(NULL, 16, 16, 16, 0, 0, 0) == CUDA_SUCCESS);
	CHECK(SCRATCH(NULL, 16, 16, 16, 1, 0xabc, 0xdef) == CUDA_SUCCESS);
	CHECK(last->parameters[4] == 0xabc && last->parameters[5] == 0xdef);
	CHECK(GLUE(SCRATCH, _GLOBAL_SCRATCH_SIZE) == 384);
	CHECK(GLUE(SCRATCH, _GLOBAL_SCRATCH_ALIGN) == 128);
	CHECK(GLUE(SCRATCH, _PROFILE_SCRATCH_SIZE) == 64);
	CHECK(GLUE(SCRATCH, _PROFILE_SCRATCH_ALIGN) == 1);
}

static void a_division_by_zero_is_an_error(void)
{
	const struct fake_launch *const last = fake_last();

	/* The grid is ((M + N - 1) / N, M % K, sam / scm). */
	start("88844444488");
	CHECK(DIVIDED(NULL, 0, 0, 0, 64, 16, 48, 32, 16, 16) == CUDA_SUCCESS);
	CHECK(last->grid[0] == 4 && last->grid[1] == 16 && last->grid[2] == 2);
	CHECK(DIVIDED(NULL, 0, 0, 0, 64, 0, 48, 32, 16, 16) ==
	      CUDA_ERROR_INVALID_VALUE);
	CHECK(DIVIDED(NULL, 0, 0, 0, 64, 16, 0, 32, 16, 16) ==
	      CUDA_ERROR_INVALID_VALUE);
	CHECK(DIVIDED(NULL, 0, 0, 0, 64, 16, 48, 32, 16, 0) ==
	      CUDA_ERROR_INVALID_VALUE);
	CHECK(fake_launches() == 1);
}

static void a_wide_cluster_is_asked_for(void)
{
	const struct fake_launch *const last = fake_last();

	start(add_sizes);
	CHECK(WIDE(NULL, 3, 2, 1, 16, 16, 16, 1) == CUDA_SUCCESS);
	CHECK(last->is_extended && last->attribute_count == 2);
	CHECK(last->grid[0] == 12 && last->grid[1] == 4 && last->grid[2] == 2);
	CHECK(last->block[0] == 128 && last->block[1] == 1 &&
	      last->block[2] == 1);
	CHECK(last->attributes[0].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
	CHECK(last->attributes[0].value.clusterDim.x == 4);
	CHECK(last->attributes[0].value.clusterDim.y == 2);
	CHECK(last->attributes[0].value.clusterDim.z == 2);
	CHECK(last->attributes[1].id ==
	      CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
	CHECK(last->attributes[1].value.clusterSchedulingPolicyPreference ==
	      CU_CLUSTER_SCHEDULING_POLICY_SPREAD);
	CHECK(fake_asked(0, CLUSTER) == 1 && fake_asked(0, SHARED) == 0);
	CHECK(WIDE(NULL, 2147483647u / 4, 1, 1, 16, 16, 16, 1) == CUDA_SUCCESS);
	CHECK(WIDE(NULL, 2147483647u / 4 + 1, 1, 1, 16, 16, 16, 1) ==
	      CUDA_ERROR_INVALID_VALUE);
	fake_fail_all("cuLaunchKernelEx", CUDA_ERROR_OUT_OF_MEMORY);
	CHECK(WIDE(NULL, 1, 1, 1, 16, 16, 16, 1) == CUDA_ERROR_OUT_OF_MEMORY);
}

/* The grid counts in blocks, of which a cluster has 2 by 2. */
static void only_the_grid_that_was_bound_is_launched(void)
{
	start(add_sizes);
	CHECK(BOUND(NULL, 8, 1, 1, 16, 16, 16, 1) == CUDA_SUCCESS);
	CHECK(BOUND(NULL, 8, 1, 9, 16, 16, 16, 1) == CUDA_SUCCESS);
	CHECK(BOUND(NULL, 0, 1, 1, 16, 16, 16, 1) == CUDA_SUCCESS);
	CHECK(fake_launches() == 2);
	CHECK(BOUND(NULL, 16, 1, 1, 16, 16, 16, 1) == CUDA_ERROR_INVALID_VALUE);
	CHECK(BOUND(NULL, 8, 2, 1, 16, 16, 16, 1) == CUDA_ERROR_INVALID_VALUE);
	CHECK(fake_launches() == 2);
}

/* argv[1] is the cubin of ADD. */
static const char *cubin_path;

static void the_cubin_is_the_entrys_byte_for_byte(void)
{
	FILE *const file = fopen(cubin_path, "rb");
	const unsigned char *const held =
		(start(add_sizes), (void)add(1), fake_last()->cubin);
	size_t size = 0;
	int byte;

	CHECK(file != NULL && held != NULL);
	if (file == NULL || held == NULL)
		return;
	while ((byte = fgetc(file)) != EOF) {
		if (held[size] != byte)
			break;
		size++;
	}
	CHECK(byte == EOF && size > 1000);
	CHECK((size_t)held % 16 == 0);
	(void)fclose(file);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	cubin_path = argv[1];
	RUN(the_cubin_is_the_entrys_byte_for_byte);
	RUN(the_first_launch_loads_and_later_ones_do_not);
	RUN(a_launch_has_its_arguments_grid_and_block);
	RUN(a_grid_may_be_the_callers);
	RUN(an_empty_grid_is_success_and_does_nothing);
	RUN(a_negative_grid_is_an_error);
	RUN(an_argument_that_is_no_multiple_is_an_error);
	RUN(each_failure_is_returned_and_leaves_nothing);
	RUN(loading_and_unloading_can_be_asked_for);
	RUN(threads_that_meet_in_the_first_launch_load_it_once);
	RUN(much_shared_memory_is_asked_of_each_device_once);
	RUN(each_failure_to_ask_is_returned);
	RUN(the_stream_of_a_green_context_is_for_the_current_device);
	RUN(memory_that_a_kernel_needs_is_the_callers);
	RUN(a_division_by_zero_is_an_error);
	RUN(a_wide_cluster_is_asked_for);
	RUN(only_the_grid_that_was_bound_is_launched);
	return check_failures == 0 ? 0 : 1;
}
