/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_GENERATE_H
#define TKB_TESTS_GENERATE_H

/*
 * Modules for the oracle: a seed gives always the same. Each has one kernel,
 *
 *     kernel(ptr a, ptr b, ptr c, ptr d, i32 n, i64 m)
 *
 * of GENERATE_SIZE bytes behind each pointer, and n and m from 0 to 7. What is
 * behind two pointers may be the same, but where the kernel says that it is not;
 * an address is aligned as its parameter says, and not better.
 */

#include "finalize_fixture.h"
#include "rewrite_fixture.h"

enum {
	GENERATE_POINTERS = 4,
	GENERATE_SIZE = 512
};

/* What a module may have in it. */
struct generate_options {
	bool for_gpu; /* nothing that a GPU does not know; all of it defined */
};

/* IR, as a text that is freed with `out`. */
void generate_ir(uint64_t seed, const struct generate_options *options,
                 struct tkb_buf *out);

/* A kernel that holds what a rule looks for; the caller disposes of it. */
LLVMModuleRef generate_of_rule(const struct rule_set *rules,
                               const struct rule *rule, uint64_t seed);

#endif
