/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite/rule.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "worker/fail.h"

int rule_fail(const struct rule *rule, struct tkb_error *err,
              const char *format, ...)
{
	char reason[256];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	return fail(err, TKB_ERR_INVALID, "rule '%s' of '%s': %s", rule->name,
	            rule->file, reason);
}

size_t rule_size(LLVMValueRef function)
{
	size_t count = 0;

	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
	     block != NULL; block = LLVMGetNextBasicBlock(block)) {
		for (LLVMValueRef at = LLVMGetFirstInstruction(block);
		     at != NULL; at = LLVMGetNextInstruction(at))
			count++;
	}
	return count;
}

bool rule_has_alternatives(LLVMModuleRef module, const char *name)
{
	return rule_next_alternative(module, name, NULL) != NULL;
}

LLVMValueRef rule_next_alternative(LLVMModuleRef module, const char *name,
                                   LLVMValueRef at)
{
	at = at == NULL ? LLVMGetFirstFunction(module)
	                : LLVMGetNextFunction(at);
	while (at != NULL) {
		const char *way = llvm_name(at);

		if (!LLVMIsDeclaration(at) && tkb_begins_with(way, name) &&
		    tkb_begins_with(way + strlen(name), RULE_ALTERNATIVE))
			return at;
		at = LLVMGetNextFunction(at);
	}
	return NULL;
}
