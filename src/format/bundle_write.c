/* SPDX-License-Identifier: Apache-2.0 */
#include "format/bundle_write.h"

#include "base/digest.h"
#include "format/frame.h"
#include "cache/names.h"
#include "tree/unit.h"
#include "format/launcher_payload.h"
#include "format/tar.h"

#define HEADER_LIMIT                                                           \
	(2 * (TKB_MANIFEST_SIZE_LIMIT + TKB_FRAMES_SIZE_LIMIT + TKB_MIB))

/* A sink that counts the bytes that go through it. */
struct meter {
	const struct tkb_sink *sink;
	uint64_t size;
};

static int meter_write(void *self, struct tkb_bytes bytes,
                       struct tkb_error *err)
{
	struct meter *meter = self;

	meter->size += bytes.size;
	return meter->sink->write(meter->sink->self, bytes, err);
}

/* Write the tar of the header frame. */
static int write_header(const struct tkb_outline *outline,
                        struct tkb_bytes manifest, struct tkb_buf *out,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf frames = TKB_BUF_INIT(TKB_FRAMES_SIZE_LIMIT);
	int rc;

	tkb_frames_write(outline->frames, outline->frame_count,
	                 outline->level != 0 ? outline->level : TKB_FRAME_LEVEL,
	                 &frames);
	rc = tkb_buf_check(&frames, err);
	if (rc < 0)
		return rc;
	tkb_tar_add(out, TKB_MANIFEST_MEMBER, manifest);
	tkb_tar_add(out, TKB_FRAMES_MEMBER, tkb_buf_bytes(&frames));
	return tkb_buf_check(out, err);
}

static int send_header(const struct tkb_outline *outline,
                       struct tkb_bytes manifest, const struct tkb_sink *sink,
                       struct tkb_digest *digest_out, struct tkb_error *err)
{
	TKB_AUTO(tkb_packer_close)
	struct tkb_packer packer = { .level = outline->level };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf tar = TKB_BUF_INIT(HEADER_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf packed = TKB_BUF_INIT(HEADER_LIMIT);
	int rc;

	rc = write_header(outline, manifest, &tar, err);
	if (rc < 0)
		return rc;
	rc = tkb_packer_pack(&packer, tkb_buf_bytes(&tar), &packed, err);
	if (rc < 0)
		return rc;
	rc = tkb_digest_of(tkb_buf_bytes(&packed), digest_out, err);
	if (rc < 0)
		return rc;
	return sink->write(sink->self, tkb_buf_bytes(&packed), err);
}

static int send_bundle(const struct tkb_outline *outline,
                       struct tkb_bytes manifest, const struct tkb_sink *sink,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf end = TKB_BUF_INIT(TKB_END_SIZE);
	struct tkb_digest header;
	int rc;

	rc = send_header(outline, manifest, sink, &header, err);
	for (size_t i = 0; i < outline->frame_count && rc == 0; i++)
		rc = outline->send_frame(outline->self, i, sink, err);
	if (rc < 0)
		return rc;
	tkb_end_write(&header, &end);
	rc = tkb_buf_check(&end, err);
	if (rc < 0)
		return rc;
	return sink->write(sink->self, tkb_buf_bytes(&end), err);
}

/* Is entry `index` the first unit of its tree? Those of a tree are neighbours. */
static bool is_of_new_tree(const struct tkb_contents *contents, size_t index)
{
	const struct tkb_entry *entry = contents->entries[index];
	const struct tkb_entry *before =
		index == 0 ? NULL : contents->entries[index - 1];

	return entry->kind == TKB_KIND_UNIT &&
	       (before == NULL || before->kind != TKB_KIND_UNIT ||
	        strcmp(before->tree, entry->tree) != 0);
}

static int check_limits(const struct tkb_contents *contents,
                        struct tkb_error *err)
{
	size_t trees = 0;

	if (contents->entry_count > TKB_ENTRIES_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "%zu entries, a bundle holds at most %d",
		                contents->entry_count, TKB_ENTRIES_LIMIT);
	for (size_t i = 0; i < contents->entry_count; i++)
		trees += is_of_new_tree(contents, i);
	if (trees > TKB_TREES_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "%zu trees, a bundle holds at most %d", trees,
		                TKB_TREES_LIMIT);
	if (contents->launcher_count > TKB_LAUNCHERS_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "%zu launchers, a bundle holds at most %d",
		                contents->launcher_count, TKB_LAUNCHERS_LIMIT);
	return 0;
}

int tkb_bundle_write(const struct tkb_outline *outline,
                     const struct tkb_sink *sink, struct tkb_digest *id_out,
                     uint64_t *size_out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf manifest = TKB_BUF_INIT(TKB_MANIFEST_SIZE_LIMIT);
	struct meter meter = { .sink = sink };
	const struct tkb_sink metered = { meter_write, &meter };
	int rc;

	rc = check_limits(&outline->contents, err);
	if (rc < 0)
		return rc;
	tkb_manifest_write(&outline->contents, &manifest);
	rc = tkb_buf_check(&manifest, err);
	if (rc < 0)
		return tkb_fail_while(err, rc, "the manifest");
	rc = tkb_digest_of(tkb_buf_bytes(&manifest), id_out, err);
	if (rc < 0 || sink == NULL)
		return rc;
	rc = send_bundle(outline, tkb_buf_bytes(&manifest), &metered, err);
	*size_out = meter.size;
	return rc;
}
