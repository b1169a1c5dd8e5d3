/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/archive_export.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/archive_walk.h"
#include "cli/cli.h"
#include "cli/fd.h"

#define WAIT_MS 100

/* As tools/tkbundle-archive/pack.h has it. */
struct record {
	uint64_t size;
	uint32_t path_length;
	uint32_t kind;
};

enum {
	FILE_KIND = 'f',
	PROGRAM_KIND = 'x',
	FOLDER_KIND = 'd',
	END_KIND = 'e'
};

struct sender {
	struct archive_child *child;
	int fd;
	size_t prefix_length; /* length of the folder's path with its slash,
	                         which is not sent */
	struct archive_export done;
};

/* If this fails, the child may send a message that says why. */
static bool send_bytes(const struct sender *sender, const void *data,
                       size_t size)
{
	size_t sent = 0;

	while (sent < size) {
		struct pollfd poller = { .fd = sender->fd, .events = POLLOUT };
		const ssize_t put =
			send(sender->fd, (const char *)data + sent, size - sent,
		             MSG_NOSIGNAL | MSG_DONTWAIT);

		sent += put > 0 ? (size_t)put : 0;
		if (put < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (!archive_child_listen(sender->child, 0))
			return false;
		if (put < 0)
			(void)poll(&poller, 1, WAIT_MS);
	}
	return true;
}

static bool send_record(const struct sender *sender, uint32_t kind,
                        const char *path, uint64_t size)
{
	const struct record record = { size, (uint32_t)strlen(path), kind };

	return send_bytes(sender, &record, sizeof(record)) &&
	       send_bytes(sender, path, record.path_length);
}

/* @return 1: it was sent; 0: the child does not accept it; or TKB_ERR_IO */
static int send_member(struct sender *sender, const FTSENT *item,
                       struct tkb_error *err)
{
	TKB_AUTO(fd_close)
	int fd = open(item->fts_accpath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat status;
	char bytes[64 * 1024];
	uint64_t left;

	if (fd < 0 || fstat(fd, &status) < 0)
		return cli_error_errno(err, "read", item->fts_path);
	left = (uint64_t)status.st_size;
	if (!send_record(sender,
	                 (status.st_mode & S_IXUSR) != 0 ? PROGRAM_KIND
	                                                 : FILE_KIND,
	                 item->fts_path + sender->prefix_length, left))
		return 0;
	sender->done.file_count++;
	sender->done.size += left;
	while (left != 0) {
		const size_t part =
			left < sizeof(bytes) ? (size_t)left : sizeof(bytes);

		if (fd_read(fd, bytes, part) != (ssize_t)part)
			return cli_error_errno(err, "read", item->fts_path);
		if (!send_bytes(sender, bytes, part))
			return 0;
		left -= part;
	}
	return 1;
}

static int send_item(struct sender *sender, FTS *walk, FTSENT *item,
                     struct tkb_error *err)
{
	switch (item->fts_info) {
	case FTS_D:
		if (item->fts_level == FTS_ROOTLEVEL)
			return 1;
		if (strcmp(item->fts_name, ".tkbundle") == 0) {
			(void)fts_set(walk, item, FTS_SKIP);
			return 1;
		}
		return send_record(sender, FOLDER_KIND,
		                   item->fts_path + sender->prefix_length, 0)
		               ? 1
		               : 0;
	case FTS_F:
		return send_member(sender, item, err);
	case FTS_DP:
		return 1;
	default:
		errno = item->fts_errno;
		return cli_error_errno(err, "read", item->fts_path);
	}
}

static int send_all(struct sender *sender, const char *folder,
                    struct tkb_error *err)
{
	FTS *const walk = archive_walk_open(folder, err);
	FTSENT *item;
	int rc = 1;

	if (walk == NULL)
		return TKB_ERR_NOMEM;
	while (rc == 1 && (item = fts_read(walk)) != NULL)
		rc = send_item(sender, walk, item, err);
	(void)fts_close(walk);
	return rc == 1 && !send_record(sender, END_KIND, "", 0) ? 0 : rc;
}

static int send_folder(struct archive_child *child, const char *folder,
                       int records_fd, struct archive_export *out,
                       struct tkb_error *err)
{
	struct sender sender = { .child = child,
		                 .fd = records_fd,
		                 .prefix_length = strlen(folder) + 1 };
	int rc;

	rc = send_all(&sender, folder, err);
	(void)close(records_fd);
	if (rc < 0)
		return rc;
	rc = archive_child_finish(child, err);
	if (rc != 0)
		return rc;
	*out = sender.done;
	memcpy(out->sum, child->sum, sizeof(out->sum));
	return 0;
}

bool archive_export_read_time(char out[24])
{
	const char *text = cli_variable("SOURCE_DATE_EPOCH");

	if (out != NULL)
		(void)snprintf(out, 24, "%s", text == NULL ? "0" : text);
	return text == NULL || (strlen(text) <= 11 &&
	                        strspn(text, "0123456789") == strlen(text));
}

int archive_export_pack(const struct archive_export_options *options,
                        int out_fd, struct archive_export *out,
                        struct tkb_error *err)
{
	static char name[] = "tkbundle-archive";
	static char verb[] = "pack";
	static char sum[] = "sum";
	char time[24];
	char *const argv[] = { name,
		               verb,
		               (char *)(uintptr_t)options->format,
		               time,
		               options->has_sum ? sum : NULL,
		               NULL };
	TKB_AUTO(archive_child_release)
	struct archive_child child = {
		.cli = options->cli,
		.archive = options->name,
		.what = "export",
		.output = options->output,
		.deadline = options->deadline,
		.is_verbose = options->is_verbose,
	};
	struct archive_child_files files = { .out_fd = out_fd,
		                             .folder_fd = -1 };
	int pair[2];
	int rc;

	(void)archive_export_read_time(time);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return cli_error(err, TKB_ERR_IO,
		                 "cannot export '%s': cannot make a socket: %s",
		                 options->name, strerror(errno));
	files.in_fd = pair[0];
	rc = archive_child_start(&child, argv, &files, err);
	(void)close(pair[0]);
	if (rc == 0)
		return send_folder(&child, options->folder, pair[1], out, err);
	(void)close(pair[1]);
	return rc;
}
