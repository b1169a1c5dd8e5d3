/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Runs what --link made of launchers of add_kernel: algo 0 with blocks of 256,
 * for any n and for multiples of 16, algo 1 with blocks of 1,024 for multiples
 * of 16 alone. ANY, SIXTEEN and LARGE are the launchers, LINKED_HEADER is the
 * header.
 */
#include <stdlib.h>

#include LINKED_HEADER

#include "check.h"

static void start(void)
{
	fake_reset("");
	(void)unload_add_kernel();
	fake_reset("888488");
}

/* Blocks of 256 or 1,024, for any number or not: the cubins tell. */
static const void *cubin_of(int32_t n, int algo_id)
{
	CHECK(add_kernel(NULL, 16, 32, 48, n, algo_id) == CUDA_SUCCESS);
	return fake_last()->cubin;
}

static void arguments_choose_the_launcher(void)
{
	const void *any;
	const void *sixteen;

	start();
	any = cubin_of(1000, 0);
	CHECK(fake_last()->parameters[3] == 1000);
	sixteen = cubin_of(1024, 0);
	CHECK(fake_last()->parameters[0] == 16 &&
	      fake_last()->parameters[1] == 32 &&
	      fake_last()->parameters[2] == 48 &&
	      fake_last()->parameters[3] == 1024);
	CHECK(any != sixteen);
	CHECK(cubin_of(1001, 0) == any && cubin_of(16, 0) == sixteen);
	CHECK(fake_count("cuLibraryLoadData") == 2);
}

static void algos_are_chosen_by_number(void)
{
	start();
	CHECK(add_kernel_get_num_algos() == 2);
	CHECK(cubin_of(4096, 0) != cubin_of(4096, 1));
	CHECK(fake_last()->grid[0] == 4);
	CHECK(add_kernel_default(NULL, 16, 16, 16, 4096) == CUDA_SUCCESS);
	CHECK(fake_last()->grid[0] == 16);
}

static void a_number_that_is_no_algo_is_an_error(void)
{
	start();
	CHECK(add_kernel(NULL, 16, 16, 16, 16, 2) == CUDA_ERROR_INVALID_VALUE);
	CHECK(add_kernel(NULL, 16, 16, 16, 16, -1) == CUDA_ERROR_INVALID_VALUE);
	CHECK(add_kernel(NULL, 16, 16, 16, 16, 2147483647) ==
	      CUDA_ERROR_INVALID_VALUE);
	CHECK_CALLS("");
}

static void arguments_that_no_launcher_takes_are_an_error(void)
{
	start();
	CHECK(add_kernel(NULL, 16, 16, 16, 1000, 1) ==
	      CUDA_ERROR_INVALID_VALUE);
	CHECK(add_kernel(NULL, 8, 16, 16, 1000, 0) == CUDA_ERROR_INVALID_VALUE);
	CHECK_CALLS("");
}

static void all_are_loaded_and_unloaded_together(void)
{
	start();
	CHECK(load_add_kernel() == CUDA_SUCCESS);
	CHECK(fake_loaded() == 3);
	CHECK(unload_add_kernel() == CUDA_SUCCESS);
	CHECK(fake_loaded() == 0);
	for (int n = 1; n <= 6; n++) {
		start();
		fake_fail(n, CUDA_ERROR_OUT_OF_MEMORY);
		CHECK(load_add_kernel() == CUDA_ERROR_OUT_OF_MEMORY);
	}
	for (int n = 1; n <= 3; n++) {
		start();
		CHECK(load_add_kernel() == CUDA_SUCCESS);
		fake_fail(n, CUDA_ERROR_INVALID_CONTEXT);
		CHECK(unload_add_kernel() == CUDA_ERROR_INVALID_CONTEXT);
		CHECK(fake_loaded() == 0);
	}
}

int main(void)
{
	RUN(arguments_choose_the_launcher);
	RUN(algos_are_chosen_by_number);
	RUN(a_number_that_is_no_algo_is_an_error);
	RUN(arguments_that_no_launcher_takes_are_an_error);
	RUN(all_are_loaded_and_unloaded_together);
	return check_failures == 0 ? 0 : 1;
}
