/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_step.h"

#include "finalize/finalize_external.h"
#include "llvm/llvm_values.h"
#include "quant/quant.h"
#include "worker/fail.h"

/* Checks that the kernels to keep fit the scheme of quantization. */

static int check_schemes(const struct finalize *finalize,
                         const char *(*fault_of)(LLVMValueRef kernel,
                                                 enum tkb_quant quant),
                         struct tkb_error *err)
{
	const enum tkb_quant quant = finalize->request->quant;

	for (LLVMValueRef at = LLVMGetFirstFunction(finalize->module);
	     at != NULL; at = LLVMGetNextFunction(at)) {
		const char *fault = NULL;

		if (finalize_is_kernel(at) && finalize_keeps(finalize, at))
			fault = fault_of(at, quant);
		if (fault != NULL)
			return fail(err, TKB_ERR_INVALID,
			            "kernel '%s' cannot be quantized by "
			            "'%s': %s",
			            llvm_name(at), tkb_quant_name(quant),
			            fault);
	}
	return 0;
}

int finalize_check_quant(struct finalize *finalize, struct tkb_error *err)
{
	int rc;

	if (finalize->request->quant == TKB_QUANT_ANY)
		return 0;
	/* Variables in memory would hide how values are computed. */
	rc = finalize_run(finalize, "function(sroa)", err);
	return rc == 0 ? check_schemes(finalize, quant_fault, err) : rc;
}

int finalize_check_quant_done(const struct finalize *finalize,
                              struct tkb_error *err)
{
	/* A skipped step may be the one that would have applied the scheme. */
	if (finalize->request->without.count != 0)
		return 0;
	return check_schemes(finalize, quant_fault_done, err);
}
