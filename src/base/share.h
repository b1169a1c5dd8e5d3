/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_SHARE_H
#define TKB_BASE_SHARE_H

/*
 * What we make in a folder is for those whom the folder is for.
 *
 * A cache root is often made by one user and written by another: by root in an
 * init container, then by the server. Made by the umask alone, it would be the
 * first one's only. So what is new takes from the folder that it is made in
 *
 *   its owner   if we are root,
 *   its group   if we are root, or the group may write there,
 *   its mode    what it lets the group or all others do, where they may write
 *               there; to what the umask leaves this adds, and takes nothing.
 *
 * A sticky folder says that what each user makes there is his own. What root
 * makes there is for others to add to, and not to replace: its folders are sticky,
 * too, and its files get no right to be written. Another user shares nothing there
 * but what all who write there must have in common (`common`): a folder that is
 * sticky, and files that all may write.
 *
 * A folder that nobody but its owner may write gives nobody else a right. What
 * cannot be had (a group that is not ours) is left, and its rights are not
 * given to another group, which has those of all others. What has an access
 * control list leaves its group to its default list.
 *
 * Descriptors alone are changed, of what was just made: no link is followed.
 */

#include <sys/types.h>

#include "base/base.h"

struct tkb_share {
	uid_t user;    /* or -1: stays */
	gid_t group;   /* or -1: stays */
	mode_t mode;   /* what is added, as to a folder; sticky: others may
	                  add to a folder, and write no file */
	mode_t common; /* those of what all must have in common */
};

/* One that changes nothing. */
#define TKB_SHARE_INIT                                                         \
	{                                                                      \
		.user = (uid_t)-1, .group = (gid_t)-1                          \
	}

/* Learn what that is to be which is made in the folder `dir_fd`. */
void tkb_share_of(int dir_fd, struct tkb_share *out);

/* The same for what all must have in common. */
struct tkb_share tkb_share_in_common(const struct tkb_share *share);

/* Would two folders have the same made of what is put into them? */
bool tkb_share_equal(const struct tkb_share *one,
                     const struct tkb_share *other);

/* Give the file or folder `fd`, which we have just made, its rights. */
void tkb_share_apply(const struct tkb_share *share, int fd);

/*
 * Open a file that all have in common who write in the folder `dir_fd`. Where it
 * is not there, it is made; nobody has to open with O_CREAT what another user has
 * made, which a sticky folder may forbid. Nobody has to wait where it is a FIFO.
 *
 * @return a descriptor that the caller closes, or -1 and errno
 */
int tkb_share_open_common(int dir_fd, const char *name, int flags);

/*
 * Make the folder `name`, which must not be there, and open it.
 *
 * @return a descriptor that the caller closes, or -1 and errno
 */
int tkb_share_make_folder(const struct tkb_share *share, int dir_fd,
                          const char *name);

/*
 * The same where others look for it, who might come before it has its rights:
 * it appears with them, where the file system can do that.
 */
int tkb_share_publish_folder(const struct tkb_share *share, int dir_fd,
                             const char *name);

#endif
