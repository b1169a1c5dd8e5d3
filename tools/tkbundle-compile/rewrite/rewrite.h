/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_REWRITE_H
#define TKB_COMPILE_REWRITE_H

/*
 * Rewriting a module by rules. A rule is a pair of functions in LLVM IR, what
 * to look for and what to put there (rule.h has the language):
 *
 *     struct rule_set *rules = NULL;
 *
 *     rc = rules_read_built_in(context, &rules, err);
 *     if (rc == 0)
 *             rc = rules_read(context, text, "mine.ll", &rules, err);
 *     if (rc == 0)
 *             rc = rules_apply(rules, module, &options, log, &count, err);
 *     rules_free(rules);
 *
 * Rules belong to the context that they were read into: they are freed before
 * it, and apply to modules of that context. The order in which they were read
 * is that in which they are tried.
 */

#include <tkbundle/tkbundle.h>

#include <llvm-c/Core.h>

struct rule_set;

/* Zero in a field is its default. */
struct rule_options {
	bool is_fast;  /* rules that change rounding, too */
	uint32_t arch; /* 90 is sm_90; 0: no rule that asks for one */
};

/*
 * Append the rules of `text`, a file of LLVM IR called `name`, to `*rules`; a
 * NULL there begins a new set.
 *
 * @return 0; TKB_ERR_INVALID with the file, the rule and what is wrong with it
 *         (then none of the file's rules was added); or TKB_ERR_NOMEM
 */
TKB_NODISCARD int rules_read(LLVMContextRef context, struct tkb_bytes text,
                             const char *name, struct rule_set **rules,
                             struct tkb_error *err);

/* Append the rules that come with this program. */
TKB_NODISCARD int rules_read_built_in(LLVMContextRef context,
                                      struct rule_set **rules,
                                      struct tkb_error *err);

/* NULL is allowed. */
void rules_free(struct rule_set *rules);

/*
 * Rewrite every function of `module` until no rule matches, and say in `log`
 * (NULL is allowed) how often each rule did. What a rewrite leaves without a
 * use is removed. The same module and rules give the same result.
 *
 * @param count_out  receives how many rewrites there were; NULL is allowed
 * @return 0; TKB_ERR_INVALID where the rules go on for ever (the module is then
 *         whole, but half rewritten); TKB_ERR_NOMEM, or what the sink returned
 */
TKB_NODISCARD int rules_apply(const struct rule_set *rules,
                              LLVMModuleRef module,
                              const struct rule_options *options,
                              const struct tkb_sink *log, size_t *count_out,
                              struct tkb_error *err);

#endif
