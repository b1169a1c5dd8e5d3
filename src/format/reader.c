/* SPDX-License-Identifier: Apache-2.0 */
#include "format/reader.h"

#include <inttypes.h>

#include "format/tar.h"

enum {
	SIGNATURE_LIMIT = 16 * 1024,
	HEADER_SLACK = 64 * 1024, /* for the header frame's tar headers */
	FIRST_READ = 256 * 1024
};

#define HEADER_LIMIT                                                           \
	(TKB_MANIFEST_SIZE_LIMIT + TKB_FRAMES_SIZE_LIMIT + SIGNATURE_LIMIT +   \
	 HEADER_SLACK)

static int expect_member(struct tkb_tar_reader *tar, const char *wanted,
                         struct tkb_bytes *out, struct tkb_error *err)
{
	int rc;

	rc = tkb_tar_next(tar, out, err);
	if (rc < 0)
		return rc;
	if (rc == TKB_MISS || strcmp(tar->path, wanted) != 0)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "it is not a bundle: '%s' is not where it "
		                "should be",
		                wanted);
	return 0;
}

/* Skip a signature, which may come last, and is not part of what is signed. */
static int skip_signature(struct tkb_tar_reader *tar, struct tkb_error *err)
{
	struct tkb_bytes bytes;
	int rc;

	rc = tkb_tar_next(tar, &bytes, err);
	if (rc < 0)
		return rc;
	if (rc == 0 && (strcmp(tar->path, TKB_SIGNATURE_MEMBER) != 0 ||
	                bytes.size > SIGNATURE_LIMIT))
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "the header frame holds '%.200s'", tar->path);
	return tkb_tar_finish(tar, err);
}

static int read_header(struct tkb_bundle *bundle, struct tkb_bytes header,
                       uint64_t offset, struct tkb_error *err)
{
	struct tkb_tar_reader tar = tkb_tar_reader_of(header);
	struct tkb_bytes manifest;
	struct tkb_bytes frames;
	int rc;

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
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "the manifest is too large");
	rc = tkb_manifest_parse(manifest, &bundle->manifest, err);
	if (rc < 0)
		return rc;
	rc = tkb_digest_of(manifest, &bundle->id, err);
	if (rc == 0)
		rc = tkb_digest_of(frames, &bundle->frames_digest, err);
	if (rc < 0)
		return rc;
	return tkb_frames_parse(bundle, frames, offset, err);
}

/* Check that after the data frames there is the last frame and nothing else. */
static int check_end(const struct tkb_bundle *bundle, struct tkb_bytes packed,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf wanted = TKB_BUF_INIT(TKB_END_SIZE);
	unsigned char found[TKB_END_SIZE + 1];
	struct tkb_digest header;
	uint64_t offset = packed.size;
	size_t got = 0;
	int rc;

	for (size_t i = 0; i < bundle->frame_count; i++)
		offset += bundle->frames[i].packed_size;
	rc = tkb_bundle_pread(bundle, offset, found, sizeof(found), &got, err);
	if (rc < 0)
		return rc;
	rc = tkb_digest_of(packed, &header, err);
	if (rc < 0)
		return rc;
	tkb_end_write(&header, &wanted);
	rc = tkb_buf_check(&wanted, err);
	if (rc < 0)
		return rc;

	if (got < (size_t)TKB_END_SIZE)
		return tkb_fail(err, TKB_ERR_CORRUPT, "it is cut short");
	if (memcmp(found, wanted.data, TKB_END_SIZE) != 0)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "its last frame does not fit its first");
	if (got > (size_t)TKB_END_SIZE)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "there are bytes behind its end");
	return 0;
}

/* Give a file that is not a bundle at all a message of its own. */
static int check_magic(const struct tkb_bundle *bundle, struct tkb_error *err)
{
	static const unsigned char magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
	unsigned char found[sizeof(magic)];
	size_t got = 0;
	int rc;

	rc = tkb_bundle_pread(bundle, 0, found, sizeof(found), &got, err);
	if (rc < 0)
		return rc;
	if (got == 0)
		return tkb_fail(err, TKB_ERR_CORRUPT, "it is empty");
	if (got != sizeof(found) || memcmp(found, magic, sizeof(magic)) != 0)
		return tkb_fail(err, TKB_ERR_CORRUPT, "it is not a bundle");
	return 0;
}

/* Append up to `size` bytes more of the file's beginning. */
static int read_more(const struct tkb_bundle *bundle, struct tkb_buf *packed,
                     size_t size, size_t *got_out, struct tkb_error *err)
{
	unsigned char *place = tkb_buf_reserve(packed, size);
	int rc;

	if (place == NULL)
		return tkb_buf_check(packed, err);
	rc = tkb_bundle_pread(bundle, packed->size, place, size, got_out, err);
	if (rc < 0)
		return rc;
	packed->size += *got_out;
	return 0;
}

/* Read the header frame, whose size is not known in advance. */
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
			return tkb_fail(err, TKB_ERR_CORRUPT,
			                "it ends in its first frame");
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

int tkb_bundle_read_header(struct tkb_bundle *bundle, struct tkb_error *err)
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
	if (rc < 0 || bundle->is_pinned)
		return rc;

	/* If only the end is damaged, whole frames can still be used. */
	rc = check_end(bundle, tkb_buf_bytes(&packed), &fault);
	if (rc == TKB_ERR_CORRUPT) {
		(void)tkb_fail_while(&fault, rc, "'%s'", bundle->name);
		bundle->fault = fault;
		return 0;
	}
	return rc < 0 ? tkb_fail_as(err, rc, &fault) : rc;
}
