/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_ORACLE_H
#define TKB_TESTS_ORACLE_H

/*
 * Does finalize change what a kernel computes? A module is run before and after
 * each step alone, and all together, on the same inputs: memory, and what else
 * can be seen, must be the same. Where the original is poison, anything may be;
 * where it is undefined, nothing is asked. A kernel may not become undefined, nor
 * read or write a byte of its parameters that it did not. Arguments that are bound
 * to an input's values must not change what is done with this input. Both are run
 * as code generation makes them: it fuses products and sums, and rounds them once.
 */

#include "finalize_fixture.h"

enum {
	ORACLE_STEPS = 32,
	ORACLE_RULES = 256
};

struct oracle {
	LLVMTargetMachineRef machine;
	size_t step_count;
	/* How often each step changed a module, and each rule did. */
	size_t changed[ORACLE_STEPS];
	char rule_names[ORACLE_RULES][96];
	size_t rule_counts[ORACLE_RULES];
	size_t rule_count;
	size_t modules;
	size_t runs;      /* of a changed module, with an input */
	size_t bound[2];  /* arguments: numbers, and memory */
	size_t undefined; /* inputs on which the original is that */
	size_t unknown;   /* modules that have what the machine does not know */
	char why[96];     /* of the last one */
	/* The user's rules that take part, too. */
	struct texts rules;
	enum tkb_quant quant;
	bool is_fast; /* with rules that change rounding */
	int only;     /* the one variant that is looked at, or -1 */
};

struct mismatch {
	int variant; /* a step; tkb_finalize_step_count(): all of them */
	const char *name;
	char what[256];
};

/* False, and what is wrong, where a variant computes something else. */
bool oracle_check(struct oracle *oracle, LLVMModuleRef module,
                  struct mismatch *out);

/* The same of two modules with one kernel, whoever made `after` of `before`. */
bool oracle_same(struct oracle *oracle, LLVMModuleRef before,
                 LLVMModuleRef after, struct mismatch *out);

void oracle_open(struct oracle *oracle);

/* The smallest module that is still wrong; takes `module` over. */
LLVMModuleRef oracle_shrink(struct oracle *oracle, LLVMModuleRef module,
                            const struct mismatch *mismatch);

#endif
