/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/draft.h"
#include "base/fd.h"
#include "base/path.h"
#include "text/ascii.h"

#define FIRST_LINE "tkbundle-seen 1\n"

enum {
	HEX = TKB_DIGEST_HEX_SIZE - 1,
	DIGITS = 20, /* of a 64-bit number, padded with zeros */
	LINE = HEX + 1 + DIGITS + 1,
	LIMIT = sizeof(FIRST_LINE) + TKB_MEMORY_REFS * LINE,
	LOCK_S = 5,
	NAP_MS = 5
};

/* What one line says. */
struct line {
	struct tkb_digest name;
	uint64_t sequence;
};

struct lines {
	struct line *items; /* owned */
	size_t count;
	size_t capacity;
};

static void lines_release(struct lines *lines)
{
	free(lines->items);
	*lines = (struct lines){ .count = 0 };
}

static bool read_seen_line(const char *text, struct line *out)
{
	return tkb_digest_from_hex((struct tkb_bytes){ text, HEX },
	                           &out->name) &&
	       text[HEX] == ' ' &&
	       tkb_digits_read(text + HEX + 1, DIGITS, &out->sequence) &&
	       text[LINE - 1] == '\n';
}

static int fail_damaged(const char *path, struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_UNTRUSTED,
	                "'%.300s', the memory of signed refs, is damaged; if "
	                "you remove it, the memory starts empty",
	                path);
}

static int parse_seen(const char *path, struct tkb_bytes text,
                      struct lines *out, struct tkb_error *err)
{
	const size_t first = sizeof(FIRST_LINE) - 1;
	const char *at = text.data;
	int rc = 0;

	if (!tkb_bytes_begin_with(text, tkb_text(FIRST_LINE)) ||
	    (text.size - first) % LINE != 0)
		return fail_damaged(path, err);
	for (size_t i = first; i < text.size && rc == 0; i += LINE) {
		struct line line;

		if (!read_seen_line(at + i, &line))
			return fail_damaged(path, err);
		rc = tkb_append(&out->items, &out->count, &out->capacity, &line,
		                sizeof(line), err);
	}
	return rc;
}

static int load_seen(const char *path, struct lines *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf text = TKB_BUF_INIT(LIMIT);
	int rc;

	out->count = 0;
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0; /* nothing was seen yet */
	rc = tkb_fd_read_path(path, &text, err);
	if (rc == TKB_ERR_TOO_LARGE)
		return fail_damaged(path, err);
	return rc == 0 ? parse_seen(path, tkb_buf_bytes(&text), out, err) : rc;
}

static struct line *find_seen(const struct lines *lines,
                              const struct tkb_digest *name)
{
	for (size_t i = 0; i < lines->count; i++) {
		if (tkb_digest_equal(&lines->items[i].name, name))
			return &lines->items[i];
	}
	return NULL;
}

/* Make the memory's folder, and lock its "*.lock" file. */
static int lock_memory(const char *path, int *out, struct tkb_error *err)
{
	static const struct timespec nap = { .tv_nsec = NAP_MS * 1000000 };
	const uint64_t end_ns = tkb_now_ns() + (uint64_t)LOCK_S * 1000000000;
	TKB_AUTO(tkb_buf_release) struct tkb_buf name = TKB_BUF_INIT(TKB_KIB);
	const char *slash = strrchr(path, '/');
	int rc = 0;

	if (slash != NULL && slash != path) {
		tkb_buf_add(&name,
		            (struct tkb_bytes){ path, (size_t)(slash - path) });
		tkb_buf_add_byte(&name, '\0');
		rc = tkb_buf_check(&name, err);
		if (rc == 0)
			rc = tkb_path_make_folders((char *)name.data, err);
		tkb_buf_reset(&name);
	}
	tkb_buf_add_text(&name, path);
	tkb_buf_add(&name, (struct tkb_bytes){ ".lock", 6 });
	if (rc == 0)
		rc = tkb_buf_check(&name, err);
	if (rc < 0)
		return rc;
	*out = tkb_fd_open(AT_FDCWD, (char *)name.data, O_RDWR | O_CREAT, 0600);
	while (*out < 0 || flock(*out, LOCK_EX | LOCK_NB) < 0) {
		if (*out < 0 || errno != EWOULDBLOCK || tkb_now_ns() >= end_ns)
			return tkb_fail_errno(err, "cannot lock '%s'",
			                      (char *)name.data);
		(void)nanosleep(&nap, NULL);
	}
	return 0;
}

static void add_seen(const struct line *line, struct tkb_buf *out)
{
	tkb_print(out, "%s %0*" PRIu64 "\n", tkb_digest_hex(&line->name).text,
	          DIGITS, line->sequence);
}

/* Write all lines; the line of this name becomes the last. */
static int store_seen(const char *path, const struct lines *lines,
                      const struct line *last, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf text = TKB_BUF_INIT(LIMIT);
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *draft = NULL;
	const size_t skipped = lines->count >= TKB_MEMORY_REFS &&
	                       find_seen(lines, &last->name) == NULL;
	struct tkb_sink sink;
	int rc;

	tkb_buf_add_text(&text, FIRST_LINE);
	for (size_t i = skipped; i < lines->count; i++) {
		if (!tkb_digest_equal(&lines->items[i].name, &last->name))
			add_seen(&lines->items[i], &text);
	}
	add_seen(last, &text);
	rc = tkb_buf_check(&text, err);
	if (rc == 0)
		rc = tkb_draft_open(path, &draft, err);
	if (rc < 0)
		return rc;
	sink = tkb_draft_sink(draft);
	rc = sink.write(sink.self, tkb_buf_bytes(&text), err);
	if (rc == 0)
		rc = tkb_draft_sync(draft, err);
	return rc == 0 ? tkb_draft_publish(draft, err) : rc;
}

int tkb_memory_note(const char *path, const struct tkb_digest *name,
                    uint64_t sequence, uint64_t *newest_out,
                    struct tkb_error *err)
{
	TKB_AUTO(lines_release) struct lines lines = { .count = 0 };
	TKB_AUTO(tkb_fd_unlock_at) int held = -1;
	const struct line made = { *name, sequence };
	const struct line *found = NULL;
	int rc;

	rc = load_seen(path, &lines, err);
	if (rc == 0)
		found = find_seen(&lines, name);
	/* Most pulls see nothing new, and write nothing. */
	if (rc == 0 && (found == NULL || found->sequence < sequence)) {
		rc = lock_memory(path, &held, err);
		if (rc == 0)
			rc = load_seen(path, &lines, err);
		if (rc == 0)
			found = find_seen(&lines, name);
		if (rc == 0 && (found == NULL || found->sequence < sequence)) {
			rc = store_seen(path, &lines, &made, err);
			found = &made;
		}
	}
	if (rc == 0)
		*newest_out = found->sequence;
	return rc;
}

int tkb_memory_recall(const char *path, const struct tkb_digest *name,
                      uint64_t *newest_out, struct tkb_error *err)
{
	TKB_AUTO(lines_release) struct lines lines = { .count = 0 };
	const struct line *found;
	int rc;

	rc = load_seen(path, &lines, err);
	if (rc < 0)
		return rc;
	found = find_seen(&lines, name);
	if (found == NULL)
		return TKB_MISS;
	*newest_out = found->sequence;
	return 0;
}

int tkb_memory_name(const struct tkb_remote *remote, const char *ref,
                    struct tkb_digest *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT((size_t)64 * TKB_KIB);
	const size_t last = tkb_remote_tier_count(remote) - 1;
	const char *folder = tkb_remote_tier_folder(remote, last);
	int rc = 0;

	if (folder != NULL)
		rc = tkb_path_absolute(folder, &text, err);
	else
		tkb_buf_add_text(&text, tkb_remote_tier_name(remote, last));
	tkb_print(&text, "\n%s", ref);
	if (rc == 0)
		rc = tkb_buf_check(&text, err);
	return rc == 0 ? tkb_digest_of(tkb_buf_bytes(&text), out, err) : rc;
}
