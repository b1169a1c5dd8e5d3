/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_SHARE_H
#define TKB_BASE_SHARE_H

/*
 * Make new files and folders usable by everybody who can use the folder that
 * they are in.
 *
 * A cache root is often made by one user and written by another: by root in an
 * init container, then by the server. With the mode that the umask gives, only
 * the first user could use it. So a new file or folder takes from its parent
 * folder
 *
 *   its owner   if we are root,
 *   its group   if we are root, or the group may write there,
 *   its mode    the rights of the group and of all others, if they may write
 *               there. They are added to those that the umask leaves.
 *
 * In a sticky folder each user owns what they make. Others may add to a folder
 * that root makes there, but may not replace its files: root's folders are
 * sticky too, and its files are not writable for others. Any other user shares
 * only what all writers need in common there (`common`): sticky folders, and
 * files that all may write.
 *
 * A folder that only its owner may write gives nobody else a right. If we
 * cannot set the folder's group, our own group does not get that group's
 * rights; it gets those of all others. With an access control list, the default
 * list decides the group's rights.
 *
 * Changes are made only through the descriptor of what was just made: no link
 * is followed.
 */

#include <sys/types.h>

#include "base/base.h"

struct tkb_share {
	uid_t user;  /* or -1: unchanged */
	gid_t group; /* or -1: unchanged */
	/* Rights to add, as for a folder. Sticky: others may add to a
	   folder, but not write to a file. */
	mode_t mode;
	mode_t common; /* what all writers need in common */
};

/* Changes nothing. */
#define TKB_SHARE_INIT                                                         \
	{                                                                      \
		.user = (uid_t)-1, .group = (gid_t)-1                          \
	}

/* Find out which owner, group and mode new files in the folder `dir_fd` get. */
void tkb_share_of(int dir_fd, struct tkb_share *out);

/* The owner, group and mode for what all writers need in common. */
struct tkb_share tkb_share_in_common(const struct tkb_share *share);

/* Would new files in two folders get the same owner, group and mode? */
bool tkb_share_equal(const struct tkb_share *one,
                     const struct tkb_share *other);

/* Give owner, group and mode to `fd`, which we have just made. */
void tkb_share_apply(const struct tkb_share *share, int fd);

/*
 * Open a file that all writers of the folder `dir_fd` share, and make it if it is
 * not there. An existing file is opened without O_CREAT, which a sticky folder may
 * forbid for another user's file, and a FIFO does not block.
 *
 * @return a descriptor that the caller closes, or -1 and errno
 */
int tkb_share_open_common(int dir_fd, const char *name, int flags);

/*
 * Make the folder `name`, which must not exist, and open it.
 *
 * @return a descriptor that the caller closes, or -1 and errno
 */
int tkb_share_make_folder(const struct tkb_share *share, int dir_fd,
                          const char *name);

/*
 * As tkb_share_make_folder(), but in one step where the file system can do
 * that: nobody sees the folder before it has its owner, group and mode.
 */
int tkb_share_publish_folder(const struct tkb_share *share, int dir_fd,
                             const char *name);

/*
 * Open the folder `name`; if there is none and `share` is not NULL, publish it.
 *
 * @return a descriptor that the caller closes, or -1 and errno
 */
int tkb_share_open_folder(const struct tkb_share *share, int dir_fd,
                          const char *name);

#endif
