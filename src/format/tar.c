/* SPDX-License-Identifier: Apache-2.0 */
#include "format/tar.h"

#include <stdio.h>

enum {
	BLOCK = 512,
	NAME_SIZE = 100,
	PREFIX_SIZE = 155,
	/* A pax header, its records, and the member's own header. */
	HEADERS_SIZE = 4 * BLOCK,
	RECORD_LIMIT = 2 * BLOCK
};

/*
 * POSIX.1-2001, "ustar Interchange Format". The fields are byte arrays without
 * a terminating zero.
 */
struct header {
	char name[NAME_SIZE];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8];
	char type;
	char link[100];
	char magic[6];
	char version[2];
	char uname[32];
	char gname[32];
	char dev_major[8];
	char dev_minor[8];
	char prefix[PREFIX_SIZE];
	char padding[12];
};

_Static_assert(sizeof(struct header) == BLOCK, "a header is one block");

/* All headers of one member. */
struct headers {
	unsigned char bytes[HEADERS_SIZE];
	size_t size;
};

static size_t padded(size_t size)
{
	return (size + BLOCK - 1) / BLOCK * BLOCK;
}

/* Write `digits` octal digits, without a terminating zero. */
static void put_octal(char *to, size_t digits, uint64_t value)
{
	while (digits-- != 0) {
		to[digits] = (char)('0' + (value & 7));
		value >>= 3;
	}
}

/*
 * The sum of all bytes of the header, in which the checksum itself counts as
 * spaces.
 */
static void put_checksum(struct header *header)
{
	const unsigned char *bytes = (const unsigned char *)header;
	unsigned sum = 0;

	memset(header->checksum, ' ', sizeof(header->checksum));
	for (size_t i = 0; i < sizeof(*header); i++)
		sum += bytes[i];
	put_octal(header->checksum, 6, sum);
	header->checksum[6] = '\0';
}

/* Append a header; `prefix` and `name` fit in their fields. */
static void add_header(struct headers *headers, char type,
                       struct tkb_bytes prefix, struct tkb_bytes name,
                       size_t size)
{
	struct header header = {
		.mode = "000644 ",
		.uid = "000000 ",
		.gid = "000000 ",
		.type = type,
		.magic = "ustar",
		.version = { '0', '0' },
		.dev_major = "000000 ",
		.dev_minor = "000000 ",
	};

	memcpy(header.name, name.data, name.size);
	if (prefix.size != 0)
		memcpy(header.prefix, prefix.data, prefix.size);
	put_octal(header.size, 11, size);
	header.size[11] = ' ';
	put_octal(header.mtime, 11, 0);
	header.mtime[11] = ' ';
	put_checksum(&header);
	memcpy(headers->bytes + headers->size, &header, sizeof(header));
	headers->size += sizeof(header);
}

/*
 * "127 path=...\n": the number is the record's length and counts its own digits
 * too. It always has three: a path that needs a record is longer than NAME_SIZE
 * and shorter than 1,000.
 */
static size_t format_record(char out[RECORD_LIMIT], const char *path)
{
	const size_t total = strlen("127 path=\n") + strlen(path);

	return (size_t)snprintf(out, RECORD_LIMIT, "%zu path=%s\n", total,
	                        path);
}

/* Append the pax header for a path that does not fit in the member's header. */
static void add_pax(struct headers *headers, const char *path)
{
	char record[RECORD_LIMIT];
	const size_t size = format_record(record, path);

	add_header(headers, 'x', tkb_text(""), tkb_text("PaxHeader"), size);
	memcpy(headers->bytes + headers->size, record, size);
	headers->size += padded(size);
}

/* Where the name begins in `path` if prefix and name both fit; else NULL. */
static const char *split_name(const char *path, size_t length)
{
	const char *slash;

	if (length <= NAME_SIZE)
		return path;
	slash = strchr(path + length - NAME_SIZE - 1, '/');
	if (slash == NULL || slash - path > PREFIX_SIZE)
		return NULL;
	return slash + 1;
}

static struct headers headers_of(const char *path, size_t size)
{
	const size_t length = strlen(path);
	const char *name = split_name(path, length);
	struct headers headers = { .size = 0 };
	struct tkb_bytes prefix = tkb_text("");
	struct tkb_bytes last = { path, NAME_SIZE };

	if (name == NULL) {
		add_pax(&headers, path);
	} else {
		last = tkb_text(name);
		if (name != path)
			prefix.size = (size_t)(name - path) - 1;
		prefix.data = path;
	}
	add_header(&headers, '0', prefix, last, size);
	return headers;
}

void tkb_tar_add(struct tkb_buf *out, const char *path, struct tkb_bytes bytes)
{
	static const unsigned char zeros[BLOCK];
	const struct headers headers = headers_of(path, bytes.size);

	tkb_buf_add(out, (struct tkb_bytes){ headers.bytes, headers.size });
	tkb_buf_add(out, bytes);
	tkb_buf_add(out, (struct tkb_bytes){ zeros,
	                                     padded(bytes.size) - bytes.size });
}

struct tkb_tar_reader tkb_tar_reader_of(struct tkb_bytes bytes)
{
	return (struct tkb_tar_reader){ .bytes = bytes };
}

static int refuse_tar_header(struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_CORRUPT,
	                "a member's header is not as it must be");
}

/* The number of unread bytes. */
static size_t left(const struct tkb_tar_reader *reader)
{
	return reader->bytes.size - reader->at;
}

static const char *here(const struct tkb_tar_reader *reader)
{
	return (const char *)reader->bytes.data + reader->at;
}

/*
 * Read octal digits. Other bytes need no check here: the header is made again
 * and compared.
 */
static uint64_t read_size(const struct header *header)
{
	uint64_t size = 0;

	for (size_t i = 0; i < 11; i++)
		size = size * 8 + (uint64_t)(header->size[i] & 7);
	return size;
}

static size_t length_of(const char *field, size_t size)
{
	const char *end = memchr(field, '\0', size);

	return end == NULL ? size : (size_t)(end - field);
}

/* Read the path from a pax record; false unless it is as we write it. */
static bool read_record(struct tkb_tar_reader *reader, size_t size)
{
	const char *record = here(reader) + BLOCK;
	const char *equals = memchr(record, '=', size);
	size_t length;

	if (equals == NULL)
		return false;
	length = size - (size_t)(equals + 1 - record);
	if (length == 0 || length > sizeof(reader->path))
		return false;
	memcpy(reader->path, equals + 1, length - 1); /* no line feed */
	reader->path[length - 1] = '\0';
	return true;
}

static void read_header_name(struct tkb_tar_reader *reader,
                             const struct header *header)
{
	const size_t prefix = length_of(header->prefix, PREFIX_SIZE);
	const size_t name = length_of(header->name, NAME_SIZE);

	(void)snprintf(reader->path, sizeof(reader->path), "%.*s%s%.*s",
	               (int)prefix, header->prefix, prefix == 0 ? "" : "/",
	               (int)name, header->name);
}

/* Read path and size of the next member; tkb_tar_next() checks the headers. */
static bool read_headers(struct tkb_tar_reader *reader, uint64_t *size_out)
{
	struct header header;
	uint64_t size;
	size_t before = 0;

	if (left(reader) < BLOCK)
		return false;
	memcpy(&header, here(reader), sizeof(header));
	if (header.type == 'x') {
		size = read_size(&header);
		before = BLOCK + padded((size_t)size);
		if (left(reader) < before + BLOCK ||
		    !read_record(reader, (size_t)size))
			return false;
		memcpy(&header, here(reader) + before, sizeof(header));
	} else {
		read_header_name(reader, &header);
	}
	*size_out = read_size(&header);
	return true;
}

int tkb_tar_next(struct tkb_tar_reader *reader, struct tkb_bytes *out,
                 struct tkb_error *err)
{
	static const unsigned char zeros[BLOCK];
	struct headers headers;
	uint64_t size = 0;
	size_t padding;

	if (left(reader) == 0)
		return TKB_MISS;
	if (!read_headers(reader, &size))
		return refuse_tar_header(err);
	headers = headers_of(reader->path, (size_t)size);
	if (left(reader) < headers.size ||
	    memcmp(here(reader), headers.bytes, headers.size) != 0)
		return refuse_tar_header(err);
	reader->at += headers.size;
	padding = padded((size_t)size) - (size_t)size;
	if (left(reader) < padded((size_t)size) ||
	    memcmp(here(reader) + size, zeros, padding) != 0)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "member '%s' is cut short", reader->path);
	*out = (struct tkb_bytes){ here(reader), (size_t)size };
	reader->at += (size_t)size + padding;
	return 0;
}

int tkb_tar_finish(const struct tkb_tar_reader *reader, struct tkb_error *err)
{
	/* Refuse zero blocks too: they would end the whole tar early. */
	if (left(reader) != 0)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "there are bytes after the last member");
	return 0;
}
