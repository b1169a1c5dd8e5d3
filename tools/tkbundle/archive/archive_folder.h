/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_FOLDER_H
#define TKBUNDLE_ARCHIVE_FOLDER_H

#include <tkbundle/error.h>

/*
 * A private folder for one command. It has a folder `files`, into which an
 * archive is unpacked, or whose content is packed.
 */
struct archive_folder {
	char *path;  /* owned; absolute; NULL: none */
	char *files; /* owned; its path */
	int fd;      /* owned; descriptor of `files`; -1: none */
	int lock_fd; /* owned; descriptor of `path`, with the lock; -1: none */
};

#define ARCHIVE_FOLDER_NONE                                                    \
	{                                                                      \
		.fd = -1, .lock_fd = -1                                        \
	}

/*
 * Make the folder: in $TMPDIR, else beside `output`, whose disk needs room for
 * the result anyway, or, if that is NULL, standard output, a link or a special
 * file, in /tmp. Folders that killed commands have left in the same place are
 * removed: nobody holds their lock.
 *
 * @param out  released by the caller
 */
TKB_NODISCARD int archive_folder_make(const char *output,
                                      struct archive_folder *out,
                                      struct tkb_error *err);

/* For TKB_AUTO: remove the folder with its content. */
void archive_folder_remove(struct archive_folder *folder);

#endif
