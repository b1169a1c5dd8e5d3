/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/finalize.h>

#include "base/struct.h"
#include "compile/compiler/bindings.h"
#include "compile/compiler/compiler_internal.h"
#include "compile/pool/fields.h"
#include "compile/compiler/steps.h"

/* Client of the worker program: sends a module, receives a finalized one. */

static int write_finalize_request(struct tkb_bytes module,
                                  const struct tkb_finalize_options *options,
                                  struct tkb_buf *out, struct tkb_error *err)
{
	const char *target =
		options->target == NULL ? "cuda:80" : options->target;
	const char *arch;
	size_t index;
	int rc;

	rc = tkb_target_find(target, &index, &arch, err);
	if (rc < 0)
		return rc;
	tkb_field_add_number(out, TKB_FIELD_INPUT, TKB_INPUT_LLIR);
	tkb_field_add_number(out, TKB_FIELD_PRODUCT, TKB_PRODUCT_LLIR);
	tkb_field_add_text(out, TKB_FIELD_ARCH, arch);
	tkb_field_add_finalize_request(out, options);
	tkb_field_add(out, TKB_FIELD_SOURCE, module);
	return tkb_buf_check(out, err);
}

/* Write the module: only this part of the answer is needed. */
static int write_module(struct tkb_bytes answer, const struct tkb_sink *out,
                        struct tkb_error *err)
{
	struct tkb_fields fields = { .bytes = answer };
	struct tkb_bytes bytes;
	unsigned field;
	int rc;

	for (;;) {
		rc = tkb_fields_next(&fields, &field, &bytes, err);
		if (rc == TKB_MISS)
			return tkb_fail(err, TKB_ERR_CORRUPT,
			                "a worker's answer has no module");
		if (rc < 0)
			return rc;
		if (field == TKB_FIELD_LLIR)
			return out->write(out->self, bytes, err);
	}
}

int tkb_finalize_options_read(struct tkb_finalize_options *out,
                              const struct tkb_finalize_options *given,
                              struct tkb_error *err)
{
	int rc;

	rc = TKB_STRUCT_READ(tkb_finalize_options, is_bitcode, out, given, err);
	if (rc == 0)
		rc = tkb_steps_check(out->without, err);
	if (rc == 0)
		rc = tkb_quant_check(out->quant, err);
	return rc < 0 ? rc
	              : tkb_bindings_check(out->bindings, out->binding_count,
	                                   err);
}

int tkb_finalize(struct tkb_compiler *compiler, struct tkb_bytes module,
                 const struct tkb_finalize_options *options,
                 const struct tkb_sink *out, struct tkb_error *err)
{
	struct tkb_finalize_options chosen;
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf request = TKB_BUF_INIT(SIZE_MAX / 2);
	struct tkb_job job = { .struct_size = sizeof(job) };
	struct tkb_future *future = NULL;
	struct tkb_bytes answer;
	int rc;

	rc = tkb_finalize_options_read(&chosen, options, err);
	if (rc == 0)
		rc = write_finalize_request(module, &chosen, &request, err);
	if (rc < 0)
		return rc;
	job.request = tkb_buf_bytes(&request);
	rc = tkb_workers_submit(compiler, &job, &future, err);
	if (rc == 0)
		rc = tkb_future_wait(future, TKB_FOREVER, &answer, err);
	if (rc == 0)
		rc = write_module(answer, out, err);
	tkb_future_free(future);
	return rc;
}
