/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_SIZE = 64 * 1024
};

struct tkb_arena_block {
	struct tkb_arena_block *next;
	size_t size;
	alignas(max_align_t) unsigned char data[];
};

void tkb_arena_release(struct tkb_arena *arena)
{
	struct tkb_arena_block *block = arena->blocks;

	while (block != NULL) {
		struct tkb_arena_block *next = block->next;

		free(block);
		block = next;
	}
	*arena = (struct tkb_arena){ 0 };
}

static bool add_block(struct tkb_arena *arena, size_t size)
{
	struct tkb_arena_block *block;

	if (size < BLOCK_SIZE)
		size = BLOCK_SIZE;
	if (size > SIZE_MAX - sizeof(*block))
		return false;
	block = malloc(sizeof(*block) + size);
	if (block == NULL)
		return false;

	block->size = size;
	block->next = arena->blocks;
	arena->blocks = block;
	arena->used = 0;
	return true;
}

static void *alloc_bytes(struct tkb_arena *arena, size_t size, size_t align)
{
	size_t start = (arena->used + align - 1) / align * align;
	void *memory;

	if (arena->blocks == NULL || start > arena->blocks->size ||
	    size > arena->blocks->size - start) {
		if (!add_block(arena, size))
			return NULL;
		start = 0;
	}

	memory = arena->blocks->data + start;
	arena->used = start + size;
	return memory;
}

void *tkb_arena_alloc(struct tkb_arena *arena, size_t count, size_t size)
{
	void *memory;

	if (size != 0 && count > SIZE_MAX / size)
		return NULL;
	memory = alloc_bytes(arena, count * size, alignof(max_align_t));
	if (memory != NULL)
		memset(memory, 0, count * size);
	return memory;
}

char *tkb_arena_string(struct tkb_arena *arena, struct tkb_bytes bytes)
{
	char *string;

	if (bytes.size == SIZE_MAX)
		return NULL;
	string = alloc_bytes(arena, bytes.size + 1, 1);
	if (string == NULL)
		return NULL;
	if (bytes.size != 0)
		memcpy(string, bytes.data, bytes.size);
	string[bytes.size] = '\0';
	return string;
}

int tkb_arena_copy(struct tkb_arena *arena, struct tkb_bytes bytes,
                   const char **out, struct tkb_error *err)
{
	*out = tkb_arena_string(arena, bytes);
	return *out == NULL ? tkb_fail_nomem(err) : 0;
}

int tkb_arena_copy_buf(struct tkb_arena *arena, const struct tkb_buf *buf,
                       const char **out, struct tkb_error *err)
{
	const int rc = tkb_buf_check(buf, err);

	return rc < 0 ? rc
	              : tkb_arena_copy(arena, tkb_buf_bytes(buf), out, err);
}
