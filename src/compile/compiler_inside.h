/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_COMPILER_INSIDE_H
#define TKB_COMPILE_COMPILER_INSIDE_H

/*
 * What the files of the compiler share: a client of the worker program, which
 * makes requests, and entries of answers.
 *
 *   compiler.c           open, submit, close
 *   compiler_choices.c   options become fields of requests and of keys
 *   compiler_target.c    which targets there are
 *   compiler_tools.c     which tools there are for a target
 *   compiler_key.c       the key of a unit's entry
 *   compiler_answer.c    an answer becomes an entry
 */

#include <tkbundle/compile.h>

#include <pthread.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/digest.h"
#include "bundle/key.h"

enum {
	TKB_TARGET_LIMIT = 16,           /* so many architectures are known */
	TKB_COMPILE_TEXT_LIMIT = 1 << 22 /* of options and metadata, bytes */
};

/* The tools for one target. */
struct tkb_tools {
	struct tkb_future *future; /* owned; NULL: nobody has asked */
	bool is_known;
	const char *llvm; /* versions; "" where there is none */
	const char *nvrtc;
	const char *ptxas;
	const char *nvjitlink;
	const char *text; /* for people */
};

struct tkb_compiler {
	struct tkb_pool *pool;  /* owned */
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
	bool no_fusion;
	bool no_lines;
	uint32_t timeout_ms;
	struct tkb_sink log;

	pthread_mutex_t lock;   /* of all that follows */
	struct tkb_arena arena; /* owns the texts */
	struct tkb_tools tools[TKB_TARGET_LIMIT];
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

/*
 * The number of the target "cuda:90" in compiler->tools, and its architecture,
 * "90". Returns 0, or TKB_ERR_INVALID: which targets there are.
 */
TKB_NODISCARD int tkb_target_find(const char *target, size_t *index_out,
                                  const char **arch_out, struct tkb_error *err);

/*
 * The tools for a target; asks where nobody has. The texts live as long as the
 * compiler. Codes as of tkb_compiler_tools().
 */
TKB_NODISCARD int tkb_tools_get(struct tkb_compiler *compiler,
                                const char *target, uint32_t timeout_ms,
                                const struct tkb_tools **out,
                                struct tkb_error *err);

/* The key of a unit's entry, and the hash that it encodes. */
TKB_NODISCARD int tkb_unit_key(const struct tkb_compiler *compiler,
                               const struct tkb_unit *unit,
                               const struct tkb_tools *tools,
                               char key[TKB_KEY_SIZE],
                               char hash[TKB_DIGEST_HEX_SIZE],
                               struct tkb_error *err);

/* A copy of `text` in the arena. */
TKB_NODISCARD int tkb_compiler_keep(struct tkb_arena *arena,
                                    struct tkb_bytes text, const char **out,
                                    struct tkb_error *err);

#endif
