/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite_fixture.h"

#include <llvm-c/Analysis.h>

static const char after[] = ".after";

static const char *name_of(LLVMValueRef function)
{
	size_t size = 0;

	return LLVMGetValueName2(function, &size);
}

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

static bool is_after(const char *name)
{
	const size_t size = strlen(name);

	return size > strlen(after) &&
	       strcmp(name + size - strlen(after), after) == 0;
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
		other = LLVMGetNamedFunction(module,
		                             text("%s%s", name_of(at), after));
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
			fail_msg("@%s%s is\n%s\nand not\n%s", name_of(at),
			         is_after(name_of(at)) ? " (which must stay)"
			                               : "",
			         got, wanted[count]);
		count++;
	}
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
