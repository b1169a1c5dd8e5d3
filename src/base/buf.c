/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void tkb_buf_release(struct tkb_buf *buf)
{
	free(buf->data);
	*buf = (struct tkb_buf){ .limit = buf->limit };
}

void tkb_buf_reset(struct tkb_buf *buf)
{
	buf->size = 0;
	buf->failure = 0;
}

static size_t next_capacity(const struct tkb_buf *buf, size_t wanted)
{
	size_t capacity = buf->capacity < 128 ? 256 : buf->capacity * 2;

	if (capacity > buf->limit)
		capacity = buf->limit;
	return capacity < wanted ? wanted : capacity;
}

unsigned char *tkb_buf_reserve(struct tkb_buf *buf, size_t size)
{
	unsigned char *grown;
	size_t capacity;

	if (buf->failure != 0)
		return NULL;
	if (size > buf->limit - buf->size) {
		buf->failure = TKB_ERR_TOO_LARGE;
		return NULL;
	}

	if (buf->data == NULL || size > buf->capacity - buf->size) {
		capacity = next_capacity(buf, buf->size + size);
		grown = realloc(buf->data, capacity == 0 ? 1 : capacity);
		if (grown == NULL) {
			buf->failure = TKB_ERR_NOMEM;
			return NULL;
		}
		buf->data = grown;
		buf->capacity = capacity;
	}
	return buf->data + buf->size;
}

void tkb_buf_add(struct tkb_buf *buf, struct tkb_bytes bytes)
{
	unsigned char *place = tkb_buf_reserve(buf, bytes.size);

	if (place == NULL || bytes.size == 0)
		return;
	memcpy(place, bytes.data, bytes.size);
	buf->size += bytes.size;
}

void tkb_buf_add_text(struct tkb_buf *buf, const char *text)
{
	tkb_buf_add(buf, tkb_text(text));
}

void tkb_buf_add_byte(struct tkb_buf *buf, char byte)
{
	tkb_buf_add(buf, (struct tkb_bytes){ &byte, 1 });
}

void tkb_buf_add_number(struct tkb_buf *buf, uint64_t number)
{
	char digits[24];

	(void)snprintf(digits, sizeof(digits), "%" PRIu64, number);
	tkb_buf_add_text(buf, digits);
}

void tkb_print(struct tkb_buf *out, const char *format, ...)
{
	const size_t limit = out->limit;
	va_list arguments;
	char *room;
	int length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0) { /* longer than INT_MAX */
		if (out->failure == 0)
			out->failure = TKB_ERR_TOO_LARGE;
		return;
	}

	/* The NUL does not count: it may be behind the limit. */
	out->limit += limit < SIZE_MAX;
	room = (char *)tkb_buf_reserve(out, (size_t)length + 1);
	out->limit = limit;
	if (room == NULL)
		return;
	va_start(arguments, format);
	(void)vsnprintf(room, (size_t)length + 1, format, arguments);
	va_end(arguments);
	out->size += (size_t)length;
}

int tkb_buf_check(const struct tkb_buf *buf, struct tkb_error *err)
{
	if (buf->failure == TKB_ERR_TOO_LARGE)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "more than the limit of %zu bytes", buf->limit);
	if (buf->failure != 0)
		return tkb_fail_nomem(err);
	return 0;
}

static int sink_write(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	struct tkb_buf *buf = self;

	tkb_buf_add(buf, bytes);
	return tkb_buf_check(buf, err);
}

struct tkb_sink tkb_buf_sink(struct tkb_buf *buf)
{
	return (struct tkb_sink){ .write = sink_write, .self = buf };
}

int tkb_bytes_compare(struct tkb_bytes a, struct tkb_bytes b)
{
	const size_t common = a.size < b.size ? a.size : b.size;
	const int order = common == 0 ? 0 : memcmp(a.data, b.data, common);

	if (order != 0)
		return order;
	return (a.size > b.size) - (a.size < b.size);
}
