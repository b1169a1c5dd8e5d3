/* SPDX-License-Identifier: Apache-2.0 */
#include "report/file_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fd.h"

int file_source_open(const char *path, struct file_source *out,
                     struct tkb_error *err)
{
	TKB_AUTO(file_source_close) struct file_source made = FILE_SOURCE_INIT;
	struct stat status;

	made.name = path;
	if (strcmp(path, "-") == 0) {
		made.name = "standard input";
		if (isatty(STDIN_FILENO))
			return cli_error(err, TKB_ERR_INVALID,
			                 "standard input is a terminal, not a "
			                 "bundle");
		made.fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	} else {
		made.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	}
	if (made.fd < 0 && errno == ENOENT)
		return cli_error(err, TKB_MISS, "there is no '%s'", path);
	if (made.fd < 0 || fstat(made.fd, &status) < 0)
		return cli_error_errno(err, "read", made.name);
	made.is_pipe = !S_ISREG(status.st_mode);
	*out = made;
	made = (struct file_source)FILE_SOURCE_INIT;
	return 0;
}

static int read_at(void *self, uint64_t offset, void *data, size_t size,
                   size_t *got_out, struct tkb_error *err)
{
	struct file_source *const file = self;
	ssize_t got;

	if (file->is_pipe && offset != file->done)
		return cli_error(err, TKB_ERR_IO, "'%s' can be read only once",
		                 file->name);
	got = file->is_pipe ? fd_read(file->fd, data, size)
	                    : fd_read_at(file->fd, data, size, offset);
	if (got < 0)
		return cli_error_errno(err, "read", file->name);
	*got_out = (size_t)got;
	file->done += *got_out;
	return 0;
}

struct tkb_source file_source_of(struct file_source *file)
{
	return (struct tkb_source){ .read_at = read_at, .self = file };
}

void file_source_close(struct file_source *file)
{
	if (file->fd >= 0)
		(void)close(file->fd);
	file->fd = -1;
}
