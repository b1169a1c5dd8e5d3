/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler/includes.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/path.h"

enum {
	PATH_LIMIT = 4096,
	FILES_LIMIT = 4096 /* limit of files included by one source */
};

/* Files found so far; the first have been searched for includes. */
struct search {
	struct tkb_arena arena;
	const char *paths[FILES_LIMIT]; /* of the files */
	size_t count;
	const char *source; /* the file that includes all others */
	const char *const *folders;
	struct tkb_buf *out;
};

/* If `folder`/`name` is a file, add it to the list. */
static int try_folder(struct search *search, const char *folder, size_t length,
                      struct tkb_bytes name, struct tkb_error *err)
{
	char path[PATH_LIMIT];
	struct stat status;
	const int size = snprintf(path, sizeof(path), "%.*s%s%.*s", (int)length,
	                          folder, length == 0 ? "" : "/",
	                          (int)name.size, (const char *)name.data);

	if (size <= 0 || size >= PATH_LIMIT || stat(path, &status) < 0 ||
	    !S_ISREG(status.st_mode) ||
	    tkb_is_among(path, search->paths, search->count))
		return 0;
	if (search->count == FILES_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "more than %d files are included",
		                (int)FILES_LIMIT);
	search->paths[search->count] =
		tkb_arena_string(&search->arena, tkb_text(path));
	if (search->paths[search->count] == NULL)
		return tkb_fail_nomem(err);
	search->count++;
	return 0;
}

/*
 * List the file in each folder where the compiler may look: beside the includer, and
 * beside the source, both of which it skips for some includes; then in the folders.
 */
static int find_include(struct search *search, const char *from,
                        struct tkb_bytes name, struct tkb_error *err)
{
	int rc;

	if (*(const char *)name.data == '/')
		return try_folder(search, "", 0, name, err);
	rc = try_folder(search, from, tkb_path_parent_length(from), name, err);
	if (rc == 0)
		rc = try_folder(search, search->source,
		                tkb_path_parent_length(search->source), name,
		                err);
	for (size_t i = 0; search->folders[i] != NULL && rc == 0; i++)
		rc = try_folder(search, search->folders[i],
		                strlen(search->folders[i]), name, err);
	return rc;
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

/* Skip blanks and comments at `at`. */
static size_t skip_blanks(const char *text, size_t at, size_t end)
{
	for (;;) {
		const char *close;

		while (at < end && is_blank(text[at]))
			at++;
		if (end - at < 4 || memcmp(text + at, "/*", 2) != 0)
			return at;
		close = memmem(text + at + 2, end - at - 2, "*/", 2);
		if (close == NULL)
			return at;
		at = (size_t)(close - text) + 2;
	}
}

/*
 * Find where a directive may begin: after blanks, and after the end of a
 * comment from earlier lines.
 */
static size_t find_directive(const char *text, size_t end)
{
	const char *close = memmem(text, end, "*/", 2);
	const size_t first = skip_blanks(text, 0, end);
	size_t at;

	if (close == NULL || (first < end && text[first] == '#'))
		return first;
	at = skip_blanks(text, (size_t)(close - text) + 2, end);
	return at < end && text[at] == '#' ? at : first;
}

/* Process a line without its newline, which may be `# include <name>`. */
static int read_source_line(struct search *search, const char *from,
                            const char *text, size_t end, struct tkb_error *err)
{
	static const char word[] = "include";
	size_t at = find_directive(text, end);
	size_t begin;
	char close;

	if (at == end || text[at] != '#')
		return 0;
	at = skip_blanks(text, at + 1, end);
	if (end - at < strlen(word) ||
	    memcmp(text + at, word, strlen(word)) != 0)
		return 0;
	at = skip_blanks(text, at + strlen(word), end);
	if (at == end)
		return 0;
	if (text[at] != '"' && text[at] != '<')
		return tkb_fail(
			err, TKB_ERR_UNSUPPORTED,
			"'%s': the name in '%.*s' is computed: write it "
			"out",
			from, (int)(end < 60 ? end : 60), text);
	close = text[at] == '<' ? '>' : '"';
	begin = ++at;
	while (at < end && text[at] != close)
		at++;
	if (at == end || at == begin)
		return 0; /* the compiler will report it */
	return find_include(search, from,
	                    (struct tkb_bytes){ text + begin, at - begin },
	                    err);
}

static int read_lines(struct search *search, const char *from,
                      struct tkb_bytes source, struct tkb_error *err)
{
	const char *text = source.data;
	size_t at = 0;
	int rc = 0;

	while (at < source.size && rc == 0) {
		const char *newline = memchr(text + at, '\n', source.size - at);
		const size_t end = newline == NULL ? source.size
		                                   : (size_t)(newline - text);

		rc = read_source_line(search, from, text + at, end - at, err);
		at = end + 1;
	}
	return rc;
}

static int read_source_file(struct search *search, const char *path,
                            struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf contents = TKB_BUF_INIT(64 * TKB_MIB);
	struct tkb_digest digest;
	int rc;

	rc = tkb_fd_read_path(path, &contents, err);
	if (rc == 0)
		rc = tkb_digest_of(tkb_buf_bytes(&contents), &digest, err);
	if (rc < 0)
		return rc;
	tkb_buf_add(search->out, (struct tkb_bytes){ &digest, sizeof(digest) });
	return read_lines(search, path, tkb_buf_bytes(&contents), err);
}

static void search_free_at(struct search **search)
{
	if (*search != NULL)
		tkb_arena_release(&(*search)->arena);
	tkb_free_at(search);
}

int tkb_includes_add(struct tkb_bytes source, const char *name,
                     const char *const *folders, struct tkb_buf *out,
                     struct tkb_error *err)
{
	TKB_AUTO(search_free_at)
	struct search *search = tkb_alloc_array(1, sizeof(*search));
	int rc;

	if (search == NULL)
		return tkb_fail_nomem(err);
	search->source = name;
	search->folders = folders;
	search->out = out;
	rc = read_lines(search, name, source, err);
	for (size_t i = 0; i < search->count && rc == 0; i++)
		rc = read_source_file(search, search->paths[i], err);
	return rc == 0 ? tkb_buf_check(out, err) : rc;
}
