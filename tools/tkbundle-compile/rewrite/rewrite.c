/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite/rewrite.h"

#include <stdio.h>

#include "llvm/llvm_handles.h"
#include "rewrite/rewrite_build.h"
#include "rewrite/rewrite_cost.h"

enum {
	REWRITES_EACH = 16, /* limit per instruction of a function */
	REWRITES_MORE = 256
};

/* One run of a rule set over a module. */
struct run {
	const struct rule_set *set;
	LLVMModuleRef module;
	const struct rule_options *options;
	LLVMBuilderRef builder;
	struct match match;
	size_t *counts;    /* per rule */
	size_t count;      /* over all rules */
	size_t count_left; /* rewrites left in this function */
	bool has_changed;
};

static bool is_asked_for(const struct rule *rule,
                         const struct rule_options *options)
{
	return (options->is_fast || !rule->is_fast) &&
	       rule->arch <= options->arch;
}

/* Apply the first rule that matches at `root`; TKB_MISS if none does. */
static int rewrite_at(struct run *run, LLVMValueRef root, struct tkb_error *err)
{
	for (size_t i = 0; i < run->set->count; i++) {
		const struct rule *rule = run->set->rules[i];
		int rc;

		if (!is_asked_for(rule, run->options))
			continue;
		rc = match_rule(&run->match, rule, root, MATCH_STRICT, err);
		if (rc < 0)
			return rc;
		if (rc != 0 || !cost_is_worth_it(&run->match))
			continue;
		if (run->count_left == 0)
			return rule_fail(rule, err,
			                 "together with the others, it never "
			                 "ends");
		run->count_left--;
		run->counts[i]++;
		run->count++;
		rc = build_replacement(&run->match, run->module, run->builder,
		                       err);
		match_forget(&run->match);
		return rc;
	}
	return TKB_MISS;
}

/* Backwards: sums come before their parts. Replacements are visited again. */
static int rewrite_block(struct run *run, LLVMBasicBlockRef block,
                         struct tkb_error *err)
{
	LLVMValueRef behind = LLVMGetBasicBlockTerminator(block);
	LLVMValueRef at = LLVMGetPreviousInstruction(behind);

	match_forget(&run->match);
	while (at != NULL) {
		const int rc = rewrite_at(run, at, err);

		if (rc < 0)
			return rc;
		if (rc == 0)
			run->has_changed = true;
		else
			behind = at;
		at = LLVMGetPreviousInstruction(behind);
	}
	return 0;
}

static int rewrite_function(struct run *run, LLVMValueRef function,
                            struct tkb_error *err)
{
	run->count_left = REWRITES_EACH * rule_size(function) + REWRITES_MORE;
	do {
		run->has_changed = false;
		for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
		     block != NULL; block = LLVMGetNextBasicBlock(block)) {
			const int rc = rewrite_block(run, block, err);

			if (rc < 0)
				return rc;
		}
	} while (run->has_changed);
	return 0;
}

static int log_counts(const struct run *run, const struct tkb_sink *log,
                      struct tkb_error *err)
{
	for (size_t i = 0; i < run->set->count; i++) {
		const struct rule *rule = run->set->rules[i];
		char line[600];
		int rc;

		if (run->counts[i] == 0)
			continue;
		(void)snprintf(line, sizeof(line),
		               "rule '%.200s' of '%.200s': %zu time%s\n",
		               rule->name, rule->file, run->counts[i],
		               run->counts[i] == 1 ? "" : "s");
		rc = log->write(log->self, tkb_text(line), err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int rewrite_module(struct run *run, struct tkb_error *err)
{
	for (LLVMValueRef function = LLVMGetFirstFunction(run->module);
	     function != NULL; function = LLVMGetNextFunction(function)) {
		const int rc = rewrite_function(run, function, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static void release_run(struct run *run)
{
	match_release(&run->match);
}

int rules_apply(const struct rule_set *rules, LLVMModuleRef module,
                const struct rule_options *options, const struct tkb_sink *log,
                size_t *count_out, struct tkb_error *err)
{
	AUTO_LLVM(LLVMBuilderRef)
	builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
	TKB_AUTO(tkb_free_at)
	size_t *counts = tkb_alloc_array(rules->count, sizeof(*counts));
	TKB_AUTO(release_run)
	struct run run = { .set = rules,
		           .module = module,
		           .options = options,
		           .builder = builder,
		           .counts = counts };
	int rc;

	if (counts == NULL)
		return tkb_fail_nomem(err);
	rc = rewrite_module(&run, err);
	if (rc == 0 && log != NULL)
		rc = log_counts(&run, log, err);
	if (rc == 0 && count_out != NULL)
		*count_out = run.count;
	return rc;
}
