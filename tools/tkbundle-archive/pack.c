/* SPDX-License-Identifier: Apache-2.0 */
#include "pack.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "handles.h"

enum {
	COPY_SIZE = 32 * 1024 /* the stack may be small */
};

struct packer {
	struct archive *archive;
	struct archive *plain; /* the same without compression, only to be
	                          hashed; or NULL */
	struct tkb_hasher *hasher;
	int records_fd;
	int64_t time;
};

static int fail_archive(struct archive *archive, struct tkb_error *err)
{
	const char *reason = archive_error_string(archive);
	const int number = archive_errno(archive);

	if (number == ENOMEM)
		return tkb_fail_nomem(err);
	/* libarchive says no more than this when a disk is full. */
	if (reason != NULL && strcmp(reason, "Write error") == 0 && number > 0)
		reason = strerror(number);
	return tkb_fail(err, TKB_ERR_IO, "cannot write it: %.300s",
	                reason != NULL ? reason : "libarchive gives no reason");
}

static int read_all(const struct packer *packer, void *data, size_t size,
                    struct tkb_error *err)
{
	if (tkb_fd_read_full(packer->records_fd, data, size) == (ssize_t)size)
		return 0;
	return tkb_fail(err, TKB_ERR_IO, "the input ends early");
}

static int start_entry(const struct packer *packer, struct archive *archive,
                       const struct pack_record *record, const char *path,
                       struct tkb_error *err)
{
	const bool is_folder = record->kind == PACK_FOLDER;
	TKB_AUTO(handles_close_entry)
	struct archive_entry *entry = archive_entry_new2(archive);

	if (entry == NULL)
		return tkb_fail_nomem(err);
	archive_entry_set_pathname(entry, path);
	archive_entry_set_filetype(entry, is_folder ? AE_IFDIR : AE_IFREG);
	archive_entry_set_perm(entry, record->kind == PACK_FILE ? 0644 : 0755);
	archive_entry_set_size(entry, (int64_t)record->size);
	archive_entry_set_mtime(entry, packer->time, 0);
	archive_entry_set_uid(entry, 0);
	archive_entry_set_gid(entry, 0);
	if (archive_write_header(archive, entry) != ARCHIVE_OK)
		return fail_archive(archive, err);
	return 0;
}

static int write_data(struct archive *archive, const void *data, size_t size,
                      struct tkb_error *err)
{
	return archive_write_data(archive, data, size) == (ssize_t)size
	               ? 0
	               : fail_archive(archive, err);
}

static int copy_file(const struct packer *packer, uint64_t size,
                     struct tkb_error *err)
{
	char data[COPY_SIZE];
	int rc;

	while (size != 0) {
		const size_t part = size < sizeof(data) ? size : sizeof(data);

		rc = read_all(packer, data, part, err);
		if (rc == 0)
			rc = write_data(packer->archive, data, part, err);
		if (rc == 0 && packer->plain != NULL)
			rc = write_data(packer->plain, data, part, err);
		if (rc < 0)
			return rc;
		size -= part;
	}
	return 0;
}

static int pack_entries(const struct packer *packer, struct tkb_error *err)
{
	char path[PACK_PATH_LIMIT + 1];
	struct pack_record record;
	int rc;

	for (;;) {
		rc = read_all(packer, &record, sizeof(record), err);
		if (rc < 0 || record.kind == PACK_END)
			return rc;
		if (record.path_length > PACK_PATH_LIMIT)
			return tkb_fail(err, TKB_ERR_TOO_LARGE,
			                "a path is too long");
		rc = read_all(packer, path, record.path_length, err);
		path[record.path_length] = '\0';
		if (rc == 0)
			rc = start_entry(packer, packer->archive, &record, path,
			                 err);
		if (rc == 0 && packer->plain != NULL)
			rc = start_entry(packer, packer->plain, &record, path,
			                 err);
		if (rc == 0)
			rc = copy_file(packer, record.size, err);
		if (rc < 0)
			return rc;
	}
}

/* The same entries give the same bytes: no current time, no padding. */
static bool choose_format(struct archive *archive, const char *format)
{
	const bool is_zip = strcmp(format, "zip") == 0;
	int rc;

	rc = is_zip ? archive_write_set_format_zip(archive)
	            : archive_write_set_format_pax_restricted(archive);
	if (rc == ARCHIVE_OK && strcmp(format, "tar.gz") == 0)
		rc = archive_write_add_filter_gzip(archive);
	if (rc == ARCHIVE_OK && strcmp(format, "tar.zst") == 0)
		rc = archive_write_add_filter_zstd(archive);
	if (rc == ARCHIVE_OK && strcmp(format, "tar.gz") == 0)
		rc = archive_write_set_options(archive, "gzip:!timestamp");
	if (rc == ARCHIVE_OK)
		rc = archive_write_set_bytes_in_last_block(archive, 1);
	return rc == ARCHIVE_OK;
}

static ssize_t hash(struct archive *archive, void *self, const void *data,
                    size_t size)
{
	(void)archive;
	return tkb_hasher_add(self, (struct tkb_bytes){ data, size }, NULL) == 0
	               ? (ssize_t)size
	               : -1;
}

static int open_plain(struct packer *packer, struct tkb_error *err)
{
	packer->plain = archive_write_new();
	if (packer->plain == NULL)
		return tkb_fail_nomem(err);
	if (!choose_format(packer->plain, "tar") ||
	    archive_write_open(packer->plain, packer->hasher, NULL, hash,
	                       NULL) != ARCHIVE_OK)
		return fail_archive(packer->plain, err);
	return tkb_hasher_begin(packer->hasher, err);
}

static void packer_close(struct packer *packer)
{
	handles_close_writer(&packer->plain);
	handles_close_writer(&packer->archive);
}

int pack(int records_fd, int archive_fd, const char *format, int64_t time,
         struct tkb_hasher *hasher, struct tkb_digest *plain_out,
         struct tkb_error *err)
{
	TKB_AUTO(packer_close)
	struct packer packer = { .archive = archive_write_new(),
		                 .hasher = hasher,
		                 .records_fd = records_fd,
		                 .time = time };
	int rc = 0;

	if (packer.archive == NULL)
		return tkb_fail_nomem(err);
	if (!choose_format(packer.archive, format) ||
	    archive_write_open_fd(packer.archive, archive_fd) != ARCHIVE_OK)
		return fail_archive(packer.archive, err);
	if (hasher != NULL)
		rc = open_plain(&packer, err);
	if (rc == 0)
		rc = pack_entries(&packer, err);
	if (rc == 0 && archive_write_close(packer.archive) != ARCHIVE_OK)
		rc = fail_archive(packer.archive, err);
	if (rc < 0 || hasher == NULL)
		return rc;
	if (archive_write_close(packer.plain) != ARCHIVE_OK)
		return fail_archive(packer.plain, err);
	return tkb_hasher_end(hasher, plain_out, err);
}
