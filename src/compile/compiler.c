/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/compile.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/digest.h"
#include "bundle/key.h"
#include "compile/fields.h"
#include "compile/publish.h"

/* A client of the worker program: it makes requests, and entries of answers. */

enum {
	KEY_VERSION = 1, /* of what a key covers */
	PATH_LIMIT = 4096,
	TEXT_LIMIT = 1024 * 1024
};

#define WORKER_NAME "tkbundle-compile"

struct tkb_compiler {
	struct tkb_pool *pool;  /* owned */
	struct tkb_arena arena; /* owns the texts */
	struct tkb_buf choices; /* the fields that every job has */
	const char *cache_root; /* NULL: none */
	const char *arch;
	const char *llvm; /* versions of the tools; "" where there is none */
	const char *nvrtc;
	const char *ptxas;
	const char *tools;
	bool ptx_only;
	uint32_t timeout_ms;
	struct tkb_sink log;
};

struct tkb_compile {
	struct tkb_arena arena;    /* owns the texts */
	struct tkb_future *future; /* owned; NULL: a hit */
	const char *cache_root;    /* NULL: publish nothing */
	const char *arch;
	char key[TKB_KEY_SIZE];
	char hash[TKB_DIGEST_HEX_SIZE];
	enum tkb_source_kind kind;
	struct tkb_buf source;   /* the LLVM IR, to be kept in the entry */
	struct tkb_buf metadata; /* as given */
	uint32_t num_warps;
	bool is_published;
	struct tkb_compiled compiled;
};

/* "<folder of the running program>/<rest>", if that is a program. */
static bool find_beside(const char *rest, char out[PATH_LIMIT])
{
	const ssize_t length = readlink("/proc/self/exe", out, PATH_LIMIT - 1);
	char *slash;

	if (length <= 0)
		return false;
	out[length] = '\0';
	slash = strrchr(out, '/');
	if (slash == NULL ||
	    (size_t)(slash - out) + strlen(rest) + 2 > PATH_LIMIT)
		return false;
	memcpy(slash + 1, rest, strlen(rest) + 1);
	return access(out, X_OK) == 0;
}

static int find_worker(const char *given, char out[PATH_LIMIT],
                       struct tkb_error *err)
{
	if (given != NULL && strlen(given) < PATH_LIMIT) {
		memcpy(out, given, strlen(given) + 1);
		return 0;
	}
	if (find_beside(WORKER_NAME, out) ||
	    find_beside("../libexec/tkbundle/" WORKER_NAME, out))
		return 0;
	return tkb_fail(err, TKB_ERR_IO,
	                "there is no " WORKER_NAME
	                " beside the program, nor in its libexec/tkbundle");
}

static void add_list(struct tkb_buf *out, enum tkb_field field,
                     const char *const *texts)
{
	for (; texts != NULL && *texts != NULL; texts++)
		tkb_field_add_text(out, field, *texts);
}

static int write_choices(struct tkb_compiler *compiler,
                         const struct tkb_compiler_options *options,
                         struct tkb_error *err)
{
	struct tkb_buf *out = &compiler->choices;

	tkb_field_add_text(out, TKB_FIELD_ARCH, options->arch);
	tkb_field_add_number(out, TKB_FIELD_EMIT,
	                     options->ptx_only ? TKB_PRODUCT_PTX
	                                       : TKB_PRODUCT_CUBIN);
	tkb_field_add_text(out, TKB_FIELD_PTXAS, options->ptxas);
	tkb_field_add_text(out, TKB_FIELD_LIBDEVICE, options->libdevice);
	add_list(out, TKB_FIELD_PTXAS_OPTION, options->ptxas_options);
	add_list(out, TKB_FIELD_NVRTC_OPTION, options->nvrtc_options);
	if (options->is_optimized)
		tkb_field_add_text(out, TKB_FIELD_OPTIMIZE, "1");
	if (options->no_fusion)
		tkb_field_add_text(out, TKB_FIELD_NO_FUSION, "1");
	if (options->no_lines)
		tkb_field_add_text(out, TKB_FIELD_NO_LINES, "1");
	return tkb_buf_check(out, err);
}

static int keep(struct tkb_arena *arena, struct tkb_bytes text,
                const char **out, struct tkb_error *err)
{
	*out = tkb_arena_string(arena, text);
	return *out == NULL ? tkb_fail_nomem(err) : 0;
}

static int read_tools(struct tkb_compiler *compiler, struct tkb_bytes answer,
                      struct tkb_error *err)
{
	struct tkb_fields fields = { .bytes = answer };
	enum tkb_field field;
	struct tkb_bytes bytes;
	int rc;

	compiler->llvm = compiler->nvrtc = compiler->ptxas = "";
	compiler->tools = "";
	for (;;) {
		rc = tkb_fields_next(&fields, &field, &bytes, err);
		if (rc != 0)
			return rc < 0 ? rc : 0;
		if (field == TKB_FIELD_LLVM)
			rc = keep(&compiler->arena, bytes, &compiler->llvm,
			          err);
		else if (field == TKB_FIELD_NVRTC)
			rc = keep(&compiler->arena, bytes, &compiler->nvrtc,
			          err);
		else if (field == TKB_FIELD_PTXAS_VERSION)
			rc = keep(&compiler->arena, bytes, &compiler->ptxas,
			          err);
		else if (field == TKB_FIELD_TOOLS)
			rc = keep(&compiler->arena, bytes, &compiler->tools,
			          err);
		if (rc < 0)
			return rc;
	}
}

/* A job that compiles nothing tells what would. */
static int ask_tools(struct tkb_compiler *compiler, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf request = TKB_BUF_INIT(TEXT_LIMIT);
	struct tkb_job job = { .timeout_ms = compiler->timeout_ms };
	struct tkb_future *future = NULL;
	struct tkb_bytes answer;
	int rc;

	tkb_field_add_number(&request, TKB_FIELD_INPUT, TKB_INPUT_NONE);
	tkb_buf_add(&request, tkb_buf_bytes(&compiler->choices));
	rc = tkb_buf_check(&request, err);
	if (rc < 0)
		return rc;
	job.request = tkb_buf_bytes(&request);
	rc = tkb_pool_submit(compiler->pool, &job, &future, err);
	if (rc == 0)
		rc = tkb_future_wait(future, TKB_FOREVER, &answer, err);
	if (rc == 0)
		rc = read_tools(compiler, answer, err);
	tkb_future_free(future);
	return rc;
}

static int open_pool(struct tkb_compiler *compiler,
                     const struct tkb_compiler_options *options,
                     struct tkb_error *err)
{
	char path[PATH_LIMIT];
	const struct tkb_pool_options chosen = {
		.worker = path,
		.worker_count = options->worker_count,
	};
	int rc;

	rc = find_worker(options->worker, path, err);
	return rc == 0 ? tkb_pool_open(&chosen, &compiler->pool, err) : rc;
}

static void close_at(struct tkb_compiler **compiler)
{
	tkb_compiler_close(*compiler);
}

int tkb_compiler_open(const struct tkb_compiler_options *options,
                      struct tkb_compiler **out, struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_compiler *compiler = tkb_alloc_array(1, sizeof(*compiler));
	int rc = 0;

	if (compiler == NULL)
		return tkb_fail_nomem(err);
	if (options->arch == NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "an architecture must be named, as 90");
	compiler->choices = (struct tkb_buf)TKB_BUF_INIT(TEXT_LIMIT);
	compiler->ptx_only = options->ptx_only;
	compiler->timeout_ms = options->timeout_ms;
	compiler->log = options->log;
	rc = keep(&compiler->arena, tkb_text(options->arch), &compiler->arch,
	          err);
	if (rc == 0 && options->cache_root != NULL)
		rc = keep(&compiler->arena, tkb_text(options->cache_root),
		          &compiler->cache_root, err);
	if (rc == 0)
		rc = write_choices(compiler, options, err);
	if (rc == 0)
		rc = open_pool(compiler, options, err);
	if (rc == 0)
		rc = ask_tools(compiler, err);
	if (rc < 0)
		return rc;
	*out = tkb_take(compiler);
	return 0;
}

void tkb_compiler_close(struct tkb_compiler *compiler)
{
	if (compiler == NULL)
		return;
	tkb_pool_close(compiler->pool);
	tkb_arena_release(&compiler->arena);
	tkb_buf_release(&compiler->choices);
	free(compiler);
}

const char *tkb_compiler_tools(const struct tkb_compiler *compiler)
{
	return compiler->tools;
}

static void add_digest(struct tkb_buf *out, const char *name,
                       const struct tkb_digest *digest)
{
	char hex[TKB_DIGEST_HEX_SIZE];

	tkb_digest_to_hex(digest, hex);
	tkb_buf_add_text(out, name);
	tkb_buf_add_byte(out, ' ');
	tkb_buf_add_text(out, hex);
	tkb_buf_add_byte(out, '\n');
}

static void add_line(struct tkb_buf *out, const char *name, const char *text)
{
	tkb_buf_add_text(out, name);
	tkb_buf_add_byte(out, ' ');
	tkb_buf_add_text(out, text);
	tkb_buf_add_byte(out, '\n');
}

/* All that decides what comes out: a text, of which the key is the hash. */
static int write_key_text(const struct tkb_compiler *compiler,
                          const struct tkb_unit *unit, struct tkb_buf *out,
                          struct tkb_error *err)
{
	struct tkb_digest choices;
	struct tkb_digest metadata;
	struct tkb_digest source;
	int rc;

	rc = tkb_digest_of(tkb_buf_bytes(&compiler->choices), &choices, err);
	if (rc == 0)
		rc = tkb_digest_of(unit->metadata, &metadata, err);
	if (rc == 0)
		rc = tkb_digest_of(unit->source, &source, err);
	if (rc < 0)
		return rc;
	tkb_buf_add_text(out, "tkbundle-compile ");
	tkb_buf_add_number(out, KEY_VERSION);
	tkb_buf_add_text(out, "\nkind ");
	tkb_buf_add_number(out, (uint64_t)unit->kind);
	tkb_buf_add_text(out, "\nwarps ");
	tkb_buf_add_number(out, unit->num_warps);
	tkb_buf_add_byte(out, '\n');
	if (unit->kind == TKB_SOURCE_LLIR)
		add_line(out, "llvm", compiler->llvm);
	if (unit->kind == TKB_SOURCE_CUDA)
		add_line(out, "nvrtc", compiler->nvrtc);
	add_line(out, "ptxas", compiler->ptxas);
	add_line(out, "kernel", unit->kernel == NULL ? "" : unit->kernel);
	add_digest(out, "choices", &choices);
	add_digest(out, "metadata", &metadata);
	add_digest(out, "source", &source);
	return tkb_buf_check(out, err);
}

static int make_key(const struct tkb_compiler *compiler,
                    const struct tkb_unit *unit, struct tkb_compile *compile,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TEXT_LIMIT);
	struct tkb_digest digest;
	int rc;

	rc = write_key_text(compiler, unit, &text, err);
	if (rc == 0)
		rc = tkb_digest_of(tkb_buf_bytes(&text), &digest, err);
	if (rc < 0)
		return rc;
	tkb_digest_to_hex(&digest, compile->hash);
	tkb_key_encode(&digest, compile->key);
	return 0;
}

static int submit(struct tkb_compiler *compiler, const struct tkb_unit *unit,
                  struct tkb_compile *compile, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf request = TKB_BUF_INIT(SIZE_MAX / 2);
	struct tkb_job job = { .key = compile->key,
		               .timeout_ms = compiler->timeout_ms };
	int rc;

	if (compiler->log.write != NULL) {
		rc = compiler->log.write(compiler->log.self, unit->source, err);
		if (rc < 0)
			return rc;
	}
	tkb_field_add_number(&request, TKB_FIELD_INPUT, (uint64_t)unit->kind);
	tkb_field_add_text(&request, TKB_FIELD_KERNEL, unit->kernel);
	tkb_field_add_text(&request, TKB_FIELD_NAME, unit->name);
	tkb_buf_add(&request, tkb_buf_bytes(&compiler->choices));
	tkb_field_add(&request, TKB_FIELD_SOURCE, unit->source);
	rc = tkb_buf_check(&request, err);
	if (rc < 0)
		return rc;
	job.request = tkb_buf_bytes(&request);
	return tkb_pool_submit(compiler->pool, &job, &compile->future, err);
}

static void free_at(struct tkb_compile **compile)
{
	tkb_compile_free(*compile);
}

/* What an entry will hold besides what the worker makes. */
static int keep_unit(const struct tkb_compiler *compiler,
                     const struct tkb_unit *unit, struct tkb_compile *compile,
                     struct tkb_error *err)
{
	int rc = 0;

	compile->kind = unit->kind;
	compile->num_warps = unit->num_warps;
	compile->source = (struct tkb_buf)TKB_BUF_INIT(SIZE_MAX / 2);
	compile->metadata = (struct tkb_buf)TKB_BUF_INIT(TEXT_LIMIT);
	tkb_buf_add(&compile->source, unit->source);
	tkb_buf_add(&compile->metadata, unit->metadata);
	rc = tkb_buf_check(&compile->source, err);
	if (rc == 0)
		rc = tkb_buf_check(&compile->metadata, err);
	if (rc == 0)
		rc = keep(&compile->arena, tkb_text(compiler->arch),
		          &compile->arch, err);
	if (rc == 0 && compiler->cache_root != NULL && !compiler->ptx_only)
		rc = keep(&compile->arena, tkb_text(compiler->cache_root),
		          &compile->cache_root, err);
	return rc;
}

int tkb_compiler_submit(struct tkb_compiler *compiler,
                        const struct tkb_unit *unit, struct tkb_compile **out,
                        struct tkb_error *err)
{
	TKB_AUTO(free_at)
	struct tkb_compile *compile = tkb_alloc_array(1, sizeof(*compile));
	bool is_there = false;
	int rc;

	if (compile == NULL)
		return tkb_fail_nomem(err);
	rc = keep_unit(compiler, unit, compile, err);
	if (rc == 0)
		rc = make_key(compiler, unit, compile, err);
	if (rc == 0 && compile->cache_root != NULL)
		rc = tkb_publication_find(compile->cache_root, compile->key,
		                          &is_there, err);
	if (rc < 0)
		return rc;
	compile->compiled.key = compile->key;
	compile->compiled.kernel = "";
	compile->compiled.is_hit = is_there;
	if (!is_there)
		rc = submit(compiler, unit, compile, err);
	if (rc < 0)
		return rc;
	*out = tkb_take(compile);
	return 0;
}

static int read_answer(struct tkb_compile *compile, struct tkb_bytes answer,
                       struct tkb_error *err)
{
	struct tkb_fields fields = { .bytes = answer };
	struct tkb_compiled *compiled = &compile->compiled;
	enum tkb_field field;
	struct tkb_bytes bytes;
	int rc;

	for (;;) {
		rc = tkb_fields_next(&fields, &field, &bytes, err);
		if (rc != 0)
			return rc < 0 ? rc : 0;
		if (field == TKB_FIELD_KERNEL)
			rc = keep(&compile->arena, bytes, &compiled->kernel,
			          err);
		else if (field == TKB_FIELD_PTX)
			compiled->ptx = bytes;
		else if (field == TKB_FIELD_CUBIN)
			compiled->cubin = bytes;
		if (rc < 0)
			return rc;
	}
}

static int publish(struct tkb_compile *compile, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf metadata = TKB_BUF_INIT(2 * TEXT_LIMIT);
	const struct tkb_compiled *compiled = &compile->compiled;
	const bool has_ir = compile->kind == TKB_SOURCE_LLIR;
	const struct tkb_stage_file files[] = {
		{ "cubin", compiled->cubin },
		{ "ptx", compiled->ptx },
		{ has_ir ? "llir" : "cu", tkb_buf_bytes(&compile->source) },
	};
	const struct tkb_metadata_order order = {
		.given = tkb_buf_bytes(&compile->metadata),
		.hash = compile->hash,
		.kernel = compiled->kernel,
		.arch = compile->arch,
		.num_warps = compile->num_warps,
	};
	struct tkb_publication publication = {
		.root = compile->cache_root,
		.key = compile->key,
		.kernel = compiled->kernel,
		.files = files,
		.file_count = compile->kind == TKB_SOURCE_PTX ? 2 : 3,
	};
	int rc;

	rc = tkb_metadata_write(&order, &metadata, err);
	if (rc < 0)
		return rc;
	publication.metadata = tkb_buf_bytes(&metadata);
	return tkb_publication_do(&publication, err);
}

int tkb_compile_wait(struct tkb_compile *compile, uint32_t timeout_ms,
                     const struct tkb_compiled **out, struct tkb_error *err)
{
	struct tkb_bytes answer;
	int rc = 0;

	if (compile->future != NULL && compile->compiled.ptx.size == 0) {
		rc = tkb_future_wait(compile->future, timeout_ms, &answer, err);
		if (rc == 0)
			rc = read_answer(compile, answer, err);
	}
	if (rc == 0 && compile->future != NULL && compile->cache_root != NULL &&
	    !compile->is_published) {
		rc = publish(compile, err);
		compile->is_published = rc == 0;
	}
	if (rc == 0 && out != NULL)
		*out = &compile->compiled;
	return rc;
}

struct tkb_bytes tkb_compile_log(struct tkb_compile *compile)
{
	if (compile->future == NULL)
		return (struct tkb_bytes){ NULL, 0 };
	return tkb_future_log(compile->future);
}

void tkb_compile_free(struct tkb_compile *compile)
{
	if (compile == NULL)
		return;
	tkb_future_free(compile->future);
	tkb_arena_release(&compile->arena);
	tkb_buf_release(&compile->source);
	tkb_buf_release(&compile->metadata);
	free(compile);
}
