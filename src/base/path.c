/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/share.h"
#include "base/utf8.h"

enum {
	PATH_LIMIT = 4096
};

bool tkb_name_is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

bool tkb_name_ends_with(const char *name, const char *ending)
{
	const size_t length = strlen(name);
	const size_t wanted = strlen(ending);

	return length > wanted && strcmp(name + length - wanted, ending) == 0;
}

bool tkb_name_is_valid(struct tkb_bytes name)
{
	const unsigned char *bytes = name.data;
	unsigned char all = 0;
	unsigned char bad = 0;

	if (name.size == 0 || name.size > TKB_NAME_LIMIT)
		return false;
	if (tkb_bytes_equal(name, tkb_text(".")) ||
	    tkb_bytes_equal(name, tkb_text("..")))
		return false;
	/* No early return, so that compilers can vectorize the loop. */
	for (size_t i = 0; i < name.size; i++) {
		bad |= (unsigned char)((bytes[i] < 0x20) | (bytes[i] == 0x7f) |
		                       (bytes[i] == '/'));
		all |= bytes[i];
	}
	return bad == 0 && (all < 0x80 || tkb_utf8_is_valid(name));
}

static void add_components(const char *path, struct tkb_buf *out)
{
	while (*path != '\0') {
		const size_t length = strcspn(path, "/");
		const struct tkb_bytes component = { path, length };

		if (length != 0 && !tkb_bytes_equal(component, tkb_text("."))) {
			tkb_buf_add_byte(out, '/');
			tkb_buf_add(out, component);
		}
		path += length;
		if (*path == '/')
			path++;
	}
}

static int add_working_directory(struct tkb_buf *out, struct tkb_error *err)
{
	char here[PATH_LIMIT];

	if (getcwd(here, sizeof(here)) == NULL)
		return tkb_fail_errno(err, "cannot tell the working directory");
	add_components(here, out);
	return 0;
}

int tkb_path_absolute(const char *path, struct tkb_buf *out,
                      struct tkb_error *err)
{
	const size_t start = out->size;
	int rc;

	if (path[0] == '\0')
		return tkb_fail(err, TKB_ERR_INVALID, "the path is empty");
	if (path[0] != '/') {
		rc = add_working_directory(out, err);
		if (rc < 0)
			return rc;
	}
	add_components(path, out);
	if (out->size == start)
		tkb_buf_add_byte(out, '/');
	return tkb_buf_check(out, err);
}

/*
 * Open the part `name` of a path; make the folder if it is missing. An existing
 * link is followed, as in any path. -1 and errno on failure.
 */
static int enter_folder(int dir_fd, const char *name)
{
	struct tkb_share share;
	int number;
	int fd;

	fd = tkb_fd_open(dir_fd, name, O_PATH | O_DIRECTORY, 0);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	tkb_share_of(dir_fd, &share);
	fd = tkb_share_publish_folder(&share, dir_fd, name);
	if (fd >= 0)
		return fd;
	/* Another process may have made the folder meanwhile. */
	number = errno;
	fd = tkb_fd_open(dir_fd, name, O_PATH | O_DIRECTORY, 0);
	if (fd < 0 && number != EEXIST)
		errno = number;
	return fd;
}

int tkb_path_make_folders(const char *path, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf buf = TKB_BUF_INIT(PATH_LIMIT);
	TKB_AUTO(tkb_fd_close_at) int at = -1;
	char *part;
	int rc;

	if (path[0] == '\0')
		return tkb_fail(err, TKB_ERR_INVALID, "the path is empty");
	tkb_buf_add_text(&buf, path);
	tkb_buf_add_byte(&buf, '\0');
	rc = tkb_buf_check(&buf, err);
	if (rc < 0)
		return rc;

	part = (char *)buf.data;
	at = tkb_fd_open(AT_FDCWD, path[0] == '/' ? "/" : ".",
	                 O_PATH | O_DIRECTORY, 0);
	part += strspn(part, "/");
	while (at >= 0 && *part != '\0') {
		char *const end = part + strcspn(part, "/");
		const char after = *end;
		int next;

		*end = '\0';
		next = enter_folder(at, part);
		if (next < 0)
			return tkb_fail_errno(err, "cannot make folder '%s'",
			                      path);
		tkb_fd_close_at(&at);
		at = next;
		*end = after;
		part = end + strspn(end, "/");
	}
	return at >= 0 ? 0
	               : tkb_fail_errno(err, "cannot make folder '%s'", path);
}

const char *tkb_path_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

size_t tkb_path_parent_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? 0 : (size_t)(slash - path);
}

bool tkb_path_has_same_parent(const char *a, const char *b)
{
	const size_t length = tkb_path_parent_length(a);

	return tkb_path_parent_length(b) == length && memcmp(a, b, length) == 0;
}

bool tkb_path_is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool tkb_path_is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	       access(path, X_OK) == 0;
}

int tkb_own_folder_open(int root_fd)
{
	return tkb_fd_open_folder(root_fd, TKB_OWN_FOLDER);
}

int tkb_own_folder_open_at(const char *root)
{
	TKB_AUTO(tkb_fd_close_at) int fd = -1;

	fd = tkb_fd_open(AT_FDCWD, root, O_RDONLY | O_DIRECTORY, 0);
	return fd < 0 ? -1 : tkb_own_folder_open(fd);
}
