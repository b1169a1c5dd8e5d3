/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fd.h"
#include "cli/text.h"

enum {
	SIZE_LIMIT = 64 * 1024
};

/* Can the file be trusted? */
static int check_file(const char *path, enum config_file_kind kind,
                      const struct stat *status, struct tkb_error *err)
{
	if (!S_ISREG(status->st_mode) && !S_ISCHR(status->st_mode))
		return cli_error(err, TKB_ERR_INVALID, "'%s' is not a file",
		                 path);
	if (kind != CONFIG_FILE_USER && kind != CONFIG_FILE_POLICY)
		return 0;
	if (status->st_uid != 0 && status->st_uid != geteuid())
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%s' belongs to somebody else", path);
	if (kind == CONFIG_FILE_POLICY && (status->st_mode & S_IWGRP) != 0)
		return cli_error(
			err, TKB_ERR_INVALID,
			"'%s' may be written by its group: 'chmod go-w %s' "
			"corrects that",
			path, path);
	if ((status->st_mode & S_IWOTH) != 0)
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%s' may be written by anybody: 'chmod go-w "
		                 "%s' corrects that",
		                 path, path);
	return 0;
}

static int read_all(int fd, const char *path, char *data, size_t *size_out,
                    struct tkb_error *err)
{
	const ssize_t size = fd_read(fd, data, SIZE_LIMIT + 1);

	if (size < 0)
		return cli_error_errno(err, "read", path);
	if (size > SIZE_LIMIT || memchr(data, '\0', (size_t)size) != NULL)
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%s' is not a file of 'name = value' lines",
		                 path);
	data[size] = '\0';
	*size_out = (size_t)size;
	return 0;
}

/* Opening a pipe must not block. */
static int load_file(const char *path, enum config_file_kind kind, char *data,
                     size_t *size_out, struct tkb_error *err)
{
	TKB_AUTO(fd_close)
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	int rc;

	/* In a container the home folder may belong to another user. */
	if (fd < 0 && kind != CONFIG_FILE_NAMED && kind != CONFIG_FILE_POLICY &&
	    (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
		return 0;
	if (fd < 0 && errno == ENOENT)
		return cli_error(err, TKB_MISS, "there is no %s '%.300s'",
		                 kind == CONFIG_FILE_POLICY ? "policy" : "file",
		                 path);
	if (fd < 0 || fstat(fd, &status) < 0)
		return cli_error_errno(err, "read", path);
	rc = check_file(path, kind, &status, err);
	return rc != 0 ? rc : read_all(fd, path, data, size_out, err);
}

/* Trim blanks from both ends of `text`. */
static char *trim_line(char *text)
{
	static const char blank[] = " \t\r";
	size_t size;

	text += strspn(text, blank);
	size = strlen(text);
	while (size > 0 && strchr(blank, text[size - 1]) != NULL)
		size--;
	text[size] = '\0';
	return text;
}

static int visit_lines(const char *path, char *data,
                       const struct config_file_visitor *visitor,
                       struct tkb_error *err)
{
	size_t number = 0;
	int rc = 0;

	while (data != NULL && rc == 0) {
		char *const line = trim_line(strsep(&data, "\n"));
		char *const equals = strchr(line, '=');

		number++;
		if (line[0] == '\0' || line[0] == '#')
			continue;
		if (equals == NULL) {
			line[0] = '\0';
			rc = visitor->on_line(visitor->self, path, number, line,
			                      line, err);
			continue;
		}
		*equals = '\0';
		rc = visitor->on_line(visitor->self, path, number,
		                      trim_line(line), trim_line(equals + 1),
		                      err);
	}
	return rc;
}

int config_file_read(const char *path, enum config_file_kind kind,
                     const struct config_file_visitor *visitor,
                     struct tkb_error *err)
{
	TKB_AUTO(text_free) char *data = calloc(1, SIZE_LIMIT + 2);
	size_t size = 0;
	int rc;

	if (data == NULL)
		return cli_error_nomem(err);
	rc = load_file(path, kind, data, &size, err);
	if (rc == 0 && size > 0)
		rc = visit_lines(path, data, visitor, err);
	explicit_bzero(data, SIZE_LIMIT + 2); /* the line may contain a
	                                         password */
	return rc;
}
