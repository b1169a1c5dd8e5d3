/* SPDX-License-Identifier: Apache-2.0 */
#include "forge.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <sys/stat.h>

#include <zstd.h>

#include "base/digest.h"
#include "format/frame.h"
#include "format/tar.h"
#include "format/writer.h"

#define LIMIT ((size_t)1 << 30)

enum {
	TAR_BLOCK = 512,
	ZSTD_BLOCK = 128 * 1024,
	SIZE_FIELD = 124, /* where a tar header has them */
	SUM_FIELD = 148
};

const char *forge_digest(struct tkb_bytes bytes)
{
	char *hex = test_alloc(TKB_DIGEST_HEX_SIZE);
	struct tkb_digest digest;

	CHECK_INT(tkb_digest_of(bytes, &digest, NULL), 0);
	tkb_digest_to_hex(&digest, hex);
	return hex;
}

const char *forge_replace(const char *old, const char *from, const char *to)
{
	const char *found = strstr(old, from);

	if (found == NULL)
		fail_msg("'%s' does not hold '%s'", old, from);
	return text("%.*s%s%s", (int)(found - old), old, to,
	            found + strlen(from));
}

void forge_edit(struct forge *forge, const char *from, const char *to)
{
	forge->manifest =
		tkb_text(forge_replace(forge->manifest.data, from, to));
}

void forge_collect(const char *root, const char *key, bool is_lean,
                   const char *path)
{
	const char *const keys[] = { key };
	const struct tkb_collect_options options = {
		SIZED(options),
		.keys = keys,
		.key_count = key != NULL,
		.profile = is_lean ? TKB_PROFILE_LEAN : TKB_PROFILE_FULL,
		.is_strict = true,
		.threads = 1,
	};

	OK(tkb_collect_to_file(root, &options, path, NULL, ERR));
}

void forge_single(const char *path)
{
	if (!exists("forged"))
		unpack("triton-3.6.0-cpu", "forged");
	forge_collect("forged/.triton/cache", FORGE_KERNEL, true, path);
}

void forge_pair(const char *path)
{
	static const char *const keys[] = { FORGE_KERNEL, FORGE_AUTOTUNE };
	const struct tkb_collect_options options = {
		SIZED(options),
		.keys = keys,
		.key_count = TKB_COUNT_OF(keys),
		.profile = TKB_PROFILE_LEAN,
		.is_strict = true,
		.threads = 1,
	};

	if (!exists("forged"))
		unpack("triton-3.6.0-cpu", "forged");
	OK(tkb_collect_to_file("forged/.triton/cache", &options, path, NULL,
	                       ERR));
}

struct tkb_bytes forge_take_frame(struct tkb_bytes *bytes)
{
	const size_t size =
		ZSTD_findFrameCompressedSize(bytes->data, bytes->size);
	struct tkb_bytes frame = { bytes->data, size };

	CHECK(!ZSTD_isError(size));
	*bytes = tkb_bytes_slice(*bytes, size, bytes->size);
	return frame;
}

static struct tkb_bytes unpack_frame(struct tkb_bytes frame)
{
	const size_t size =
		(size_t)ZSTD_getFrameContentSize(frame.data, frame.size);
	char *content = test_alloc(size + 1);

	CHECK_INT(ZSTD_decompress(content, size, frame.data, frame.size), size);
	return (struct tkb_bytes){ content, size };
}

static size_t list_members(struct tkb_bytes tar, struct forge_member *out)
{
	struct tkb_tar_reader reader = tkb_tar_reader_of(tar);
	struct tkb_bytes bytes;
	size_t count = 0;

	while (tkb_tar_next(&reader, &bytes, NULL) == 0) {
		CHECK(count < FORGE_MEMBERS);
		out[count++] =
			(struct forge_member){ .path = text("%s", reader.path),
			                       .bytes = bytes };
	}
	return count;
}

/* Each line of the list of frames says which entries a frame has. */
static void read_lines(struct forge *forge, const char *lines)
{
	const char *line = strchr(lines, '\n');

	forge->first_line = text("%.*s", (int)(line - lines), lines);
	for (size_t i = 0; i < forge->frame_count; i++) {
		const char *end = strchr(line + 1, '\n');
		const char *last = memrchr(line, ' ', (size_t)(end - line));

		forge->frames[i].entries =
			text("%.*s", (int)(end - last - 1), last + 1);
		line = end;
	}
}

struct forge *forge_open(const char *path)
{
	struct forge *forge = test_alloc(sizeof(*forge));
	struct tkb_bytes rest = read_file(path);
	struct forge_member header[FORGE_MEMBERS];
	struct tkb_bytes frame = forge_take_frame(&rest);

	CHECK_INT(list_members(unpack_frame(frame), header), 2);
	forge->manifest = tkb_text(text("%.*s", (int)header[0].bytes.size,
	                                (const char *)header[0].bytes.data));
	for (frame = forge_take_frame(&rest); rest.size != 0;
	     frame = forge_take_frame(&rest)) {
		struct forge_frame *data = &forge->frames[forge->frame_count++];

		CHECK(forge->frame_count <= FORGE_FRAMES);
		data->member_count =
			list_members(unpack_frame(frame), data->members);
	}
	read_lines(forge, text("%.*s", (int)header[1].bytes.size,
	                       (const char *)header[1].bytes.data));
	return forge;
}

struct forge_member *forge_find(struct forge *forge, size_t frame,
                                const char *ending)
{
	struct forge_frame *data = &forge->frames[frame];

	for (size_t i = 0; i < data->member_count; i++) {
		const char *path = data->members[i].path;
		const size_t length = strlen(path);

		if (length >= strlen(ending) &&
		    strcmp(path + length - strlen(ending), ending) == 0)
			return &data->members[i];
	}
	fail_msg("frame %zu has no '%s'", frame, ending);
	return NULL;
}

void forge_split(struct forge *forge, const char *key)
{
	struct forge_frame *from = &forge->frames[forge->frame_count - 1];
	struct forge_frame *to = &forge->frames[forge->frame_count++];
	size_t kept = 0;

	CHECK(forge->frame_count <= FORGE_FRAMES);
	for (size_t i = 0; i < from->member_count; i++) {
		if (strstr(from->members[i].path, key) != NULL)
			to->members[to->member_count++] = from->members[i];
		else
			from->members[kept++] = from->members[i];
	}
	from->member_count = kept;
	CHECK(kept != 0 && to->member_count != 0);
}

struct tkb_bytes forge_pack(struct tkb_bytes bytes)
{
	TKB_AUTO(tkb_packer_close) struct tkb_packer packer = { 0 };
	BUF(out, LIMIT);

	CHECK_INT(tkb_packer_pack(&packer, bytes, &out, NULL), 0);
	return test_copy(&out);
}

static void add_little_endian(struct tkb_buf *out, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		tkb_buf_add_byte(out, (char)(value >> (8 * i) & 0xff));
}

struct tkb_bytes forge_bomb(uint64_t size, uint64_t claimed)
{
	BUF(out, LIMIT);

	/* RFC 8878: magic number; what the header has; a window of 16 MiB. */
	add_little_endian(&out, ZSTD_MAGICNUMBER, 4);
	tkb_buf_add_byte(&out, claimed != 0 ? (char)0xc0 : 0);
	tkb_buf_add_byte(&out, (24 - 10) << 3);
	if (claimed != 0)
		add_little_endian(&out, claimed, 8);
	while (size != 0) {
		const uint64_t part = size < ZSTD_BLOCK ? size : ZSTD_BLOCK;

		size -= part;
		add_little_endian(&out, part << 3 | 1 << 1 | (size == 0), 3);
		tkb_buf_add_byte(&out, 0);
	}
	return test_copy(&out);
}

/* Receives what libarchive writes. */
struct writer {
	struct tkb_buf out;
	bool is_closing; /* the end of the archive is dropped */
};

static la_ssize_t append(struct archive *archive, void *self, const void *data,
                         size_t size)
{
	struct writer *writer = self;

	(void)archive;
	if (!writer->is_closing)
		tkb_buf_add(&writer->out, (struct tkb_bytes){ data, size });
	return (la_ssize_t)size;
}

/* Let the header at `offset` say another size, in base 256. */
static void claim_size(struct tkb_buf *tar, size_t offset, uint64_t size)
{
	unsigned char *header = tar->data + offset;
	unsigned sum = 0;

	/* What does not fit into 11 octal digits is written in base 256. */
	header[SIZE_FIELD] = 0x80;
	for (size_t i = 1; i < 12; i++)
		header[SIZE_FIELD + i] =
			(unsigned char)(i < 4 ? 0
		                              : size >> (8 * (11 - i)) & 0xff);
	for (size_t i = 0; i < 11 && size < (uint64_t)1 << 33; i++)
		header[SIZE_FIELD + i] =
			(unsigned char)('0' + (size >> (3 * (10 - i)) & 7));
	if (size < (uint64_t)1 << 33)
		header[SIZE_FIELD + 11] = ' ';
	memset(header + SUM_FIELD, ' ', 8);
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += header[i];
	(void)snprintf((char *)header + SUM_FIELD, 8, "%06o", sum);
}

static void add_member(struct archive *archive, struct writer *writer,
                       const struct forge_member *member)
{
	const mode_t type = member->type == 0 ? S_IFREG : member->type;
	const bool has_bytes = type == S_IFREG && member->link == NULL;
	const size_t size = has_bytes ? member->bytes.size : 0;
	struct archive_entry *entry = archive_entry_new();
	size_t header; /* where the last one is, behind those of pax */

	tkb_buf_add(&writer->out, member->before);
	archive_entry_set_pathname(entry, member->path);
	archive_entry_set_filetype(entry, type);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_mtime(entry, 0, 0);
	archive_entry_set_size(entry, (la_int64_t)size);
	if (member->is_padded) /* the name is too long for a tar's header */
		archive_entry_set_uname(entry, "0123456789012345678901234567890"
		                               "123456789");
	if (member->target != NULL)
		archive_entry_set_symlink(entry, member->target);
	if (member->link != NULL)
		archive_entry_set_hardlink(entry, member->link);
	if (member->is_sparse)
		archive_entry_sparse_add_entry(entry, TAR_BLOCK,
		                               (la_int64_t)size - TAR_BLOCK);
	CHECK_INT(archive_write_header(archive, entry), ARCHIVE_OK);
	header = writer->out.size - TAR_BLOCK;
	if (size != 0)
		CHECK_INT(archive_write_data(archive, member->bytes.data, size),
		          size);
	CHECK_INT(archive_write_finish_entry(archive), ARCHIVE_OK);
	if (member->claimed != 0)
		claim_size(&writer->out, header, member->claimed);
	archive_entry_free(entry);
}

struct tkb_bytes forge_tar(const struct forge_member *members, size_t count)
{
	struct archive *archive = archive_write_new();
	struct writer writer = { .out = TKB_BUF_INIT(LIMIT) };

	CHECK_INT(archive_write_set_format_pax_restricted(archive), ARCHIVE_OK);
	CHECK_INT(archive_write_set_bytes_per_block(archive, 0), ARCHIVE_OK);
	CHECK_INT(archive_write_open(archive, &writer, NULL, append, NULL),
	          ARCHIVE_OK);
	for (size_t i = 0; i < count; i++)
		add_member(archive, &writer, &members[i]);
	writer.is_closing = true;
	(void)archive_write_free(archive);
	struct tkb_bytes tar = test_copy(&writer.out);
	tkb_buf_release(&writer.out);
	return tar;
}

static struct tkb_bytes join(struct tkb_bytes one, struct tkb_bytes other)
{
	BUF(out, LIMIT);

	tkb_buf_add(&out, one);
	tkb_buf_add(&out, other);
	return test_copy(&out);
}

/* Compress the frame unless it is packed, and write its line of the list. */
static const char *pack_frame(const struct forge_frame *frame,
                              struct tkb_bytes *packed_out)
{
	uint64_t size = frame->size;

	*packed_out = frame->packed;
	if (frame->packed.data == NULL) {
		const struct tkb_bytes content =
			join(forge_tar(frame->members, frame->member_count),
		             frame->behind);

		*packed_out = forge_pack(content);
		size = content.size;
	}
	if (frame->line != NULL)
		return frame->line;
	return text("%s %zu %llu %s\n", forge_digest(*packed_out),
	            packed_out->size, (unsigned long long)size, frame->entries);
}

/* The last frame for the header frame `first`. */
static struct tkb_bytes end_for(struct tkb_bytes first)
{
	BUF(out, LIMIT);
	struct tkb_digest digest;

	CHECK_INT(tkb_digest_of(first, &digest, NULL), 0);
	tkb_end_write(&digest, &out);
	return test_copy(&out);
}

void forge_write(const struct forge *forge, const char *path)
{
	BUF(out, LIMIT);
	struct forge_member header[FORGE_MEMBERS + 2] = {
		{ .path = TKB_MANIFEST_MEMBER, .bytes = forge->manifest },
		{ .path = TKB_FRAMES_MEMBER },
	};
	struct tkb_bytes packed[FORGE_FRAMES];
	const char *lines = text("%s\n", forge->first_line);

	for (size_t i = 0; i < forge->frame_count; i++)
		lines = text("%s%s", lines,
		             pack_frame(&forge->frames[i], &packed[i]));
	header[1].bytes = tkb_text(lines);
	memcpy(header + 2, forge->header,
	       forge->header_count * sizeof(*header));

	struct tkb_bytes first =
		forge_pack(join(forge_tar(header, forge->header_count + 2),
	                        forge->header_behind));
	tkb_buf_add(&out, forge->before);
	tkb_buf_add(&out, first);
	for (size_t i = 0; i < forge->frame_count; i++)
		tkb_buf_add(&out, packed[i]);
	if (forge->end.data != NULL)
		tkb_buf_add(&out, forge->end);
	else
		tkb_buf_add(&out, end_for(first));
	tkb_buf_add(&out, forge->behind);
	write_file(path, test_copy(&out));
}

void forge_put_file(struct forge *forge, const char *name,
                    struct tkb_bytes bytes)
{
	struct forge_member *member = forge_find(forge, 0, text("/%s", name));

	forge_edit(forge,
	           text("\"%s\",%zu,\"%s\"", name, member->bytes.size,
	                forge_digest(member->bytes)),
	           text("\"%s\",%zu,\"%s\"", name, bytes.size,
	                forge_digest(bytes)));
	member->bytes = bytes;
}
