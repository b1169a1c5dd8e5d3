/* SPDX-License-Identifier: Apache-2.0 */
#include "toolchain/ptx.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"

#include "worker/fail.h"

enum {
	NAMES_SIZE = 300,
	NAME_SIZE = 1024
};

static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
			      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%";

/* A position in a text. */
struct walk {
	const char *at;
	const char *end;
};

static bool is_at(const struct walk *walk, const char *word)
{
	const size_t length = strlen(word);

	return (size_t)(walk->end - walk->at) >= length &&
	       memcmp(walk->at, word, length) == 0;
}

/* Move past the next `word`, or to the end. */
static void skip_past(struct walk *walk, const char *word)
{
	const size_t length = strlen(word);
	const char *found =
		memmem(walk->at, (size_t)(walk->end - walk->at), word, length);

	walk->at = found == NULL ? walk->end : found + length;
}

static bool is_letter(char letter)
{
	return letter != '\0' && strchr(letters, letter) != NULL;
}

/* Move past the next directive ".entry"; false at the end. */
static bool skip_to_entry(struct walk *walk)
{
	static const char word[] = ".entry";

	while (walk->at < walk->end) {
		if (is_at(walk, "//")) {
			skip_past(walk, "\n");
		} else if (is_at(walk, "/*")) {
			skip_past(walk, "*/");
		} else if (*walk->at == '"') {
			walk->at++;
			skip_past(walk, "\"");
		} else if (is_at(walk, word)) {
			walk->at += strlen(word);
			if (walk->at == walk->end || !is_letter(*walk->at))
				return true;
		} else {
			walk->at++;
		}
	}
	return false;
}

/* Read the next ".entry NAME"; false at the end. */
static bool next_entry(struct walk *walk, char name[NAME_SIZE])
{
	while (skip_to_entry(walk)) {
		size_t size = 0;

		while (walk->at < walk->end && strchr(" \t\r\n", *walk->at))
			walk->at++;
		while (walk->at + size < walk->end && size < NAME_SIZE - 1 &&
		       is_letter(walk->at[size]))
			size++;
		if (size == 0)
			continue;
		memcpy(name, walk->at, size);
		name[size] = '\0';
		walk->at += size;
		return true;
	}
	return false;
}

int ptx_find_kernel(struct tkb_bytes ptx, const char *wanted, char kernel[1024],
                    struct tkb_error *err)
{
	struct walk walk = { ptx.data, (const char *)ptx.data + ptx.size };
	char names[NAMES_SIZE] = "";
	char name[NAME_SIZE];
	size_t count = 0;
	size_t used = 0;

	while (next_entry(&walk, name)) {
		if (walk.at < walk.end && is_letter(*walk.at))
			return fail(err, TKB_ERR_INVALID,
			            "the name of the kernel '%.64s...' is "
			            "longer than %d bytes",
			            name, NAME_SIZE - 1);
		if (wanted != NULL && strcmp(name, wanted) == 0) {
			(void)snprintf(kernel, NAME_SIZE, "%s", name);
			return 0;
		}
		if (count == 0)
			(void)snprintf(kernel, NAME_SIZE, "%s", name);
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used,
			                         sizeof(names) - used, "%s%s",
			                         count == 0 ? "" : ", ", name);
		count++;
	}
	if (count == 0)
		return fail(err, TKB_ERR_INVALID, "the PTX has no kernel");
	if (wanted != NULL)
		return fail(err, TKB_ERR_INVALID,
		            "the PTX has no kernel '%s', but %s", wanted,
		            names);
	if (count > 1)
		return fail(err, TKB_ERR_INVALID,
		            "the PTX has several kernels: name one of %s",
		            names);
	return 0;
}

static struct tkb_bytes part(const char *begin, const char *end)
{
	return (struct tkb_bytes){ begin, (size_t)(end - begin) };
}

/* Read the next line, with its newline; empty at the end. */
static struct tkb_bytes next_line(struct walk *walk)
{
	const char *begin = walk->at;

	skip_past(walk, "\n");
	return part(begin, walk->at);
}

static bool line_begins_with(struct tkb_bytes line, const char *word)
{
	return line.size >= strlen(word) &&
	       memcmp(line.data, word, strlen(word)) == 0;
}

/* Write a line `.file 1 "/folder/name"` without the folder. */
static int send_file_line(struct tkb_bytes line, const struct tkb_sink *sink,
                          struct tkb_error *err)
{
	const char *begin = line.data;
	const char *end = begin + line.size;
	const char *quote = memchr(begin, '"', line.size);
	const char *last =
		quote == NULL ? NULL : memrchr(begin, '/', line.size);
	int rc;

	if (last == NULL || last < quote)
		return sink->write(sink->self, line, err);
	rc = sink->write(sink->self, part(begin, quote + 1), err);
	return rc < 0 ? rc : sink->write(sink->self, part(last + 1, end), err);
}

int ptx_strip_folders(struct tkb_bytes ptx, const struct tkb_sink *sink,
                      struct tkb_error *err)
{
	struct walk walk = { ptx.data, (const char *)ptx.data + ptx.size };
	const char *unsent = walk.at;
	int rc = 0;

	while (walk.at < walk.end && rc == 0) {
		const struct tkb_bytes line = next_line(&walk);

		if (!line_begins_with(line, "\t.file\t"))
			continue;
		rc = sink->write(sink->self, part(unsent, line.data), err);
		if (rc == 0)
			rc = send_file_line(line, sink, err);
		unsent = walk.at;
	}
	return rc < 0 ? rc
	              : sink->write(sink->self, part(unsent, walk.end), err);
}

/* Write a line `.target sm_90a, debug` without its last word. */
static int send_target_line(struct tkb_bytes line, const struct tkb_sink *sink,
                            struct tkb_error *err)
{
	static const char debug[] = ", debug";
	const char *begin = line.data;
	const char *found = memmem(begin, line.size, debug, strlen(debug));
	int rc;

	if (found == NULL)
		return sink->write(sink->self, line, err);
	rc = sink->write(sink->self, part(begin, found), err);
	return rc < 0 ? rc
	              : sink->write(
				sink->self,
				part(found + strlen(debug), begin + line.size),
				err);
}

int ptx_finish(struct tkb_bytes ptx, uint32_t version,
               const struct tkb_sink *sink, struct tkb_error *err)
{
	struct walk walk = { ptx.data, (const char *)ptx.data + ptx.size };
	char text[32];
	int rc = 0;

	(void)snprintf(text, sizeof(text), ".version %u.%u\n", version / 10,
	               version % 10);
	while (walk.at < walk.end && rc == 0) {
		const struct tkb_bytes line = next_line(&walk);

		if (line_begins_with(
			    line, ".target ")) { /* the last line to change */
			rc = send_target_line(line, sink, err);
			break;
		}
		if (line_begins_with(line, ".version ") && version != 0)
			rc = sink->write(sink->self, tkb_text(text), err);
		else
			rc = sink->write(sink->self, line, err);
	}
	return rc < 0 ? rc
	              : sink->write(sink->self, part(walk.at, walk.end), err);
}
