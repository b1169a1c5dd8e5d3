/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quant/quant.h"
#include "rewrite/rewrite.h"

uint32_t finalize_arch(LLVMTargetMachineRef machine)
{
	AUTO_LLVM_MESSAGE cpu = NULL;

	if (machine == NULL)
		return 0;
	cpu = LLVMGetTargetMachineCPU(machine);
	return strncmp(cpu, "sm_", 3) == 0
	               ? (uint32_t)strtoul(cpu + 3, NULL, 10)
	               : 0;
}

/* Are the rules of a built-in file part of the requested scheme? */
static bool is_chosen(const char *file, const void *request)
{
	const struct finalize_request *const chosen = request;

	return quant_has_rules(chosen->quant, file);
}

static int read_rules(const struct finalize *finalize, struct rule_set **rules,
                      struct tkb_error *err)
{
	const struct texts *texts = &finalize->request->rules;
	LLVMContextRef context = LLVMGetModuleContext(finalize->module);
	const struct texts *names = &finalize->request->rule_names;
	char number[32];
	int rc;

	rc = rules_read_built_in(context, is_chosen, finalize->request, rules,
	                         err);
	for (size_t i = 0; i < texts->count && rc == 0; i++) {
		const char *text = texts->items[i];

		(void)snprintf(number, sizeof(number), "rules %zu", i + 1);
		rc = rules_read(context,
		                (struct tkb_bytes){ text, strlen(text) },
		                i < names->count ? names->items[i] : number,
		                rules, err);
	}
	return rc;
}

int finalize_fuse(struct finalize *finalize, struct tkb_error *err)
{
	const struct rule_options options = {
		.is_fast = finalize->request->is_fast,
		.arch = finalize_arch(finalize->machine),
	};
	struct rule_set *rules = NULL;
	size_t count = 0;
	int rc;

	rc = read_rules(finalize, &rules, err);
	if (rc == 0)
		rc = rules_apply(rules, finalize->module, &options,
		                 finalize->log, &count, err);
	rules_free(rules);
	finalize_count(finalize, count, "rewrite");
	return rc;
}
