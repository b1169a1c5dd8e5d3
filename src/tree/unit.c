/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/unit.h"

#include "base/fd.h"
#include "base/path.h"
#include "text/ascii.h"

bool tkb_tree_name_is_valid(const char *name)
{
	const size_t length = strlen(name);

	return tkb_is_letter(name[0]) && length <= TKB_TREE_NAME_LIMIT &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                    "abcdefghijklmnopqrstuvwxyz0123456789-_") == length;
}

bool tkb_unit_path_is_valid(const char *path)
{
	static const char own[] = TKB_OWN_FOLDER;

	if (strlen(path) > TKB_UNIT_PATH_LIMIT)
		return false;
	for (;;) {
		const struct tkb_bytes part = { path, strcspn(path, "/") };

		if (!tkb_name_is_valid(part) ||
		    tkb_bytes_equal(part, tkb_text(own)))
			return false;
		path += part.size;
		if (*path == '\0')
			return true;
		path++;
	}
}

bool tkb_unit_name_is_valid(const char *tree, const char *name)
{
	return tkb_tree_name_is_valid(tree) && tkb_unit_path_is_valid(name);
}

int tkb_unit_tree_key(struct tkb_hasher *hasher, const char *tree,
                      const char *name, char out[TKB_DIGEST_HEX_SIZE],
                      struct tkb_error *err)
{
	char text[TKB_TREE_NAME_LIMIT + TKB_UNIT_PATH_LIMIT + 2];
	const size_t length = strlen(tree) + 1;
	const struct tkb_bytes last = tkb_text(name);
	struct tkb_digest digest;
	int rc;

	/* The zero byte between tree and name is hashed too. */
	memcpy(text, tree, length);
	memcpy(text + length, last.data, last.size);
	rc = tkb_hasher_digest(hasher,
	                       (struct tkb_bytes){ text, length + last.size },
	                       &digest, err);
	if (rc == 0)
		tkb_digest_to_hex(&digest, out);
	return rc;
}

void tkb_unit_parent_close(struct tkb_unit_parent *parent)
{
	if (parent->length != 0)
		tkb_fd_close_at(&parent->fd);
	parent->length = 0;
}

bool tkb_unit_parent_holds(const struct tkb_unit_parent *parent, int root_fd,
                           const char *path)
{
	return parent->length != 0 && parent->root_fd == root_fd &&
	       parent->length == tkb_path_parent_length(path) &&
	       memcmp(parent->path, path, parent->length) == 0;
}

void tkb_unit_parent_set(struct tkb_unit_parent *parent, int root_fd, int fd,
                         const char *path)
{
	tkb_unit_parent_close(parent);
	parent->root_fd = root_fd;
	parent->fd = fd;
	parent->length = tkb_path_parent_length(path);
	memcpy(parent->path, path, parent->length);
}
