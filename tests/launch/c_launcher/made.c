/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Runs launchers of kernels that kernels.py made: SCALARS, with every type of
 * number, those of `fill` by their link, CLUSTERED and NOTHING. With an
 * argument, it reads numbers and prints what of each is passed as fp16 and as
 * bf16.
 */
#include <stdlib.h>

#include CLUSTERED_HEADER
#include LINKED_HEADER
#include NOTHING_HEADER
#include SCALARS_HEADER

#include "check.h"

static const char scalar_sizes[] = "811281248224888";

static CUresult scalars(double half, double brain, double single, double full)
{
	return SCALARS(NULL, 1, 1, 1, 64, 1, -2, -300, -5000000000, 200, 60000,
	               4000000000u, 10000000000000000000ull, half, brain,
	               single, full);
}

static void numbers_are_passed_as_the_kernel_takes_them(void)
{
	static const unsigned long long wanted[] = { 64,
		                                     1,
		                                     0xfe,
		                                     0xfed4,
		                                     0xfffffffed5fa0e00,
		                                     200,
		                                     60000,
		                                     4000000000,
		                                     10000000000000000000ull,
		                                     0x3e00,
		                                     0x3fc0,
		                                     0x3fc00000,
		                                     0x3ff8000000000000,
		                                     0,
		                                     0 };

	fake_reset(scalar_sizes);
	CHECK(scalars(1.5, 1.5, 1.5, 1.5) == CUDA_SUCCESS);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		CHECK(fake_last()->parameters[i] == wanted[i]);
	CHECK(fake_last()->block[0] == 32);
}

static void what_is_too_large_for_16_bits_is_an_error(void)
{
	fake_reset(scalar_sizes);
	CHECK(scalars(65520, 0, 0, 0) == CUDA_ERROR_INVALID_VALUE);
	CHECK(scalars(-1e300, 0, 0, 0) == CUDA_ERROR_INVALID_VALUE);
	CHECK(scalars(65519.99, 0, 0, 0) == CUDA_SUCCESS);
	CHECK(fake_last()->parameters[9] == 0x7bff);
	CHECK(fake_launches() == 1);
}

static void a_launch_has_the_attributes_that_the_kernel_asks_for(void)
{
	const struct fake_launch *const last = fake_last();

	fake_reset("84488");
	CHECK(CLUSTERED(NULL, 5, 6, 7, 16, 3, 32) == CUDA_SUCCESS);
	CHECK(last->is_extended && last->attribute_count == 4);
	CHECK(last->grid[0] == 10 && last->grid[1] == 6 && last->grid[2] == 7);
	CHECK(last->block[0] == 128);
	CHECK(last->attributes[0].id ==
	      CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
	CHECK(last->attributes[0]
	              .value.programmaticStreamSerializationAllowed == 1);
	CHECK(last->attributes[1].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
	CHECK(last->attributes[1].value.cooperative == 1);
	CHECK(last->attributes[2].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
	CHECK(last->attributes[2].value.clusterDim.x == 2 &&
	      last->attributes[2].value.clusterDim.y == 1 &&
	      last->attributes[2].value.clusterDim.z == 1);
	CHECK(last->attributes[3].id ==
	      CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
	CHECK(fake_count("cuKernelSetAttribute") == 0);
	CHECK(last->parameters[0] == 16 && last->parameters[1] == 3 &&
	      last->parameters[2] == 32);
}

static void a_kernel_may_take_nothing(void)
{
	fake_reset("88");
	CHECK(NOTHING(NULL, 1, 2, 3) == CUDA_SUCCESS);
	CHECK(fake_last()->parameters[0] == 0 && fake_last()->grid[2] == 3 &&
	      fake_last()->block[0] == 64);
}

/* Algo 0 has launchers for any n, for multiples of 16 and for 1. */
static void a_value_chooses_the_launcher(void)
{
	const struct fake_launch *const last = fake_last();
	const void *any;
	const void *sixteen;

	fake_reset("84488");
	CHECK(fill_get_num_algos() == 2);
	CHECK(fill_default(NULL, 1, 1, 1, 16, 3, 7) == CUDA_SUCCESS);
	any = last->cubin;
	CHECK(last->parameters[1] == 3 && last->parameters[2] == 7);
	CHECK(fill(NULL, 1, 1, 1, 16, 32, 7, 0) == CUDA_SUCCESS);
	sixteen = last->cubin;
	CHECK(sixteen != any);

	fake_reset("8488");
	CHECK(fill(NULL, 1, 1, 1, 16, 1, 7, 0) == CUDA_SUCCESS);
	CHECK(last->cubin != any && last->cubin != sixteen);
	CHECK(last->parameters[0] == 16 && last->parameters[1] == 7 &&
	      last->parameters[2] == 0);

	fake_reset("84488");
	CHECK(fill(NULL, 1, 1, 1, 16, 1, 7, 1) == CUDA_SUCCESS);
	CHECK(last->block[0] == 256 && last->parameters[1] == 1);
}

static int print_packed(void)
{
	double number;

	while (scanf("%la", &number) == 1) {
		fake_reset(scalar_sizes);
		if (scalars(number, number, 0, 0) != CUDA_SUCCESS)
			printf("- -\n");
		else
			printf("%04llx %04llx\n", fake_last()->parameters[9],
			       fake_last()->parameters[10]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return print_packed();
	RUN(numbers_are_passed_as_the_kernel_takes_them);
	RUN(what_is_too_large_for_16_bits_is_an_error);
	RUN(a_launch_has_the_attributes_that_the_kernel_asks_for);
	RUN(a_kernel_may_take_nothing);
	RUN(a_value_chooses_the_launcher);
	return check_failures == 0 ? 0 : 1;
}
