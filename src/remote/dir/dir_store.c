/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/dir/dir_store.h"

#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/path.h"

/* The length of the longest leading part of `path` that exists. */
static size_t known_part(char *path)
{
	size_t size = strlen(path);
	struct stat status;

	while (size > 1) {
		const char byte = path[size];
		bool is_there;

		path[size] = '\0';
		is_there = stat(path, &status) == 0;
		path[size] = byte;
		if (is_there)
			return size;
		do {
			size--;
		} while (size > 1 && path[size] != '/');
	}
	return size;
}

int tkb_dir_make_folders(char *path, bool is_synced, struct tkb_error *err)
{
	const size_t size = strlen(path);
	size_t at = is_synced ? known_part(path) : size;
	int rc;

	rc = tkb_path_make_folders(path, err);
	while (rc == 0 && at < size) {
		const char byte = path[at];
		int synced;

		path[at] = '\0';
		synced = tkb_fd_sync_folder(path);
		path[at] = byte;
		if (synced < 0)
			return tkb_fail_errno(err, "cannot write '%s'", path);
		at++;
		at += strcspn(path + at, "/");
	}
	return rc;
}

int tkb_dir_publish(struct tkb_draft *draft, const char *folder_path,
                    bool is_synced, struct tkb_error *err)
{
	int rc = 0;

	if (is_synced)
		rc = tkb_draft_sync(draft, err);
	if (rc == 0)
		rc = tkb_draft_publish(draft, err);
	if (rc == 0 && is_synced && tkb_fd_sync_folder(folder_path) < 0)
		rc = tkb_fail_errno(err, "cannot write '%s'", folder_path);
	return rc;
}
