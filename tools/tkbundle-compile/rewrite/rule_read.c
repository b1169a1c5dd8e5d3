/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite/rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>

#include "base/path.h"
#include "llvm/llvm_handles.h"
#include "rewrite/rewrite_match.h"
#include "worker/fail.h"

static const char pattern_tail[] = ".pattern";
static const char replacement_tail[] = ".replacement";

/* Find the function whose name has `other` instead of `tail`. */
static LLVMValueRef find_half(LLVMModuleRef module, const char *name,
                              const char *tail, const char *other)
{
	char half[512];
	LLVMValueRef function;
	const int size =
		snprintf(half, sizeof(half), "%.*s%s",
	                 (int)(strlen(name) - strlen(tail)), name, other);

	if (size < 0 || (size_t)size >= sizeof(half))
		return NULL;
	function = LLVMGetNamedFunction(module, half);
	return function == NULL || LLVMIsDeclaration(function) ? NULL
	                                                       : function;
}

/* Refuse a replacement with its pattern in it: it would never end. */
static int check_termination(const struct rule *rule, struct tkb_error *err)
{
	TKB_AUTO(match_release) struct match match = { .rule = NULL };

	for (LLVMValueRef at = rule_first(rule->replacement); at != NULL;
	     at = LLVMGetNextInstruction(at)) {
		const int rc = match_rule(&match, rule, at, MATCH_LENIENT, err);

		if (rc < 0)
			return rc;
		if (rc == 0)
			return rule_fail(rule, err,
			                 "its replacement contains its "
			                 "pattern, which would never end");
	}
	return 0;
}

static int read_rule(struct rule_set *set, struct rule *rule,
                     LLVMModuleRef module, struct tkb_error *err)
{
	int rc;

	rule->parameter_count = LLVMCountParams(rule->pattern);
	if (rule->parameter_count > RULE_MAX_PARAMETERS)
		return rule_fail(rule, err, "it has too many parameters");
	if (LLVMCountParams(rule->replacement) != rule->parameter_count)
		return rule_fail(rule, err,
		                 "its pattern and its replacement have "
		                 "different types");
	rc = rule_read_tags(rule, err);
	if (rc == 0)
		rc = rule_check(rule, module, err);
	if (rc == 0)
		rc = rule_compile(rule, module, &set->arena, err);
	return rc < 0 ? rc : check_termination(rule, err);
}

static int add_rule(struct rule_set *set, const char *file,
                    LLVMModuleRef module, LLVMValueRef pattern,
                    struct tkb_error *err)
{
	const char *name = llvm_name(pattern);
	struct rule *rule = tkb_arena_alloc(&set->arena, 1, sizeof(*rule));
	int rc;

	if (rule == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_arena_copy(
		&set->arena,
		(struct tkb_bytes){ name, strlen(name) - strlen(pattern_tail) },
		&rule->name, err);
	if (rc < 0)
		return rc;
	rule->file = file;
	rule->pattern = pattern;
	rule->replacement =
		find_half(module, name, pattern_tail, replacement_tail);
	if (rule->replacement == NULL)
		return rule_fail(rule, err, "it has no replacement");
	rc = read_rule(set, rule, module, err);
	return rc < 0 ? rc
	              : tkb_append(&set->rules, &set->count, &set->capacity,
	                           &rule, sizeof(struct rule *), err);
}

/* Handle a function that the rule file defines. */
static int read_function(struct rule_set *set, const char *file,
                         LLVMModuleRef module, LLVMValueRef function,
                         struct tkb_error *err)
{
	const char *name = llvm_name(function);

	if (tkb_name_ends_with(name, pattern_tail))
		return add_rule(set, file, module, function, err);
	if (tkb_name_ends_with(name, replacement_tail)) {
		if (find_half(module, name, replacement_tail, pattern_tail) !=
		    NULL)
			return 0;
		return fail(err, TKB_ERR_INVALID,
		            "rule '%.*s' of '%s': it has no pattern",
		            (int)(strlen(name) - strlen(replacement_tail)),
		            name, file);
	}
	if (strstr(name, RULE_ALTERNATIVE) != NULL)
		return 0;
	return fail(err, TKB_ERR_INVALID,
	            "function '%s' of '%s': it is not a pattern, replacement "
	            "or alternative",
	            name, file);
}

static int parse_rules(LLVMContextRef context, struct tkb_bytes text,
                       const char *name, LLVMModuleRef *out,
                       struct tkb_error *err)
{
	AUTO_LLVM_MESSAGE message = NULL;
	/* LLVMParseIRInContext() takes it over */
	LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
		text.data, text.size, name);

	if (LLVMParseIRInContext(context, buffer, out, &message)) {
		*out = NULL;
		return fail(err, TKB_ERR_INVALID, "rules '%s': bad IR: %s",
		            name, message);
	}
	if (LLVMVerifyModule(*out, LLVMReturnStatusAction, &message))
		return fail(err, TKB_ERR_INVALID, "rules '%s': bad IR: %s",
		            name, message);
	return 0;
}

/* Read a file into `set`; after a failure, `set` may have some of its rules. */
static int read_rules_file(struct rule_set *set, LLVMContextRef context,
                           struct tkb_bytes text, const char *name,
                           struct tkb_error *err)
{
	AUTO_LLVM(LLVMModuleRef) module = NULL;
	char *file = tkb_arena_string(&set->arena, tkb_text(name));
	int rc;

	if (file == NULL)
		return tkb_fail_nomem(err);
	rc = parse_rules(context, text, file, &module, err);
	if (rc == 0)
		rc = tkb_grow(&set->modules, &set->module_capacity,
		              set->module_count, sizeof(LLVMModuleRef), err);
	if (rc < 0)
		return rc;
	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;
	     at = LLVMGetNextFunction(at)) {
		if (LLVMIsDeclaration(at))
			continue;
		rc = read_function(set, file, module, at, err);
		if (rc < 0)
			return rc;
	}
	set->modules[set->module_count++] = tkb_take(module);
	return 0;
}

TKB_AUTO_POINTER(release_set, struct rule_set, rules_free)

int rules_read(LLVMContextRef context, struct tkb_bytes text, const char *name,
               struct rule_set **rules, struct tkb_error *err)
{
	TKB_AUTO(release_set) struct rule_set *fresh = NULL;
	struct rule_set *set = *rules;
	size_t count;
	int rc;

	if (set == NULL) {
		fresh = calloc(1, sizeof(*fresh));
		if (fresh == NULL)
			return tkb_fail_nomem(err);
		set = fresh;
	}
	count = set->count;
	rc = read_rules_file(set, context, text, name, err);
	if (rc < 0) {
		set->count = count;
		return rc;
	}
	*rules = set;
	fresh = NULL;
	return 0;
}

void rules_free(struct rule_set *rules)
{
	if (rules == NULL)
		return;
	for (size_t i = 0; i < rules->module_count; i++)
		LLVMDisposeModule(rules->modules[i]);
	free(rules->modules);
	free(rules->rules);
	tkb_arena_release(&rules->arena);
	free(rules);
}
