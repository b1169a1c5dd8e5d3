/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_COMPILER_COMPILER_INTERNAL_H
#define TKB_COMPILE_COMPILER_COMPILER_INTERNAL_H

/*
 * Shared by the compiler's files. The compiler is a client of the worker
 * program: it writes requests and turns the answers into entries.
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

/* Versions of the tools for one target; "" if one is missing. */
struct tkb_versions {
	const char *llvm;
	const char *nvrtc;
	const char *ptxas;
	const char *nvjitlink;
	const char *worker; /* a digest of its sources */
};

/* The tools for one target. */
struct tkb_tools {
	struct tkb_future *future; /* owned; NULL: no request is running */
	size_t waiter_count;       /* threads that wait for `future` without
	                            the lock */
	bool is_answered;          /* the last waiter frees the future */
	struct tkb_digest query;   /* digest of the request */
	bool is_known;
	struct tkb_versions versions;
	const char *libdevice; /* a path; "": none */
	const char *text;      /* text for messages */
};

struct tkb_compiler {
	const char *worker; /* path of the worker program */
	uint32_t worker_count;
	bool has_pass_output;
	/* Environment of every job; ends with NULL. */
	const char *environment[TKB_VARIABLE_COUNT + 1];
	struct tkb_buf tools_context; /* as fields: worker, user and
	                                 environment */
	struct tkb_buf tools_request; /* as fields: options that affect the
	                                 choice of tools */
	struct tkb_buf job_fields;    /* as fields: part of every job's
	                                 request */
	/* Fields for the key: for IR, for CUDA C, and for the step to cubin. */
	struct tkb_buf key_ir;
	struct tkb_buf key_cuda;
	struct tkb_buf key_cubin;
	const char *cache_root; /* may be NULL */
	const char **folders;   /* searched for includes; ends with NULL */
	bool keeps_kernels;     /* finalize has a list of kernels to keep */
	enum tkb_product product;
	enum tkb_cubin_tool cubin_with;
	bool is_finalized;
	bool has_rules;    /* finalize has rules of the user */
	const char *bound; /* bound arguments as JSON; NULL: none */
	bool is_fusion_off;
	bool is_line_info_off;
	bool is_optimized; /* this and the next suit only some units */
	bool has_libdevice;
	bool has_nvrtc_options;
	bool has_ptxas_options;
	uint32_t timeout_ms;
	struct tkb_sink log;
	struct tkb_watch watch; /* the pool's watch */

	pthread_mutex_t pool_lock; /* guards `pool` */
	struct tkb_pool *pool;     /* owned; NULL until the first job */

	pthread_mutex_t lock;   /* guards everything below */
	struct tkb_arena arena; /* owns the texts */
	struct tkb_tools tools[TKB_TARGET_LIMIT][2]; /* [1]: with NVRTC */
	struct tkb_buf fresh_tools; /* answers about tools, to remember */
	const char *libdevice;      /* path whose digest is known; NULL: none */
	struct tkb_digest libdevice_digest;
};

struct tkb_compile {
	struct tkb_arena arena;    /* owns the texts */
	struct tkb_future *future; /* owned; NULL: a hit */
	const char *cache_root;    /* NULL: do not publish */
	const char *arch;
	struct tkb_versions versions; /* that are in the key */
	enum tkb_product product;
	char key[TKB_KEY_SIZE];
	char hash[TKB_DIGEST_HEX_SIZE];
	enum tkb_source_kind kind;
	struct tkb_buf source;   /* for the entry */
	struct tkb_buf metadata; /* metadata as given */
	const char *bound;       /* bound arguments as JSON; NULL: none */
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
 * Find the index of target "cuda:90" in compiler->tools, and its architecture,
 * "90". Returns 0, or TKB_ERR_INVALID with a list of the targets.
 */
TKB_NODISCARD int tkb_target_find(const char *target, size_t *index_out,
                                  const char **arch_out, struct tkb_error *err);

/*
 * Find the worker program, and copy the environment variables for jobs. Returns
 * 0, TKB_ERR_IO (no such program) or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_workers_set_options(
	struct tkb_compiler *compiler,
	const struct tkb_compiler_options *options, struct tkb_error *err);

/*
 * Submit a job, with the compiler's environment and timeout. The first job
 * starts the workers. Fails like tkb_pool_open() and tkb_pool_submit().
 */
TKB_NODISCARD int tkb_workers_submit(struct tkb_compiler *compiler,
                                     struct tkb_job *job,
                                     struct tkb_future **out,
                                     struct tkb_error *err);

/*
 * Find the tools that a unit needs, from a remembered answer or by asking a
 * worker. The texts live as long as the compiler. Fails like
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

/* May this IR call a function of libdevice? When in doubt, true. */
bool tkb_libdevice_is_called(struct tkb_bytes ir);

/* Compute the key of a unit's entry, and the hash that the key encodes. */
TKB_NODISCARD int tkb_unit_key(struct tkb_compiler *compiler,
                               const struct tkb_unit *unit,
                               const struct tkb_tools *tools,
                               char key[TKB_KEY_SIZE],
                               char hash[TKB_DIGEST_HEX_SIZE],
                               struct tkb_error *err);

/*
 * Describe what makes the entry, in the form of tkbundle/makers.h. The text is in
 * the arena; it is "" if it would be too long for a note.
 */
TKB_NODISCARD int tkb_unit_maker(struct tkb_compiler *compiler,
                                 const struct tkb_unit *unit,
                                 const struct tkb_tools *tools,
                                 struct tkb_arena *arena, const char **out,
                                 struct tkb_error *err);

/* Copy a caller's options, and check them; if NULL, use all defaults. */
TKB_NODISCARD int tkb_finalize_options_read(
	struct tkb_finalize_options *out,
	const struct tkb_finalize_options *given, struct tkb_error *err);

#endif
