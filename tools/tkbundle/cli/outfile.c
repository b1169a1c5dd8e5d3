/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/text.h"

static int cannot_write(const char *path, struct tkb_error *err)
{
	return cli_error(err, TKB_ERR_IO, "cannot write '%s': %s", path,
	                 strerror(errno));
}

static int no_memory(struct tkb_error *err)
{
	return cli_error(err, TKB_ERR_NOMEM, "out of memory");
}

static bool is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* A name in the folder of `path`, for rename(2). NULL: out of memory. */
static char *make_temp(const char *path)
{
	uint64_t random = 0;
	char *temp;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (uint64_t)getpid();
	if (asprintf(&temp, "%s.%016" PRIx64 ".tmp", path, random) < 0)
		return NULL; /* asprintf() leaves it undefined */
	return temp;
}

static int open_regular(struct outfile *file, struct tkb_error *err)
{
	TKB_AUTO(text_free) char *copy = strdup(file->path);

	file->temp = make_temp(file->path);
	if (copy == NULL || file->temp == NULL)
		return no_memory(err);
	/* A file without a name gets one through /proc. */
	if (access("/proc/self/fd", X_OK) == 0)
		file->fd = open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC,
		                0666);
	if (file->fd >= 0)
		return 0;
	file->fd =
		open(file->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (file->fd < 0)
		return cannot_write(file->path, err);
	file->is_named = true;
	return 0;
}

int outfile_open(const char *path, struct outfile *out, struct tkb_error *err)
{
	TKB_AUTO(outfile_discard) struct outfile made = OUTFILE_INIT;
	int rc = 0;

	made.path = strdup(path);
	if (made.path == NULL)
		return no_memory(err);
	if (is_special(path)) {
		made.fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		if (made.fd < 0)
			rc = cannot_write(path, err);
	} else {
		rc = open_regular(&made, err);
	}
	if (rc != 0)
		return rc;
	*out = made;
	made = (struct outfile)OUTFILE_INIT;
	return 0;
}

static int write_all(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	const struct outfile *const file = self;
	const char *data = bytes.data;

	while (bytes.size > 0) {
		const ssize_t done = write(file->fd, data, bytes.size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return cannot_write(file->path, err);
		data += done;
		bytes.size -= (size_t)done;
	}
	return 0;
}

struct tkb_sink outfile_sink(struct outfile *file)
{
	return (struct tkb_sink){ .write = write_all, .self = file };
}

static int move_into_place(struct outfile *file)
{
	char self[64];

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", file->fd);
	if (!file->is_named &&
	    linkat(AT_FDCWD, self, AT_FDCWD, file->temp, AT_SYMLINK_FOLLOW) < 0)
		return -1;
	file->is_named = true;
	if (rename(file->temp, file->path) < 0)
		return -1;
	file->is_named = false;
	return 0;
}

int outfile_publish(struct outfile *file, struct tkb_error *err)
{
	/* On NFS, and with quotas, close() reports that bytes did not fit. */
	const int copy = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);

	if (copy < 0 || close(copy) < 0 ||
	    (file->temp != NULL && move_into_place(file) < 0))
		return cannot_write(file->path, err);
	outfile_discard(file);
	return 0;
}

void outfile_discard(struct outfile *file)
{
	if (file->fd >= 0)
		(void)close(file->fd);
	if (file->is_named && file->temp != NULL)
		(void)unlink(file->temp);
	free(file->path);
	free(file->temp);
	*file = (struct outfile)OUTFILE_INIT;
}
