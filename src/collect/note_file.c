/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/note_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/share.h"
#include "cache/key.h"
#include "tree/unit.h"

enum {
	KEPT = TKB_NOTE_FILE_ROOM /
	       2,                  /* bytes, when the oldest are forgotten */
	NAP_NS = 10 * 1000 * 1000, /* between two tries to get the lock */
	TRIES = 100
};

/*
 * Read the newest whole lines of a file of `size` bytes into `room`, which has KEPT
 * bytes. They begin with a line break.
 */
static int read_newest(int fd, uint64_t size, const char *name, char *room,
                       struct tkb_bytes *out, struct tkb_error *err)
{
	const ssize_t got = tkb_fd_pread_full(fd, room, KEPT,
	                                      size > KEPT ? size - KEPT : 0);
	const char *begin;

	*out = (struct tkb_bytes){ room, 0 };
	if (got < 0)
		return tkb_fail_errno(err, "cannot read '%s'", name);
	/* The first line may have lost its beginning. */
	begin = memchr(room, '\n', (size_t)got);
	if (begin != NULL)
		*out = (struct tkb_bytes){ begin,
			                   (size_t)(room + got - begin) };
	return 0;
}

/* Read the newest lines of a file that is larger than what is read of one. */
static int read_large(int own, const char *name, struct tkb_buf *out,
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int fd = tkb_fd_open_quietly(own, name);
	struct tkb_bytes newest;
	struct stat status;
	char *room;
	int rc;

	if (fd < 0 || fstat(fd, &status) < 0)
		return tkb_fail_errno(err, "cannot read '%s'", name);
	tkb_buf_reset(out);
	room = (char *)tkb_buf_reserve(out, KEPT);
	if (room == NULL)
		return tkb_buf_check(out, err);
	rc = read_newest(fd, (uint64_t)status.st_size, name, room, &newest,
	                 err);
	if (rc < 0)
		return rc;
	memmove(room, newest.data, newest.size);
	out->size = newest.size;
	return 0;
}

int tkb_note_file_read(const char *cache_root, const char *name,
                       struct tkb_buf *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int own = tkb_own_folder_open_at(cache_root);
	struct tkb_error fault = { 0 };
	struct stat status = { .st_size = -1 };
	off_t last_size;
	int rc;

	if (own < 0 || !tkb_fd_exists(own, name))
		return 0;
	/*
	 * Others append to it: read it again, which ends at the limit. On some
	 * file systems, a size is never that of what is read.
	 */
	do {
		last_size = status.st_size;
		tkb_buf_reset(out);
		rc = tkb_fd_read_file(own, name, TKB_NOTE_FILE_LIMIT - 1, out,
		                      &status, &fault);
	} while (rc < 0 && fault.reason == TKB_REASON_BUSY &&
	         status.st_size != last_size);
	if (rc < 0 && fault.reason == TKB_REASON_LIMIT)
		return read_large(own, name, out, err);
	return rc < 0 ? tkb_fail_as(err, rc, &fault) : 0;
}

static int open_note_file(const char *cache_root, const char *name, int *out,
                          struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int root = -1;
	TKB_AUTO(tkb_fd_close_at) int own = -1;
	struct tkb_share share = TKB_SHARE_INIT;
	struct tkb_share common;

	root = tkb_fd_open(AT_FDCWD, cache_root, O_RDONLY | O_DIRECTORY, 0);
	if (root >= 0) {
		tkb_share_of(root, &share);
		common = tkb_share_in_common(&share);
		own = tkb_share_publish_folder(&common, root, TKB_OWN_FOLDER);
		if (own < 0)
			own = tkb_own_folder_open(root);
	}
	if (own >= 0)
		*out = tkb_share_open_common(own, name, O_RDWR | O_APPEND);
	if (*out < 0)
		return tkb_fail_errno(err, "cannot write '%s/%s/%s'",
		                      cache_root, TKB_OWN_FOLDER, name);
	return 0;
}

/* Move the newest lines to the file's beginning, and end it there. */
static int keep_newest(int fd, uint64_t size, const char *name,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) char *room = malloc(KEPT);
	struct tkb_bytes newest;
	int rc;

	if (room == NULL)
		return tkb_fail_nomem(err);
	rc = read_newest(fd, size, name, room, &newest, err);
	if (rc < 0)
		return rc;
	rc = tkb_fd_pwrite_all(fd, newest, 0, err);
	if (rc == 0 && ftruncate(fd, (off_t)newest.size) < 0)
		rc = tkb_fail_errno(err, "cannot write '%s'", name);
	return rc;
}

/* Make room for `size` bytes, unless others are appending: the next one does. */
static int make_room(int fd, size_t size, const char *name,
                     struct tkb_error *err)
{
	struct stat status;
	int rc;

	if (fstat(fd, &status) < 0)
		return tkb_fail_errno(err, "cannot write '%s'", name);
	if (status.st_size <= KEPT ||
	    (uint64_t)status.st_size + size <= TKB_NOTE_FILE_ROOM ||
	    flock(fd, LOCK_EX | LOCK_NB) < 0)
		return 0;
	/* With O_APPEND, pwrite() appends, too. */
	if (fstat(fd, &status) < 0 || fcntl(fd, F_SETFL, 0) < 0)
		return tkb_fail_errno(err, "cannot write '%s'", name);
	rc = status.st_size <= KEPT
	             ? 0
	             : keep_newest(fd, (uint64_t)status.st_size, name, err);
	if (rc == 0 && fcntl(fd, F_SETFL, O_APPEND) < 0)
		rc = tkb_fail_errno(err, "cannot write '%s'", name);
	return rc;
}

/*
 * Wait for a process that is forgetting lines: it has the lock alone, for
 * milliseconds. If it was stopped then, or there are no locks, append anyway.
 */
static void lock_to_append(int fd)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	for (int i = 0; i < TRIES; i++) {
		if (flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			return;
		(void)nanosleep(&nap, NULL);
	}
}

int tkb_note_file_append(const char *cache_root, const char *name,
                         struct tkb_bytes lines, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_NOTE_FILE_ROOM);
	TKB_AUTO(tkb_fd_unlock_at) int fd = -1;
	struct tkb_bytes line;
	size_t at = 0;
	int rc;

	/* The oldest of too many are forgotten at once. */
	while (lines.size - at >= TKB_NOTE_FILE_ROOM &&
	       tkb_note_file_line(lines, &at, &line))
		continue;
	lines = tkb_bytes_slice(lines, at, lines.size);
	/* The file's last line may be incomplete: begin a new one. */
	tkb_buf_add_byte(&text, '\n');
	tkb_buf_add(&text, lines);
	rc = tkb_buf_check(&text, err);
	if (rc == 0)
		rc = open_note_file(cache_root, name, &fd, err);
	if (rc == 0)
		rc = make_room(fd, text.size, name, err);
	if (rc == 0)
		lock_to_append(fd);
	/* Others may append too, so write all lines in one call. */
	return rc == 0 ? tkb_fd_write_all(fd, tkb_buf_bytes(&text), name, err)
	               : rc;
}

bool tkb_note_file_line(struct tkb_bytes text, size_t *at,
                        struct tkb_bytes *out)
{
	const char *begin;
	const char *stop;

	/* An empty text may have a NULL pointer. */
	if (*at >= text.size)
		return false;
	begin = (const char *)text.data + *at;
	stop = memchr(begin, '\n', text.size - *at);
	if (stop == NULL)
		return false;
	*out = (struct tkb_bytes){ begin, (size_t)(stop - begin) };
	*at += out->size + 1;
	return true;
}

int tkb_note_key(const char *tree, const char *name,
                 char room[TKB_DIGEST_HEX_SIZE], const char **key_out,
                 struct tkb_error *err)
{
	TKB_AUTO(tkb_hasher_close) struct tkb_hasher hasher = { 0 };
	int rc;

	*key_out = tree == NULL ? name : room;
	if (tree == NULL)
		return tkb_key_is_valid(name) ? 0 : TKB_MISS;
	if (!tkb_unit_name_is_valid(tree, name))
		return TKB_MISS;
	rc = tkb_hasher_open(&hasher, err);
	return rc == 0 ? tkb_unit_tree_key(&hasher, tree, name, room, err) : rc;
}
