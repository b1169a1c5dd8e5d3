/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_REWRITE_EXACT_H
#define TKB_TESTS_REWRITE_EXACT_H

/*
 * Is an exact rule exact? Its two halves run on this processor, on edges and on
 * random values that pass its filters, and must give the same bits (a NaN is a
 * NaN). Where the pattern is poison, by its flags, or undefined, by a division,
 * nothing is asked of the replacement. Of several ways to write a thing each
 * call takes any. What only a GPU has is written in C here.
 */

#include "rewrite_fixture.h"

struct exactness {
	size_t count;         /* inputs that were tried */
	size_t defined_count; /* where the pattern is defined */
	bool is_exact;
	const char *difference; /* the first one, where it is not */
};

/* Runs `count` inputs. Fails the test where the rule cannot be run. */
void rewrite_run(const struct rule_set *rules, const struct rule *rule,
                 size_t count, struct exactness *out);

/* Instrument the functions of a module: a global `ok` becomes 0 on poison. */
void rewrite_instrument(LLVMModuleRef module, LLVMValueRef ok);

/* Give the module what only a GPU has, and all ways. */
void rewrite_complete(LLVMModuleRef module);

/* The C functions behind rewrite_complete(), for LLVM to find. */
void rewrite_map(void *engine, LLVMModuleRef module);

#endif
