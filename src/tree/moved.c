/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/moved.h"

#include <string.h>

/*
 * Find the next "/<folder>/" of `at`'s folder, at or after `start`; or NULL. A
 * unit that is a single file has no folder, so its text does not show where the
 * tree was.
 */
static const char *find_folder(struct tkb_bytes text, const char *start,
                               const struct tkb_text_place *at)
{
	const size_t length = strlen(at->folder);
	const char *end = (const char *)text.data + text.size;
	const char *found = start;

	if (strcmp(at->folder, ".") == 0)
		return NULL;
	while ((found = memmem(found, (size_t)(end - found), at->folder,
	                       length)) != NULL) {
		if (found != text.data && found[-1] == '/' &&
		    found + length != end && found[length] == '/')
			return found - 1;
		found++;
	}
	return NULL;
}

/*
 * Can this byte stand before a path? In JSON and Python, a space cannot: paths
 * are in quotes there.
 */
static bool begins_path(enum tkb_path_style style, char before)
{
	const bool has_quotes =
		style == TKB_PATH_STYLE_JSON || style == TKB_PATH_STYLE_PYTHON;

	return (unsigned char)before < ' ' || before == '"' || before == '\'' ||
	       (before == ' ' && !has_quotes);
}

/*
 * Append the root that the tree had when the text was written; nothing if the
 * text does not show it.
 */
static int find_root(struct tkb_bytes text, enum tkb_path_style style,
                     const struct tkb_text_place *at, struct tkb_buf *out,
                     struct tkb_error *err)
{
	const char *found = find_folder(text, text.data, at);
	const char *start = found;

	while (start != NULL && start != text.data &&
	       !begins_path(style, start[-1]))
		start--;
	if (start == found || *start != '/')
		return 0;
	tkb_buf_add(out, (struct tkb_bytes){ start, (size_t)(found - start) });
	tkb_buf_add_byte(out, '\0');
	return tkb_buf_check(out, err);
}

int tkb_moved_scrub(struct tkb_bytes text, enum tkb_path_style style,
                    const struct tkb_text_place *at,
                    const struct tkb_named_root *roots, size_t root_count,
                    struct tkb_buf *out, uint32_t *sentinels_out,
                    bool *is_moved, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf old = TKB_BUF_INIT(text.size);
	TKB_AUTO(tkb_free_at)
	struct tkb_named_root *named =
		tkb_alloc_array(root_count, sizeof(*named));
	int rc;

	*is_moved = false;
	if (named == NULL)
		return tkb_fail_nomem(err);
	rc = find_root(text, style, at, &old, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < root_count; i++) {
		named[i] = roots[i];
		if (old.size == 0 || strcmp(named[i].name, at->tree) != 0 ||
		    strcmp(named[i].path, (const char *)old.data) == 0)
			continue;
		named[i].path = (const char *)old.data;
		*is_moved = true;
	}
	return tkb_paths_scrub(text, style, named, root_count, out,
	                       sentinels_out, err);
}

bool tkb_moved_is_mixed(struct tkb_bytes text, const struct tkb_text_place *at)
{
	const char *found = find_folder(text, text.data, at);

	while (found != NULL) {
		if (found == text.data || found[-1] != ']')
			return true;
		found = find_folder(text, found + 2, at);
	}
	return false;
}
