/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_REWRITE_H
#define TKB_COMPILE_REWRITE_H

/*
 * Rewrites a module by rules. A rule is a pair of functions in LLVM IR: a
 * pattern and a replacement (rule.h describes the language).
 *
 *     struct rule_set *rules = NULL;
 *
 *     rc = rules_read_built_in(context, NULL, NULL, &rules, err);
 *     if (rc == 0)
 *             rc = rules_read(context, text, "mine.ll", &rules, err);
 *     if (rc == 0)
 *             rc = rules_apply(rules, module, &options, log, &count, err);
 *     rules_free(rules);
 *
 * Rules belong to the context that they were read into: free them before it,
 * and apply them to its modules only. They are tried in the order in which they
 * were read.
 */

#include <tkbundle/tkbundle.h>

#include <llvm-c/Core.h>

struct rule_set;

/* Options for rules_apply(). Zero means the default. */
struct rule_options {
	bool is_fast;  /* also apply rules that change rounding */
	uint32_t arch; /* 90 is sm_90; 0: only rules for any architecture */
};

/*
 * Append the rules of `text`, a file of LLVM IR called `name`, to `*rules`;
 * NULL there starts a new set.
 *
 * @return 0; TKB_ERR_INVALID with the file, the rule and the reason (no rule of
 *         the file was added); or TKB_ERR_NOMEM
 */
TKB_NODISCARD int rules_read(LLVMContextRef context, struct tkb_bytes text,
                             const char *name, struct rule_set **rules,
                             struct tkb_error *err);

/* Should this file, such as "dp4a.ll", be read? */
typedef bool rule_choice(const char *file, const void *self);

/*
 * Append the rules that are built into this program: those of the files that
 * `is_chosen` accepts, or of all files if it is NULL.
 */
TKB_NODISCARD int rules_read_built_in(LLVMContextRef context,
                                      rule_choice *is_chosen, const void *self,
                                      struct rule_set **rules,
                                      struct tkb_error *err);

/* NULL is allowed. */
void rules_free(struct rule_set *rules);

/*
 * Rewrite every function of `module` until no rule matches, and write to `log`
 * (NULL is allowed) how often each rule was applied. Unused instructions that
 * remain are removed. The same module and rules give the same result.
 *
 * @param count_out  receives the number of rewrites; NULL is allowed
 * @return 0; TKB_ERR_INVALID if the rules never end (the module is then valid,
 *         but partly rewritten); TKB_ERR_NOMEM, or the sink's own error
 */
TKB_NODISCARD int rules_apply(const struct rule_set *rules,
                              LLVMModuleRef module,
                              const struct rule_options *options,
                              const struct tkb_sink *log, size_t *count_out,
                              struct tkb_error *err);

#endif
