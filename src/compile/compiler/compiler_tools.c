/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler/compiler_internal.h"
#include "compile/pool/fields.h"
#include "compile/compiler/tools_memory.h"

static int read_tools(struct tkb_compiler *compiler, struct tkb_bytes answer,
                      struct tkb_tools *tools, struct tkb_error *err)
{
	const struct {
		unsigned field;
		const char **out;
	} texts[] = {
		{ TKB_FIELD_LLVM, &tools->versions.llvm },
		{ TKB_FIELD_WORKER, &tools->versions.worker },
		{ TKB_FIELD_NVRTC, &tools->versions.nvrtc },
		{ TKB_FIELD_PTXAS_VERSION, &tools->versions.ptxas },
		{ TKB_FIELD_NVJITLINK, &tools->versions.nvjitlink },
		{ TKB_FIELD_LIBDEVICE, &tools->libdevice },
		{ TKB_FIELD_TOOLS, &tools->text },
	};
	struct tkb_fields fields = { .bytes = answer };
	unsigned field;
	struct tkb_bytes bytes;
	int rc;

	for (size_t i = 0; i < TKB_COUNT_OF(texts); i++)
		*texts[i].out = "";
	do {
		rc = tkb_fields_next(&fields, &field, &bytes, err);
		for (size_t i = 0; i < TKB_COUNT_OF(texts) && rc == 0; i++) {
			if (texts[i].field == field)
				rc = tkb_arena_copy(&compiler->arena, bytes,
				                    texts[i].out, err);
		}
	} while (rc == 0);
	return rc == TKB_MISS ? 0 : rc;
}

/* Write a request that only asks about tools, and compute its digest. */
static int write_query(const struct tkb_compiler *compiler, const char *arch,
                       bool with_nvrtc, struct tkb_buf *request,
                       struct tkb_digest *query, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf all = TKB_BUF_INIT(2 * TKB_COMPILE_TEXT_LIMIT);
	int rc;

	tkb_field_add_number(request, TKB_FIELD_INPUT, TKB_INPUT_NONE);
	tkb_field_add_text(request, TKB_FIELD_ARCH, arch);
	tkb_buf_add(request, tkb_buf_bytes(&compiler->tools_request));
	tkb_field_add_flag(request, TKB_FIELD_WITHOUT_NVRTC, !with_nvrtc);
	rc = tkb_buf_check(request, err);
	if (rc < 0)
		return rc;
	tkb_buf_add(&all, tkb_buf_bytes(&compiler->tools_context));
	tkb_buf_add(&all, tkb_buf_bytes(request));
	rc = tkb_buf_check(&all, err);
	return rc == 0 ? tkb_digest_of(tkb_buf_bytes(&all), query, err) : rc;
}

static bool has_remembered(const struct tkb_compiler *compiler,
                           const struct tkb_digest *query,
                           struct tkb_buf *answer)
{
	return compiler->cache_root != NULL &&
	       tkb_tools_recall(compiler->cache_root, query, answer);
}

/* Use the remembered answer if it is still valid; else ask a worker. */
static int query_tools(struct tkb_compiler *compiler, const char *arch,
                       bool with_nvrtc, struct tkb_tools *tools,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf request = TKB_BUF_INIT(TKB_COMPILE_TEXT_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf answer = TKB_BUF_INIT(TKB_COMPILE_TEXT_LIMIT);
	struct tkb_job job = { .struct_size = sizeof(job) };
	int rc;

	rc = write_query(compiler, arch, with_nvrtc, &request, &tools->query,
	                 err);
	if (rc < 0)
		return rc;
	if (has_remembered(compiler, &tools->query, &answer)) {
		rc = read_tools(compiler, tkb_buf_bytes(&answer), tools, err);
		tools->is_known = rc == 0;
		return rc;
	}
	job.request = tkb_buf_bytes(&request);
	return tkb_workers_submit(compiler, &job, &tools->future, err);
}

/*
 * Remember an answer, for compiles to entries. If the worker searched NVRTC and
 * did not find it, the answer is not remembered: NVRTC may later be installed in
 * a folder that the worker does not report.
 */
static void remember_answer(struct tkb_compiler *compiler,
                            const struct tkb_tools *tools, bool with_nvrtc,
                            struct tkb_bytes answer)
{
	if (compiler->cache_root != NULL &&
	    compiler->product == TKB_PRODUCT_CUBIN &&
	    (!with_nvrtc || tools->versions.nvrtc[0] != '\0'))
		tkb_tools_note(&compiler->fresh_tools, &tools->query, answer);
}

/*
 * The lock is held, except during the wait, so that callers with shorter
 * timeouts are not blocked. Of several waiters, the first reads the answer and
 * the last frees the future.
 */
static int wait_for_answer(struct tkb_compiler *compiler,
                           struct tkb_tools *tools, bool with_nvrtc,
                           uint32_t timeout_ms, struct tkb_error *err)
{
	struct tkb_future *future = tools->future;
	struct tkb_bytes answer;
	int rc;

	tools->waiter_count++;
	(void)pthread_mutex_unlock(&compiler->lock);
	rc = tkb_future_wait(future, timeout_ms, &answer, err);
	(void)pthread_mutex_lock(&compiler->lock);
	tools->waiter_count--;
	if (rc == 0 && !tools->is_known) {
		rc = read_tools(compiler, answer, tools, err);
		if (rc == 0)
			remember_answer(compiler, tools, with_nvrtc, answer);
		tools->is_known = rc == 0;
	}
	if (rc != TKB_MISS)
		tools->is_answered = true;
	if (tools->is_answered && tools->waiter_count == 0) {
		tkb_future_free(tkb_take(tools->future));
		tools->is_answered = false;
	}
	return rc;
}

static int ask_or_wait(struct tkb_compiler *compiler, struct tkb_tools *tools,
                       const char *arch, bool with_nvrtc, uint32_t timeout_ms,
                       struct tkb_error *err)
{
	int rc = 0;

	if (!tools->is_known && tools->future == NULL)
		rc = query_tools(compiler, arch, with_nvrtc, tools, err);
	if (rc < 0 || tools->is_known)
		return rc;
	return wait_for_answer(compiler, tools, with_nvrtc, timeout_ms, err);
}

static int get_tools(struct tkb_compiler *compiler, const char *target,
                     bool with_nvrtc, uint32_t timeout_ms,
                     const struct tkb_tools **out, struct tkb_error *err)
{
	struct tkb_tools *tools;
	const char *arch = NULL;
	size_t index = 0;
	int rc;

	rc = tkb_target_find(target, &index, &arch, err);
	if (rc < 0)
		return rc;
	tools = &compiler->tools[index][with_nvrtc];
	(void)pthread_mutex_lock(&compiler->lock);
	rc = ask_or_wait(compiler, tools, arch, with_nvrtc, timeout_ms, err);
	(void)pthread_mutex_unlock(&compiler->lock);
	if (rc == 0)
		*out = tools;
	return rc;
}

int tkb_tools_of_unit(struct tkb_compiler *compiler,
                      const struct tkb_unit *unit, const struct tkb_tools **out,
                      struct tkb_error *err)
{
	return get_tools(compiler, unit->target,
	                 unit->kind == TKB_SOURCE_KIND_CUDA, TKB_FOREVER, out,
	                 err);
}

int tkb_compiler_tools(struct tkb_compiler *compiler, const char *target,
                       uint32_t timeout_ms, const char **out,
                       struct tkb_error *err)
{
	const struct tkb_tools *tools = NULL;
	int rc;

	rc = get_tools(compiler, target, false, timeout_ms, &tools, err);
	if (rc == 0)
		*out = tools->text;
	return rc;
}
