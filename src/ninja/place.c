/* SPDX-License-Identifier: Apache-2.0 */
#include "ninja/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/fd.h"

enum {
	PATH_SIZE = 8192,
	PIECE_SIZE = 256 * 1024,
	/* No file system has a coarser time resolution. */
	COARSEST_SECONDS = 2
};

const char *tkb_ninja_relative_path(const struct tkb_ninja_place *place,
                                    const char *path)
{
	const size_t length = strlen(place->folder);

	if (path[0] != '/')
		return tkb_begins_with(path, "../") || strcmp(path, "..") == 0
		               ? NULL
		               : path;
	return strncmp(path, place->folder, length) == 0 && path[length] == '/'
	               ? path + length + 1
	               : NULL;
}

/*
 * Write the absolute path of `path`, which leads out of the folder and is in
 * ninja's canonical form.
 */
static bool format_absolute(const struct tkb_ninja_place *place,
                            const char *path, char out[PATH_SIZE])
{
	size_t length = strlen(place->folder);
	int size;

	if (path[0] == '/') {
		length = 0;
	} else {
		while (tkb_begins_with(path, "../")) {
			while (length > 0 && place->folder[--length] != '/')
				;
			path += 3;
		}
	}
	size = snprintf(out, PATH_SIZE, "%.*s%s%s", (int)length, place->folder,
	                path[0] == '/' ? "" : "/", path);
	return size > 0 && size < PATH_SIZE;
}

/* Open the file at `path` for reading; -1 and errno on failure. */
static int open_build_file(const struct tkb_ninja_place *place,
                           const char *path)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
	const char *inside = tkb_ninja_relative_path(place, path);
	char outside[PATH_SIZE];

	if (inside != NULL)
		return tkb_fd_open(place->dir_fd, inside, flags, 0);
	if (!format_absolute(place, path, outside)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return tkb_fd_open(AT_FDCWD, outside, flags, 0);
}

static int fail_to_read(const char *path, struct tkb_error *err)
{
	if (errno == ENOENT || errno == ENOTDIR)
		return TKB_MISS;
	(void)tkb_fail_errno(err, "cannot read '%s'", path);
	if (err != NULL)
		err->reason = TKB_REASON_UNREADABLE;
	return TKB_ERR_IO;
}

int tkb_ninja_read_file(const struct tkb_ninja_place *place, const char *name,
                        struct tkb_buf *out, struct tkb_error *err)
{
	struct stat status;

	tkb_buf_reset(out);
	return tkb_fd_read_file(place->dir_fd, name, TKB_NINJA_FILE_LIMIT, out,
	                        &status, err);
}

static int stat_open(int fd, const char *path, struct stat *out,
                     struct tkb_error *err)
{
	if (fstat(fd, out) < 0)
		return fail_to_read(path, err);
	if (!S_ISREG(out->st_mode))
		return tkb_fail_entry(err, TKB_REASON_UNSAFE,
		                      "'%.300s' is not a file", path);
	return 0;
}

int tkb_ninja_stat(const struct tkb_ninja_place *place, const char *path,
                   struct stat *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int fd = open_build_file(place, path);

	return fd < 0 ? fail_to_read(path, err) : stat_open(fd, path, out, err);
}

static int fail_large(const char *path, struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_TOO_LARGE, "'%.300s' is too large", path);
}

static int hash_file(int fd, const char *path, struct tkb_hasher *hasher,
                     uint64_t *left, struct tkb_digest *out,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf piece = TKB_BUF_INIT(PIECE_SIZE);
	unsigned char *room = tkb_buf_reserve(&piece, PIECE_SIZE);
	ssize_t size;
	int rc;

	if (room == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_hasher_begin(hasher, err);
	do {
		size = tkb_fd_read_full(fd, room, PIECE_SIZE);
		if (rc == 0 && size < 0)
			return fail_to_read(path, err);
		if (rc == 0 && (uint64_t)size > *left)
			return fail_large(path, err);
		*left -= rc == 0 ? (uint64_t)size : 0;
		if (rc == 0)
			rc = tkb_hasher_add(
				hasher,
				(struct tkb_bytes){ room, (size_t)size }, err);
	} while (rc == 0 && size == PIECE_SIZE);
	return rc < 0 ? rc : tkb_hasher_end(hasher, out, err);
}

int tkb_ninja_digest(const struct tkb_ninja_place *place, const char *path,
                     struct tkb_hasher *hasher, uint64_t *left,
                     struct tkb_digest *digest_out, struct stat *status_out,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int fd = open_build_file(place, path);
	int rc;

	if (fd < 0)
		return fail_to_read(path, err);
	rc = stat_open(fd, path, status_out, err);
	if (rc == 0 && (uint64_t)status_out->st_size > *left)
		rc = fail_large(path, err);
	return rc < 0 ? rc : hash_file(fd, path, hasher, left, digest_out, err);
}

static int touch_output(const struct tkb_ninja_place *place, const char *output,
                        int64_t mtime, int64_t *got, struct tkb_error *err)
{
	const struct timespec times[2] = {
		{ .tv_nsec = UTIME_OMIT },
		{ .tv_sec = mtime / 1000000000, .tv_nsec = mtime % 1000000000 },
	};
	const char *inside = tkb_ninja_relative_path(place, output);
	struct stat status;

	if (inside == NULL)
		return tkb_fail_entry(err, TKB_REASON_OUTSIDE,
		                      "the output '%.300s' is outside the "
		                      "folder that it is built in",
		                      output);
	if (utimensat(place->dir_fd, inside, times, AT_SYMLINK_NOFOLLOW) < 0 ||
	    fstatat(place->dir_fd, inside, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT
		               ? tkb_fail_entry(err, TKB_REASON_MISSING,
		                                "the output '%.300s' is not "
		                                "there",
		                                output)
		               : tkb_fail_errno(err, "cannot stamp '%.300s'",
		                                output);
	*got = tkb_ninja_mtime(&status);
	return 0;
}

int tkb_ninja_touch(const struct tkb_ninja_place *place,
                    const char *const *outputs, size_t count, int64_t *mtime,
                    struct tkb_error *err)
{
	int64_t wanted = *mtime;
	int64_t got = wanted;
	int rc;

	for (size_t i = 0; i < count; i++) {
		rc = touch_output(place, outputs[i], wanted, &got, err);
		/* The file system has rounded the time down. */
		if (rc == 0 && i == 0 && got < *mtime) {
			wanted += (int64_t)COARSEST_SECONDS * 1000000000;
			rc = touch_output(place, outputs[i], wanted, &got, err);
		}
		if (rc < 0)
			return rc;
	}
	*mtime = got;
	return 0;
}
