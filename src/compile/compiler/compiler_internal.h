/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_COMPILER_COMPILER_INTERNAL_H
#define TKB_COMPILE_COMPILER_COMPILER_INTERNAL_H

/*
 * Shared by the compiler's files. The compiler is a client of the worker
 * program: it writes requests and makes entries of the answers.
 *
 *   compiler.c           open, submit, close
 *   compiler_options.c   options as fields of requests and keys
 *   compiler_target.c    the known targets
 *   compiler_workers.c   the pool, opened for the first job
 *   compiler_tools.c     the tools for a target
 *   compiler_libdevice.c digest of a libdevice
 *   compiler_key.c       the key of a unit's entry
 *   maker.c              what makes a unit's entry, for notes
 *   compiler_answer.c    from an answer to an entry
 */

#include <tkbundle/compile.h>

#include <pthread.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/digest.h"
#include "cache/key.h"

enum {
	TKB_TARGET_LIMIT = 16,  /* at least the number of known architectures */
	TKB_VARIABLE_COUNT = 7, /* environment variables that name tools */
	TKB_COMPILE_TEXT_LIMIT = 1 << 22 /* bytes of options and of metadata */
};

/* The tools for one target. */
struct tkb_tools {
	struct tkb_future *future; /* owned; NULL: no request is running */
	size_t waiter_count;     /* threads that wait for it without the lock */
	bool is_answered;        /* the last waiter frees the future */
	struct tkb_digest query; /* of the request */
	bool is_known;
	const char *llvm; /* versions; "" if there is none */
	const char *nvrtc;
	const char *ptxas;
	const char *nvjitlink;
	const char *libdevice; /* a path; "": none */
	const char *text;      /* for people */
};

struct tkb_compiler {
	const char *worker; /* the program */
	uint32_t worker_count;
	bool has_pass_output;
	/* Set for every job; ends with NULL. */
	const char *environment[TKB_VARIABLE_COUNT + 1];
	struct tkb_buf tools_context; /* fields: worker, user and environment */
	struct tkb_buf tools_request; /* fields: options that tools depend on */
	struct tkb_buf job_fields;    /* fields: in the request of every job */
	/* Fields for the key: of IR, of CUDA C, and of the step to cubin. */
	struct tkb_buf key_ir;
	struct tkb_buf key_cuda;
	struct tkb_buf key_cubin;
	const char *cache_root; /* NULL: none */
	const char **folders;   /* searched for includes; ends with NULL */
	bool keeps_kernels;     /* finalize was given kernels to keep */
	enum tkb_product product;
	enum tkb_cubin_tool cubin_with;
	bool is_finalized;
	bool has_rules;    /* the user's, for finalize */
	const char *bound; /* arguments, as JSON; NULL: none */
	bool is_fusion_off;
	bool is_line_info_off;
	bool is_optimized; /* this and the next: not for all units */
	bool has_libdevice;
	bool has_nvrtc_options;
	bool has_ptxas_options;
	uint32_t timeout_ms;
	struct tkb_sink log;
	struct tkb_watch watch; /* of the pool */

	pthread_mutex_t pool_lock; /* guards `pool` */
	struct tkb_pool *pool;     /* owned; NULL: no job so far */

	pthread_mutex_t lock;   /* guards all that follows */
	struct tkb_arena arena; /* owns the texts */
	struct tkb_tools tools[TKB_TARGET_LIMIT][2]; /* [1]: with NVRTC */
	struct tkb_buf fresh_tools; /* tools' answers to remember */
	const char *libdevice;      /* path with known digest; NULL: none */
	struct tkb_digest libdevice_digest;
};

struct tkb_compile {
	struct tkb_arena arena;    /* owns the texts */
	struct tkb_future *future; /* owned; NULL: a hit */
	const char *cache_root;    /* NULL: do not publish */
	const char *arch;
	const char *ptxas; /* versions in the key */
	const char *nvjitlink;
	enum tkb_product product;
	char key[TKB_KEY_SIZE];
	char hash[TKB_DIGEST_HEX_SIZE];
	enum tkb_source_kind kind;
	struct tkb_buf source;   /* for the entry */
	struct tkb_buf metadata; /* as given */
	const char *bound;       /* arguments, as JSON; NULL: none */
	uint32_t num_warps;
	bool is_read;
	bool is_published;
	struct tkb_compiled compiled;
};

/* Apply the options to `compiler`. */
TKB_NODISCARD int tkb_compiler_set_options(
	struct tkb_compiler *compiler,
	const struct tkb_compiler_options *options, struct tkb_error *err);

/* Returns 0, or TKB_ERR_INVALID if an option does not suit the unit. */
TKB_NODISCARD int tkb_compiler_check(const struct tkb_compiler *compiler,
                                     const struct tkb_unit *unit,
                                     struct tkb_error *err);

/*
 * The index of target "cuda:90" in compiler->tools, and its architecture, "90".
 * Returns 0, or TKB_ERR_INVALID with a list of the targets.
 */
TKB_NODISCARD int tkb_target_find(const char *target, size_t *index_out,
                                  const char **arch_out, struct tkb_error *err);

/*
 * Find the worker program and keep the environment. Returns 0, TKB_ERR_IO (no
 * such program) or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_workers_set_options(
	struct tkb_compiler *compiler,
	const struct tkb_compiler_options *options, struct tkb_error *err);

/*
 * Submit a job, with the compiler's environment and timeout. The workers are
 * started for the first one. Fails like tkb_pool_open() and tkb_pool_submit().
 */
TKB_NODISCARD int tkb_workers_submit(struct tkb_compiler *compiler,
                                     struct tkb_job *job,
                                     struct tkb_future **out,
                                     struct tkb_error *err);

/*
 * Find the tools that a unit needs; a worker is asked unless the answer is
 * remembered. The texts live as long as the compiler. Fails like
 * tkb_compiler_tools().
 */
TKB_NODISCARD int tkb_tools_of_unit(struct tkb_compiler *compiler,
                                    const struct tkb_unit *unit,
                                    const struct tkb_tools **out,
                                    struct tkb_error *err);

/* Add the digest of the libdevice at `path` as a field; "": there is none. */
TKB_NODISCARD int tkb_libdevice_add(struct tkb_compiler *compiler,
                                    const char *path, struct tkb_buf *out,
                                    struct tkb_error *err);

/* True if this IR may call a function of libdevice; when in doubt, true. */
bool tkb_libdevice_is_called(struct tkb_bytes ir);

/* The key of a unit's entry, and the hash that it encodes. */
TKB_NODISCARD int tkb_unit_key(struct tkb_compiler *compiler,
                               const struct tkb_unit *unit,
                               const struct tkb_tools *tools,
                               char key[TKB_KEY_SIZE],
                               char hash[TKB_DIGEST_HEX_SIZE],
                               struct tkb_error *err);

/*
 * What makes that entry, as tkbundle/makers.h has it, in the arena; "" where it is
 * longer than can be noted.
 */
TKB_NODISCARD int tkb_unit_maker(struct tkb_compiler *compiler,
                                 const struct tkb_unit *unit,
                                 const struct tkb_tools *tools,
                                 struct tkb_arena *arena, const char **out,
                                 struct tkb_error *err);

/* Copy a caller's options; NULL: all defaults. */
TKB_NODISCARD int tkb_finalize_options_read(
	struct tkb_finalize_options *out,
	const struct tkb_finalize_options *given, struct tkb_error *err);

#endif
