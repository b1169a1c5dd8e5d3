/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/paths.h"

#include "base/arena.h"

#define SENTINEL "[REPLACE:"

enum {
	ROOTS_LIMIT = 64,
	NAME_LIMIT = 64,
	PATH_LIMIT = 4096,
	/* enough for the longest escape of a byte, \udcXX */
	SPELLED_LIMIT = PATH_LIMIT * 6
};

/* One spelling of a root's path in a text. */
struct form {
	struct tkb_path_spelling spelling;
	const struct tkb_named_root *root;
	struct tkb_bytes text;
};

/* All spellings of all roots, the longest paths first. */
struct forms {
	enum tkb_path_style style;
	struct tkb_arena arena;
	struct form *items; /* in the arena */
	size_t count;
};

static void release_forms(struct forms *forms)
{
	tkb_arena_release(&forms->arena);
}

static int fail_sentinel(struct tkb_error *err, const char *what)
{
	return tkb_fail_entry(err, TKB_REASON_SENTINEL, "%s", what);
}

static bool is_root_name(struct tkb_bytes name)
{
	const char *text = name.data;

	for (size_t i = 0; i < name.size; i++) {
		if (text[i] == '\0' ||
		    strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		           "abcdefghijklmnopqrstuvwxyz0123456789_.-",
		           text[i]) == NULL)
			return false;
	}
	return name.size >= 1 && name.size <= NAME_LIMIT;
}

static int check_input(struct tkb_bytes text,
                       const struct tkb_named_root *roots, size_t count,
                       struct tkb_error *err)
{
	if (count > ROOTS_LIMIT)
		return tkb_fail(err, TKB_ERR_INVALID, "more than %d roots",
		                ROOTS_LIMIT);
	for (size_t i = 0; i < count; i++) {
		const size_t length = strlen(roots[i].path);

		if (!is_root_name(tkb_text(roots[i].name)))
			return tkb_fail(err, TKB_ERR_INVALID,
			                "'%s' cannot be a root's name",
			                roots[i].name);
		if (length < 2 || length > PATH_LIMIT ||
		    roots[i].path[0] != '/' || roots[i].path[length - 1] == '/')
			return tkb_fail(err, TKB_ERR_INVALID,
			                "'%s' cannot be a root's path",
			                roots[i].path);
		for (size_t j = 0; j < i; j++) {
			if (strcmp(roots[i].name, roots[j].name) == 0)
				return tkb_fail(err, TKB_ERR_INVALID,
				                "two roots have the name '%s'",
				                roots[i].name);
		}
	}
	if (text.size > UINT32_MAX)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "the text has more than 4 GiB");
	return 0;
}

/* The longest path first; for the same path, the usual spelling first. */
static int compare_forms(const void *a, const void *b)
{
	const struct form *left = a;
	const struct form *right = b;
	const size_t left_size = strlen(left->root->path);
	const size_t right_size = strlen(right->root->path);

	if (left_size != right_size)
		return left_size < right_size ? 1 : -1;
	if (left->spelling.is_other != right->spelling.is_other)
		return left->spelling.is_other ? 1 : -1;
	return (left->root > right->root) - (left->root < right->root);
}

static int add_form(struct forms *forms, const struct form *form,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf spelled = TKB_BUF_INIT(SPELLED_LIMIT);
	const char *kept;
	int rc;

	if (!tkb_path_spell(form->spelling, form->root->path, &spelled))
		return 0;
	rc = tkb_arena_copy_buf(&forms->arena, &spelled, &kept, err);
	if (rc < 0)
		return rc;
	forms->items[forms->count] = *form;
	forms->items[forms->count].text =
		(struct tkb_bytes){ kept, spelled.size };
	forms->count++;
	return 0;
}

static int add_root_forms(struct forms *forms,
                          const struct tkb_named_root *root,
                          struct tkb_error *err)
{
	static const char quotes[] = { '\0', '\'', '"' };
	const bool is_quoted = forms->style == TKB_PATH_STYLE_PYTHON &&
	                       strpbrk(root->path, "'\"") != NULL;
	int rc = 0;

	for (size_t i = 0; i < 2 * TKB_COUNT_OF(quotes) && rc == 0; i++) {
		const struct form form = {
			.spelling = { forms->style, i % 2 == 1, quotes[i / 2] },
			.root = root
		};

		if ((form.spelling.quote != '\0') != is_quoted)
			continue;
		rc = add_form(forms, &form, err);
	}
	return rc;
}

static int find_forms(enum tkb_path_style style,
                      const struct tkb_named_root *roots, size_t root_count,
                      struct forms *out, struct tkb_error *err)
{
	int rc;

	out->style = style;
	out->items = tkb_arena_alloc(&out->arena, 4 * root_count,
	                             sizeof(*out->items));
	if (out->items == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < root_count; i++) {
		if (roots[i].is_in_names)
			continue;
		rc = add_root_forms(out, &roots[i], err);
		if (rc < 0)
			return rc;
	}
	tkb_sort(out->items, out->count, sizeof(*out->items), compare_forms);
	return 0;
}

static const struct form *form_at(const struct forms *forms,
                                  struct tkb_bytes text, size_t at)
{
	const struct tkb_bytes rest = tkb_bytes_slice(text, at, text.size);
	char quote;

	if (!tkb_path_begins(forms->style, text, at))
		return NULL;
	quote = tkb_path_quote(forms->style, text, at);
	for (size_t i = 0; i < forms->count; i++) {
		const struct form *form = &forms->items[i];

		if ((form->spelling.quote == '\0' ||
		     form->spelling.quote == quote) &&
		    tkb_bytes_begin_with(rest, form->text) &&
		    tkb_path_ends(forms->style, text, at + form->text.size))
			return form;
	}
	return NULL;
}

static void add_sentinel(const struct form *form, struct tkb_buf *out)
{
	tkb_buf_add_text(out, SENTINEL);
	tkb_buf_add_text(out, form->root->name);
	if (form->spelling.is_other) {
		tkb_buf_add_byte(out, ':');
		tkb_buf_add_text(out,
		                 tkb_path_spelling_other(form->spelling.style));
	}
	tkb_buf_add_byte(out, ']');
}

/* Every spelling of a path begins with its slash. */
static size_t find_slash(struct tkb_bytes text, size_t from)
{
	const char *data = text.data;
	const char *slash;

	if (from >= text.size)
		return text.size;
	slash = memchr(data + from, '/', text.size - from);
	return slash == NULL ? text.size : (size_t)(slash - data);
}

static uint32_t replace_paths(const struct forms *forms, struct tkb_bytes text,
                              struct tkb_buf *out)
{
	uint32_t count = 0;
	size_t from = 0;

	for (size_t at = find_slash(text, 0); at < text.size;
	     at = find_slash(text, at)) {
		const struct form *form = form_at(forms, text, at);

		if (form == NULL) {
			at++;
			continue;
		}
		tkb_buf_add(out, tkb_bytes_slice(text, from, at));
		add_sentinel(form, out);
		at += form->text.size;
		from = at;
		count++;
	}
	tkb_buf_add(out, tkb_bytes_slice(text, from, text.size));
	return count;
}

/* The index of the next sentinel, or the text's size if there is none. */
static size_t find_sentinel(struct tkb_bytes text, size_t from)
{
	const char *data = text.data;
	const char *found;

	if (from >= text.size)
		return text.size;
	found = memmem(data + from, text.size - from, SENTINEL,
	               strlen(SENTINEL));
	return found == NULL ? text.size : (size_t)(found - data);
}

/* Check that what was appended to `out` after `before` restores to `text`. */
static int check_return(struct tkb_bytes text, enum tkb_path_style style,
                        const struct tkb_named_root *roots, size_t root_count,
                        const struct tkb_buf *out, size_t before,
                        uint32_t sentinels, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf back = TKB_BUF_INIT(text.size);
	struct tkb_error inner = { 0 };
	const struct tkb_bytes scrubbed =
		tkb_bytes_slice(tkb_buf_bytes(out), before, out->size);
	const int rc = tkb_paths_restore(scrubbed, style, roots, root_count,
	                                 sentinels, &back, &inner);

	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (rc < 0 || !tkb_bytes_equal(tkb_buf_bytes(&back), text))
		return fail_sentinel(err, "the paths in it could not be "
		                          "restored as they are");
	return 0;
}

int tkb_paths_scrub(struct tkb_bytes text, enum tkb_path_style style,
                    const struct tkb_named_root *roots, size_t root_count,
                    struct tkb_buf *out, uint32_t *sentinels_out,
                    struct tkb_error *err)
{
	TKB_AUTO(release_forms) struct forms forms = { 0 };
	const size_t before = out->size;
	uint32_t count = 0;
	int rc;

	rc = check_input(text, roots, root_count, err);
	if (rc < 0)
		return rc;
	if (style == TKB_PATH_STYLE_NONE) {
		tkb_buf_add(out, text);
	} else {
		if (find_sentinel(text, 0) != text.size)
			return fail_sentinel(err,
			                     "it holds '" SENTINEL "' already");
		rc = find_forms(style, roots, root_count, &forms, err);
		if (rc < 0)
			return rc;
		count = replace_paths(&forms, text, out);
	}
	rc = tkb_buf_check(out, err);
	if (rc == 0 && count != 0)
		rc = check_return(text, style, roots, root_count, out, before,
		                  count, err);
	if (rc == 0)
		*sentinels_out = count;
	return rc;
}

/* The parts of a sentinel. */
struct mention {
	const struct tkb_named_root *root;
	bool is_other;
	size_t end; /* after the closing bracket */
};

/* Find a root by its name. If `roots` is NULL, any valid name is accepted. */
static const struct tkb_named_root *find_root(
	const struct tkb_named_root *roots, size_t count, struct tkb_bytes name)
{
	static const struct tkb_named_root any = { .name = "", .path = "/-" };

	if (roots == NULL)
		return is_root_name(name) ? &any : NULL;
	for (size_t i = 0; i < count; i++) {
		if (tkb_bytes_equal(tkb_text(roots[i].name), name))
			return &roots[i];
	}
	return NULL;
}

static int read_mention(struct tkb_bytes text, size_t at,
                        enum tkb_path_style style,
                        const struct tkb_named_root *roots, size_t root_count,
                        struct mention *out, struct tkb_error *err)
{
	const size_t start = at + strlen(SENTINEL);
	const size_t most = NAME_LIMIT + sizeof(":utf-8]");
	const size_t left = text.size - start < most ? text.size - start : most;
	const char *first = (const char *)text.data + start;
	const char *end = memchr(first, ']', left);
	const char *colon;
	struct mention mention = { 0 };

	if (end == NULL)
		return fail_sentinel(err, "a sentinel in it has no end");
	colon = memchr(first, ':', (size_t)(end - first));
	if (colon != NULL) {
		const char *other = tkb_path_spelling_other(style);
		const struct tkb_bytes word = { colon + 1,
			                        (size_t)(end - colon - 1) };

		if (other == NULL || !tkb_bytes_equal(word, tkb_text(other)))
			return fail_sentinel(err, "a sentinel in it has a "
			                          "spelling of another style");
		mention.is_other = true;
	}
	mention.root = find_root(
		roots, root_count,
		(struct tkb_bytes){
			first,
			(size_t)((colon == NULL ? end : colon) - first) });
	if (mention.root == NULL)
		return tkb_fail_entry(err, TKB_REASON_SENTINEL,
		                      "a sentinel in it names the root '%.*s', "
		                      "which is not known here",
		                      (int)(end - first), first);
	mention.end = (size_t)(end - (const char *)text.data) + 1;
	*out = mention;
	return 0;
}

/*
 * Append the path in place of the sentinel at `at`; `*end_out` is the index
 * after the sentinel.
 */
static int restore_one(struct tkb_bytes text, size_t at,
                       enum tkb_path_style style,
                       const struct tkb_named_root *roots, size_t root_count,
                       struct tkb_buf *out, size_t *end_out,
                       struct tkb_error *err)
{
	struct mention mention = { 0 };
	int rc;

	rc = read_mention(text, at, style, roots, root_count, &mention, err);
	if (rc < 0)
		return rc;
	if (!tkb_path_spell(
		    (struct tkb_path_spelling){
			    style, mention.is_other,
			    tkb_path_quote(style, text, at) },
		    mention.root->path, out))
		return tkb_fail_entry(err, TKB_REASON_SENTINEL,
		                      "the path '%s' cannot be written in it",
		                      mention.root->path);
	*end_out = mention.end;
	return 0;
}

int tkb_paths_restore(struct tkb_bytes text, enum tkb_path_style style,
                      const struct tkb_named_root *roots, size_t root_count,
                      uint32_t sentinels, struct tkb_buf *out,
                      struct tkb_error *err)
{
	uint32_t count = 0;
	size_t from = 0;
	int rc;

	rc = check_input(text, roots, root_count, err);
	if (rc < 0)
		return rc;
	for (size_t at = find_sentinel(text, 0);
	     style != TKB_PATH_STYLE_NONE && at < text.size;
	     at = find_sentinel(text, from)) {
		tkb_buf_add(out, tkb_bytes_slice(text, from, at));
		rc = restore_one(text, at, style, roots, root_count, out, &from,
		                 err);
		if (rc < 0)
			return rc;
		count++;
	}
	tkb_buf_add(out, tkb_bytes_slice(text, from, text.size));
	if (count != sentinels)
		return tkb_fail_entry(
			err, TKB_REASON_SENTINEL,
			"it holds %u sentinels, the manifest says "
			"%u",
			(unsigned)count, (unsigned)sentinels);
	return tkb_buf_check(out, err);
}

int tkb_paths_check(struct tkb_bytes text, enum tkb_path_style style,
                    uint32_t sentinels, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf out = TKB_BUF_INIT(text.size);

	return tkb_paths_restore(text, style, NULL, 0, sentinels, &out, err);
}
