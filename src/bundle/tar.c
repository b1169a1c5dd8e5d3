/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle/tar.h"

#include <archive.h>
#include <archive_entry.h>

enum {
	BLOCK = 512
};

static la_ssize_t append(struct archive *archive, void *self, const void *data,
                         size_t size)
{
	struct tkb_tar_writer *writer = self;

	(void)archive;
	if (!writer->is_closing) /* drop the end of the archive */
		tkb_buf_add(writer->out, (struct tkb_bytes){ data, size });
	return (la_ssize_t)size;
}

static int fail(struct archive *archive, struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_NOMEM, "libarchive cannot write: %s",
	                archive_error_string(archive));
}

static int open_archive(struct tkb_tar_writer *writer, void **out,
                        bool is_binary, struct tkb_error *err)
{
	struct archive *archive = archive_write_new();

	if (archive == NULL)
		return tkb_fail_nomem(err);
	*out = archive;
	if (archive_write_set_format_pax_restricted(archive) != ARCHIVE_OK ||
	    (is_binary &&
	     archive_write_set_options(archive, "hdrcharset=BINARY") !=
	             ARCHIVE_OK) ||
	    archive_write_set_bytes_per_block(archive, 0) != ARCHIVE_OK ||
	    archive_write_open(archive, writer, NULL, append, NULL) !=
	            ARCHIVE_OK)
		return fail(archive, err);
	return 0;
}

int tkb_tar_writer_open(struct tkb_tar_writer *writer, struct tkb_buf *out,
                        struct tkb_error *err)
{
	*writer = (struct tkb_tar_writer){ .entry = archive_entry_new(),
		                           .out = out };
	if (writer->entry == NULL)
		return tkb_fail_nomem(err);
	return open_archive(writer, &writer->archive, false, err);
}

static bool is_ascii(const char *path)
{
	for (; *path != '\0'; path++) {
		if ((unsigned char)*path >= 0x80)
			return false;
	}
	return true;
}

/*
 * A name that is not ASCII is written as it is, whatever the locale; GNU tar
 * warns of the keyword that says so, hence only there.
 */
static int archive_for(struct tkb_tar_writer *writer, const char *path,
                       struct archive **out, struct tkb_error *err)
{
	int rc;

	*out = writer->archive;
	if (is_ascii(path))
		return 0;
	if (writer->binary_archive == NULL) {
		rc = open_archive(writer, &writer->binary_archive, true, err);
		if (rc < 0)
			return rc;
	}
	*out = writer->binary_archive;
	return 0;
}

int tkb_tar_writer_add(struct tkb_tar_writer *writer, const char *path,
                       struct tkb_bytes bytes, struct tkb_error *err)
{
	struct archive_entry *entry = writer->entry;
	struct archive *archive = NULL;
	int rc;

	rc = archive_for(writer, path, &archive, err);
	if (rc < 0)
		return rc;
	archive_entry_clear(entry);
	archive_entry_set_pathname(entry, path);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_mtime(entry, 0, 0);
	archive_entry_set_size(entry, (la_int64_t)bytes.size);
	if (archive_write_header(archive, entry) != ARCHIVE_OK)
		return fail(archive, err);
	if (bytes.size != 0 &&
	    archive_write_data(archive, bytes.data, bytes.size) !=
	            (la_ssize_t)bytes.size)
		return fail(archive, err);
	if (archive_write_finish_entry(archive) != ARCHIVE_OK)
		return fail(archive, err);
	return tkb_buf_check(writer->out, err);
}

void tkb_tar_writer_close(struct tkb_tar_writer *writer)
{
	writer->is_closing = true;
	archive_entry_free(writer->entry);
	if (writer->archive != NULL)
		(void)archive_write_free(writer->archive);
	if (writer->binary_archive != NULL)
		(void)archive_write_free(writer->binary_archive);
	*writer = (struct tkb_tar_writer){ 0 };
}

static int refuse(const char *what, struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_CORRUPT, "%s", what);
}

int tkb_tar_reader_open(struct tkb_tar_reader *reader, struct tkb_bytes bytes,
                        struct tkb_error *err)
{
	*reader = (struct tkb_tar_reader){ .archive = archive_read_new(),
		                           .bytes = bytes };
	if (reader->archive == NULL)
		return tkb_fail_nomem(err);
	if (archive_read_support_format_tar(reader->archive) != ARCHIVE_OK ||
	    archive_read_open_memory(reader->archive, bytes.data, bytes.size) !=
	            ARCHIVE_OK)
		return refuse("it holds no tar", err);
	return 0;
}

/* Of a stream in memory libarchive gives a member's bytes in one piece. */
static int read_data(struct tkb_tar_reader *reader, size_t size,
                     struct tkb_bytes *out, struct tkb_error *err)
{
	const void *data = NULL;
	size_t got = 0;
	la_int64_t offset = 0;

	if (size == 0) {
		reader->end = (size_t)archive_filter_bytes(reader->archive, 0);
		*out = (struct tkb_bytes){ NULL, 0 };
		return 0;
	}
	if (archive_read_data_block(reader->archive, &data, &got, &offset) !=
	            ARCHIVE_OK ||
	    got != size || offset != 0)
		return refuse("a member is cut short", err);
	got = (size_t)((const char *)data - (const char *)reader->bytes.data);
	reader->end = (got + size + BLOCK - 1) / BLOCK * BLOCK;
	*out = (struct tkb_bytes){ data, size };
	return 0;
}

int tkb_tar_reader_next(struct tkb_tar_reader *reader, const char **path_out,
                        struct tkb_bytes *out, struct tkb_error *err)
{
	struct archive_entry *entry = NULL;
	const char *path;
	la_int64_t size;
	int rc;

	rc = archive_read_next_header(reader->archive, &entry);
	if (rc == ARCHIVE_EOF)
		return TKB_MISS;
	if (rc != ARCHIVE_OK)
		return refuse("a member's header is damaged", err);

	path = archive_entry_pathname(entry);
	size = archive_entry_size(entry);
	if (path == NULL || size < 0)
		return refuse("a member has no name or no size", err);
	if (archive_entry_filetype(entry) != AE_IFREG ||
	    archive_entry_hardlink(entry) != NULL ||
	    archive_entry_sparse_count(entry) != 0)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "member '%s' is not a plain file", path);
	rc = read_data(reader, (size_t)size, out, err);
	if (rc < 0)
		return rc;
	*path_out = path;
	return 0;
}

int tkb_tar_reader_finish(const struct tkb_tar_reader *reader,
                          struct tkb_error *err)
{
	/* Zero blocks count too: they would end the whole tar too early. */
	if (reader->end != reader->bytes.size)
		return refuse("there is something behind the last member", err);
	return 0;
}

void tkb_tar_reader_close(struct tkb_tar_reader *reader)
{
	if (reader->archive != NULL)
		(void)archive_read_free(reader->archive);
	*reader = (struct tkb_tar_reader){ 0 };
}
