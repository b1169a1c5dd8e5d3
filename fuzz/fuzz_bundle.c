/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include <archive.h>
#include <archive_entry.h>

#include <tkbundle/launcher.h>

#include "base/fd.h"
#include "base/path.h"
#include "cache/key.h"
#include "format/reader.h"
#include "tree/unit.h"
#include "fuzz.h"

enum {
	READS_LIMIT = 2 /* entries; each read decodes a frame */
};

TKB_AUTO_POINTER(close_bundle_at, struct tkb_bundle, tkb_bundle_close)

void fuzz_check_refusal(int rc, const struct tkb_error *err)
{
	MUST(rc == TKB_ERR_CORRUPT || rc == TKB_ERR_UNSUPPORTED ||
	     rc == TKB_ERR_TOO_LARGE);
	MUST(err->status == rc && err->message[0] != '\0');
}

static int file_of(struct tkb_bytes bytes)
{
	struct tkb_error err = { 0 };
	const int fd = memfd_create("bundle", MFD_CLOEXEC);

	MUST(fd >= 0);
	MUST_OK(tkb_fd_write_all(fd, bytes, "a bundle", &err), &err);
	return fd;
}

/* The files that a bundle gives match the manifest. */
static int check_file(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	const struct tkb_file *file = self;
	struct tkb_digest digest;

	MUST(bytes.size == file->size);
	MUST_OK(tkb_digest_of(bytes, &digest, err), err);
	MUST(tkb_digest_equal(&digest, &file->digest));
	return 0;
}

/* Read the first and the last file of entry `index`. */
static bool read_files(const struct tkb_bundle *bundle, size_t index)
{
	const struct tkb_entry *entry = tkb_bundle_entry(bundle, index);
	const size_t files[] = { 0, entry->file_count - 1 };
	bool is_whole = true;

	for (size_t i = 0; i < TKB_COUNT_OF(files); i++) {
		struct tkb_file file = entry->files[files[i]];
		struct tkb_error err = { 0 };
		const struct tkb_sink sink = { check_file, &file };
		const int rc =
			tkb_bundle_read(bundle, index, files[i], &sink, &err);

		if (rc < 0) {
			fuzz_check_refusal(rc, &err);
			is_whole = false;
		}
	}
	return is_whole;
}

/* Read the payload of launcher `index`. */
static bool read_payload(const struct tkb_bundle *bundle, size_t index)
{
	const struct tkb_saved_launcher *launcher =
		tkb_bundle_launcher(bundle, index);
	struct tkb_file file = { .size = launcher->size,
		                 .digest = launcher->digest };
	const struct tkb_sink sink = { check_file, &file };
	struct tkb_error err = { 0 };
	const int rc = tkb_bundle_read_launcher(bundle, index, &sink, &err);

	if (rc < 0)
		fuzz_check_refusal(rc, &err);
	return rc == 0;
}

static bool read_some(const struct tkb_bundle *bundle)
{
	bool is_whole = true;

	for (size_t i = 0;
	     i < READS_LIMIT && i < tkb_bundle_entry_count(bundle); i++)
		is_whole = read_files(bundle, i) && is_whole;
	for (size_t i = 0;
	     i < READS_LIMIT && i < tkb_bundle_launcher_count(bundle); i++)
		is_whole = read_payload(bundle, i) && is_whole;
	return is_whole;
}

static void find_entries(const struct tkb_bundle *bundle)
{
	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++) {
		const char *key = tkb_bundle_entry(bundle, i)->key;
		struct tkb_error err = { 0 };
		size_t found = SIZE_MAX;

		MUST_OK(tkb_bundle_find(bundle, key, &found, &err), &err);
		MUST(found <= i);
		MUST(strcmp(tkb_bundle_entry(bundle, found)->key, key) == 0);
	}
}

bool fuzz_verify(const struct tkb_bundle *bundle)
{
	const struct tkb_verify_options options = { .struct_size =
		                                            sizeof(options),
		                                    .threads = 1 };
	struct tkb_verify_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { 0 };
	const int rc = tkb_bundle_verify(bundle, &options, &report, &err);

	MUST(report.verified_count + report.failed_count ==
	     tkb_bundle_entry_count(bundle));
	MUST(report.launcher_count + report.failed_launcher_count ==
	     tkb_bundle_launcher_count(bundle));
	if (rc < 0) {
		fuzz_check_refusal(rc, &err);
		return false;
	}
	MUST(report.failed_count == 0 && report.failed_launcher_count == 0);
	return true;
}

/* Each item is in one frame; each launcher has its payload. */
static void check_items(const struct tkb_bundle *bundle)
{
	const size_t count = bundle->manifest.item_count;
	TKB_AUTO(tkb_free_at)
	bool *seen = tkb_alloc_array(count, sizeof(*seen));
	size_t seen_count = 0;

	MUST(seen != NULL);
	for (size_t i = 0; i < bundle->frame_count; i++) {
		const struct tkb_frame *frame = &bundle->frames[i];

		for (size_t j = 0; j < frame->entry_count; j++) {
			MUST(frame->entries[j] < count);
			MUST(!seen[frame->entries[j]]);
			seen[frame->entries[j]] = true;
			seen_count++;
		}
	}
	MUST(seen_count == count);
	for (size_t i = 0; i < tkb_bundle_launcher_count(bundle); i++) {
		const size_t item = tkb_bundle_payload(bundle, i);
		const struct tkb_saved_launcher *launcher =
			tkb_bundle_launcher(bundle, i);
		const struct tkb_file *file =
			&bundle->manifest.entries[item].files[0];

		MUST(item >= tkb_bundle_entry_count(bundle) && item < count);
		MUST(tkb_digest_equal(&file->digest, &launcher->digest));
		MUST(file->size == launcher->size);
	}
}

/* The bytes of each frame have the digest in the frame list. */
static void check_frames(const struct tkb_bundle *bundle,
                         struct tkb_bytes bytes)
{
	for (size_t i = 0; i < bundle->frame_count; i++) {
		const struct tkb_frame *frame = &bundle->frames[i];
		const uint64_t end = frame->offset + frame->packed_size;
		struct tkb_error err = { 0 };
		struct tkb_digest digest;

		MUST(end <= bytes.size);
		MUST_OK(tkb_digest_of(
				tkb_bytes_slice(bytes, frame->offset, end),
				&digest, &err),
		        &err);
		MUST(tkb_digest_equal(&digest, &frame->digest));
	}
}

/* The file ends where its header says. */
static void check_end(const struct tkb_bundle *bundle, struct tkb_bytes bytes)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf wanted = TKB_BUF_INIT(TKB_END_SIZE);
	struct tkb_error err = { 0 };
	struct tkb_digest header;
	size_t end;

	MUST(bytes.size > TKB_END_SIZE);
	end = bytes.size - TKB_END_SIZE;
	MUST_OK(tkb_digest_of(
			tkb_bytes_slice(
				bytes, 0,
				bundle->frame_count == 0
					? end
					: (size_t)bundle->frames[0].offset),
			&header, &err),
	        &err);
	tkb_end_write(&header, &wanted);
	MUST(tkb_bytes_equal(tkb_bytes_slice(bytes, end, bytes.size),
	                     tkb_buf_bytes(&wanted)));
}

/*
 * "triton/<key>/<name>", "tree/<tree>/<path>" or "launcher/<digest>", without
 * "..". It is followed by a zero.
 */
static void check_path(struct tkb_bytes path)
{
	const struct tkb_bytes folder = fuzz_take(&path, "/");
	char key[TKB_KEY_SIZE] = "";
	struct tkb_digest digest;
	struct tkb_bytes name;

	if (tkb_bytes_equal(folder, tkb_text("launcher"))) {
		MUST(tkb_digest_from_hex(path, &digest));
		return;
	}
	name = fuzz_take(&path, "/");
	MUST(name.size < sizeof(key));
	memcpy(key, name.data, name.size);
	if (tkb_bytes_equal(folder, tkb_text("tree"))) {
		MUST(tkb_tree_name_is_valid(key));
		MUST(tkb_unit_path_is_valid(path.data));
		return;
	}
	MUST(tkb_bytes_equal(folder, tkb_text("triton")));
	MUST(tkb_key_is_valid(key));
	MUST(tkb_name_is_valid(path));
}

/* Files of items, and unused ones. */
static uint64_t count_members(const struct tkb_bundle *bundle)
{
	uint64_t count = 0;

	for (size_t i = 0; i < bundle->manifest.item_count; i++)
		count += bundle->manifest.entries[i].file_count;
	for (size_t i = 0; i < bundle->frame_count; i++)
		count += bundle->frames[i].unused_count;
	return count;
}

/* Other tools see the same files, and nothing dangerous. */
static void check_tar(const struct tkb_bundle *bundle, struct tkb_bytes bytes)
{
	struct archive *archive = archive_read_new();
	struct archive_entry *member = NULL;
	uint64_t count = 0;

	MUST(archive != NULL);
	MUST(archive_read_support_filter_zstd(archive) == ARCHIVE_OK);
	MUST(archive_read_support_format_tar(archive) == ARCHIVE_OK);
	MUST(archive_read_open_memory(archive, bytes.data, bytes.size) ==
	     ARCHIVE_OK);
	while (archive_read_next_header(archive, &member) == ARCHIVE_OK) {
		const char *path = archive_entry_pathname(member);

		MUST(path != NULL);
		MUST(archive_entry_filetype(member) == AE_IFREG);
		if (strncmp(path, "tkbundle.", 9) == 0)
			continue;
		check_path(tkb_text(path));
		count++;
	}
	MUST(archive_read_free(archive) == ARCHIVE_OK);
	MUST(count == count_members(bundle));
}

/* Opened from memory, it is the same bundle, or refused with the same message.
 */
static void open_twice(int fd, struct tkb_bytes bytes, struct tkb_bundle **file,
                       struct tkb_bundle **memory)
{
	struct tkb_error err = { 0 };
	struct tkb_error other = { 0 };
	const int rc = tkb_bundle_open_fd(fd, "input", NULL, file, &err);

	MUST(tkb_bundle_open_memory(bytes, "input", memory, &other) == rc);
	MUST(strcmp(err.message, other.message) == 0);
	if (rc < 0)
		fuzz_check_refusal(rc, &err);
	else
		MUST(tkb_digest_equal(tkb_bundle_id(*file),
		                      tkb_bundle_id(*memory)));
}

void fuzz_bundle(struct tkb_bytes bytes)
{
	TKB_AUTO(tkb_fd_close_at) int fd = file_of(bytes);
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	TKB_AUTO(close_bundle_at) struct tkb_bundle *in_memory = NULL;
	bool is_readable;
	bool is_verified;

	open_twice(fd, bytes, &bundle, &in_memory);
	if (bundle == NULL)
		return;
	MUST(strcmp(tkb_bundle_profile(bundle), "full") == 0 ||
	     strcmp(tkb_bundle_profile(bundle), "lean") == 0);
	check_items(bundle);
	find_entries(bundle);
	is_readable = read_some(in_memory);
	is_verified = fuzz_verify(bundle);
	MUST(is_readable || !is_verified);
	if (is_verified) {
		check_frames(bundle, bytes);
		check_end(bundle, bytes);
		check_tar(bundle, bytes);
	}
	fuzz_emit(bundle, is_verified);
	fuzz_merge(in_memory, is_verified);
}
