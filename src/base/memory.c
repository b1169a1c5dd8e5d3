/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/memory.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum {
	FIRST_CAPACITY = 64 * 1024
};

static int reserve_memory(struct tkb_memory *memory, size_t size,
                          struct tkb_error *err)
{
	const size_t limit = memory->limit != 0 ? memory->limit : SIZE_MAX;
	size_t capacity = memory->capacity;
	unsigned char *data;

	if (size > limit - memory->size)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "more than the limit of %zu bytes", limit);
	size += memory->size;
	if (size <= capacity)
		return 0;

	/* If it cannot be doubled, room for these bytes will do. */
	capacity = capacity <= limit / 2 ? 2 * capacity : limit;
	if (capacity < FIRST_CAPACITY)
		capacity = FIRST_CAPACITY;
	if (capacity < size)
		capacity = size;
	data = realloc(memory->data, capacity);
	if (data == NULL) {
		capacity = size;
		data = realloc(memory->data, capacity);
	}
	if (data == NULL)
		return tkb_fail_nomem(err);
	memory->data = data;
	memory->capacity = capacity;
	return 0;
}

static int write_memory(void *self, struct tkb_bytes bytes,
                        struct tkb_error *err)
{
	struct tkb_memory *memory = self;
	int rc;

	if (bytes.size == 0)
		return 0;
	rc = reserve_memory(memory, bytes.size, err);
	if (rc < 0)
		return rc;
	memcpy(memory->data + memory->size, bytes.data, bytes.size);
	memory->size += bytes.size;
	return 0;
}

struct tkb_sink tkb_memory_sink(struct tkb_memory *memory)
{
	return (struct tkb_sink){ .write = write_memory, .self = memory };
}

void tkb_memory_release(struct tkb_memory *memory)
{
	free(memory->data);
	*memory = (struct tkb_memory){ .limit = memory->limit };
}

static int read_bytes(void *self, uint64_t offset, void *data, size_t size,
                      size_t *got_out, struct tkb_error *err)
{
	const struct tkb_bytes *bytes = self;

	(void)err;
	*got_out = 0;
	if (offset >= bytes->size || size == 0)
		return 0;
	if (size > bytes->size - (size_t)offset)
		size = bytes->size - (size_t)offset;
	memcpy(data, (const char *)bytes->data + offset, size);
	*got_out = size;
	return 0;
}

struct tkb_source tkb_memory_source(const struct tkb_bytes *bytes)
{
	/* The source only reads the bytes. */
	return (struct tkb_source){ .read_at = read_bytes,
		                    .self = (void *)bytes };
}
