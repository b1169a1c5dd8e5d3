/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_HOLD_H
#define TKB_BASE_HOLD_H

/*
 * Bytes that come in one after another and are read later, in any order: in
 * memory while they are few, then in a file without a name.
 *
 *     TKB_AUTO(tkb_hold_release) struct tkb_hold hold = TKB_HOLD_INIT(limit);
 *
 *     rc = tkb_hold_add(&hold, bytes, err);
 *     rc = tkb_hold_read(&hold, offset, data, size, &got, err);
 *
 * One thread may fill it while others read through tkb_hold_live_source(): what
 * has not come yet they wait for, from tkb_hold_begin() to tkb_hold_end().
 */

#include <pthread.h>

#include <tkbundle/memory.h>

#include "base/base.h"
#include "base/buf.h"

enum {
	TKB_HOLD_MEMORY = 8 * 1024 * 1024 /* more than that goes to a file */
};

struct tkb_hold {
	pthread_mutex_t lock;
	pthread_cond_t moved; /* it grew, or will not grow any more */
	struct tkb_buf memory;
	int fd; /* owned; -1 while all is in memory */
	uint64_t size;
	uint64_t limit;
	bool is_growing;
	struct tkb_error failure; /* why it ended early, for who reads */
};

/* `memory_` bytes at most are kept in memory, `limit_` in all. */
#define TKB_HOLD_INIT_SMALL(memory_, limit_)                                   \
	{                                                                      \
		.lock = PTHREAD_MUTEX_INITIALIZER,                             \
		.moved = PTHREAD_COND_INITIALIZER,                             \
		.memory = TKB_BUF_INIT(memory_), .fd = -1, .limit = (limit_)   \
	}

#define TKB_HOLD_INIT(limit_) TKB_HOLD_INIT_SMALL(TKB_HOLD_MEMORY, limit_)

void tkb_hold_release(struct tkb_hold *hold);

/* Returns 0, TKB_ERR_TOO_LARGE (beyond the limit), TKB_ERR_IO or _NOMEM. */
TKB_NODISCARD int tkb_hold_add(struct tkb_hold *hold, struct tkb_bytes bytes,
                               struct tkb_error *err);

/* More will come. */
void tkb_hold_begin(struct tkb_hold *hold);

/* No more comes: `rc` is 0, or what those get who wait behind the end. */
void tkb_hold_end(struct tkb_hold *hold, int rc,
                  const struct tkb_error *failure);

/* Fewer bytes than asked for only at the end. From several threads. */
TKB_NODISCARD int tkb_hold_read(struct tkb_hold *hold, uint64_t offset,
                                void *data, size_t size, size_t *got_out,
                                struct tkb_error *err);

/* Send all of it to `sink`. */
TKB_NODISCARD int tkb_hold_send(struct tkb_hold *hold,
                                const struct tkb_sink *sink,
                                struct tkb_error *err);

/* Empty it; its limit stays. */
void tkb_hold_reset(struct tkb_hold *hold);

/* A sink that fills it; it must live as long. */
struct tkb_sink tkb_hold_sink(struct tkb_hold *hold);

/* A source that reads it; it must live as long. */
struct tkb_source tkb_hold_source(struct tkb_hold *hold);

/* The same, for other threads than the one that fills it. */
struct tkb_source tkb_hold_live_source(struct tkb_hold *hold);

#endif
