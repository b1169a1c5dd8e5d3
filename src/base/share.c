/* SPDX-License-Identifier: Apache-2.0 */
#include "base/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/random.h"

/*
 * With an access control list, the group bits of the mode are only an upper
 * bound. fgetxattr() fails with ENODATA if the folder has no list.
 */
static bool has_list(int dir_fd)
{
	TKB_AUTO(tkb_fd_close_at)
	int fd = tkb_fd_open(dir_fd, ".", O_RDONLY | O_DIRECTORY, 0);

	return fd < 0 ||
	       fgetxattr(fd, "system.posix_acl_access", NULL, 0) >= 0 ||
	       (errno != ENODATA && errno != EOPNOTSUPP && errno != ENOSYS);
}

static mode_t rights_of(int dir_fd, mode_t mode)
{
	mode_t rights = 0;

	if ((mode & S_IWGRP) != 0 && !has_list(dir_fd))
		rights |= mode & S_IRWXG;
	if ((mode & S_IWOTH) != 0)
		rights |= mode & S_IRWXO;
	return rights;
}

/* Would it change nothing, as in a folder of our own? */
static bool is_nothing(const struct tkb_share *share)
{
	return share->mode == 0 &&
	       (share->user == (uid_t)-1 || share->user == geteuid()) &&
	       (share->group == (gid_t)-1 || share->group == getegid());
}

void tkb_share_of(int dir_fd, struct tkb_share *out)
{
	const bool is_root = geteuid() == 0;
	struct stat status;
	bool is_sticky;

	*out = (struct tkb_share)TKB_SHARE_INIT;
	if (fstat(dir_fd, &status) < 0 || !S_ISDIR(status.st_mode))
		return;

	if (is_root)
		out->user = status.st_uid;
	if (is_root || (status.st_mode & S_IWGRP) != 0)
		out->group = status.st_gid;
	is_sticky = (status.st_mode & S_ISVTX) != 0;
	out->common = rights_of(dir_fd, status.st_mode);
	if (is_sticky && out->common != 0)
		out->common |= S_ISVTX;
	out->mode = is_sticky && !is_root ? 0 : out->common;
	/* Nothing to change: later calls can skip the question who we are. */
	if (out->common == 0 && is_nothing(out))
		*out = (struct tkb_share)TKB_SHARE_INIT;
}

bool tkb_share_equal(const struct tkb_share *one, const struct tkb_share *other)
{
	return one->user == other->user && one->group == other->group &&
	       one->mode == other->mode;
}

struct tkb_share tkb_share_in_common(const struct tkb_share *share)
{
	struct tkb_share common = *share;

	common.mode = share->common;
	return common;
}

void tkb_share_apply(const struct tkb_share *share, int fd)
{
	mode_t rights = share->mode;
	struct stat status;
	mode_t wanted;

	if (is_nothing(share) || fstat(fd, &status) < 0)
		return;
	if ((share->user != (uid_t)-1 && share->user != status.st_uid) ||
	    (share->group != (gid_t)-1 && share->group != status.st_gid)) {
		const bool is_given =
			fchown(fd, share->user, share->group) == 0 ||
			fchown(fd, (uid_t)-1, share->group) == 0;

		(void)is_given; /* the fstat() below shows the result */
		if (fstat(fd, &status) < 0)
			return;
	}

	/* If a file cannot get the folder's group, its own group gets only
	   the rights of all others. */
	if (share->group != status.st_gid)
		rights =
			(rights & ~(mode_t)S_IRWXG) | ((rights & S_IRWXO) << 3);
	if (!S_ISDIR(status.st_mode))
		rights &= (rights & S_ISVTX) != 0
		                  ? S_IRGRP | S_IROTH
		                  : S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
	wanted = (status.st_mode & 07777) | rights;
	if (wanted != (status.st_mode & 07777))
		(void)fchmod(fd, wanted);
}

int tkb_share_open_common(int dir_fd, const char *name, int flags)
{
	struct tkb_share share;
	int fd;

	flags |= O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	fd = tkb_fd_open(dir_fd, name, flags | O_CREAT | O_EXCL, 0666);
	if (fd < 0)
		return errno == EEXIST ? tkb_fd_open(dir_fd, name, flags, 0)
		                       : -1;
	tkb_share_of(dir_fd, &share);
	share = tkb_share_in_common(&share);
	share.mode &= ~(mode_t)S_ISVTX;
	tkb_share_apply(&share, fd);
	return fd;
}

/*
 * Check that the folder is the one we made: another user who may write to the
 * parent may have replaced it.
 */
static bool is_ours(int fd)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item;
	struct stat status;
	size_t count = 0;

	if (fstat(fd, &status) < 0 || status.st_uid != geteuid() ||
	    tkb_dir_open(fd, ".", &dir, NULL) < 0)
		return false;
	for (item = readdir(dir); item != NULL; item = readdir(dir))
		count++;
	return count <= 2;
}

int tkb_share_make_folder(const struct tkb_share *share, int dir_fd,
                          const char *name)
{
	int fd;

	if (mkdirat(dir_fd, name, 0777) < 0)
		return -1;
	fd = tkb_fd_open_folder(dir_fd, name);
	if (fd >= 0 && !is_nothing(share) && is_ours(fd))
		tkb_share_apply(share, fd);
	return fd;
}

int tkb_share_publish_folder(const struct tkb_share *share, int dir_fd,
                             const char *name)
{
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	char random[TKB_RANDOM_NAME_SIZE];
	char own[sizeof(".tkbundle-") + TKB_RANDOM_NAME_SIZE];
	int number;
	int made;

	if (is_nothing(share) || tkb_random_name(random, NULL) < 0)
		return tkb_share_make_folder(share, dir_fd, name);
	(void)snprintf(own, sizeof(own), ".tkbundle-%s", random);
	fd = tkb_share_make_folder(share, dir_fd, own);
	if (fd >= 0 &&
	    renameat2(dir_fd, own, dir_fd, name, RENAME_NOREPLACE) == 0) {
		made = fd;
		fd = -1;
		return made;
	}

	number = errno;
	(void)unlinkat(dir_fd, own, AT_REMOVEDIR);
	errno = number;
	if (!tkb_fd_lacks_noreplace(number))
		return -1;
	return tkb_share_make_folder(share, dir_fd, name);
}

int tkb_share_open_folder(const struct tkb_share *share, int dir_fd,
                          const char *name)
{
	int fd = tkb_fd_open_folder(dir_fd, name);

	if (fd >= 0 || errno != ENOENT || share == NULL)
		return fd;
	fd = tkb_share_publish_folder(share, dir_fd, name);
	/* Another process has made the folder. */
	return fd < 0 && errno == EEXIST ? tkb_fd_open_folder(dir_fd, name)
	                                 : fd;
}
