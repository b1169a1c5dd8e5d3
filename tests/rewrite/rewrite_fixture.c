/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite_fixture.h"

#include <llvm-c/Analysis.h>

#include "base/path.h"
#include "llvm/llvm_values.h"

static const char after[] = ".after";

struct tkb_bytes rewrite_file(const char *name)
{
	return ir_text(text("rewrite/%s.ll", name));
}

struct rule_set *rewrite_rules(LLVMContextRef context, const char *name,
                               bool has_built_in)
{
	struct rule_set *rules = NULL;

	if (has_built_in)
		OK(rules_read_built_in(context, NULL, NULL, &rules, ERR));
	else
		OK(rules_read(context, rewrite_file(text("%s.rules", name)),
		              name, &rules, ERR));
	return rules;
}

/* The text of a function behind its name. */
static const char *body_of(LLVMValueRef function)
{
	AUTO_LLVM_MESSAGE whole = LLVMPrintValueToString(function);

	return text("%s", strchr(whole, '{'));
}

/* What each function must become, in the order of the module. */
static const char **list_wanted(LLVMModuleRef module, size_t *count_out)
{
	const char **wanted = test_alloc(256 * sizeof(*wanted));
	size_t count = 0;

	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;
	     at = LLVMGetNextFunction(at)) {
		LLVMValueRef other;

		if (LLVMIsDeclaration(at))
			continue;
		other = LLVMGetNamedFunction(
			module, text("%s%s", llvm_name(at), after));
		CHECK(count < 256);
		wanted[count++] = body_of(other == NULL ? at : other);
	}
	*count_out = count;
	return wanted;
}

static void check_module(LLVMModuleRef module, const char **wanted)
{
	AUTO_LLVM_MESSAGE message = NULL;
	size_t count = 0;

	if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
		fail_msg("%s", message);
	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;
	     at = LLVMGetNextFunction(at)) {
		const char *got;

		if (LLVMIsDeclaration(at))
			continue;
		got = body_of(at);
		if (strcmp(got, wanted[count]) != 0)
			fail_msg("@%s%s is\n%s\nand not\n%s", llvm_name(at),
			         tkb_name_ends_with(llvm_name(at), after)
			                 ? " (which must stay)"
			                 : "",
			         got, wanted[count]);
		count++;
	}
}

LLVMModuleRef rewrite_clone(const struct rule_set *rules,
                            const struct rule *rule)
{
	for (size_t i = 0; i < rules->module_count; i++) {
		if (LLVMGetGlobalParent(rule->pattern) == rules->modules[i])
			return LLVMCloneModule(rules->modules[i]);
	}
	fail_msg("the rule has no module");
	return NULL;
}

uint64_t rewrite_draw(uint64_t *state)
{
	uint64_t z;

	*state += UINT64_C(0x9e3779b97f4a7c15);
	z = *state;
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

const char *rewrite_check(const char *name, const struct rule_options *options,
                          bool has_built_in)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	BUF(log, 64 * TKB_KIB);
	const struct tkb_sink sink = tkb_buf_sink(&log);
	RULES(rules) = rewrite_rules(context, name, has_built_in);
	AUTO_LLVM(LLVMModuleRef) module = parse_ir(context, rewrite_file(name));
	size_t wanted_count = 0;
	const char **wanted = list_wanted(module, &wanted_count);

	OK(rules_apply(rules, module, options, &sink, NULL, ERR));
	check_module(module, wanted);
	return test_bytes(tkb_buf_bytes(&log));
}
