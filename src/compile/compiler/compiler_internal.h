/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_COMPILER_COMPILER_INTERNAL_H
#define TKB_COMPILE_COMPILER_COMPILER_INTERNAL_H

/*
 * What the files of the compiler share: a client of the worker program, which
 * makes requests, and entries of answers.
 *
 *   compiler.c           open, submit, close
 *   compiler_choices.c   options become fields of requests and of keys
 *   compiler_target.c    which targets there are
 *   compiler_workers.c   who does the work: nobody is started before there is any
 *   compiler_tools.c     which tools there are for a target
 *   compiler_libdevice.c what of it counts
 *   compiler_key.c       the key of a unit's entry
 *   compiler_answer.c    an answer becomes an entry
 */

#include <tkbundle/compile.h>

#include <pthread.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/digest.h"
#include "cache/key.h"

enum {
	TKB_TARGET_LIMIT = 16,  /* so many architectures are known */
	TKB_VARIABLE_COUNT = 7, /* of the environment, that name tools */
	TKB_COMPILE_TEXT_LIMIT = 1 << 22 /* of options and metadata, bytes */
};

/* The tools for one target. */
struct tkb_tools {
	struct tkb_future *future;  /* owned; NULL: no worker was asked */
	size_t waiter_count;        /* who waits for it, without the lock */
	bool is_answered;           /* it goes with the last of those */
	struct tkb_digest question; /* that it was asked */
	bool is_known;
	const char *llvm; /* versions; "" where there is none */
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
	/* What every job has; ends with NULL. */
	const char *environment[TKB_VARIABLE_COUNT + 1];
	struct tkb_buf asker;   /* fields: who asks for tools, and where */
	struct tkb_buf asks;    /* fields: the choices that tools depend on */
	struct tkb_buf choices; /* the fields that every job has */
	/* What of the choices decides what comes out: for IR, for CUDA C, and
	   in the step to cubin. */
	struct tkb_buf decides_ir;
	struct tkb_buf decides_cuda;
	struct tkb_buf decides_cubin;
	const char *cache_root; /* NULL: none */
	const char **folders;   /* that are searched for includes; ends with
	                           NULL */
	bool keeps_kernels;     /* those that finalize was told to keep */
	enum tkb_product product;
	enum tkb_cubin_tool cubin_with;
	bool is_finalized;
	bool has_rules; /* of the user, for that */
	bool is_fusion_off;
	bool is_line_info_off;
	bool is_optimized; /* this and what follows: of options given, for which
	                      a unit must be of the right kind */
	bool has_libdevice;
	bool has_nvrtc_options;
	bool has_ptxas_options;
	uint32_t timeout_ms;
	struct tkb_sink log;

	pthread_mutex_t pool_lock; /* of the next */
	struct tkb_pool *pool;     /* owned; NULL: there was no job yet */

	pthread_mutex_t lock;                        /* of all that follows */
	struct tkb_arena arena;                      /* owns the texts */
	struct tkb_tools tools[TKB_TARGET_LIMIT][2]; /* [1]: NVRTC, too */
	struct tkb_buf fresh;  /* what is to be remembered of them */
	const char *libdevice; /* whose digest is known; NULL: none */
	struct tkb_digest libdevice_digest;
};

struct tkb_compile {
	struct tkb_arena arena;    /* owns the texts */
	struct tkb_future *future; /* owned; NULL: a hit */
	const char *cache_root;    /* NULL: publish nothing */
	const char *arch;
	const char *ptxas; /* versions that the key speaks of */
	const char *nvjitlink;
	enum tkb_product product;
	char key[TKB_KEY_SIZE];
	char hash[TKB_DIGEST_HEX_SIZE];
	enum tkb_source_kind kind;
	struct tkb_buf source;   /* to be kept in the entry */
	struct tkb_buf metadata; /* as given */
	uint32_t num_warps;
	bool is_read;
	bool is_published;
	struct tkb_compiled compiled;
};

/* Fill `compiler` with what the options say. */
TKB_NODISCARD int tkb_compiler_choose(
	struct tkb_compiler *compiler,
	const struct tkb_compiler_options *options, struct tkb_error *err);

/* Has each choice a meaning for the unit? Returns 0, or TKB_ERR_INVALID. */
TKB_NODISCARD int tkb_compiler_check(const struct tkb_compiler *compiler,
                                     const struct tkb_unit *unit,
                                     struct tkb_error *err);

/*
 * The number of the target "cuda:90" in compiler->tools, and its architecture,
 * "90". Returns 0, or TKB_ERR_INVALID: which targets there are.
 */
TKB_NODISCARD int tkb_target_find(const char *target, size_t *index_out,
                                  const char **arch_out, struct tkb_error *err);

/*
 * Choose who does the work. Returns 0, TKB_ERR_IO (there is no such program) or
 * TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_workers_choose(struct tkb_compiler *compiler,
                                     const struct tkb_compiler_options *options,
                                     struct tkb_error *err);

/*
 * Give a job to the workers, which are started for the first one. Its environment
 * and its time are the compiler's. Codes as of tkb_pool_open() and
 * tkb_pool_submit().
 */
TKB_NODISCARD int tkb_workers_submit(struct tkb_compiler *compiler,
                                     struct tkb_job *job,
                                     struct tkb_future **out,
                                     struct tkb_error *err);

/*
 * The tools for a target, NVRTC only `with_nvrtc`; a worker is asked where the
 * answer is not remembered. The texts live as long as the compiler. Codes as of
 * tkb_compiler_tools().
 */
TKB_NODISCARD int tkb_tools_get(struct tkb_compiler *compiler,
                                const char *target, bool with_nvrtc,
                                uint32_t timeout_ms,
                                const struct tkb_tools **out,
                                struct tkb_error *err);

/* The same for a unit, with what that needs. */
TKB_NODISCARD int tkb_tools_of_unit(struct tkb_compiler *compiler,
                                    const struct tkb_unit *unit,
                                    const struct tkb_tools **out,
                                    struct tkb_error *err);

/* Add the contents of the libdevice at `path`, or that there is none, "". */
TKB_NODISCARD int tkb_libdevice_add(struct tkb_compiler *compiler,
                                    const char *path, struct tkb_buf *out,
                                    struct tkb_error *err);

/*
 * Can this IR call what a libdevice defines? Said of too much rather than of too
 * little.
 */
bool tkb_libdevice_is_called(struct tkb_bytes ir);

/* The key of a unit's entry, and the hash that it encodes. */
TKB_NODISCARD int tkb_unit_key(struct tkb_compiler *compiler,
                               const struct tkb_unit *unit,
                               const struct tkb_tools *tools,
                               char key[TKB_KEY_SIZE],
                               char hash[TKB_DIGEST_HEX_SIZE],
                               struct tkb_error *err);

/* A copy of `text` in the arena. */
/* Copy a caller's choices; NULL is all defaults. */
TKB_NODISCARD int tkb_finalize_options_read(
	struct tkb_finalize_options *out,
	const struct tkb_finalize_options *given, struct tkb_error *err);

TKB_NODISCARD int tkb_compiler_keep(struct tkb_arena *arena,
                                    struct tkb_bytes text, const char **out,
                                    struct tkb_error *err);

#endif
