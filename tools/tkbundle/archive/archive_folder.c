/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/archive_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fd.h"

#define NAME ".tkbundle-archive.XXXXXX"

/* The folder that `output` is in: its length, "" being the present one. */
static size_t folder_length(const char *output)
{
	const char *slash = strrchr(output, '/');

	return slash == NULL ? 0 : (size_t)(slash - output) + 1;
}

static int format_path(const char *output, char **out)
{
	const char *temporary = cli_variable("TMPDIR");

	if (temporary != NULL)
		return asprintf(out, "%s/" NAME, temporary);
	if (output != NULL && strcmp(output, "-") != 0)
		return asprintf(out, "%.*s" NAME, (int)folder_length(output),
		                output);
	return asprintf(out, "/tmp/" NAME);
}

static int fail(const char *path, struct tkb_error *err)
{
	return cli_error(err, TKB_ERR_IO, "cannot make folder '%s': %s", path,
	                 strerror(errno));
}

int archive_folder_make(const char *output, struct archive_folder *out,
                        struct tkb_error *err)
{
	char *path = NULL;

	if (format_path(output, &path) < 0)
		return cli_error(err, TKB_ERR_NOMEM, "out of memory");
	if (mkdtemp(path) == NULL) {
		(void)fail(path, err);
		free(path);
		return TKB_ERR_IO;
	}
	out->path = realpath(path, NULL);
	free(path);
	if (out->path == NULL ||
	    asprintf(&out->files, "%s/files", out->path) < 0)
		return cli_error(err, TKB_ERR_NOMEM, "out of memory");
	if (mkdir(out->files, 0700) < 0)
		return fail(out->files, err);
	out->fd = open(out->files, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return out->fd < 0 ? fail(out->files, err) : 0;
}

static void remove_all(char *path)
{
	char *const paths[] = { path, NULL };
	FTS *const walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
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

void archive_folder_remove(struct archive_folder *folder)
{
	fd_close(&folder->fd);
	if (folder->path != NULL)
		remove_all(folder->path);
	free(folder->path);
	free(folder->files);
	*folder = (struct archive_folder)ARCHIVE_FOLDER_NONE;
}
