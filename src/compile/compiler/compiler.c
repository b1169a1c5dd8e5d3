/* SPDX-License-Identifier: Apache-2.0 */
#include "base/struct.h"
#include "compile/compiler/compiler_internal.h"

#include <stdlib.h>

#include "compile/pool/fields.h"
#include "compile/compiler/publish.h"
#include "compile/compiler/tools_memory.h"

static void compiler_init(struct tkb_compiler *compiler)
{
	struct tkb_buf *const bufs[] = {
		&compiler->tools_context, &compiler->tools_request,
		&compiler->job_fields,    &compiler->key_ir,
		&compiler->key_cuda,      &compiler->key_cubin,
		&compiler->fresh_tools,
	};

	(void)pthread_mutex_init(&compiler->lock, NULL);
	(void)pthread_mutex_init(&compiler->pool_lock, NULL);
	for (size_t i = 0; i < TKB_COUNT_OF(bufs); i++)
		bufs[i]->limit = TKB_COMPILE_TEXT_LIMIT;
}

TKB_AUTO_POINTER(close_at, struct tkb_compiler, tkb_compiler_close)

int tkb_compiler_open(const struct tkb_compiler_options *given,
                      struct tkb_compiler **out, struct tkb_error *err)
{
	struct tkb_compiler_options options;
	struct tkb_finalize_options finalize;
	TKB_AUTO(close_at)
	struct tkb_compiler *compiler = tkb_alloc_array(1, sizeof(*compiler));
	int rc;

	if (compiler == NULL)
		return tkb_fail_nomem(err);
	compiler_init(compiler);
	rc = TKB_STRUCT_READ(tkb_compiler_options, watch, &options, given, err);
	if (rc == 0 && options.finalize != NULL) {
		rc = tkb_finalize_options_read(&finalize, options.finalize,
		                               err);
		options.finalize = &finalize;
	}
	if (rc == 0)
		rc = tkb_compiler_set_options(compiler, &options, err);
	if (rc == 0)
		rc = tkb_workers_set_options(compiler, &options, err);
	if (rc < 0)
		return rc;
	*out = tkb_take(compiler);
	return 0;
}

static void compiler_release(struct tkb_compiler *compiler)
{
	tkb_buf_release(&compiler->tools_context);
	tkb_buf_release(&compiler->tools_request);
	tkb_buf_release(&compiler->job_fields);
	tkb_buf_release(&compiler->key_ir);
	tkb_buf_release(&compiler->key_cuda);
	tkb_buf_release(&compiler->key_cubin);
	tkb_buf_release(&compiler->fresh_tools);
	free(compiler->folders);
	tkb_arena_release(&compiler->arena);
	(void)pthread_mutex_destroy(&compiler->pool_lock);
	(void)pthread_mutex_destroy(&compiler->lock);
	free(compiler);
}

/* Answers are remembered only now: a cache root may have been made since. */
void tkb_compiler_close(struct tkb_compiler *compiler)
{
	if (compiler == NULL)
		return;
	for (size_t i = 0; i < TKB_TARGET_LIMIT; i++) {
		tkb_future_free(compiler->tools[i][0].future);
		tkb_future_free(compiler->tools[i][1].future);
	}
	tkb_pool_close(compiler->pool);
	if (compiler->cache_root != NULL && compiler->fresh_tools.failure == 0)
		tkb_tools_remember(compiler->cache_root,
		                   tkb_buf_bytes(&compiler->fresh_tools));
	compiler_release(compiler);
}

static int read_unit(struct tkb_unit *out, const struct tkb_unit *given,
                     struct tkb_error *err)
{
	return TKB_STRUCT_READ(tkb_unit, num_warps, out, given, err);
}

int tkb_compiler_key(struct tkb_compiler *compiler, const struct tkb_unit *unit,
                     char out[TKB_ENTRY_KEY_SIZE], struct tkb_error *err)
{
	const struct tkb_tools *tools = NULL;
	char hash[TKB_DIGEST_HEX_SIZE];
	struct tkb_unit own;
	int rc;

	rc = read_unit(&own, unit, err);
	if (rc == 0)
		rc = tkb_tools_of_unit(compiler, &own, &tools, err);
	return rc == 0 ? tkb_unit_key(compiler, &own, tools, out, hash, err)
	               : rc;
}

static void write_request(const struct tkb_compiler *compiler,
                          const struct tkb_unit *unit,
                          const struct tkb_compile *compile,
                          struct tkb_buf *out)
{
	tkb_field_add_number(out, TKB_FIELD_INPUT, (uint64_t)unit->kind);
	tkb_field_add_text(out, TKB_FIELD_ARCH, compile->arch);
	tkb_field_add_text(out, TKB_FIELD_KERNEL, unit->kernel);
	tkb_field_add_text(out, TKB_FIELD_NAME, unit->name);
	tkb_buf_add(out, tkb_buf_bytes(&compiler->job_fields));
	if (compiler->is_finalized && !compiler->keeps_kernels)
		tkb_field_add_text(out, TKB_FIELD_FINALIZE_KEEP, unit->kernel);
	tkb_field_add(out, TKB_FIELD_SOURCE, unit->source);
}

static int submit_job(struct tkb_compiler *compiler,
                      const struct tkb_unit *unit, struct tkb_compile *compile,
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf request = TKB_BUF_INIT(SIZE_MAX / 2);
	struct tkb_job job = { .struct_size = sizeof(job),
		               .key = compile->key };
	int rc;

	if (compiler->log.write != NULL) {
		rc = compiler->log.write(compiler->log.self, unit->source, err);
		if (rc < 0)
			return rc;
	}
	write_request(compiler, unit, compile, &request);
	rc = tkb_buf_check(&request, err);
	if (rc < 0)
		return rc;
	job.request = tkb_buf_bytes(&request);
	return tkb_workers_submit(compiler, &job, &compile->future, err);
}

TKB_AUTO_POINTER(free_at, struct tkb_compile, tkb_compile_free)

/* Copy the data of the entry that does not come from the worker. */
static int copy_unit(const struct tkb_compiler *compiler,
                     const struct tkb_unit *unit, struct tkb_compile *compile,
                     struct tkb_error *err)
{
	int rc;

	compile->kind = unit->kind;
	compile->num_warps = unit->num_warps;
	compile->product = compiler->product;
	compile->compiled = (struct tkb_compiled){
		.key = compile->key, .kernel = "", .tools = "", .maker = ""
	};
	compile->source = (struct tkb_buf)TKB_BUF_INIT(SIZE_MAX / 2);
	compile->metadata =
		(struct tkb_buf)TKB_BUF_INIT(TKB_COMPILE_TEXT_LIMIT);
	tkb_buf_add(&compile->source, unit->source);
	tkb_buf_add(&compile->metadata, unit->metadata);
	rc = tkb_buf_check(&compile->source, err);
	if (rc == 0)
		rc = tkb_buf_check(&compile->metadata, err);
	if (rc == 0 && compiler->cache_root != NULL &&
	    compiler->product == TKB_PRODUCT_CUBIN)
		rc = tkb_arena_copy(&compile->arena,
		                    tkb_text(compiler->cache_root),
		                    &compile->cache_root, err);
	if (rc == 0 && compiler->bound != NULL)
		rc = tkb_arena_copy(&compile->arena, tkb_text(compiler->bound),
		                    &compile->bound, err);
	return rc;
}

/* Copy the versions, since the compile may outlive its compiler. */
static int copy_versions(const struct tkb_unit *unit,
                         const struct tkb_tools *tools,
                         struct tkb_compile *compile, struct tkb_error *err)
{
	const struct tkb_versions *from = &tools->versions;
	struct tkb_versions *to = &compile->versions;
	const struct {
		const char *from;
		const char **to;
	} copies[] = {
		{ from->llvm, &to->llvm },
		{ from->nvrtc, &to->nvrtc },
		{ from->ptxas, &to->ptxas },
		{ from->nvjitlink, &to->nvjitlink },
		{ from->worker, &to->worker },
	};
	size_t index = 0;
	int rc;

	rc = tkb_target_find(unit->target, &index, &compile->arch, err);
	for (size_t i = 0; i < TKB_COUNT_OF(copies) && rc == 0; i++)
		rc = tkb_arena_copy(&compile->arena, tkb_text(copies[i].from),
		                    copies[i].to, err);
	return rc;
}

int tkb_compiler_submit(struct tkb_compiler *compiler,
                        const struct tkb_unit *given, struct tkb_compile **out,
                        struct tkb_error *err)
{
	struct tkb_unit own;
	const struct tkb_unit *unit = &own;
	TKB_AUTO(free_at)
	struct tkb_compile *compile = tkb_alloc_array(1, sizeof(*compile));
	const struct tkb_tools *tools = NULL;
	bool is_there = false;
	int rc;

	if (compile == NULL)
		return tkb_fail_nomem(err);
	rc = read_unit(&own, given, err);
	if (rc == 0)
		rc = tkb_compiler_check(compiler, unit, err);
	if (rc == 0)
		rc = tkb_tools_of_unit(compiler, unit, &tools, err);
	if (rc == 0)
		rc = copy_unit(compiler, unit, compile, err);
	if (rc == 0)
		rc = copy_versions(unit, tools, compile, err);
	if (rc == 0)
		rc = tkb_unit_key(compiler, unit, tools, compile->key,
		                  compile->hash, err);
	if (rc == 0 && compile->cache_root != NULL)
		rc = tkb_publication_find(compile->cache_root, compile->key,
		                          &is_there, err);
	compile->compiled.is_hit = is_there;
	if (rc == 0 && compile->cache_root != NULL && !is_there)
		rc = tkb_unit_maker(compiler, unit, tools, &compile->arena,
		                    &compile->compiled.maker, err);
	if (rc == 0 && !is_there)
		rc = submit_job(compiler, unit, compile, err);
	if (rc < 0)
		return rc;
	*out = tkb_take(compile);
	return 0;
}
