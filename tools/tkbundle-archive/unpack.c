/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "handles.h"
#include "limits.h"
#include "member_name.h"
#include "report.h"

enum {
	BLOCK_SIZE = 128 * 1024,
	COPY_SIZE = 32 * 1024,
	PROGRESS_STEP = 4 * 1024 * 1024
};

struct unpacker {
	struct archive *archive;
	int folder_fd;
	uint64_t made_count; /* files and folders */
	uint64_t next_progress;
	struct member_name name; /* of the current entry */
	struct unpacked done;
};

static int refuse_unpacked(const struct unpacker *at, int status,
                           const char *reason, struct tkb_error *err)
{
	return tkb_fail(err, status, "'%.200s' %s", at->name.text, reason);
}

static int fail_io(const struct unpacker *at, struct tkb_error *err)
{
	if (errno == EFBIG)
		return refuse_unpacked(at, TKB_ERR_TOO_LARGE, "is too large",
		                       err);
	return tkb_fail_errno(err, "cannot unpack '%.200s'", at->name.text);
}

/* Fail with libarchive's message. */
static int fail_archive(const struct unpacker *at, struct tkb_error *err)
{
	const char *reason = archive_error_string(at->archive);

	if (archive_errno(at->archive) == ENOMEM)
		return tkb_fail_nomem(err);
	if (at->name.text[0] == '\0')
		return tkb_fail(err, TKB_ERR_CORRUPT, "%.300s",
		                reason != NULL ? reason : "it is damaged");
	return tkb_fail(err, TKB_ERR_CORRUPT, "'%.200s' is damaged: %.300s",
	                at->name.text, reason != NULL ? reason : "no reason");
}

static void tell_progress(struct unpacker *at)
{
	const int64_t got = archive_filter_bytes(at->archive, -1);

	if (got < 0 || (uint64_t)got < at->next_progress)
		return;
	report(REPORT_PROGRESS, "%" PRIi64, got);
	at->next_progress = (uint64_t)got + PROGRESS_STEP;
}

static int count_one(struct unpacker *at, struct tkb_error *err)
{
	if (at->made_count == ARCHIVE_ENTRIES_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "it holds more than %d files and folders",
		                ARCHIVE_ENTRIES_LIMIT);
	at->made_count++;
	return 0;
}

/* Check the limits for a file of `size` bytes, as announced or as read. */
static int check_size(const struct unpacker *at, uint64_t size,
                      struct tkb_error *err)
{
	if (size > ARCHIVE_FILE_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "'%.200s' has more than %" PRIu64 " bytes",
		                at->name.text, ARCHIVE_FILE_LIMIT);
	if (size > ARCHIVE_SIZE_LIMIT - at->done.size)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "it unpacks to more than %" PRIu64 " bytes",
		                ARCHIVE_SIZE_LIMIT);
	return 0;
}

/*
 * Folders
 */

static int make_folder(struct unpacker *at, const char *path,
                       struct tkb_error *err)
{
	struct stat status;
	int rc;

	if (mkdirat(at->folder_fd, path, 0700) == 0) {
		rc = count_one(at, err);
		return rc;
	}
	if (errno == EEXIST &&
	    fstatat(at->folder_fd, path, &status, AT_SYMLINK_NOFOLLOW) == 0) {
		if (S_ISDIR(status.st_mode))
			return 0;
		errno = ENOTDIR;
	}
	if (errno == ENOTDIR)
		return refuse_unpacked(
			at, TKB_ERR_CORRUPT,
			"is in the archive as a folder and as a file", err);
	return fail_io(at, err);
}

/* Make the folders above the entry. */
static int make_parents(struct unpacker *at, struct tkb_error *err)
{
	int rc = 0;

	for (char *c = at->name.text; *c != '\0' && rc == 0; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		rc = make_folder(at, at->name.text, err);
		*c = '/';
	}
	return rc;
}

/*
 * Files
 */

static int make_file(struct unpacker *at, mode_t mode, int *out,
                     struct tkb_error *err)
{
	int rc;

	rc = make_parents(at, err);
	if (rc == 0)
		rc = count_one(at, err);
	if (rc < 0)
		return rc;
	*out = tkb_fd_open(at->folder_fd, at->name.text,
	                   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
	                   (mode & S_IXUSR) != 0 ? 0700 : 0600);
	if (*out >= 0)
		return 0;
	if (errno == EEXIST || errno == EISDIR)
		return refuse_unpacked(at, TKB_ERR_CORRUPT,
		                       "is in the archive twice", err);
	return fail_io(at, err);
}

/*
 * Write the entry's blocks; holes stay holes. `*end_out` is the offset after
 * the last block.
 */
static int write_blocks(struct unpacker *at, int fd, uint64_t *end_out,
                        struct tkb_error *err)
{
	uint64_t end = 0;

	for (;;) {
		struct tkb_bytes block = { 0 };
		int64_t offset = 0;
		int rc;

		rc = archive_read_data_block(at->archive, &block.data,
		                             &block.size, &offset);
		if (rc == ARCHIVE_EOF)
			break;
		if (rc != ARCHIVE_OK)
			return fail_archive(at, err);
		if (offset < 0 || (uint64_t)offset < end)
			return refuse_unpacked(at, TKB_ERR_CORRUPT,
			                       "has parts that overlap", err);
		if ((uint64_t)offset > ARCHIVE_FILE_LIMIT)
			return check_size(at, (uint64_t)offset, err);
		end = (uint64_t)offset + block.size;
		rc = check_size(at, end, err);
		if (rc < 0)
			return rc;
		rc = tkb_fd_pwrite_all(fd, block, (uint64_t)offset, err);
		if (rc < 0)
			return tkb_fail_while(err, rc, "'%.200s'",
			                      at->name.text);
		tell_progress(at);
	}
	*end_out = end;
	return 0;
}

static int write_file(struct unpacker *at, struct archive_entry *entry, int fd,
                      struct tkb_error *err)
{
	const bool has_holes = archive_entry_sparse_count(entry) > 0;
	uint64_t said = 0;
	uint64_t size = 0;
	int rc = 0;

	if (archive_entry_size_is_set(entry)) {
		if (archive_entry_size(entry) < 0)
			return refuse_unpacked(at, TKB_ERR_CORRUPT,
			                       "has a size below 0", err);
		said = (uint64_t)archive_entry_size(entry);
		rc = check_size(at, said, err);
	}
	if (rc == 0)
		rc = write_blocks(at, fd, &size, err);
	if (rc < 0)
		return rc;
	if (has_holes && size < said) {
		size = said;
		if (ftruncate(fd, (off_t)size) < 0)
			return fail_io(at, err);
	}
	if (archive_entry_size_is_set(entry) &&
	    (uint64_t)archive_entry_size(entry) != size)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "'%.200s' has %" PRIu64 " bytes, and not the "
		                "%" PRIi64 " that the archive says",
		                at->name.text, size, archive_entry_size(entry));
	at->done.file_count++;
	at->done.size += size;
	return 0;
}

static int unpack_file(struct unpacker *at, struct archive_entry *entry,
                       struct tkb_error *err)
{
	const mode_t mode = archive_entry_mode(entry);
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	int rc;

	if ((mode & (S_ISUID | S_ISGID)) != 0)
		return refuse_unpacked(
			at, TKB_ERR_CORRUPT,
			"would run with rights of its owner or group", err);
	rc = make_file(at, mode, &fd, err);
	return rc == 0 ? write_file(at, entry, fd, err) : rc;
}

/*
 * Links
 */

/* Copy the bytes between two offsets. */
static int copy_part(const struct unpacker *at, int from, int to, off_t begin,
                     off_t end, struct tkb_error *err)
{
	char data[COPY_SIZE];
	int rc = 0;

	while (begin < end && rc == 0) {
		const size_t wanted = end - begin < COPY_SIZE
		                              ? (size_t)(end - begin)
		                              : COPY_SIZE;
		const ssize_t got = pread(from, data, wanted, begin);

		if (got <= 0)
			return fail_io(at, err);
		rc = tkb_fd_pwrite_all(to,
		                       (struct tkb_bytes){ data, (size_t)got },
		                       (uint64_t)begin, err);
		begin += got;
	}
	return rc < 0 ? tkb_fail_while(err, rc, "'%.200s'", at->name.text) : rc;
}

/*
 * Copy `size` bytes; holes stay holes, or else a few links could fill a disk.
 */
static int copy_contents(struct unpacker *at, int from, int to, off_t size,
                         struct tkb_error *err)
{
	off_t begin = lseek(from, 0, SEEK_DATA);
	int rc = 0;

	while (begin >= 0 && rc == 0) {
		const off_t end = lseek(from, begin, SEEK_HOLE);

		if (end < 0)
			return fail_io(at, err);
		rc = copy_part(at, from, to, begin, end, err);
		begin = lseek(from, end, SEEK_DATA);
	}
	if (rc == 0 && (errno != ENXIO || ftruncate(to, size) < 0))
		return fail_io(at, err);
	at->done.size += (uint64_t)size;
	return rc;
}

/* A hard link to an earlier file becomes a copy of it. */
static int unpack_hard_link(struct unpacker *at, const char *target,
                            struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int from = -1;
	TKB_AUTO(tkb_fd_close_at) int to = -1;
	struct member_name other;
	struct stat status;
	int rc;

	rc = member_name_read(target, &other, err);
	if (rc < 0)
		return tkb_fail_while(err, rc, "'%.200s' is a link",
		                      at->name.text);
	from = tkb_fd_open(at->folder_fd, other.text, O_RDONLY | O_NOFOLLOW, 0);
	if (from < 0 || fstat(from, &status) < 0 || !S_ISREG(status.st_mode))
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "'%.200s' is a link to '%.200s', which is not "
		                "in the archive before it",
		                at->name.text, other.text);
	rc = check_size(at, (uint64_t)status.st_size, err);
	if (rc == 0)
		rc = make_file(at, status.st_mode, &to, err);
	if (rc == 0)
		rc = copy_contents(at, from, to, status.st_size, err);
	if (rc == 0)
		at->done.file_count++;
	return rc;
}

static int leave_out_link(struct unpacker *at, const char *target,
                          struct tkb_error *err)
{
	if (target == NULL || !member_name_stays(&at->name, target))
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "'%.200s' is a link out of the archive, to "
		                "'%.200s'",
		                at->name.text, target == NULL ? "" : target);
	report(REPORT_LINK, "%.800s", at->name.text);
	return count_one(at, err);
}

/*
 * Entries
 */

static int unpack_entry(struct unpacker *at, struct archive_entry *entry,
                        struct tkb_error *err)
{
	const char *target = archive_entry_hardlink(entry);

	if (target != NULL)
		return unpack_hard_link(at, target, err);
	switch (archive_entry_filetype(entry)) {
	case AE_IFREG:
		if (at->name.text[0] == '\0')
			return tkb_fail(err, TKB_ERR_CORRUPT,
			                "a file has no name");
		return unpack_file(at, entry, err);
	case AE_IFDIR: {
		const int rc = make_parents(at, err);

		if (rc < 0 || at->name.text[0] == '\0')
			return rc;
		return make_folder(at, at->name.text, err);
	}
	case AE_IFLNK:
		return leave_out_link(at, archive_entry_symlink(entry), err);
	case AE_IFCHR:
	case AE_IFBLK:
		return refuse_unpacked(at, TKB_ERR_CORRUPT, "is a device", err);
	case AE_IFIFO:
		return refuse_unpacked(at, TKB_ERR_CORRUPT, "is a pipe", err);
	case AE_IFSOCK:
		return refuse_unpacked(at, TKB_ERR_CORRUPT, "is a socket", err);
	default:
		return refuse_unpacked(at, TKB_ERR_CORRUPT,
		                       "is of no known kind", err);
	}
}

static int read_member_name(struct unpacker *at, struct archive_entry *entry,
                            struct tkb_error *err)
{
	const char *raw = archive_entry_pathname_utf8(entry);

	at->name.text[0] = '\0';
	if (raw == NULL)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "the name of an entry is not text");
	return member_name_read(raw, &at->name, err);
}

/* Check that the tar has its end mark, which a truncated tar lacks. */
static int check_end_of_tar(struct unpacker *at, struct tkb_error *err)
{
	const bool is_tar = (archive_format(at->archive) &
	                     ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR;

	if (is_tar && archive_filter_bytes(at->archive, 0) <=
	                      archive_read_header_position(at->archive))
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "it is truncated: it has no end mark");
	return 0;
}

static int unpack_all(struct unpacker *at, struct tkb_error *err)
{
	TKB_AUTO(handles_close_entry)
	struct archive_entry *entry = archive_entry_new2(at->archive);
	int rc;

	if (entry == NULL)
		return tkb_fail_nomem(err);
	for (;;) {
		rc = archive_read_next_header2(at->archive, entry);
		if (rc == ARCHIVE_EOF)
			return check_end_of_tar(at, err);
		if (rc != ARCHIVE_OK)
			return fail_archive(at, err);
		rc = read_member_name(at, entry, err);
		if (rc == 0)
			rc = unpack_entry(at, entry, err);
		if (rc < 0)
			return rc;
		at->name.text[0] = '\0';
		tell_progress(at);
	}
}

/*
 * Only formats that caches are kept in: each format adds code that parses
 * untrusted bytes.
 */
static bool choose_formats(struct archive *archive)
{
	return archive_read_support_format_tar(archive) == ARCHIVE_OK &&
	       archive_read_support_format_zip(archive) == ARCHIVE_OK &&
	       archive_read_support_filter_gzip(archive) == ARCHIVE_OK &&
	       archive_read_support_filter_bzip2(archive) == ARCHIVE_OK &&
	       archive_read_support_filter_xz(archive) == ARCHIVE_OK &&
	       archive_read_support_filter_zstd(archive) == ARCHIVE_OK;
}

int unpack(int archive_fd, int folder_fd, struct unpacked *out,
           struct tkb_error *err)
{
	TKB_AUTO(handles_close_reader)
	struct archive *archive = archive_read_new();
	struct unpacker at = { .archive = archive, .folder_fd = folder_fd };
	int rc;

	if (archive == NULL)
		return tkb_fail_nomem(err);
	if (!choose_formats(archive) ||
	    archive_read_open_fd(archive, archive_fd, BLOCK_SIZE) != ARCHIVE_OK)
		return fail_archive(&at, err);
	rc = unpack_all(&at, err);
	if (rc == 0)
		*out = at.done;
	return rc;
}
