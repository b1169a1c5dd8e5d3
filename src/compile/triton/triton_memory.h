/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_TRITON_TRITON_MEMORY_H
#define TKB_COMPILE_TRITON_TRITON_MEMORY_H

/*
 * Answers of triton_worker.py, remembered for the next process in the file `triton`
 * of the cache root's own folder: a compile that is a hit then starts no Python. An
 * answer is used only while all that it depends on is unchanged (triton_depends.h),
 * its entry included.
 *
 * Threads: any. What all jobs of a worker depend on, as Triton's files, is looked at
 * once, as a worker loads it once.
 */

#include <tkbundle/entry.h>

#include <pthread.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/digest.h"

/* What a worker told of what its jobs share. */
struct tkb_triton_told {
	struct tkb_digest fields;
	struct tkb_digest note;
	int64_t began_ns;
};

struct tkb_triton_memory {
	pthread_mutex_t lock;
	const char *root;       /* borrowed; NULL: nothing is remembered */
	const char *python;     /* borrowed: path of the program */
	struct tkb_buf file;    /* as read; */
	struct tkb_bytes known; /* borrowed of it */
	bool is_read;
	struct tkb_buf fresh;         /* to be written */
	struct tkb_digests unchanged; /* what is shared, and was looked at */
	struct tkb_digests changed;   /* the same */
	struct tkb_triton_told *told; /* owned */
	size_t told_count;
	size_t told_capacity;
};

/* `memory->python` is to be set by the caller. */
void tkb_triton_memory_init(struct tkb_triton_memory *memory, const char *root);

/* Write what is fresh, and release it. */
void tkb_triton_memory_close(struct tkb_triton_memory *memory);

/* Find a remembered answer to `query` that still holds. */
bool tkb_triton_memory_recall(struct tkb_triton_memory *memory,
                              const struct tkb_digest *query,
                              struct tkb_buf *answer);

/* Remember a worker's answer, if it says what it depends on. */
void tkb_triton_memory_note(struct tkb_triton_memory *memory,
                            const struct tkb_digest *query,
                            struct tkb_bytes answer);

#endif
