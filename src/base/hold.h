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
 */

#include <tkbundle/bundle.h>

#include "base/base.h"
#include "base/buf.h"

enum {
	TKB_HOLD_MEMORY = 8 * 1024 * 1024 /* more than that goes to a file */
};

struct tkb_hold {
	struct tkb_buf memory;
	int fd; /* owned; -1 while all is in memory */
	uint64_t size;
	uint64_t limit;
};

#define TKB_HOLD_INIT(limit_)                                                  \
	{                                                                      \
		.memory = TKB_BUF_INIT(TKB_HOLD_MEMORY), .fd = -1,             \
		.limit = (limit_)                                              \
	}

void tkb_hold_release(struct tkb_hold *hold);

/* Returns 0, TKB_ERR_TOO_LARGE (beyond the limit), TKB_ERR_IO or _NOMEM. */
TKB_NODISCARD int tkb_hold_add(struct tkb_hold *hold, struct tkb_bytes bytes,
                               struct tkb_error *err);

/* Fewer bytes than asked for only at the end. From several threads. */
TKB_NODISCARD int tkb_hold_read(const struct tkb_hold *hold, uint64_t offset,
                                void *data, size_t size, size_t *got_out,
                                struct tkb_error *err);

/* Send all of it to `sink`. */
TKB_NODISCARD int tkb_hold_send(const struct tkb_hold *hold,
                                const struct tkb_sink *sink,
                                struct tkb_error *err);

/* Empty it; its limit stays. */
void tkb_hold_reset(struct tkb_hold *hold);

/* A source that reads `bytes`, which must live as long. */
struct tkb_source tkb_bytes_source(const struct tkb_bytes *bytes);

/* A source that reads it; it must live as long. */
struct tkb_source tkb_hold_source(const struct tkb_hold *hold);

#endif
