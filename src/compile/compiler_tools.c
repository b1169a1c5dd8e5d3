/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler_inside.h"
#include "compile/fields.h"

static int read_tools(struct tkb_compiler *compiler, struct tkb_bytes answer,
                      struct tkb_tools *tools, struct tkb_error *err)
{
	struct tkb_fields fields = { .bytes = answer };
	enum tkb_field field;
	struct tkb_bytes bytes;
	int rc;

	tools->llvm = tools->nvrtc = tools->ptxas = tools->nvjitlink = "";
	tools->text = "";
	for (;;) {
		const char **place = NULL;

		rc = tkb_fields_next(&fields, &field, &bytes, err);
		if (rc != 0)
			return rc < 0 ? rc : 0;
		if (field == TKB_FIELD_LLVM)
			place = &tools->llvm;
		else if (field == TKB_FIELD_NVRTC)
			place = &tools->nvrtc;
		else if (field == TKB_FIELD_PTXAS_VERSION)
			place = &tools->ptxas;
		else if (field == TKB_FIELD_NVJITLINK)
			place = &tools->nvjitlink;
		else if (field == TKB_FIELD_TOOLS)
			place = &tools->text;
		if (place != NULL)
			rc = tkb_compiler_keep(&compiler->arena, bytes, place,
			                       err);
		if (rc < 0)
			return rc;
	}
}

/* A job that compiles nothing tells what would. */
static int ask(struct tkb_compiler *compiler, const char *arch,
               struct tkb_future **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf request = TKB_BUF_INIT(TKB_COMPILE_TEXT_LIMIT);
	struct tkb_job job = { .timeout_ms = compiler->timeout_ms };
	int rc;

	tkb_field_add_number(&request, TKB_FIELD_INPUT, TKB_INPUT_NONE);
	tkb_field_add_text(&request, TKB_FIELD_ARCH, arch);
	tkb_buf_add(&request, tkb_buf_bytes(&compiler->choices));
	rc = tkb_buf_check(&request, err);
	if (rc < 0)
		return rc;
	job.request = tkb_buf_bytes(&request);
	return tkb_pool_submit(compiler->pool, &job, out, err);
}

static int get(struct tkb_compiler *compiler, struct tkb_tools *tools,
               const char *arch, uint32_t timeout_ms, struct tkb_error *err)
{
	struct tkb_bytes answer;
	int rc = 0;

	if (tools->is_known)
		return 0;
	if (tools->future == NULL)
		rc = ask(compiler, arch, &tools->future, err);
	if (rc == 0)
		rc = tkb_future_wait(tools->future, timeout_ms, &answer, err);
	if (rc == TKB_MISS)
		return rc;
	if (rc == 0)
		rc = read_tools(compiler, answer, tools, err);
	tools->is_known = rc == 0;
	tkb_future_free(tools->future);
	tools->future = NULL;
	return rc;
}

int tkb_tools_get(struct tkb_compiler *compiler, const char *target,
                  uint32_t timeout_ms, const struct tkb_tools **out,
                  struct tkb_error *err)
{
	const char *arch = NULL;
	size_t index = 0;
	int rc;

	rc = tkb_target_find(target, &index, &arch, err);
	if (rc < 0)
		return rc;
	(void)pthread_mutex_lock(&compiler->lock);
	rc = get(compiler, &compiler->tools[index], arch, timeout_ms, err);
	(void)pthread_mutex_unlock(&compiler->lock);
	if (rc == 0)
		*out = &compiler->tools[index];
	return rc;
}

int tkb_compiler_tools(struct tkb_compiler *compiler, const char *target,
                       uint32_t timeout_ms, const char **out,
                       struct tkb_error *err)
{
	const struct tkb_tools *tools = NULL;
	int rc;

	rc = tkb_tools_get(compiler, target, timeout_ms, &tools, err);
	if (rc == 0)
		*out = tools->text;
	return rc;
}
