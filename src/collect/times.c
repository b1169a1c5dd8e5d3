/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/times.h"

#include <stdlib.h>
#include <string.h>

#include "cache/key.h"
#include "collect/note_file.h"

static const char file_name[] = "times";

void tkb_times_release(struct tkb_times *times)
{
	tkb_key_notes_release(&times->notes);
}

void tkb_times_close(struct tkb_times *times)
{
	if (times != NULL)
		tkb_times_release(times);
	free(times);
}

TKB_AUTO_POINTER(close_at, struct tkb_times, tkb_times_close)

int tkb_times_add(struct tkb_times *times, const char *key, uint32_t ms,
                  struct tkb_error *err)
{
	return tkb_key_notes_add(&times->notes, key, NULL, ms, err);
}

uint32_t tkb_times_of_key(const struct tkb_times *times, const char *key)
{
	const struct tkb_key_note *found =
		times == NULL ? NULL : tkb_key_notes_find(&times->notes, key);

	return found == NULL ? 0 : found->number;
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

/* Read a line "KEY MS". */
static int read_time_line(struct tkb_times *times, struct tkb_bytes found,
                          struct tkb_error *err)
{
	char line[256];
	char *space;
	unsigned long long ms;
	size_t digits;

	if (found.size >= sizeof(line))
		return 0;
	memcpy(line, found.data, found.size);
	line[found.size] = '\0';
	space = strchr(line, ' ');
	if (space == NULL)
		return 0;
	*space = '\0';
	digits = strspn(space + 1, "0123456789");
	if (digits == 0 || digits > 10 || space[1 + digits] != '\0' ||
	    !tkb_key_is_valid(line))
		return 0;
	ms = strtoull(space + 1, NULL, 10);
	if (ms == 0 || ms > UINT32_MAX)
		return 0;
	return tkb_times_add(times, line, (uint32_t)ms, err);
}

static int read_times_file(const char *cache_root, struct tkb_times *times,
                           struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_NOTE_FILE_LIMIT + 1);
	struct tkb_bytes line;
	size_t at = 0;
	int rc;

	rc = tkb_note_file_read(cache_root, file_name, &text, err);
	while (rc == 0 && tkb_note_file_line(tkb_buf_bytes(&text), &at, &line))
		rc = read_time_line(times, line, err);
	tkb_key_notes_sort(&times->notes);
	return rc;
}

int tkb_times_open(const char *cache_root, struct tkb_times **out,
                   struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_times *times = tkb_alloc_array(1, sizeof(*times));
	int rc;

	if (times == NULL)
		return tkb_fail_nomem(err);
	rc = read_times_file(cache_root, times, err);
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

	rc = read_times_file(cache_root, &known, err);
	for (size_t i = 0; rc == 0 && i < news->notes.count; i++) {
		const struct tkb_key_note *item = &news->notes.items[i];

		if (tkb_times_of_key(&known, item->key) != 0)
			continue;
		tkb_print(&text, "%s %u\n", item->key, item->number);
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
	tkb_key_notes_sort(&news.notes);
	return rc == 0 ? tkb_times_store(cache_root, &news, err) : rc;
}
