/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"
#include "format/frame.h"
#include "cache/names.h"
#include "format/tar.h"
#include "contents.h"
#include "fuzz.h"
#include "mend.h"

/*
 * Digests, checksums and compression reject nearly every mutation of a bundle.
 * Here the input is the data they protect, and they are computed, so that the
 * code behind them is reached:
 *
 *     flags       one byte, see below
 *     manifest    up to the first line break
 *     lines       up to an empty line: the text of `tkbundle.frames`, where
 *                 '#' stands for a frame's digest, '~' for its compressed
 *                 size and '@' for its size; a line that begins with '!' is
 *                 of a frame whose bytes are the contents as they stand. What
 *                 stands behind a ';' is not in the text: ranges of items that
 *                 lie in the frame too, before the others
 *     contents    the bytes of the files, in the manifest's order, then of the
 *                 payloads, with "\n==\n" between them; or the tar stream of
 *                 the first frame, or of the header frame
 *
 * Sizes and digests in the manifest become those of the contents. Names and
 * order of members are always right, except in a tar stream of the input, whose
 * headers only get correct checksums.
 */

enum {
	FLAG_TAR = 1 << 0,      /* the contents are the first frame's tar */
	FLAG_VERBATIM = 1 << 1, /* sizes and digests stay as they are */
	FLAG_SIGNED = 1 << 2,   /* there is a signature */
	FLAG_ODD_END = 1 << 3,  /* the last frame belongs to another header */
	FLAG_BEHIND = 1 << 4,   /* there are bytes after the last frame */
	FLAG_HEADER = 1 << 5    /* the contents are the header frame's tar */
};

enum {
	FRAMES_LIMIT = 32,
	RANGES_FIELD = 3, /* of a line */
	INPUT_LIMIT = 1 << 20
};

/* A bundle under construction. */
struct maker {
	unsigned flags;
	struct tkb_bytes text;  /* of the manifest, as the input has it */
	struct tkb_bytes lines; /* likewise */
	struct tkb_bytes rest;  /* the contents, likewise */
	struct fuzz_contents contents;
	bool is_read;         /* the manifest could be parsed */
	struct tkb_buf data;  /* the data frames */
	struct tkb_buf index; /* `tkbundle.frames` */
	struct tkb_buf out;
};

static void maker_release(struct maker *maker)
{
	fuzz_contents_release(&maker->contents);
	tkb_buf_release(&maker->data);
	tkb_buf_release(&maker->index);
	tkb_buf_release(&maker->out);
}

/* One packer for all inputs: making one costs more than everything else. */
static void pack(struct tkb_bytes bytes, struct tkb_buf *out)
{
	static struct tkb_packer packer;
	struct tkb_error err = { 0 };

	MUST_OK(tkb_packer_pack(&packer, bytes, out, &err), &err);
}

static void add_member(struct tkb_buf *tar, const char *path,
                       struct tkb_bytes bytes)
{
	struct tkb_error err = { 0 };

	tkb_tar_add(tar, path, bytes);
	MUST_OK(tkb_buf_check(tar, &err), &err);
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

/* The items of "0-3,5". The reader is left to refuse what is not a number. */
static size_t read_ranges(struct tkb_bytes ranges, size_t item_count,
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
		     next <= last && next < item_count && count < FRAMES_LIMIT;
		     next++)
			out[count++] = next;
	}
	return count;
}

/* Add the files of the items that `ranges` name, in a frame's order. */
static void add_items(const struct maker *maker, struct tkb_bytes ranges,
                      struct tkb_buf *tar)
{
	const struct tkb_manifest *manifest = &maker->contents.manifest;
	TKB_AUTO(tkb_free_at) struct tkb_member *members = NULL;
	size_t chosen[FRAMES_LIMIT];
	const size_t chosen_count =
		read_ranges(ranges, manifest->item_count, chosen);
	size_t count = 0;

	members = tkb_alloc_array(chosen_count * TKB_FILES_LIMIT,
	                          sizeof(*members));
	MUST(members != NULL);
	for (size_t i = 0; i < chosen_count; i++) {
		const struct tkb_entry *entry = &manifest->entries[chosen[i]];

		for (size_t j = 0; j < entry->file_count; j++)
			members[count++] =
				(struct tkb_member){ .entry = entry,
				                     .entry_index = chosen[i],
				                     .file = j };
	}
	tkb_members_sort(members, count);
	for (size_t i = 0; i < count; i++) {
		char path[TKB_MEMBER_PATH_SIZE];

		tkb_member_path(&members[i], path);
		add_member(tar, path,
		           fuzz_contents_of(&maker->contents, &members[i]));
	}
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

static struct tkb_bytes ranges_of(struct tkb_bytes line)
{
	for (size_t i = 0; i < RANGES_FIELD; i++)
		(void)fuzz_take(&line, " ");
	return fuzz_take(&line, " ");
}

/* The tar of a frame: the additional items, then those that its line names. */
static void write_tar(const struct maker *maker, struct tkb_bytes line,
                      struct tkb_bytes besides, struct tkb_buf *out)
{
	add_items(maker, besides, out);
	add_items(maker, ranges_of(line), out);
}

/* Add the line to the index, with its signs replaced. */
static void write_line(struct maker *maker, struct tkb_bytes line,
                       struct tkb_bytes packed, size_t size)
{
	const char *text = line.data;
	struct tkb_error err = { 0 };
	struct tkb_digest digest;

	MUST_OK(tkb_digest_of(packed, &digest, &err), &err);
	for (size_t i = 0; i < line.size; i++) {
		if (text[i] == '#')
			write_hex(&digest, &maker->index);
		else if (text[i] == '~')
			tkb_buf_add_number(&maker->index, packed.size);
		else if (text[i] == '@')
			tkb_buf_add_number(&maker->index, size);
		else
			tkb_buf_add_byte(&maker->index, text[i]);
	}
	tkb_buf_add_byte(&maker->index, '\n');
}

/* One line of the input, and the frame that it describes. */
static void write_frame(struct maker *maker, struct tkb_bytes besides,
                        struct tkb_bytes own_tar)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf tar = TKB_BUF_INIT(8 * INPUT_LIMIT);
	struct tkb_bytes line = fuzz_take(&besides, ";");
	const size_t start = maker->data.size;
	const bool is_packed = !starts_with(line, '!');

	if (own_tar.data != NULL)
		tkb_buf_add(&tar, own_tar);
	else
		write_tar(maker, line, besides, &tar);
	if (is_packed)
		pack(tkb_buf_bytes(&tar), &maker->data);
	else
		tkb_buf_add(&maker->data, maker->rest);
	write_line(maker, tkb_bytes_slice(line, is_packed ? 0 : 1, line.size),
	           tkb_bytes_slice(tkb_buf_bytes(&maker->data), start,
	                           maker->data.size),
	           tar.size);
}

/* All lines but the first describe frames. */
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

/* The manifest of the contents, or as the input has it. */
static void write_manifest(const struct maker *maker, struct tkb_buf *out)
{
	const struct tkb_manifest *manifest = &maker->contents.manifest;
	const struct tkb_contents contents = {
		.entries = maker->contents.list,
		.entry_count = manifest->entry_count,
		.launchers = manifest->launchers,
		.launcher_count = manifest->launcher_count,
		.profile = manifest->profile,
	};

	if (maker->is_read && (maker->flags & FLAG_VERBATIM) == 0)
		tkb_manifest_write(&contents, out);
	else
		tkb_buf_add(out, maker->text);
}

static void write_header(struct maker *maker)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf own = TKB_BUF_INIT(INPUT_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf header = TKB_BUF_INIT(8 * INPUT_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(4 * INPUT_LIMIT);

	if ((maker->flags & FLAG_HEADER) != 0) {
		fuzz_mend_tar(maker->rest, &own);
		pack(tkb_buf_bytes(&own), &maker->out);
		return;
	}
	write_manifest(maker, &text);
	add_member(&header, TKB_MANIFEST_MEMBER, tkb_buf_bytes(&text));
	add_member(&header, TKB_FRAMES_MEMBER, tkb_buf_bytes(&maker->index));
	if ((maker->flags & FLAG_SIGNED) != 0)
		add_member(&header, TKB_SIGNATURE_MEMBER, tkb_text("ed25519"));
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

/* The manifest decides what the frames contain. */
static void read_manifest(struct maker *maker, struct tkb_bytes own_tar)
{
	maker->is_read = fuzz_contents_read(&maker->contents, maker->text);
	if (!maker->is_read)
		return;
	fuzz_contents_share(&maker->contents, maker->rest);
	if (own_tar.data != NULL)
		fuzz_contents_take_tar(&maker->contents, own_tar);
	if ((maker->flags & FLAG_VERBATIM) == 0)
		fuzz_contents_describe(&maker->contents);
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
	maker.rest = input;
	if ((maker.flags & FLAG_TAR) != 0)
		fuzz_mend_tar(input, &own_tar);

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
