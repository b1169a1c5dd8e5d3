/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/mark.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/share.h"

enum {
	MARK_LIMIT = 1024 * 1024,
	OLD_S = 30 * 24 * 3600
};

static const char mark_prefix[] = "trusted-";

/* "trusted-<boot id>", or "" if the system has no boot id. */
static void format_name(char out[64])
{
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	char boot_id[37] = "";

	out[0] = '\0';
	fd = tkb_fd_open(AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY,
	                 0);
	if (fd < 0 || tkb_fd_read_full(fd, boot_id, 36) != 36)
		return;
	(void)snprintf(out, 64, "%s%s", mark_prefix, boot_id);
}

/* The line for a bundle. */
static void format_line(const struct tkb_digest *id,
                        char out[TKB_DIGEST_HEX_SIZE + 1])
{
	tkb_digest_to_hex(id, out);
	out[TKB_DIGEST_HEX_SIZE - 1] = '\n';
}

bool tkb_mark_is_set(int own_fd, const struct tkb_digest *id)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(MARK_LIMIT + 1);
	char line[TKB_DIGEST_HEX_SIZE + 1];
	char name[64];
	struct stat status;

	format_name(name);
	if (name[0] == '\0' || tkb_fd_read_file(own_fd, name, MARK_LIMIT, &text,
	                                        &status, NULL) < 0)
		return false;
	format_line(id, line);
	return memmem(text.data, text.size, line, TKB_DIGEST_HEX_SIZE) != NULL;
}

static bool is_old(int own_fd, const char *name)
{
	struct stat status;

	return fstatat(own_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       status.st_mtim.tv_sec <
	               tkb_wall_ns() / (int64_t)TKB_NS_PER_S - OLD_S;
}

/*
 * Remove marks of earlier boots. Hosts that share the root set marks of their
 * own, so a mark of another boot stays while it may be in use.
 */
static void remove_old_marks(int own_fd, const char *current)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item;

	if (tkb_dir_open(own_fd, ".", &dir, NULL) < 0)
		return;
	for (item = readdir(dir); item != NULL; item = readdir(dir)) {
		if (tkb_begins_with(item->d_name, mark_prefix) &&
		    strcmp(item->d_name, current) != 0 &&
		    is_old(own_fd, item->d_name))
			(void)unlinkat(own_fd, item->d_name, 0);
	}
}

void tkb_mark_set(int own_fd, const struct tkb_digest *id)
{
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	char line[TKB_DIGEST_HEX_SIZE + 1];
	struct stat status;
	char name[64];

	format_name(name);
	if (name[0] == '\0')
		return;
	fd = tkb_share_open_common(own_fd, name, O_WRONLY | O_APPEND);
	if (fd < 0)
		return;
	/* If the mark file has become too long to read, start again with an
	   empty one. */
	if (fstat(fd, &status) == 0 &&
	    status.st_size > MARK_LIMIT - TKB_DIGEST_HEX_SIZE &&
	    ftruncate(fd, 0) < 0)
		return;
	format_line(id, line);
	/* One call appends a whole line, even if other processes append too.
	   If the line is lost, the next emit reads every file again. */
	if (write(fd, line, TKB_DIGEST_HEX_SIZE) == TKB_DIGEST_HEX_SIZE)
		remove_old_marks(own_fd, name);
}
