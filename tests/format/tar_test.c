/* SPDX-License-Identifier: Apache-2.0 */
#include "format/tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

enum {
	BLOCK = 512,
	LIMIT = 1024 * 1024,
	/* Fields of a header. */
	SIZE_AT = 124,
	TYPE_AT = 156,
	PREFIX_AT = 345
};

/* `count` letters, a slash and `name` letters; no slash where `count` is 0. */
static const char *path_of(size_t count, size_t name)
{
	char *path = test_alloc(count + name + 2);
	const size_t start = count == 0 ? 0 : count + 1;

	memset(path, 'p', count);
	if (count != 0)
		path[count] = '/';
	memset(path + start, 'n', name);
	path[start + name] = '\0';
	return path;
}

/* A stream of one member with the bytes "xyz". */
static struct tkb_bytes stream_of(const char *path)
{
	BUF(buf, LIMIT);

	tkb_tar_add(&buf, path, tkb_text("xyz"));
	OK(tkb_buf_check(&buf, ERR));
	return test_copy(&buf);
}

static void check_read(struct tkb_bytes stream, const char *path)
{
	struct tkb_tar_reader reader = tkb_tar_reader_of(stream);
	struct tkb_bytes bytes;

	OK(tkb_tar_next(&reader, &bytes, ERR));
	CHECK_STR(reader.path, path);
	CHECK(tkb_bytes_equal(bytes, tkb_text("xyz")));
	CHECK_INT(tkb_tar_next(&reader, &bytes, ERR), TKB_MISS);
	OK(tkb_tar_finish(&reader, ERR));
}

static void check_foreign_read(struct tkb_bytes stream, const char *path)
{
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;

	CHECK_INT(archive_read_support_format_tar(archive), ARCHIVE_OK);
	CHECK_INT(archive_read_open_memory(archive, stream.data, stream.size),
	          ARCHIVE_OK);
	CHECK_INT(archive_read_next_header(archive, &entry), ARCHIVE_OK);
	CHECK_STR(archive_entry_pathname(entry), path);
	CHECK_INT(archive_entry_size(entry), 3);
	CHECK_INT(archive_read_next_header(archive, &entry), ARCHIVE_EOF);
	CHECK_INT(archive_read_free(archive), ARCHIVE_OK);
}

TEST(tar, splits_a_path_where_both_parts_fit_and_else_writes_a_record)
{
	static const struct {
		size_t prefix, name;  /* letters on each side of the slash */
		size_t wanted_prefix; /* in the header */
		char wanted_type;     /* 'x': there is a record */
	} rows[] = {
		{ 0, 1, 0, '0' },       { 0, 99, 0, '0' },
		{ 0, 100, 0, '0' },     { 0, 101, 0, 'x' },
		{ 50, 49, 0, '0' },     { 50, 50, 50, '0' },
		{ 1, 100, 1, '0' },     { 1, 101, 0, 'x' },
		{ 154, 100, 154, '0' }, { 155, 1, 155, '0' },
		{ 155, 100, 155, '0' }, { 155, 101, 0, 'x' },
		{ 156, 1, 0, 'x' },     { 156, 100, 0, 'x' },
		{ 0, 959, 0, 'x' },     { 500, 458, 0, 'x' },
	};

	EACH(i, rows) {
		const char *path = path_of(rows[i].prefix, rows[i].name);
		const struct tkb_bytes stream = stream_of(path);
		const char *header = stream.data;

		CHECK_INT(header[TYPE_AT], rows[i].wanted_type);
		CHECK_INT(strnlen(header + PREFIX_AT, 155),
		          rows[i].wanted_prefix);
		check_read(stream, path);
		check_foreign_read(stream, path);
	}
}

/* A copy at the end of a page, with no page behind it: to go past it kills. */
static void *copy_to_end_of_page(const void *bytes, size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
	                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED && size <= page);
	SYS(mprotect(pages + page, page, PROT_NONE));
	return memcpy(pages + page - size, bytes, size);
}

static void free_pages(const void *copy, size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	SYS(munmap((unsigned char *)copy + size - page, 2 * page));
}

/* What tkb_tar_next() says of `stream`; to go past its end, or the path's, kills. */
static int next_at_end_of_page(struct tkb_bytes stream, struct tkb_error *err)
{
	void *copy = copy_to_end_of_page(stream.data, stream.size);
	const struct tkb_tar_reader fresh =
		tkb_tar_reader_of((struct tkb_bytes){ copy, stream.size });
	struct tkb_tar_reader *reader =
		copy_to_end_of_page(&fresh, sizeof(fresh));
	struct tkb_bytes bytes;
	const int rc = tkb_tar_next(reader, &bytes, err);

	free_pages(copy, stream.size);
	free_pages(reader, sizeof(fresh));
	return rc;
}

/* A record of `size` bytes in the place of the one that `path` needs. */
static struct tkb_bytes stream_with(const char *path, const char *record,
                                    size_t size)
{
	const struct tkb_bytes stream = stream_of(path);
	char *bytes = memcpy(test_alloc(stream.size), stream.data, stream.size);

	for (size_t i = 0, left = size; i < 11; i++, left /= 8)
		bytes[SIZE_AT + 10 - i] = (char)('0' + left % 8);
	memset(bytes + BLOCK, 0, BLOCK);
	memcpy(bytes + BLOCK, record, strlen(record));
	return (struct tkb_bytes){ bytes, stream.size };
}

TEST(tar, a_record_that_is_not_the_one_for_its_path_is_refused)
{
	const char *path = path_of(0, 101);
	const char *right = text("111 path=%s\n", path);
	const struct {
		const char *record;
		size_t size;
	} rows[] = {
		{ right, strlen(right) - 1 },
		{ right, strlen(right) + 1 },
		{ text("112 path=%s\n", path), strlen(right) },
		{ text("111 name=%s\n", path), strlen(right) },
		{ text("111 path=%s ", path), strlen(right) },
		{ "no equals sign", 14 },
		{ "nothing behind it=", 18 },
		{ "", 0 },
		/* More bytes than a path has, by one, and than there are. */
		{ right, strlen("111 path=") + TKB_TAR_PATH_SIZE + 1 },
		{ right, 1000 },
		{ right, 1024 },
		{ right, 1025 },
		{ right, 1537 },
		{ right, (size_t)1 << 32 },
	};

	check_read(stream_with(path, right, strlen(right)), path);
	EACH(i, rows) {
		struct tkb_error err = { 0 };

		CHECK_FAILS(
			next_at_end_of_page(
				stream_with(path, rows[i].record, rows[i].size),
				&err),
			TKB_ERR_CORRUPT, &err, "is not as it must be");
	}
}

TEST(tar, a_stream_that_ends_within_a_member_is_refused)
{
	const struct tkb_bytes stream = stream_of(path_of(0, 101));

	/* Two headers with a record between them, and the bytes. */
	CHECK_INT(stream.size, 4 * BLOCK);
	for (size_t size = 1; size < stream.size; size++)
		CHECK_INT(
			next_at_end_of_page(
				(struct tkb_bytes){ stream.data, size }, NULL),
			TKB_ERR_CORRUPT);
	OK(next_at_end_of_page(stream, ERR));
}
