/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_REWRITE_FIXTURE_H
#define TKB_TESTS_REWRITE_FIXTURE_H

/*
 * Modules before and after rules. Files are those of tests/rewrite: in NAME.ll,
 * the function `f` becomes what is written as `f.after`; one without is left as
 * it is. Rules stand in NAME.rules.ll. All fail the test where something is
 * wrong.
 */

#include "ir_text.h"

#include "llvm/llvm_handles.h"
#include "rewrite/rewrite.h"
#include "rewrite/rule.h"

/* tests/rewrite/<name>.ll; the test's memory. */
struct tkb_bytes rewrite_file(const char *name);

/* A variable that is freed with its block. */
#define RULES(name) TKB_AUTO(free_rules_at) struct rule_set *name
TKB_AUTO_POINTER(free_rules_at, struct rule_set, rules_free)

/* The built-in rules if `has_built_in`, then those of <name>.rules.ll. */
struct rule_set *rewrite_rules(LLVMContextRef context, const char *name,
                               bool has_built_in);

/* A copy of the module that a rule stands in; the caller disposes of it. */
LLVMModuleRef rewrite_clone(const struct rule_set *rules,
                            const struct rule *rule);

/* A sequence that is the same each time. */
uint64_t rewrite_draw(uint64_t *state);

/* Apply rules to <name>.ll, hold it against what it says, and give the log. */
const char *rewrite_check(const char *name, const struct rule_options *options,
                          bool has_built_in);

#endif
