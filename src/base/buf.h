/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_BUF_H
#define TKB_BASE_BUF_H

/*
 * A buffer that grows up to a limit, and never past it.
 *
 *     TKB_AUTO(tkb_buf_release) struct tkb_buf buf = TKB_BUF_INIT(limit);
 *
 *     tkb_buf_add_text(&buf, "a");
 *     tkb_buf_add(&buf, bytes);
 *     rc = tkb_buf_check(&buf, err);
 *
 * The functions that add return nothing: the buffer keeps the first failure and
 * ignores later additions; tkb_buf_check() reports the failure once.
 */

#include <string.h>

#include <tkbundle/entry.h>

#include "base/base.h"

struct tkb_buf {
	unsigned char *data; /* owned */
	size_t size;
	size_t capacity;
	size_t limit;
	int failure; /* 0, TKB_ERR_NOMEM or TKB_ERR_TOO_LARGE */
};

#define TKB_BUF_INIT(limit_)                                                   \
	{                                                                      \
		.limit = (limit_)                                              \
	}

void tkb_buf_release(struct tkb_buf *buf);

/* Empty it, keep its memory, forget a failure. */
void tkb_buf_reset(struct tkb_buf *buf);

/* Make room for `size` more bytes and return where they go, or NULL. */
unsigned char *tkb_buf_reserve(struct tkb_buf *buf, size_t size);

void tkb_buf_add(struct tkb_buf *buf, struct tkb_bytes bytes);
void tkb_buf_add_text(struct tkb_buf *buf, const char *text);
void tkb_buf_add_byte(struct tkb_buf *buf, char byte);
void tkb_buf_add_number(struct tkb_buf *buf, uint64_t number);

/* Append like printf(). A NUL follows, which is not counted. */
void tkb_print(struct tkb_buf *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

TKB_NODISCARD int tkb_buf_check(const struct tkb_buf *buf,
                                struct tkb_error *err);

static inline struct tkb_bytes tkb_buf_bytes(const struct tkb_buf *buf)
{
	return (struct tkb_bytes){ buf->data, buf->size };
}

static inline struct tkb_bytes tkb_text(const char *text)
{
	return (struct tkb_bytes){ text, strlen(text) };
}

static inline bool tkb_bytes_equal(struct tkb_bytes a, struct tkb_bytes b)
{
	return a.size == b.size &&
	       (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool tkb_bytes_equal_text(struct tkb_bytes bytes,
                                        const char *text)
{
	return tkb_bytes_equal(bytes, tkb_text(text));
}

static inline bool tkb_bytes_begin_with(struct tkb_bytes bytes,
                                        struct tkb_bytes start)
{
	return bytes.size >= start.size &&
	       (start.size == 0 ||
	        memcmp(bytes.data, start.data, start.size) == 0);
}

/* The bytes from index `from` up to, but not including, index `to`. */
static inline struct tkb_bytes tkb_bytes_slice(struct tkb_bytes bytes,
                                               size_t from, size_t to)
{
	const char *data = bytes.data;

	/* No bytes may be at NULL, to which not even 0 may be added. */
	return (struct tkb_bytes){ from == 0 ? data : data + from, to - from };
}

/* A sink that appends to the buffer. */
struct tkb_sink tkb_buf_sink(struct tkb_buf *buf);

/* Compare byte by byte; a prefix comes before longer byte strings. */
int tkb_bytes_compare(struct tkb_bytes a, struct tkb_bytes b);

#endif
