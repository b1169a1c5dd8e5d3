/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/unit.h"

#include "base/fd.h"
#include "base/path.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool tkb_tree_name_is_valid(const char *name)
{
	const size_t length = strlen(name);

	if (length == 0 || length > TKB_TREE_NAME_LIMIT || !is_letter(name[0]))
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!is_letter(name[i]) &&
		    !(name[i] >= '0' && name[i] <= '9') && name[i] != '-' &&
		    name[i] != '_')
			return false;
	}
	return true;
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

int tkb_unit_tree_key(struct tkb_hasher *hasher, const char *tree,
                      const char *name, char out[TKB_DIGEST_HEX_SIZE],
                      struct tkb_error *err)
{
	char text[TKB_TREE_NAME_LIMIT + TKB_UNIT_PATH_LIMIT + 2];
	const size_t length = strlen(tree) + 1;
	const struct tkb_bytes last = tkb_text(name);
	struct tkb_digest digest;
	int rc;

	/* The zero byte between them is hashed, too. */
	memcpy(text, tree, length);
	memcpy(text + length, last.data, last.size);
	rc = tkb_hasher_digest(hasher,
	                       (struct tkb_bytes){ text, length + last.size },
	                       &digest, err);
	if (rc == 0)
		tkb_digest_to_hex(&digest, out);
	return rc;
}

/* The length of what is before the last part of `path`. */
static size_t length_of_parent(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? 0 : (size_t)(slash - path);
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
	       parent->length == length_of_parent(path) &&
	       memcmp(parent->path, path, parent->length) == 0;
}

void tkb_unit_parent_set(struct tkb_unit_parent *parent, int root_fd, int fd,
                         const char *path)
{
	tkb_unit_parent_close(parent);
	parent->root_fd = root_fd;
	parent->fd = fd;
	parent->length = length_of_parent(path);
	memcpy(parent->path, path, parent->length);
}
