/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "bundle/names.h"
#include "bundle/select.h"
#include "bundle/tar.h"

enum {
	SIGNATURE_LIMIT = 16 * 1024,
	HEADER_SLACK = 64 * 1024, /* tar headers of the header frame */
	LINE_LIMIT = 256,
	FIRST_READ = 256 * 1024,
	PAX_LIMIT = 4096 /* tar headers of one member */
};

#define FRAME_LIMIT ((size_t)1024 * TKB_MIB)
#define HEADER_LIMIT                                                           \
	(TKB_MANIFEST_SIZE_LIMIT + TKB_FRAMES_SIZE_LIMIT + SIGNATURE_LIMIT +   \
	 HEADER_SLACK)

static int refuse(struct tkb_error *err, const char *what)
{
	return tkb_fail(err, TKB_ERR_CORRUPT, "%s", what);
}

/* Reads `tkbundle.frames`. */
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
	const char *start = lines->at;
	uint64_t value = 0;

	while (lines->at != lines->end && *lines->at >= '0' &&
	       *lines->at <= '9') {
		value = value * 10 + (uint64_t)(*lines->at - '0');
		if (value > limit)
			return false;
		lines->at++;
	}
	if (lines->at == start || (*start == '0' && lines->at != start + 1))
		return false;
	*out = value;
	return true;
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

/* The first line, "frames 1 zstd <version> <level>". */
static int read_first_line(struct lines *lines, struct tkb_error *err)
{
	static const char known[] = "frames 1 zstd ";
	const size_t length = strlen(known);
	const char *newline =
		memchr(lines->at, '\n', (size_t)(lines->end - lines->at));

	if (newline == NULL || newline - lines->at > LINE_LIMIT)
		return refuse(err, "'" TKB_FRAMES_MEMBER "' has no first line");
	if ((size_t)(newline - lines->at) < length ||
	    memcmp(lines->at, known, length) != 0)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "the bundle's frames are '%.*s', this tkbundle "
		                "reads '%s...'",
		                (int)(newline - lines->at), lines->at, known);
	lines->at = newline + 1;
	return 0;
}

/* Which frame has which entry, while the lines are read. */
struct claims {
	bool *taken;       /* owned */
	uint32_t *entries; /* in the arena; of all frames, one after another */
	size_t used;
};

static bool claim(struct claims *claims, uint64_t entry)
{
	if (claims->taken[entry])
		return false;
	claims->taken[entry] = true;
	claims->entries[claims->used++] = (uint32_t)entry;
	return true;
}

/* "0-41,43": ascending, each entry in one frame. */
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
			if (!claim(claims, next))
				return false;
			frame->entry_count++;
		}
	} while (take_char(lines, ','));
	return true;
}

/* A frame cannot be smaller than its files, nor much larger. */
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
	return frame->size >= least && frame->size <= least + files * PAX_LIMIT;
}

static bool take_frame(struct lines *lines, const struct tkb_bundle *bundle,
                       struct claims *claims, struct tkb_frame *frame)
{
	return take_digest(lines, &frame->digest) && take_char(lines, ' ') &&
	       take_number(lines, FRAME_LIMIT, &frame->packed_size) &&
	       take_char(lines, ' ') &&
	       take_number(lines, FRAME_LIMIT, &frame->size) &&
	       take_char(lines, ' ') &&
	       take_ranges(lines, bundle->manifest.entry_count, claims,
	                   frame) &&
	       take_char(lines, '\n') && size_fits(bundle, frame);
}

/* As many frames as there are lines, but not more than entries. */
static size_t count_frames(const struct lines *lines, size_t entry_count)
{
	size_t count = 0;

	for (const char *at = lines->at;
	     at != lines->end && count < entry_count; at++)
		count += *at == '\n';
	return count;
}

static int read_frame_lines(struct tkb_bundle *bundle, struct lines *lines,
                            struct claims *claims, uint64_t offset,
                            struct tkb_error *err)
{
	const size_t entry_count = bundle->manifest.entry_count;

	while (lines->at != lines->end) {
		struct tkb_frame *frame = &bundle->frames[bundle->frame_count];

		/* No frame is without an entry. */
		if (bundle->frame_count == entry_count ||
		    !take_frame(lines, bundle, claims, frame))
			return tkb_fail(err, TKB_ERR_CORRUPT,
			                "line %zu of '" TKB_FRAMES_MEMBER
			                "' is damaged",
			                bundle->frame_count + 2);
		frame->offset = offset;
		offset += frame->packed_size;
		bundle->frame_count++;
	}
	if (claims->used != entry_count)
		return refuse(err, "an entry is in no frame");
	return 0;
}

static int read_frames(struct tkb_bundle *bundle, struct tkb_bytes text,
                       uint64_t offset, struct tkb_error *err)
{
	struct tkb_arena *arena = &bundle->manifest.arena;
	const size_t entry_count = bundle->manifest.entry_count;
	struct lines lines = { text.data, (const char *)text.data + text.size };
	TKB_AUTO(tkb_free_at)
	bool *taken = tkb_alloc_array(entry_count, sizeof(*taken));
	struct claims claims = { .taken = taken };
	int rc;

	if (text.size > TKB_FRAMES_SIZE_LIMIT)
		return refuse(err, "'" TKB_FRAMES_MEMBER "' is too large");
	claims.entries =
		tkb_arena_alloc(arena, entry_count, sizeof(*claims.entries));
	bundle->frames =
		tkb_arena_alloc(arena, count_frames(&lines, entry_count),
	                        sizeof(*bundle->frames));
	if (taken == NULL || claims.entries == NULL || bundle->frames == NULL)
		return tkb_fail_nomem(err);
	rc = read_first_line(&lines, err);
	if (rc < 0)
		return rc;
	return read_frame_lines(bundle, &lines, &claims, offset, err);
}

static int expect_member(struct tkb_tar_reader *tar, const char *wanted,
                         struct tkb_bytes *out, struct tkb_error *err)
{
	const char *path = NULL;
	int rc;

	rc = tkb_tar_reader_next(tar, &path, out, err);
	if (rc < 0)
		return rc;
	if (rc == TKB_MISS || strcmp(path, wanted) != 0)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "it is not a bundle: '%s' is not where it "
		                "should be",
		                wanted);
	return 0;
}

/* A signature may stand last; it is outside of what it signs. */
static int skip_signature(struct tkb_tar_reader *tar, struct tkb_error *err)
{
	const char *path = NULL;
	struct tkb_bytes bytes;
	int rc;

	rc = tkb_tar_reader_next(tar, &path, &bytes, err);
	if (rc < 0)
		return rc;
	if (rc == 0 && (strcmp(path, TKB_SIGNATURE_MEMBER) != 0 ||
	                bytes.size > SIGNATURE_LIMIT))
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "the header frame holds '%.200s'", path);
	return tkb_tar_reader_finish(tar, err);
}

static int read_header(struct tkb_bundle *bundle, struct tkb_bytes header,
                       uint64_t offset, struct tkb_error *err)
{
	TKB_AUTO(tkb_tar_reader_close) struct tkb_tar_reader tar = { 0 };
	struct tkb_bytes manifest;
	struct tkb_bytes frames;
	int rc;

	rc = tkb_tar_reader_open(&tar, header, err);
	if (rc < 0)
		return rc;
	rc = expect_member(&tar, TKB_MANIFEST_MEMBER, &manifest, err);
	if (rc < 0)
		return rc;
	rc = expect_member(&tar, TKB_FRAMES_MEMBER, &frames, err);
	if (rc < 0)
		return rc;
	rc = skip_signature(&tar, err);
	if (rc < 0)
		return rc;

	if (manifest.size > TKB_MANIFEST_SIZE_LIMIT)
		return refuse(err, "the manifest is too large");
	rc = tkb_manifest_parse(manifest, &bundle->manifest, err);
	if (rc < 0)
		return rc;
	rc = tkb_digest_of(manifest, &bundle->id, err);
	if (rc < 0)
		return rc;
	return read_frames(bundle, frames, offset, err);
}

/* What must stand behind the data frames; and nothing behind that. */
static int check_end(const struct tkb_bundle *bundle, struct tkb_bytes packed,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf wanted = TKB_BUF_INIT(TKB_END_SIZE);
	unsigned char found[TKB_END_SIZE + 1];
	struct tkb_digest header;
	uint64_t offset = packed.size;
	ssize_t got;
	int rc;

	for (size_t i = 0; i < bundle->frame_count; i++)
		offset += bundle->frames[i].packed_size;
	got = tkb_fd_pread_full(bundle->fd, found, sizeof(found), offset);
	if (got < 0)
		return tkb_fail_errno(err, "cannot read '%s'", bundle->name);
	rc = tkb_digest_of(packed, &header, err);
	if (rc < 0)
		return rc;
	tkb_end_write(&header, &wanted);
	rc = tkb_buf_check(&wanted, err);
	if (rc < 0)
		return rc;

	if (got < TKB_END_SIZE)
		return refuse(err, "it is cut short");
	if (memcmp(found, wanted.data, TKB_END_SIZE) != 0)
		return refuse(err, "its last frame does not fit its first");
	if (got > TKB_END_SIZE)
		return refuse(err, "there are bytes behind its end");
	return 0;
}

/* Say it plainly if there is no bundle at all. */
static int check_magic(const struct tkb_bundle *bundle, struct tkb_error *err)
{
	static const unsigned char magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
	unsigned char found[sizeof(magic)];
	const ssize_t got =
		tkb_fd_pread_full(bundle->fd, found, sizeof(found), 0);

	if (got < 0)
		return tkb_fail_errno(err, "cannot read");
	if (got == 0)
		return refuse(err, "it is empty");
	if (got != (ssize_t)sizeof(found) ||
	    memcmp(found, magic, sizeof(magic)) != 0)
		return refuse(err, "it is not a bundle");
	return 0;
}

/* Append up to `size` bytes more of the file's beginning; how many came? */
static int read_more(const struct tkb_bundle *bundle, struct tkb_buf *packed,
                     size_t size, size_t *got_out, struct tkb_error *err)
{
	unsigned char *place = tkb_buf_reserve(packed, size);
	ssize_t got;

	if (place == NULL)
		return tkb_buf_check(packed, err);
	got = tkb_fd_pread_full(bundle->fd, place, size, packed->size);
	if (got < 0)
		return tkb_fail_errno(err, "cannot read");
	packed->size += (size_t)got;
	*got_out = (size_t)got;
	return 0;
}

/* Read the header frame, which nobody knows the size of. */
static int read_packed_header(const struct tkb_bundle *bundle,
                              struct tkb_buf *packed, uint64_t *size_out,
                              struct tkb_error *err)
{
	size_t wanted = FIRST_READ;
	size_t size = 0;
	size_t got = 0;
	int rc;

	for (;;) {
		rc = read_more(bundle, packed, wanted, &got, err);
		if (rc < 0)
			return rc;
		rc = tkb_frame_measure(tkb_buf_bytes(packed), &size, size_out,
		                       err);
		if (rc < 0)
			return rc;
		if (rc == 0)
			break;
		if (got < wanted)
			return refuse(err, "it ends in its first frame");
		wanted = packed->size;
	}
	packed->size = size;
	if (*size_out > HEADER_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "its first frame has %" PRIu64
		                " bytes, more than %zu",
		                *size_out, HEADER_LIMIT);
	return 0;
}

static int open_bundle(struct tkb_bundle *bundle, struct tkb_error *err)
{
	TKB_AUTO(tkb_unpacker_close) struct tkb_unpacker unpacker = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf packed = TKB_BUF_INIT(2 * HEADER_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf header = TKB_BUF_INIT(HEADER_LIMIT);
	struct tkb_error fault = { 0 };
	uint64_t size = 0;
	int rc;

	rc = check_magic(bundle, err);
	if (rc < 0)
		return rc;
	rc = read_packed_header(bundle, &packed, &size, err);
	if (rc < 0)
		return rc;
	rc = tkb_unpacker_unpack(&unpacker, tkb_buf_bytes(&packed),
	                         (size_t)size, &header, err);
	if (rc < 0)
		return rc;
	rc = read_header(bundle, tkb_buf_bytes(&header), packed.size, err);
	if (rc < 0)
		return rc;

	/* Whole frames can be used though the end is damaged. */
	rc = check_end(bundle, tkb_buf_bytes(&packed), &fault);
	if (rc == TKB_ERR_CORRUPT) {
		bundle->fault = fault;
		return 0;
	}
	if (rc < 0 && err != NULL)
		*err = fault;
	return rc;
}

static void close_at(struct tkb_bundle **bundle)
{
	tkb_bundle_close(*bundle);
}

/* A pipe cannot be read twice, nor from several threads. */
static int copy_to_file(int fd, const char *name, int *out,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int copy = -1;
	TKB_AUTO(tkb_free_at) void *chunk = malloc(TKB_MIB);
	int rc;

	if (chunk == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_fd_unlinked(NULL, &copy, err);
	if (rc < 0)
		return rc;
	for (;;) {
		const ssize_t got = tkb_fd_read_full(fd, chunk, TKB_MIB);

		if (got < 0)
			return tkb_fail_errno(err, "cannot read '%s'", name);
		if (got == 0)
			break;
		rc = tkb_fd_write_all(copy,
		                      (struct tkb_bytes){ chunk, (size_t)got },
		                      "a temporary file", err);
		if (rc < 0)
			return rc;
	}
	*out = copy;
	copy = -1;
	return 0;
}

/* Takes over `fd` if `owns_fd`, also on failure. */
static int open_from(int fd, bool owns_fd, const char *name,
                     struct tkb_bundle **out, struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_bundle *bundle = tkb_alloc_array(1, sizeof(*bundle));
	struct stat status;
	int rc;

	if (bundle == NULL) {
		if (owns_fd)
			tkb_fd_close_at(&fd);
		return tkb_fail_nomem(err);
	}
	bundle->fd = fd;
	bundle->owns_fd = owns_fd;
	bundle->name = strdup(name);
	if (bundle->name == NULL)
		return tkb_fail_nomem(err);
	if (fstat(fd, &status) < 0)
		return tkb_fail_errno(err, "cannot read '%s'", name);
	if (S_ISDIR(status.st_mode))
		return tkb_fail(err, TKB_ERR_INVALID, "'%s' is a folder", name);
	if (!S_ISREG(status.st_mode)) {
		rc = copy_to_file(fd, name, &fd, err);
		if (rc < 0)
			return rc;
		if (owns_fd)
			tkb_fd_close_at(&bundle->fd);
		bundle->fd = fd;
		bundle->owns_fd = true;
	}

	rc = open_bundle(bundle, err);
	if (rc < 0)
		return tkb_fail_while(err, rc, "'%s'", name);
	*out = tkb_take(bundle);
	return 0;
}

int tkb_bundle_open(const char *path, struct tkb_bundle **out,
                    struct tkb_error *err)
{
	const int fd = tkb_fd_open(AT_FDCWD, path, O_RDONLY | O_NOCTTY, 0);

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		(void)tkb_fail(err, TKB_MISS, "there is no file '%s'", path);
		return TKB_MISS;
	}
	if (fd < 0)
		return tkb_fail_errno(err, "cannot open '%s'", path);
	return open_from(fd, true, path, out, err);
}

int tkb_bundle_open_fd(int fd, const char *name, struct tkb_bundle **out,
                       struct tkb_error *err)
{
	return open_from(fd, false, name, out, err);
}

void tkb_bundle_close(struct tkb_bundle *bundle)
{
	if (bundle == NULL)
		return;
	if (bundle->owns_fd)
		tkb_fd_close_at(&bundle->fd);
	free(bundle->name);
	tkb_manifest_release(&bundle->manifest);
	free(bundle);
}

const struct tkb_digest *tkb_bundle_id(const struct tkb_bundle *bundle)
{
	return &bundle->id;
}

const char *tkb_bundle_profile(const struct tkb_bundle *bundle)
{
	return bundle->manifest.profile;
}

size_t tkb_bundle_frame_count(const struct tkb_bundle *bundle)
{
	return bundle->frame_count;
}

size_t tkb_bundle_entry_count(const struct tkb_bundle *bundle)
{
	return bundle->manifest.entry_count;
}

const struct tkb_entry *tkb_bundle_entry(const struct tkb_bundle *bundle,
                                         size_t index)
{
	return &bundle->manifest.entries[index];
}

static const char *entry_key(const void *list, size_t index)
{
	const struct tkb_bundle *bundle = list;

	return bundle->manifest.entries[index].key;
}

int tkb_bundle_find(const struct tkb_bundle *bundle, const char *prefix,
                    size_t *index_out, struct tkb_error *err)
{
	return tkb_select_key(bundle, bundle->manifest.entry_count, entry_key,
	                      prefix, index_out, err);
}
