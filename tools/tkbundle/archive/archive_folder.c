/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/archive_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fd.h"
#include "cli/text.h"

#define PREFIX ".tkbundle-archive."
#define NAME PREFIX "XXXXXX"

enum {
	TRIES = 100
};

/* The length of the folder part of `output`; 0: the current folder. */
static size_t folder_length(const char *output)
{
	const char *slash = strrchr(output, '/');

	return slash == NULL ? 0 : (size_t)(slash - output) + 1;
}

/* Is the output a file, or will it be one? If not, it may lie in /dev. */
static bool is_file(const char *output)
{
	struct stat status;

	return lstat(output, &status) < 0 || S_ISREG(status.st_mode);
}

static char *format_path(const char *output)
{
	const char *temporary = cli_variable("TMPDIR");

	if (temporary != NULL)
		return text_format("%s/" NAME, temporary);
	if (output != NULL && strcmp(output, "-") != 0 && is_file(output))
		return text_format("%.*s" NAME, (int)folder_length(output),
		                   output);
	return strdup("/tmp/" NAME);
}

static int fail_to_make_folder(const char *path, struct tkb_error *err)
{
	return cli_error_errno(err, "make folder", path);
}

/* Paths may be longer than the system takes: go into each folder, and back. */
static void remove_all(char *path)
{
	char *const paths[] = { path, NULL };
	FTS *const walk = fts_open(paths, FTS_PHYSICAL, NULL);
	const FTSENT *item;

	while (walk != NULL && (item = fts_read(walk)) != NULL) {
		if (item->fts_info == FTS_D)
			continue;
		(void)(item->fts_info == FTS_DP ? rmdir(item->fts_accpath)
		                                : unlink(item->fts_accpath));
	}
	if (walk != NULL)
		(void)fts_close(walk);
}

/*
 * Folders of killed commands
 */

/*
 * Open the folder `path` and lock it; -1: it does not belong to us, or is in
 * use.
 */
static int lock_folder(const char *path)
{
	const int fd =
		open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	fd_close(&fd);
	return -1;
}

/* Remove our folders beside `path` that no process has locked. */
static void remove_abandoned(const char *path)
{
	TKB_AUTO(text_free)
	char *parent = strndup(path, strlen(path) - strlen(NAME));
	TKB_AUTO(folder_close)
	DIR *items = parent == NULL ? NULL
	                            : opendir(parent[0] != '\0' ? parent : ".");
	const struct dirent *item;

	while (items != NULL && (item = readdir(items)) != NULL) {
		TKB_AUTO(text_free) char *left = NULL;
		TKB_AUTO(fd_close) int fd = -1;

		if (strncmp(item->d_name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		left = text_format("%s%s", parent, item->d_name);
		fd = left != NULL ? lock_folder(left) : -1;
		if (fd >= 0)
			remove_all(left);
	}
}

/*
 * Make and lock the folder `path`, a pattern of mkdtemp(). If another command
 * takes it for abandoned before it is locked, make another one.
 */
static int make_locked(char *path, int *out)
{
	const size_t length = strlen(path) - strlen("XXXXXX");
	struct stat status = { .st_nlink = 0 };

	for (int i = 0; i < TRIES; i++) {
		TKB_AUTO(fd_close) int fd = -1;

		(void)memcpy(path + length, "XXXXXX", sizeof("XXXXXX"));
		if (mkdtemp(path) == NULL)
			return -1;
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 ||
		    (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK))
			continue;
		if (fstat(fd, &status) == 0 && status.st_nlink != 0) {
			*out = fd;
			fd = -1;
			return 0;
		}
	}
	errno = EAGAIN;
	return -1;
}

int archive_folder_make(const char *output, struct archive_folder *out,
                        struct tkb_error *err)
{
	char *path = format_path(output);

	if (path == NULL)
		return cli_error_nomem(err);
	remove_abandoned(path);
	if (make_locked(path, &out->lock_fd) < 0) {
		(void)fail_to_make_folder(path, err);
		free(path);
		return TKB_ERR_IO;
	}
	out->path = realpath(path, NULL);
	free(path);
	if (out->path != NULL)
		out->files = text_format("%s/files", out->path);
	if (out->files == NULL)
		return cli_error_nomem(err);
	if (mkdir(out->files, 0700) < 0)
		return fail_to_make_folder(out->files, err);
	out->fd = open(out->files, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return out->fd < 0 ? fail_to_make_folder(out->files, err) : 0;
}

void archive_folder_remove(struct archive_folder *folder)
{
	fd_close(&folder->fd);
	if (folder->path != NULL)
		remove_all(folder->path);
	fd_close(&folder->lock_fd);
	free(folder->path);
	free(folder->files);
	*folder = (struct archive_folder)ARCHIVE_FOLDER_NONE;
}
