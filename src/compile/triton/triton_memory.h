/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_TRITON_TRITON_MEMORY_H
#define TKB_COMPILE_TRITON_TRITON_MEMORY_H

/*
 * Answers of triton_worker.py, remembered for later processes in the file `triton`
 * of the cache root's own folder. With them, a compile that hits the cache starts no
 * Python. An answer is used only while everything that it depends on is unchanged
 * (triton_depends.h), including its entry.
 *
 * Threads: any. Files that all jobs of a worker depend on, such as Triton's own, are
 * checked only once, because a worker loads them only once.
 */

#include <tkbundle/entry.h>

#include <pthread.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/digest.h"

/* The part that the answers of one worker share. */
struct tkb_triton_told {
	struct tkb_digest fields;
	struct tkb_digest note;
	int64_t began_ns;
};

struct tkb_triton_memory {
	pthread_mutex_t lock;
	const char *root;       /* borrowed; NULL: remember nothing */
	const char *python;     /* borrowed: path of the program */
	struct tkb_buf file;    /* the file as read */
	struct tkb_bytes known; /* borrowed from `file` */
	bool is_read;
	struct tkb_buf fresh;         /* new notes to write */
	struct tkb_digests unchanged; /* shared parts that were checked and
	                                 are unchanged */
	struct tkb_digests changed;   /* shared parts that were checked and
	                                 have changed */
	struct tkb_triton_told *told; /* owned */
	size_t told_count;
	size_t told_capacity;
};

/* The caller must set `memory->python`. */
void tkb_triton_memory_init(struct tkb_triton_memory *memory, const char *root);

/* Write the fresh notes, and release the memory. */
void tkb_triton_memory_close(struct tkb_triton_memory *memory);

/* Find a remembered answer to `query` that is still valid. */
bool tkb_triton_memory_recall(struct tkb_triton_memory *memory,
                              const struct tkb_digest *query,
                              struct tkb_buf *answer);

/* Remember a worker's answer, if it names what it depends on. */
void tkb_triton_memory_note(struct tkb_triton_memory *memory,
                            const struct tkb_digest *query,
                            struct tkb_bytes answer);

#endif
