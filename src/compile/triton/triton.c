/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/triton_compile.h>

#include <stdlib.h>
#include <string.h>

#include <tkbundle/compile.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/struct.h"
#include "compile/pool/fields.h"
#include "compile/pool/message.h"
#include "compile/triton/triton_answer.h"
#include "compile/triton/triton_external.h"
#include "compile/triton/triton_fields.h"
#include "compile/triton/triton_key.h"
#include "compile/triton/triton_memory.h"
#include "compile/triton/triton_unit.h"

/* The client of triton_worker.py. */

enum {
	PATH_LIMIT = 4096,
	FILE_LIMIT = 64 * 1024 * 1024,
	REQUEST_LIMIT = 64 * 1024 * 1024,
	/* large: Triton prints PTX that ptxas refuses */
	LOG_LIMIT = 16 * 1024 * 1024,
	PASSES_LIMIT = 256 * 1024 * 1024, /* limit of a log with printed
	                                     passes */
	DEFAULT_TIMEOUT_MS = 300000
};

/* The Python worker reads and writes these structs by these sizes. */
_Static_assert(sizeof(struct tkb_message_head) == 24, "HEAD_FORMAT");
_Static_assert(sizeof(struct tkb_message_job) == 8, "SIZE_FORMAT");
_Static_assert(sizeof(struct tkb_message_done) == 524, "DONE_FORMAT");
_Static_assert(TKB_MESSAGE_FD == 3 && TKB_MESSAGE_MAGIC == 0x746b6232, "POOL");

struct tkb_triton {
	struct tkb_pool *pool;  /* owned */
	struct tkb_arena arena; /* owns the texts */
	const char *python;
	const char *cache_root; /* absolute; NULL: Triton's default */
	const char *ptxas;      /* absolute; NULL: Triton's default */
	uint32_t timeout_ms;
	bool has_pass_output;
	struct tkb_sink log;
	struct tkb_triton_memory memory;
};

struct tkb_triton_compile {
	struct tkb_arena arena;    /* owns the environment's texts */
	struct tkb_future *future; /* owned; NULL: the answer was remembered */
	struct tkb_triton_memory *memory; /* borrowed; NULL: do not note the
	                                     answer */
	struct tkb_digest query;          /* digest of the job */
	struct tkb_triton_answer answer;
	bool is_done;
};

static int open_pool(struct tkb_triton *triton,
                     const struct tkb_triton_options *options,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(PATH_LIMIT);
	const char *arguments[2] = { NULL, NULL };
	struct tkb_pool_options pool_options = {
		.struct_size = sizeof(pool_options),
		.arguments = arguments,
		.worker_count = options->worker_count,
		.watch = options->watch,
		.max_log_size =
			options->has_pass_output ? PASSES_LIMIT : LOG_LIMIT,
		.is_started_late =
			true, /* a hit needs no worker, and a worker loads
			         Triton */
	};
	int rc;

	rc = tkb_triton_find_worker(options->worker, &path, err);
	if (rc == 0)
		rc = tkb_arena_copy_buf(&triton->arena, &path, &arguments[0],
		                        err);
	tkb_buf_reset(&path);
	if (rc == 0)
		rc = tkb_triton_find_python(options->python, &path, err);
	if (rc == 0)
		rc = tkb_arena_copy_buf(&triton->arena, &path, &triton->python,
		                        err);
	if (rc < 0)
		return rc;
	pool_options.worker = triton->python;
	return tkb_pool_open(&pool_options, &triton->pool, err);
}

/* Keep an absolute path, since the worker's working directory may differ. */
static int copy_path(struct tkb_triton *triton, const char *given,
                     const char **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(PATH_LIMIT);
	int rc;

	if (given == NULL)
		return 0;
	rc = tkb_path_absolute(given, &path, err);
	return rc < 0 ? rc
	              : tkb_arena_copy_buf(&triton->arena, &path, out, err);
}

/* Checked here because Triton silently ignores a ptxas that does not exist. */
static int set_ptxas(struct tkb_triton *triton, const char *ptxas,
                     struct tkb_error *err)
{
	if (ptxas != NULL && !tkb_path_is_program(ptxas))
		return tkb_fail(err, TKB_ERR_IO, "there is no program '%s'",
		                ptxas);
	return copy_path(triton, ptxas, &triton->ptxas, err);
}

TKB_AUTO_POINTER(close_at, struct tkb_triton, tkb_triton_close)

int tkb_triton_open(const struct tkb_triton_options *given,
                    struct tkb_triton **out, struct tkb_error *err)
{
	struct tkb_triton_options own;
	const struct tkb_triton_options *options = &own;
	TKB_AUTO(close_at)
	struct tkb_triton *triton = tkb_alloc_array(1, sizeof(*triton));
	int rc;

	if (triton == NULL)
		return tkb_fail_nomem(err);
	rc = TKB_STRUCT_READ(tkb_triton_options, watch, &own, given, err);
	if (rc < 0)
		return rc;
	triton->timeout_ms = options->timeout_ms == 0 ? DEFAULT_TIMEOUT_MS
	                                              : options->timeout_ms;
	triton->has_pass_output = options->has_pass_output;
	triton->log = options->log;
	rc = copy_path(triton, options->cache_root, &triton->cache_root, err);
	tkb_triton_memory_init(&triton->memory, triton->cache_root);
	if (rc == 0)
		rc = set_ptxas(triton, options->ptxas, err);
	if (rc == 0)
		rc = open_pool(triton, options, err);
	triton->memory.python = triton->python;
	if (rc < 0)
		return rc;
	*out = tkb_take(triton);
	return 0;
}

void tkb_triton_close(struct tkb_triton *triton)
{
	if (triton == NULL)
		return;
	tkb_pool_close(triton->pool);
	tkb_triton_memory_close(&triton->memory);
	tkb_arena_release(&triton->arena);
	free(triton);
}

const char *tkb_triton_python(const struct tkb_triton *triton)
{
	return triton->python;
}

static int log_source(const struct tkb_triton *triton, const char *path,
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf source = TKB_BUF_INIT(FILE_LIMIT);
	int rc;

	rc = tkb_triton_read_file(path, &source, err);
	if (rc == 0 && triton->log.write != NULL)
		rc = triton->log.write(triton->log.self, tkb_buf_bytes(&source),
		                       err);
	return rc;
}

static void add_number_field(struct tkb_buf *out, enum tkb_triton_field field,
                             uint32_t number)
{
	if (number != 0)
		tkb_field_add_number(out, field, number);
}

/*
 * Find the architecture in "cuda:90", "cuda:90:32" or "hip:gfx942". Returns the
 * length of "90" or "gfx942", or 0 if the target is malformed.
 */
static size_t find_arch(const char *target, const char **begin_out)
{
	static const char digits[] = "0123456789";
	const bool is_hip = tkb_begins_with(target, "hip:gfx");
	const char *begin = target + (is_hip ? 4 : 5);
	const size_t before = is_hip ? 3 : 0;
	const char *end;
	size_t length;

	if (!is_hip && !tkb_begins_with(target, "cuda:"))
		return 0;
	length = before +
	         strspn(begin + before, is_hip ? "0123456789abcdef" : digits);
	end = begin + length;
	*begin_out = begin;
	if (length == before || length > before + 4)
		return 0;
	if (*end != '\0' && strcmp(end, ":32") != 0 &&
	    (!is_hip || strcmp(end, ":64") != 0))
		return 0;
	return length;
}

static void add_bytes(struct tkb_buf *out, enum tkb_triton_field field,
                      struct tkb_bytes bytes)
{
	if (bytes.size != 0)
		tkb_field_add(out, field, bytes);
}

/* Write the source to compile: a file, or a recorded kernel. */
static int write_source(const struct tkb_triton_unit *unit, struct tkb_buf *out,
                        struct tkb_error *err)
{
	const struct tkb_triton_recorded *recorded = unit->recorded;
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(PATH_LIMIT);
	int rc;

	if (recorded != NULL) {
		tkb_field_add_text(out, TKB_TRITON_RECORDED, recorded->key);
		add_bytes(out, TKB_TRITON_SPECIALISATION,
		          recorded->specialisation);
		add_bytes(out, TKB_TRITON_IR, recorded->ir);
		return 0;
	}
	rc = tkb_path_absolute(unit->file, &path, err);
	if (rc < 0)
		return rc;
	tkb_field_add(out, TKB_TRITON_FILE, tkb_buf_bytes(&path));
	tkb_field_add_text(out, TKB_TRITON_SHOWN, unit->file);
	return 0;
}

static int write_triton_request(const struct tkb_triton *triton,
                                const struct tkb_triton_unit *unit,
                                struct tkb_buf *out, struct tkb_error *err)
{
	const char *arch;
	const size_t arch_length = find_arch(unit->target, &arch);
	int rc;

	if (arch_length == 0)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%s' is not a target, such as cuda:90 or "
		                "hip:gfx942",
		                unit->target);
	/* The user's Triton may know newer CUDA targets than tkbundle. */
	rc = tkb_begins_with(unit->target, "hip:")
	             ? tkb_target_check(unit->target, err)
	             : 0;
	if (rc == 0)
		rc = write_source(unit, out, err);
	if (rc < 0)
		return rc;
	tkb_field_add_text(out, TKB_TRITON_KERNEL, unit->kernel);
	tkb_field_add_text(out, TKB_TRITON_SIGNATURE, unit->signature);
	tkb_field_add(out, TKB_TRITON_ARCH,
	              (struct tkb_bytes){ arch, arch_length });
	add_number_field(out, TKB_TRITON_NUM_WARPS, unit->num_warps);
	add_number_field(out, TKB_TRITON_NUM_STAGES, unit->num_stages);
	tkb_field_add_text(out, TKB_TRITON_OPTIONS, unit->options);
	tkb_field_add_text(out, TKB_TRITON_PTXAS, triton->ptxas);
	add_bytes(out, TKB_TRITON_METADATA, unit->metadata);
	tkb_field_add_text(out, TKB_TRITON_CHOICE, unit->choice);
	add_number_field(out, TKB_TRITON_WINNERS, unit->has_only_winners);
	tkb_field_add_text(out, TKB_TRITON_STAGE, unit->stage);
	tkb_field_add_flag(out, TKB_TRITON_PRINTS, triton->has_pass_output);
	return tkb_buf_check(out, err);
}

/* Use the remembered answer. Returns 0, TKB_MISS or an error. */
static int recall_compile(struct tkb_triton *triton,
                          struct tkb_triton_compile *compile,
                          struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf answer = TKB_BUF_INIT(REQUEST_LIMIT);
	int rc;

	if (!tkb_triton_memory_recall(&triton->memory, &compile->query,
	                              &answer))
		return TKB_MISS;
	rc = tkb_triton_answer_read(tkb_buf_bytes(&answer), &compile->answer,
	                            err);
	compile->is_done = rc == 0;
	return rc;
}

static int submit_job(struct tkb_triton *triton,
                      const struct tkb_triton_unit *unit,
                      struct tkb_triton_compile *compile, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf request = TKB_BUF_INIT(REQUEST_LIMIT);
	struct tkb_job job = { .struct_size = sizeof(job),
		               .timeout_ms = triton->timeout_ms };
	char key[TKB_DIGEST_HEX_SIZE];
	int rc;

	rc = write_triton_request(triton, unit, &request, err);
	if (rc == 0)
		rc = tkb_triton_environment(triton->cache_root, triton->ptxas,
		                            &compile->arena, &job.environment,
		                            err);
	if (rc < 0)
		return rc;
	job.request = tkb_buf_bytes(&request);
	rc = tkb_triton_key_make(triton->python, job.request, job.environment,
	                         key, &compile->query, err);
	if (rc < 0)
		return rc;
	job.key = key;
	if (unit->stage == NULL && !triton->has_pass_output) {
		compile->memory = &triton->memory;
		rc = recall_compile(triton, compile, err);
		if (rc != TKB_MISS)
			return rc;
	}
	return tkb_pool_submit(triton->pool, &job, &compile->future, err);
}

TKB_AUTO_POINTER(free_at, struct tkb_triton_compile, tkb_triton_free)

int tkb_triton_submit(struct tkb_triton *triton,
                      const struct tkb_triton_unit *given,
                      struct tkb_triton_compile **out, struct tkb_error *err)
{
	struct tkb_triton_unit own;
	struct tkb_triton_recorded recorded;
	const struct tkb_triton_unit *unit = &own;
	TKB_AUTO(free_at)
	struct tkb_triton_compile *compile =
		tkb_alloc_array(1, sizeof(*compile));
	int rc;

	if (compile == NULL)
		return tkb_fail_nomem(err);
	rc = TKB_STRUCT_READ(tkb_triton_unit, options, &own, given, err);
	if (rc == 0 && own.recorded != NULL) {
		rc = TKB_STRUCT_READ(tkb_triton_recorded, ir, &recorded,
		                     own.recorded, err);
		own.recorded = &recorded;
	}
	if (rc == 0)
		rc = tkb_triton_check_unit(unit, err);
	if (rc == 0 && unit->file != NULL)
		rc = log_source(triton, unit->file, err);
	if (rc == 0)
		rc = submit_job(triton, unit, compile, err);
	if (rc != 0)
		return rc;
	*out = tkb_take(compile);
	return 0;
}

int tkb_triton_wait(struct tkb_triton_compile *compile, uint32_t timeout_ms,
                    const struct tkb_triton_compiled **out,
                    struct tkb_error *err)
{
	struct tkb_bytes answer;
	int rc = 0;

	if (!compile->is_done) {
		rc = tkb_future_wait(compile->future, timeout_ms, &answer, err);
		if (rc == 0 && compile->memory != NULL)
			tkb_triton_memory_note(compile->memory, &compile->query,
			                       answer);
		if (rc == 0)
			rc = tkb_triton_answer_read(answer, &compile->answer,
			                            err);
		compile->is_done = rc == 0;
	}
	if (rc == 0 && out != NULL)
		*out = &compile->answer.compiled;
	return rc;
}

struct tkb_bytes tkb_triton_log(struct tkb_triton_compile *compile)
{
	return compile->future == NULL ? (struct tkb_bytes){ NULL, 0 }
	                               : tkb_future_log(compile->future);
}

void tkb_triton_free(struct tkb_triton_compile *compile)
{
	if (compile == NULL)
		return;
	tkb_future_free(compile->future);
	tkb_triton_answer_release(&compile->answer);
	tkb_arena_release(&compile->arena);
	free(compile);
}
