/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/makers.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cache/key.h"
#include "collect/note_file.h"

static const char file_name[] = "makers";

/* Between the keys of a line, and what made them. */
static const char sign[] = " = ";

void tkb_makers_release(struct tkb_makers *makers)
{
	tkb_arena_release(&makers->arena);
	free(makers->items);
	*makers = (struct tkb_makers){ 0 };
}

void tkb_makers_close(struct tkb_makers *makers)
{
	if (makers != NULL)
		tkb_makers_release(makers);
	free(makers);
}

void tkb_makers_close_at(struct tkb_makers **makers)
{
	tkb_makers_close(*makers);
}

bool tkb_maker_is_valid(const char *maker)
{
	return tkb_utf8_is_shown(maker) && strlen(maker) < TKB_MAKER_SIZE;
}

/* That of the item before, or a copy; NULL: out of memory. */
static const char *keep_maker(struct tkb_makers *makers, const char *maker)
{
	const char *last = makers->count != 0
	                           ? makers->items[makers->count - 1].maker
	                           : NULL;

	return last != NULL && strcmp(last, maker) == 0
	               ? last
	               : tkb_arena_string(&makers->arena, tkb_text(maker));
}

int tkb_makers_add(struct tkb_makers *makers, const char *key,
                   const char *maker, struct tkb_error *err)
{
	const struct tkb_key_maker item = {
		.key = tkb_arena_string(&makers->arena, tkb_text(key)),
		.maker = keep_maker(makers, maker),
		.order = makers->count,
	};

	if (item.key == NULL || item.maker == NULL)
		return tkb_fail_nomem(err);
	return tkb_append(&makers->items, &makers->count, &makers->capacity,
	                  &item, sizeof(item), err);
}

static int compare_keys(const void *a, const void *b)
{
	const struct tkb_key_maker *left = a;
	const struct tkb_key_maker *right = b;

	return strcmp(left->key, right->key);
}

static int compare_items(const void *a, const void *b)
{
	const struct tkb_key_maker *left = a;
	const struct tkb_key_maker *right = b;
	const int order = compare_keys(a, b);

	if (order != 0)
		return order;
	return (left->order > right->order) - (left->order < right->order);
}

void tkb_makers_sort(struct tkb_makers *makers)
{
	size_t kept = 0;

	if (makers->count > 1)
		qsort(makers->items, makers->count, sizeof(*makers->items),
		      compare_items);
	for (size_t i = 0; i < makers->count; i++) {
		if (kept == 0 || strcmp(makers->items[kept - 1].key,
		                        makers->items[i].key) != 0)
			makers->items[kept++] = makers->items[i];
	}
	makers->count = kept;
}

const char *tkb_makers_of_key(const struct tkb_makers *makers, const char *key)
{
	const struct tkb_key_maker wanted = { .key = key };
	const struct tkb_key_maker *found = NULL;

	if (makers != NULL && makers->count != 0)
		found = bsearch(&wanted, makers->items, makers->count,
		                sizeof(wanted), compare_keys);
	return found == NULL ? NULL : found->maker;
}

const char *tkb_makers_find(const struct tkb_makers *makers, const char *tree,
                            const char *name)
{
	char hex[TKB_DIGEST_HEX_SIZE];
	const char *key;

	return tkb_note_key(tree, name, hex, &key, NULL) == 0
	               ? tkb_makers_of_key(makers, key)
	               : NULL;
}

/* "KEY KEY ... = MAKER" */
static int read_line(struct tkb_makers *makers, struct tkb_bytes line,
                     struct tkb_error *err)
{
	const char *at = line.data;
	const char *equals = memmem(line.data, line.size, sign, strlen(sign));
	const char *end = at + line.size;
	char maker[TKB_MAKER_SIZE];
	size_t size;
	int rc = 0;

	if (equals == NULL)
		return 0;
	size = (size_t)(end - equals) - strlen(sign);
	if (size >= sizeof(maker))
		return 0;
	memcpy(maker, equals + strlen(sign), size);
	maker[size] = '\0';
	if (!tkb_maker_is_valid(maker))
		return 0;
	while (at < equals && rc == 0) {
		const char *space = memchr(at, ' ', (size_t)(end - at));
		char key[TKB_DIGEST_HEX_SIZE] = "";

		if ((size_t)(space - at) < sizeof(key))
			memcpy(key, at, (size_t)(space - at));
		key[sizeof(key) - 1] = '\0';
		if (tkb_key_is_valid(key))
			rc = tkb_makers_add(makers, key, maker, err);
		at = space + 1;
	}
	return rc;
}

static int read_file(const char *cache_root, struct tkb_makers *makers,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_NOTE_FILE_LIMIT + 1);
	struct tkb_bytes line;
	size_t at = 0;
	int rc;

	rc = tkb_note_file_read(cache_root, file_name, &text, err);
	while (rc == 0 && tkb_note_file_line(tkb_buf_bytes(&text), &at, &line))
		rc = read_line(makers, line, err);
	tkb_makers_sort(makers);
	return rc;
}

int tkb_makers_open(const char *cache_root, struct tkb_makers **out,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_makers_close_at)
	struct tkb_makers *makers = tkb_alloc_array(1, sizeof(*makers));
	int rc;

	if (makers == NULL)
		return tkb_fail_nomem(err);
	rc = read_file(cache_root, makers, err);
	if (rc == 0)
		*out = tkb_take(makers);
	return rc;
}

static void end_line(const char *maker, struct tkb_buf *out)
{
	tkb_buf_add_text(out, sign);
	tkb_buf_add_text(out, maker);
	tkb_buf_add_byte(out, '\n');
}

static int compare_makers(const void *a, const void *b)
{
	const struct tkb_key_maker *left = a;
	const struct tkb_key_maker *right = b;
	const int order = strcmp(left->maker, right->maker);

	return order != 0 ? order : compare_keys(a, b);
}

/* A line for all that one maker made. */
static int add_lines(const struct tkb_makers *news,
                     const struct tkb_makers *known, struct tkb_buf *out,
                     struct tkb_error *err)
{
	struct tkb_key_maker *items =
		tkb_alloc_array(news->count, sizeof(*items));
	const char *maker = NULL;

	if (items == NULL)
		return tkb_fail_nomem(err);
	if (news->count != 0)
		memcpy(items, news->items, news->count * sizeof(*items));
	if (news->count > 1)
		qsort(items, news->count, sizeof(*items), compare_makers);
	for (size_t i = 0; i < news->count; i++) {
		if (tkb_makers_of_key(known, items[i].key) != NULL)
			continue;
		if (maker != NULL && strcmp(maker, items[i].maker) != 0)
			end_line(maker, out);
		else
			tkb_buf_add_text(out, maker != NULL ? " " : "");
		tkb_buf_add_text(out, items[i].key);
		maker = items[i].maker;
	}
	if (maker != NULL)
		end_line(maker, out);
	free(items);
	return tkb_buf_check(out, err);
}

int tkb_makers_store(const char *cache_root, const struct tkb_makers *news,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_NOTE_FILE_LIMIT);
	TKB_AUTO(tkb_makers_release) struct tkb_makers known = { 0 };
	int rc;

	rc = read_file(cache_root, &known, err);
	if (rc == 0)
		rc = add_lines(news, &known, &text, err);
	if (rc < 0 || text.size == 0)
		return rc;
	return tkb_note_file_append(cache_root, file_name, tkb_buf_bytes(&text),
	                            err);
}

int tkb_makers_note(const char *cache_root, const char *maker,
                    const struct tkb_made *items, size_t count,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_makers_release) struct tkb_makers news = { 0 };
	int rc = 0;

	if (!tkb_maker_is_valid(maker))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "what made entries cannot be noted: it is not "
		                "1 to %d bytes of UTF-8 that a terminal only "
		                "shows",
		                TKB_MAKER_SIZE - 1);
	for (size_t i = 0; i < count && rc == 0; i++) {
		char hex[TKB_DIGEST_HEX_SIZE];
		const char *key;

		rc = tkb_note_key(items[i].tree, items[i].name, hex, &key, err);
		if (rc == 0)
			rc = tkb_makers_add(&news, key, maker, err);
		rc = rc == TKB_MISS ? 0 : rc;
	}
	tkb_makers_sort(&news);
	return rc == 0 ? tkb_makers_store(cache_root, &news, err) : rc;
}
