/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite/rule.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "worker/fail.h"

static const char alternative_mark[] = ".either.";

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

bool rule_has_alternatives(LLVMModuleRef module, const char *name)
{
	return rule_next_alternative(module, name, NULL) != NULL;
}

LLVMValueRef rule_next_alternative(LLVMModuleRef module, const char *name,
                                   LLVMValueRef at)
{
	const size_t size = strlen(name);

	at = at == NULL ? LLVMGetFirstFunction(module)
	                : LLVMGetNextFunction(at);
	while (at != NULL) {
		const char *way = llvm_name(at);

		if (!LLVMIsDeclaration(at) && strncmp(way, name, size) == 0 &&
		    strncmp(way + size, alternative_mark,
		            strlen(alternative_mark)) == 0)
			return at;
		at = LLVMGetNextFunction(at);
	}
	return NULL;
}
