/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/times.h"

#include <stdlib.h>
#include <string.h>

#include "cache/key.h"
#include "collect/note_file.h"

static const char file_name[] = "times";

void tkb_times_release(struct tkb_times *times)
{
	tkb_arena_release(&times->arena);
	free(times->items);
	*times = (struct tkb_times){ 0 };
}

void tkb_times_close(struct tkb_times *times)
{
	if (times != NULL)
		tkb_times_release(times);
	free(times);
}

void tkb_times_close_at(struct tkb_times **times)
{
	tkb_times_close(*times);
}

int tkb_times_add(struct tkb_times *times, const char *key, uint32_t ms,
                  struct tkb_error *err)
{
	const struct tkb_key_time item = {
		.key = tkb_arena_string(&times->arena, tkb_text(key)),
		.ms = ms,
		.order = times->count,
	};

	if (item.key == NULL)
		return tkb_fail_nomem(err);
	return tkb_append(&times->items, &times->count, &times->capacity, &item,
	                  sizeof(item), err);
}

static int compare_items(const void *a, const void *b)
{
	const struct tkb_key_time *left = a;
	const struct tkb_key_time *right = b;
	const int order = strcmp(left->key, right->key);

	if (order != 0)
		return order;
	return (left->order > right->order) - (left->order < right->order);
}

void tkb_times_sort(struct tkb_times *times)
{
	size_t kept = 0;

	if (times->count > 1)
		qsort(times->items, times->count, sizeof(*times->items),
		      compare_items);
	for (size_t i = 0; i < times->count; i++) {
		if (kept == 0 || strcmp(times->items[kept - 1].key,
		                        times->items[i].key) != 0)
			times->items[kept++] = times->items[i];
	}
	times->count = kept;
}

static int compare_keys(const void *a, const void *b)
{
	const struct tkb_key_time *left = a;
	const struct tkb_key_time *right = b;

	return strcmp(left->key, right->key);
}

uint32_t tkb_times_of_key(const struct tkb_times *times, const char *key)
{
	const struct tkb_key_time wanted = { .key = key };
	const struct tkb_key_time *found = NULL;

	if (times != NULL && times->count != 0)
		found = bsearch(&wanted, times->items, times->count,
		                sizeof(wanted), compare_keys);
	return found == NULL ? 0 : found->ms;
}

uint32_t tkb_times_find(const struct tkb_times *times, const char *tree,
                        const char *name)
{
	char hex[TKB_DIGEST_HEX_SIZE];
	const char *key;

	return tkb_note_key(tree, name, hex, &key, NULL) == 0
	               ? tkb_times_of_key(times, key)
	               : 0;
}

/* "KEY MS" */
static int read_line(struct tkb_times *times, char *line, struct tkb_error *err)
{
	char *space = strchr(line, ' ');
	unsigned long ms;
	size_t digits;

	if (space == NULL)
		return 0;
	*space = '\0';
	digits = strspn(space + 1, "0123456789");
	if (digits == 0 || digits > 9 || space[1 + digits] != '\0' ||
	    !tkb_key_is_valid(line))
		return 0;
	ms = strtoul(space + 1, NULL, 10);
	return ms == 0 ? 0 : tkb_times_add(times, line, (uint32_t)ms, err);
}

static int read_text(struct tkb_times *times, const struct tkb_buf *text,
                     struct tkb_error *err)
{
	struct tkb_bytes found;
	char line[256];
	size_t at = 0;
	int rc = 0;

	while (rc == 0 &&
	       tkb_note_file_line(tkb_buf_bytes(text), &at, &found)) {
		if (found.size >= sizeof(line))
			continue;
		memcpy(line, found.data, found.size);
		line[found.size] = '\0';
		rc = read_line(times, line, err);
	}
	tkb_times_sort(times);
	return rc;
}

static int read_file(const char *cache_root, struct tkb_times *times,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_NOTE_FILE_LIMIT + 1);
	int rc;

	rc = tkb_note_file_read(cache_root, file_name, &text, err);
	return rc == 0 ? read_text(times, &text, err) : rc;
}

int tkb_times_open(const char *cache_root, struct tkb_times **out,
                   struct tkb_error *err)
{
	TKB_AUTO(tkb_times_close_at)
	struct tkb_times *times = tkb_alloc_array(1, sizeof(*times));
	int rc;

	if (times == NULL)
		return tkb_fail_nomem(err);
	rc = read_file(cache_root, times, err);
	if (rc == 0)
		*out = tkb_take(times);
	return rc;
}

int tkb_times_store(const char *cache_root, const struct tkb_times *news,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_NOTE_FILE_LIMIT);
	TKB_AUTO(tkb_times_release) struct tkb_times known = { 0 };
	int rc;

	rc = read_file(cache_root, &known, err);
	for (size_t i = 0; rc == 0 && i < news->count; i++) {
		const struct tkb_key_time *item = &news->items[i];

		if (tkb_times_of_key(&known, item->key) != 0)
			continue;
		tkb_buf_add_text(&text, item->key);
		tkb_buf_add_byte(&text, ' ');
		tkb_buf_add_number(&text, item->ms);
		tkb_buf_add_byte(&text, '\n');
	}
	if (rc == 0)
		rc = tkb_buf_check(&text, err);
	if (rc < 0 || text.size == 0)
		return rc;
	return tkb_note_file_append(cache_root, file_name, tkb_buf_bytes(&text),
	                            err);
}

int tkb_times_note(const char *cache_root, const struct tkb_time *items,
                   size_t count, struct tkb_error *err)
{
	TKB_AUTO(tkb_times_release) struct tkb_times news = { 0 };
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++) {
		char hex[TKB_DIGEST_HEX_SIZE];
		const char *key;

		rc = tkb_note_key(items[i].tree, items[i].name, hex, &key, err);
		if (rc == 0 && items[i].ms != 0)
			rc = tkb_times_add(&news, key, items[i].ms, err);
		rc = rc == TKB_MISS ? 0 : rc;
	}
	tkb_times_sort(&news);
	return rc == 0 ? tkb_times_store(cache_root, &news, err) : rc;
}
