/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/makers.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cache/key.h"
#include "collect/note_file.h"

static const char file_name[] = "makers";

/* Stands between the keys in a line and what made their entries. */
static const char sign[] = " = ";

void tkb_makers_release(struct tkb_makers *makers)
{
	tkb_key_notes_release(&makers->notes);
}

void tkb_makers_close(struct tkb_makers *makers)
{
	if (makers != NULL)
		tkb_makers_release(makers);
	free(makers);
}

TKB_AUTO_POINTER(close_at, struct tkb_makers, tkb_makers_close)

bool tkb_maker_is_valid(const char *maker)
{
	return tkb_utf8_is_shown(maker) && strlen(maker) < TKB_MAKER_SIZE;
}

int tkb_makers_add(struct tkb_makers *makers, const char *key,
                   const char *maker, struct tkb_error *err)
{
	return tkb_key_notes_add(&makers->notes, key, maker, 0, err);
}

const char *tkb_makers_of_key(const struct tkb_makers *makers, const char *key)
{
	const struct tkb_key_note *found =
		makers == NULL ? NULL : tkb_key_notes_find(&makers->notes, key);

	return found == NULL ? NULL : found->text;
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

/* Read a line "KEY KEY ... = MAKER". */
static int read_maker_line(struct tkb_makers *makers, struct tkb_bytes line,
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

static int read_makers_file(const char *cache_root, struct tkb_makers *makers,
                            struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_NOTE_FILE_LIMIT + 1);
	struct tkb_bytes line;
	size_t at = 0;
	int rc;

	rc = tkb_note_file_read(cache_root, file_name, &text, err);
	while (rc == 0 && tkb_note_file_line(tkb_buf_bytes(&text), &at, &line))
		rc = read_maker_line(makers, line, err);
	tkb_key_notes_sort(&makers->notes);
	return rc;
}

int tkb_makers_open(const char *cache_root, struct tkb_makers **out,
                    struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_makers *makers = tkb_alloc_array(1, sizeof(*makers));
	int rc;

	if (makers == NULL)
		return tkb_fail_nomem(err);
	rc = read_makers_file(cache_root, makers, err);
	if (rc == 0)
		*out = tkb_take(makers);
	return rc;
}

static void end_line(const char *maker, struct tkb_buf *out)
{
	tkb_print(out, "%s%s\n", sign, maker);
}

static int compare_makers(const void *a, const void *b)
{
	const struct tkb_key_note *left = a;
	const struct tkb_key_note *right = b;
	const int order = strcmp(left->text, right->text);

	return order != 0 ? order : tkb_key_note_compare(a, b);
}

/* Append one line for all entries of each maker. */
static int add_lines(const struct tkb_key_notes *news,
                     const struct tkb_makers *known, struct tkb_buf *out,
                     struct tkb_error *err)
{
	struct tkb_key_note *items =
		tkb_alloc_array(news->count, sizeof(*items));
	const char *maker = NULL;

	if (items == NULL)
		return tkb_fail_nomem(err);
	if (news->count != 0)
		memcpy(items, news->items, news->count * sizeof(*items));
	tkb_sort(items, news->count, sizeof(*items), compare_makers);
	for (size_t i = 0; i < news->count; i++) {
		if (tkb_makers_of_key(known, items[i].key) != NULL)
			continue;
		if (maker != NULL && strcmp(maker, items[i].text) != 0)
			end_line(maker, out);
		else
			tkb_buf_add_text(out, maker != NULL ? " " : "");
		tkb_buf_add_text(out, items[i].key);
		maker = items[i].text;
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

	rc = read_makers_file(cache_root, &known, err);
	if (rc == 0)
		rc = add_lines(&news->notes, &known, &text, err);
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
		                "1 to %d bytes of UTF-8 that a terminal can "
		                "show safely",
		                TKB_MAKER_SIZE - 1);
	for (size_t i = 0; i < count && rc == 0; i++) {
		char hex[TKB_DIGEST_HEX_SIZE];
		const char *key;

		rc = tkb_note_key(items[i].tree, items[i].name, hex, &key, err);
		if (rc == 0)
			rc = tkb_makers_add(&news, key, maker, err);
		rc = rc == TKB_MISS ? 0 : rc;
	}
	tkb_key_notes_sort(&news.notes);
	return rc == 0 ? tkb_makers_store(cache_root, &news, err) : rc;
}
