/* SPDX-License-Identifier: Apache-2.0 */

#include "format/reader.h"
#include "text/ascii.h"

enum {
	LINE_LIMIT = 256,
	TAR_BLOCK = 512, /* the smallest size of a member */
	PAX_LIMIT = 4096 /* the most that a member's headers take */
};

/* The unread part of `tkbundle.frames`. */
struct lines {
	const char *at;
	const char *end;
};

static bool take_char(struct lines *lines, char wanted)
{
	if (lines->at == lines->end || *lines->at != wanted)
		return false;
	lines->at++;
	return true;
}

/* Decimal digits, without leading zeros. */
static bool take_number(struct lines *lines, uint64_t limit, uint64_t *out)
{
	const char *digits = lines->at;
	size_t count;

	while (lines->at != lines->end && tkb_is_digit(*lines->at))
		lines->at++;
	count = (size_t)(lines->at - digits);
	return tkb_digits_read(digits, count, out) && *out <= limit &&
	       (count == 1 || *digits != '0');
}

static bool take_digest(struct lines *lines, struct tkb_digest *out)
{
	const size_t length = TKB_DIGEST_HEX_SIZE - 1;

	if ((size_t)(lines->end - lines->at) < length ||
	    !tkb_digest_from_hex((struct tkb_bytes){ lines->at, length }, out))
		return false;
	lines->at += length;
	return true;
}

/*
 * The first line, "frames 1 zstd <version> <level>"; or "frames 2 ...", if frames
 * may have several slices.
 */
static int read_first_line(struct lines *lines, bool *is_sliced_out,
                           struct tkb_error *err)
{
	static const char *const known[] = { "frames 1 zstd ",
		                             "frames 2 zstd " };
	struct tkb_bytes line;
	const char *newline =
		memchr(lines->at, '\n', (size_t)(lines->end - lines->at));

	if (newline == NULL || newline - lines->at > LINE_LIMIT)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "'" TKB_FRAMES_MEMBER "' has no first line");
	line = (struct tkb_bytes){ lines->at, (size_t)(newline - lines->at) };
	*is_sliced_out = tkb_bytes_begin_with(line, tkb_text(known[1]));
	if (!*is_sliced_out && !tkb_bytes_begin_with(line, tkb_text(known[0])))
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "the bundle's frames are '%.*s', this tkbundle "
		                "reads '%s...' and '%s...'",
		                (int)line.size, lines->at, known[0], known[1]);
	lines->at = newline + 1;
	return 0;
}

/* The items of all frames, collected while the lines are read. */
struct claims {
	bool *taken;       /* owned */
	uint32_t *entries; /* in the arena; of all frames, one after another */
	size_t used;
};

static bool claim_entry(struct claims *claims, uint64_t entry)
{
	if (claims->taken[entry])
		return false;
	claims->taken[entry] = true;
	claims->entries[claims->used++] = (uint32_t)entry;
	return true;
}

/*
 * Read ranges such as "0-41,43". They must ascend, and no entry may be in two
 * frames.
 */
static bool take_ranges(struct lines *lines, size_t entry_count,
                        struct claims *claims, struct tkb_frame *frame)
{
	uint64_t next = 0;

	frame->entries = claims->entries + claims->used;
	do {
		uint64_t first;
		uint64_t last;

		if (!take_number(lines, entry_count - 1, &first) ||
		    first < next)
			return false;
		last = first;
		if (take_char(lines, '-') &&
		    (!take_number(lines, entry_count - 1, &last) ||
		     last <= first))
			return false;
		for (next = first; next <= last; next++) {
			if (!claim_entry(claims, next))
				return false;
			frame->entry_count++;
		}
	} while (take_char(lines, ','));
	return true;
}

/* A mixed frame has one more number: how many of its files are unused. */
static bool take_unused(struct lines *lines, struct tkb_frame *frame)
{
	if (!take_char(lines, ' '))
		return true;
	frame->is_mixed = true;
	return take_number(lines, TKB_FRAME_SIZE_LIMIT, &frame->unused_count);
}

/*
 * Is the frame's size plausible? It cannot be smaller than the frame's files,
 * nor much larger.
 */
static bool size_fits(const struct tkb_bundle *bundle,
                      const struct tkb_frame *frame)
{
	uint64_t least = 0;
	uint64_t files = 0;

	for (size_t i = 0; i < frame->entry_count; i++) {
		const struct tkb_entry *entry =
			&bundle->manifest.entries[frame->entries[i]];

		least += tkb_entry_tar_size(entry);
		files += entry->file_count;
	}
	if (frame->is_mixed)
		return frame->size >= least &&
		       frame->unused_count <= (frame->size - least) / TAR_BLOCK;
	return frame->size >= least && frame->size <= least + files * PAX_LIMIT;
}

static bool take_frame(struct lines *lines, const struct tkb_bundle *bundle,
                       struct claims *claims, struct tkb_frame *frame)
{
	return take_digest(lines, &frame->digest) && take_char(lines, ' ') &&
	       take_number(lines, TKB_FRAME_PACKED_LIMIT,
	                   &frame->packed_size) &&
	       take_char(lines, ' ') &&
	       take_number(lines, TKB_FRAME_SIZE_LIMIT, &frame->size) &&
	       take_char(lines, ' ') &&
	       take_ranges(lines, bundle->manifest.item_count, claims, frame) &&
	       take_unused(lines, frame) && take_char(lines, '\n') &&
	       size_fits(bundle, frame);
}

/* At most this many frames: as many as there are lines, or items. */
static size_t count_frames(const struct lines *lines, size_t item_count)
{
	size_t count = 0;

	for (const char *at = lines->at; at != lines->end && count < item_count;
	     at++)
		count += *at == '\n';
	return count;
}

static int read_frame_lines(struct tkb_bundle *bundle, struct lines *lines,
                            struct claims *claims, uint64_t offset,
                            bool is_sliced, struct tkb_error *err)
{
	const size_t item_count = bundle->manifest.item_count;

	while (lines->at != lines->end) {
		struct tkb_frame *frame = &bundle->frames[bundle->frame_count];

		/* Each frame has an item of its own, so there are no more
		   frames than items. */
		if (bundle->frame_count == item_count ||
		    !take_frame(lines, bundle, claims, frame))
			return tkb_fail(err, TKB_ERR_CORRUPT,
			                "line %zu of '" TKB_FRAMES_MEMBER
			                "' is damaged",
			                bundle->frame_count + 2);
		frame->is_sliced = is_sliced;
		frame->offset = offset;
		offset += frame->packed_size;
		bundle->frame_count++;
	}
	if (claims->used != item_count)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "an entry is in no frame");
	return 0;
}

int tkb_frames_parse(struct tkb_bundle *bundle, struct tkb_bytes text,
                     uint64_t offset, struct tkb_error *err)
{
	struct tkb_arena *arena = &bundle->manifest.arena;
	const size_t item_count = bundle->manifest.item_count;
	struct lines lines = { text.data, (const char *)text.data + text.size };
	TKB_AUTO(tkb_free_at)
	bool *taken = tkb_alloc_array(item_count, sizeof(*taken));
	struct claims claims = { .taken = taken };
	bool is_sliced = false;
	int rc;

	if (text.size > TKB_FRAMES_SIZE_LIMIT)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "'" TKB_FRAMES_MEMBER "' is too large");
	claims.entries =
		tkb_arena_alloc(arena, item_count, sizeof(*claims.entries));
	bundle->frames =
		tkb_arena_alloc(arena, count_frames(&lines, item_count),
	                        sizeof(*bundle->frames));
	if (taken == NULL || claims.entries == NULL || bundle->frames == NULL)
		return tkb_fail_nomem(err);
	rc = read_first_line(&lines, &is_sliced, err);
	if (rc < 0)
		return rc;
	return read_frame_lines(bundle, &lines, &claims, offset, is_sliced,
	                        err);
}
