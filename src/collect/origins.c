/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/origins.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/digest.h"
#include "cache/key.h"
#include "collect/note_file.h"

static const char file_name[] = "origins";

enum {
	HEX = TKB_DIGEST_HEX_SIZE - 1
};

/* What a line says about an entry; its last line counts. */
struct saying {
	const char *key;
	size_t line;
	bool is_revoked; /* else it was removed */
};

struct tkb_origins {
	struct tkb_arena arena;
	struct saying *items; /* owned; once opened, sorted, one per key */
	size_t count;
	size_t capacity;
};

void tkb_origins_close(struct tkb_origins *origins)
{
	if (origins == NULL)
		return;
	tkb_arena_release(&origins->arena);
	free(origins->items);
	free(origins);
}

TKB_AUTO_POINTER(close_at, struct tkb_origins, tkb_origins_close)

/* The file's lines after the last one about removed entries, sorted. */
struct said {
	struct tkb_buf text;
	struct tkb_bytes *lines; /* owned; pointers into the text */
	size_t count;
	size_t capacity;
};

static void said_release(struct said *said)
{
	free(said->lines);
	tkb_buf_release(&said->text);
}

static int compare_lines(const void *a, const void *b)
{
	return tkb_bytes_compare(*(const struct tkb_bytes *)a,
	                         *(const struct tkb_bytes *)b);
}

static int read_said(const char *cache_root, struct said *said,
                     struct tkb_error *err)
{
	struct tkb_bytes line;
	size_t at = 0;
	int rc;

	rc = tkb_note_file_read(cache_root, file_name, &said->text, err);
	while (rc == 0 &&
	       tkb_note_file_line(tkb_buf_bytes(&said->text), &at, &line)) {
		if (line.size > 0 && *(const char *)line.data == '-')
			said->count = 0;
		rc = tkb_append(&said->lines, &said->count, &said->capacity,
		                &line, sizeof(line), err);
	}
	tkb_sort(said->lines, said->count, sizeof(*said->lines), compare_lines);
	return rc;
}

static void write_origin_line(const struct tkb_origin *origin,
                              struct tkb_buf *out)
{
	for (size_t i = 0; i < origin->digest_count; i++)
		tkb_print(out, "%s%s", i == 0 ? "" : ",",
		          tkb_digest_hex(&origin->digests[i]).text);
	if (origin->digest_count == 0)
		tkb_buf_add_byte(out, '-');
	for (size_t i = 0; i < origin->key_count; i++)
		tkb_print(out, " %s", origin->keys[i]);
}

/* Append the line of an origin, unless the file has it already. */
static int add_new_line(const struct said *said,
                        const struct tkb_origin *origin, struct tkb_buf *out,
                        struct tkb_error *err)
{
	const size_t start = out->size;
	struct tkb_bytes line;
	int rc;

	write_origin_line(origin, out);
	rc = tkb_buf_check(out, err);
	if (rc < 0)
		return rc;
	line = tkb_bytes_slice(tkb_buf_bytes(out), start, out->size);
	if (said->count > 0 && bsearch(&line, said->lines, said->count,
	                               sizeof(line), compare_lines) != NULL)
		out->size = start;
	else
		tkb_buf_add_byte(out, '\n');
	return 0;
}

int tkb_origins_note(const char *cache_root, const struct tkb_origin *origins,
                     size_t count, struct tkb_error *err)
{
	TKB_AUTO(said_release)
	struct said said = { .text = TKB_BUF_INIT(TKB_NOTE_FILE_LIMIT) };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf lines = TKB_BUF_INIT(TKB_NOTE_FILE_LIMIT);
	int rc;

	rc = read_said(cache_root, &said, err);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add_new_line(&said, &origins[i], &lines, err);
	if (rc < 0 || lines.size == 0)
		return rc;
	return tkb_note_file_append(cache_root, file_name,
	                            tkb_buf_bytes(&lines), err);
}

/* Is one of the digests at the beginning of a line revoked? */
static bool is_revoked(struct tkb_bytes digests,
                       const struct tkb_digests *revoked)
{
	const char *text = digests.data;
	struct tkb_digest digest;

	for (size_t at = 0; at + HEX <= digests.size; at += HEX + 1) {
		if (tkb_digest_from_hex((struct tkb_bytes){ text + at, HEX },
		                        &digest) &&
		    tkb_digests_have(revoked, &digest))
			return true;
	}
	return false;
}

/* Get the next word of a line. */
static bool next_word(struct tkb_bytes *rest, struct tkb_bytes *out)
{
	const char *text = rest->data;
	const char *blank;
	size_t size;

	if (rest->size == 0)
		return false;
	blank = memchr(text, ' ', rest->size);
	size = blank != NULL ? (size_t)(blank - text) : rest->size;
	*out = (struct tkb_bytes){ text, size };
	if (blank != NULL)
		size++;
	*rest = tkb_bytes_slice(*rest, size, rest->size);
	return true;
}

static int read_origin_line(struct tkb_origins *origins, struct tkb_bytes line,
                            size_t number, const struct tkb_digests *revoked,
                            struct tkb_error *err)
{
	struct tkb_bytes word;
	struct saying saying = { .line = number };
	int rc = 0;

	if (!next_word(&line, &word))
		return 0;
	saying.is_revoked = is_revoked(word, revoked);
	if (!saying.is_revoked && !tkb_bytes_equal(word, tkb_text("-")))
		return 0;
	while (rc == 0 && next_word(&line, &word)) {
		saying.key = tkb_arena_string(&origins->arena, word);
		if (saying.key == NULL)
			return tkb_fail_nomem(err);
		rc = tkb_append(&origins->items, &origins->count,
		                &origins->capacity, &saying, sizeof(saying),
		                err);
	}
	return rc;
}

static int compare_sayings(const void *a, const void *b)
{
	const struct saying *left = a;
	const struct saying *right = b;
	const int order = strcmp(left->key, right->key);

	return order != 0 ? order
	                  : (left->line > right->line) -
	                            (left->line < right->line);
}

/* Keep only the last line about each key, and only if it says "revoked". */
static void keep_revoked(struct tkb_origins *origins)
{
	size_t kept = 0;

	tkb_sort(origins->items, origins->count, sizeof(*origins->items),
	         compare_sayings);
	for (size_t i = 0; i < origins->count; i++) {
		const struct saying *saying = &origins->items[i];

		if (i + 1 < origins->count &&
		    strcmp(saying->key, saying[1].key) == 0)
			continue;
		if (saying->is_revoked)
			origins->items[kept++] = *saying;
	}
	origins->count = kept;
}

static int read_lines(const char *cache_root, const struct tkb_digests *revoked,
                      struct tkb_origins *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_NOTE_FILE_LIMIT);
	struct tkb_bytes line;
	size_t number = 0;
	size_t at = 0;
	int rc;

	rc = tkb_note_file_read(cache_root, file_name, &text, err);
	while (rc == 0 && tkb_note_file_line(tkb_buf_bytes(&text), &at, &line))
		rc = read_origin_line(out, line, number++, revoked, err);
	if (rc == 0)
		keep_revoked(out);
	return rc;
}

int tkb_origins_open(const char *cache_root, const struct tkb_digest *revoked,
                     size_t count, struct tkb_origins **out,
                     struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_origins *origins = calloc(1, sizeof(*origins));
	TKB_AUTO(tkb_digests_release) struct tkb_digests sorted = { 0 };
	int rc = 0;

	if (origins == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = tkb_digests_add(&sorted, &revoked[i], err);
	tkb_digests_sort(&sorted);
	if (rc == 0)
		rc = read_lines(cache_root, &sorted, origins, err);
	if (rc == 0)
		*out = tkb_take(origins);
	return rc;
}

static int compare_key(const void *key, const void *item)
{
	return strcmp(key, ((const struct saying *)item)->key);
}

bool tkb_origins_is_revoked(const struct tkb_origins *origins, const char *key)
{
	return origins->count > 0 &&
	       bsearch(key, origins->items, origins->count,
	               sizeof(*origins->items), compare_key) != NULL;
}
