/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/digest.h"
#include "bundle/frame.h"
#include "bundle/manifest.h"
#include "bundle/names.h"
#include "bundle/tar.h"
#include "bundle/writer.h"
#include "fuzz.h"

/*
 * Digests, checksums and compression stop nearly every mutation of a bundle
 * before it is looked at. Here the input is what they cover, and they are made
 * right, so that everything behind them is reached:
 *
 *     flags       one byte, see below
 *     manifest    up to the first line break
 *     lines       up to an empty line: the text of `tkbundle.frames`, where
 *                 '#' stands for a frame's digest, '~' for its compressed
 *                 size and '@' for its size; a line that begins with '!' is
 *                 of a frame whose bytes are the contents as they stand
 *     contents    the bytes of the files, in the manifest's order, with
 *                 "\n==\n" between them; or the tar stream of the first frame,
 *                 or of the header frame
 *
 * Sizes and digests in the manifest become those of the contents. The name of a
 * member cannot be wrong, nor its place, but in a tar stream of the input's
 * own; the checksums of its headers are made right.
 */

enum {
	FLAG_TAR = 1 << 0,      /* the contents are the first frame's tar */
	FLAG_VERBATIM = 1 << 1, /* sizes and digests stay as they are */
	FLAG_SIGNED = 1 << 2,   /* there is a signature */
	FLAG_ODD_END = 1 << 3,  /* the last frame is of another header */
	FLAG_BEHIND = 1 << 4,   /* something stands behind the last frame */
	FLAG_HEADER = 1 << 5    /* the contents are the header frame's tar */
};

enum {
	FRAMES_LIMIT = 32,
	INPUT_LIMIT = 1 << 20,
	BLOCK_SIZE = 512
};

static const char separator[] = "\n==\n";

/* What a bundle is made of, while it is made. */
struct maker {
	unsigned flags;
	struct tkb_bytes text;     /* of the manifest, as the input has it */
	struct tkb_bytes lines;    /* likewise */
	struct tkb_bytes contents; /* likewise */
	struct tkb_manifest manifest;
	struct tkb_file *files;        /* owned; of all entries */
	struct tkb_bytes *file_bytes;  /* owned; likewise */
	size_t *firsts;                /* owned; of an entry, in `files` */
	const struct tkb_entry **list; /* owned; of the manifest's entries */
	struct tkb_buf data;           /* the data frames */
	struct tkb_buf index;          /* `tkbundle.frames` */
	struct tkb_buf out;
};

static void maker_release(struct maker *maker)
{
	tkb_manifest_release(&maker->manifest);
	free(maker->files);
	free(maker->file_bytes);
	free(maker->firsts);
	free(maker->list);
	tkb_buf_release(&maker->data);
	tkb_buf_release(&maker->index);
	tkb_buf_release(&maker->out);
}

/* One packer for all inputs: to make one costs more than all else. */
static void pack(struct tkb_bytes bytes, struct tkb_buf *out)
{
	static struct tkb_packer packer;
	struct tkb_error err = { 0 };

	MUST_OK(tkb_packer_pack(&packer, bytes, out, &err), &err);
}

static void add_member(struct tkb_tar_writer *tar, const char *path,
                       struct tkb_bytes bytes)
{
	struct tkb_error err = { 0 };

	MUST_OK(tkb_tar_writer_add(tar, path, bytes, &err), &err);
}

/* The size in a tar header: octal digits. */
static uint64_t header_size(const unsigned char *header)
{
	uint64_t size = 0;

	for (size_t i = 124; i < 135; i++)
		size = size << 3 | (header[i] & 7);
	return size;
}

static void write_checksum(unsigned char *header)
{
	unsigned sum = 0;

	memset(header + 148, ' ', 8);
	for (size_t i = 0; i < BLOCK_SIZE; i++)
		sum += header[i];
	for (size_t i = 0; i < 6; i++)
		header[148 + i] =
			(unsigned char)('0' + (sum >> (15 - 3 * i) & 7));
	header[154] = '\0';
}

/* The input's own tar, its headers' checksums made right. */
static void mend_tar(struct tkb_bytes contents, struct tkb_buf *out)
{
	static const unsigned char zeros[BLOCK_SIZE];
	size_t at = 0;

	tkb_buf_add(out, contents);
	while (out->size - at >= BLOCK_SIZE) {
		unsigned char *header = out->data + at;
		uint64_t size;

		if (memcmp(header, zeros, BLOCK_SIZE) == 0)
			break;
		write_checksum(header);
		size = (header_size(header) + BLOCK_SIZE - 1) / BLOCK_SIZE *
		       BLOCK_SIZE;
		at += BLOCK_SIZE;
		if (size > out->size - at)
			break;
		at += (size_t)size;
	}
}

static size_t file_count(const struct tkb_manifest *manifest)
{
	size_t count = 0;

	for (size_t i = 0; i < manifest->entry_count; i++)
		count += manifest->entries[i].file_count;
	return count;
}

/* Give each file the bytes up to the next separator. */
static void share_contents(struct maker *maker)
{
	struct tkb_bytes rest = maker->contents;
	size_t count = 0;

	for (size_t i = 0; i < maker->manifest.entry_count; i++) {
		struct tkb_entry *entry = &maker->manifest.entries[i];

		maker->firsts[i] = count;
		maker->list[i] = entry;
		for (size_t j = 0; j < entry->file_count; j++) {
			maker->files[count] = entry->files[j];
			maker->file_bytes[count++] =
				fuzz_take(&rest, separator);
		}
		entry->files = &maker->files[maker->firsts[i]];
	}
}

/* The file that the tar member `path` is; SIZE_MAX if it is none. */
static size_t file_at(const struct maker *maker, const char *path)
{
	for (size_t i = 0; i < maker->manifest.entry_count; i++) {
		const struct tkb_entry *entry = &maker->manifest.entries[i];

		for (size_t j = 0; j < entry->file_count; j++) {
			const struct tkb_member member = { entry, i, j };
			char wanted[TKB_MEMBER_PATH_SIZE];

			tkb_member_path(&member, wanted);
			if (strcmp(path, wanted) == 0)
				return maker->firsts[i] + j;
		}
	}
	return SIZE_MAX;
}

/* Let the manifest say what the input's tar holds, as far as it can be read. */
static void read_own_tar(struct maker *maker, struct tkb_bytes bytes)
{
	TKB_AUTO(tkb_tar_reader_close) struct tkb_tar_reader tar = { 0 };
	struct tkb_bytes contents;
	const char *path = NULL;

	if (tkb_tar_reader_open(&tar, bytes, NULL) < 0)
		return;
	while (tkb_tar_reader_next(&tar, &path, &contents, NULL) == 0) {
		const size_t file = file_at(maker, path);

		if (file != SIZE_MAX)
			maker->file_bytes[file] = contents;
	}
}

static void describe_contents(struct maker *maker)
{
	const size_t count = file_count(&maker->manifest);
	struct tkb_error err = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct tkb_file *file = &maker->files[i];

		file->size = maker->file_bytes[i].size;
		MUST_OK(tkb_digest_of(maker->file_bytes[i], &file->digest,
		                      &err),
		        &err);
	}
}

/* Take decimal digits off the front of `*text`; SIZE_MAX if there are none. */
static size_t take_number(struct tkb_bytes *text)
{
	const char *digits = text->data;
	size_t count = 0;
	size_t number = 0;

	for (; count < text->size && count < 9 && digits[count] >= '0' &&
	       digits[count] <= '9';
	     count++)
		number = number * 10 + (size_t)(digits[count] - '0');
	*text = tkb_bytes_slice(*text, count, text->size);
	return count == 0 ? SIZE_MAX : number;
}

/* Which entries are "0-3,5"? What is no number is left to the reader. */
static size_t read_ranges(struct tkb_bytes ranges, size_t entry_count,
                          size_t out[FRAMES_LIMIT])
{
	size_t count = 0;

	while (ranges.size != 0) {
		struct tkb_bytes range = fuzz_take(&ranges, ",");
		size_t next = take_number(&range);
		size_t last = next;

		if (range.size != 0) {
			range = tkb_bytes_slice(range, 1, range.size);
			last = take_number(&range);
		}
		for (;
		     next <= last && next < entry_count && count < FRAMES_LIMIT;
		     next++)
			out[count++] = next;
	}
	return count;
}

static void add_file(struct tkb_tar_writer *tar, const struct maker *maker,
                     const struct tkb_member *member)
{
	const size_t first = (size_t)(member->entry->files - maker->files);
	char path[TKB_MEMBER_PATH_SIZE];

	tkb_member_path(member, path);
	add_member(tar, path, maker->file_bytes[first + member->file]);
}

/* The tar of the entries that `ranges` name. */
static void write_tar(const struct maker *maker, struct tkb_bytes ranges,
                      struct tkb_buf *out)
{
	TKB_AUTO(tkb_tar_writer_close) struct tkb_tar_writer tar = { 0 };
	TKB_AUTO(tkb_free_at) struct tkb_member *members = NULL;
	size_t chosen[FRAMES_LIMIT];
	const size_t chosen_count =
		read_ranges(ranges, maker->manifest.entry_count, chosen);
	struct tkb_error err = { 0 };
	size_t count = 0;

	members = tkb_alloc_array(chosen_count * TKB_FILES_LIMIT,
	                          sizeof(*members));
	MUST(members != NULL);
	for (size_t i = 0; i < chosen_count; i++) {
		const struct tkb_entry *entry =
			&maker->manifest.entries[chosen[i]];

		for (size_t j = 0; j < entry->file_count; j++)
			members[count++] = (struct tkb_member){ entry, i, j };
	}
	tkb_members_sort(members, count);
	MUST_OK(tkb_tar_writer_open(&tar, out, &err), &err);
	for (size_t i = 0; i < count; i++)
		add_file(&tar, maker, &members[i]);
}

static void write_hex(const struct tkb_digest *digest, struct tkb_buf *out)
{
	char hex[TKB_DIGEST_HEX_SIZE];

	tkb_digest_to_hex(digest, hex);
	tkb_buf_add_text(out, hex);
}

static bool starts_with(struct tkb_bytes bytes, char byte)
{
	return bytes.size != 0 && *(const char *)bytes.data == byte;
}

/* What stands behind the last space of a line. */
static struct tkb_bytes ranges_of(struct tkb_bytes line)
{
	const char *start = line.data;
	const char *space =
		line.size == 0 ? NULL : memrchr(start, ' ', line.size);

	if (space == NULL)
		return line;
	return tkb_bytes_slice(line, (size_t)(space - start) + 1, line.size);
}

/* One line of the input, and the frame that it describes. */
static void write_frame(struct maker *maker, struct tkb_bytes line,
                        struct tkb_bytes own_tar)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf tar = TKB_BUF_INIT(8 * INPUT_LIMIT);
	const size_t start = maker->data.size;
	const bool is_packed = !starts_with(line, '!');
	struct tkb_error err = { 0 };
	struct tkb_digest digest;
	struct tkb_bytes packed;

	if (own_tar.data != NULL)
		tkb_buf_add(&tar, own_tar);
	else
		write_tar(maker, ranges_of(line), &tar);
	if (is_packed)
		pack(tkb_buf_bytes(&tar), &maker->data);
	else
		tkb_buf_add(&maker->data, maker->contents);
	packed = tkb_bytes_slice(tkb_buf_bytes(&maker->data), start,
	                         maker->data.size);
	MUST_OK(tkb_digest_of(packed, &digest, &err), &err);
	for (size_t i = is_packed ? 0 : 1; i < line.size; i++) {
		const char byte = ((const char *)line.data)[i];

		if (byte == '#')
			write_hex(&digest, &maker->index);
		else if (byte == '~')
			tkb_buf_add_number(&maker->index, packed.size);
		else if (byte == '@')
			tkb_buf_add_number(&maker->index, tar.size);
		else
			tkb_buf_add_byte(&maker->index, byte);
	}
	tkb_buf_add_byte(&maker->index, '\n');
}

/* The first line is none of a frame; the others are. */
static void write_frames(struct maker *maker, struct tkb_bytes own_tar)
{
	struct tkb_bytes lines = maker->lines;

	tkb_buf_add(&maker->index, fuzz_take(&lines, "\n"));
	tkb_buf_add_byte(&maker->index, '\n');
	for (size_t i = 0; i < FRAMES_LIMIT && lines.size != 0; i++) {
		write_frame(maker, fuzz_take(&lines, "\n"), own_tar);
		own_tar = (struct tkb_bytes){ NULL, 0 };
	}
}

static void write_header(struct maker *maker)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf own = TKB_BUF_INIT(INPUT_LIMIT);

	TKB_AUTO(tkb_tar_writer_close) struct tkb_tar_writer tar = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf header = TKB_BUF_INIT(8 * INPUT_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(4 * INPUT_LIMIT);
	struct tkb_error err = { 0 };

	if ((maker->flags & FLAG_HEADER) != 0) {
		mend_tar(maker->contents, &own);
		pack(tkb_buf_bytes(&own), &maker->out);
		return;
	}
	if (maker->list == NULL || (maker->flags & FLAG_VERBATIM) != 0)
		tkb_buf_add(&text, maker->text);
	else
		tkb_manifest_write(
			&(struct tkb_contents){
				.entries = maker->list,
				.entry_count = maker->manifest.entry_count,
				.launchers = maker->manifest.launchers,
				.launcher_count =
					maker->manifest.launcher_count,
				.profile = maker->manifest.profile },
			&text);
	MUST_OK(tkb_tar_writer_open(&tar, &header, &err), &err);
	add_member(&tar, TKB_MANIFEST_MEMBER, tkb_buf_bytes(&text));
	add_member(&tar, TKB_FRAMES_MEMBER, tkb_buf_bytes(&maker->index));
	if ((maker->flags & FLAG_SIGNED) != 0)
		add_member(&tar, TKB_SIGNATURE_MEMBER, tkb_text("ed25519"));
	pack(tkb_buf_bytes(&header), &maker->out);
}

/* `header` is the header frame. */
static void write_end(struct maker *maker, struct tkb_bytes header)
{
	struct tkb_digest digest = { { 0 } };
	struct tkb_error err = { 0 };

	if ((maker->flags & FLAG_ODD_END) == 0)
		MUST_OK(tkb_digest_of(header, &digest, &err), &err);
	tkb_end_write(&digest, &maker->out);
	if ((maker->flags & FLAG_BEHIND) != 0)
		tkb_buf_add_byte(&maker->out, '\0');
}

/* What the manifest says decides what the frames hold. */
static void read_manifest(struct maker *maker, struct tkb_bytes own_tar)
{
	size_t files;

	if (tkb_manifest_parse(maker->text, &maker->manifest, NULL) < 0)
		return;
	files = file_count(&maker->manifest);
	maker->files = tkb_alloc_array(files, sizeof(*maker->files));
	maker->file_bytes = tkb_alloc_array(files, sizeof(*maker->file_bytes));
	maker->firsts = tkb_alloc_array(maker->manifest.entry_count,
	                                sizeof(*maker->firsts));
	maker->list = tkb_alloc_array(maker->manifest.entry_count,
	                              sizeof(*maker->list));
	MUST(maker->files != NULL && maker->file_bytes != NULL);
	MUST(maker->firsts != NULL && maker->list != NULL);
	share_contents(maker);
	if (own_tar.data != NULL)
		read_own_tar(maker, own_tar);
	describe_contents(maker);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tkb_bytes input = { data, size };
	TKB_AUTO(maker_release)
	struct maker maker = { .data = TKB_BUF_INIT(64 * INPUT_LIMIT),
		               .index = TKB_BUF_INIT(INPUT_LIMIT),
		               .out = TKB_BUF_INIT(128 * INPUT_LIMIT) };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf own_tar = TKB_BUF_INIT(INPUT_LIMIT);
	size_t header_size;

	if (size == 0 || size > INPUT_LIMIT)
		return 0;
	maker.flags = data[0];
	input = tkb_bytes_slice(input, 1, size);
	maker.text = fuzz_take(&input, "\n");
	maker.lines = fuzz_take(&input, "\n\n");
	maker.contents = input;
	if ((maker.flags & FLAG_TAR) != 0)
		mend_tar(input, &own_tar);

	read_manifest(&maker, tkb_buf_bytes(&own_tar));
	write_frames(&maker, tkb_buf_bytes(&own_tar));
	write_header(&maker);
	header_size = maker.out.size;
	tkb_buf_add(&maker.out, tkb_buf_bytes(&maker.data));
	write_end(&maker,
	          tkb_bytes_slice(tkb_buf_bytes(&maker.out), 0, header_size));
	MUST(maker.out.failure == 0);
	fuzz_bundle(tkb_buf_bytes(&maker.out));
	return 0;
}
