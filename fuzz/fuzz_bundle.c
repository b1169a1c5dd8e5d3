/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include <tkbundle/emit.h>

#include "base/arena.h"
#include "base/fd.h"
#include "base/json.h"
#include "bundle/names.h"
#include "bundle/reader.h"
#include "bundle/scrub.h"
#include "fuzz.h"

enum {
	READS_LIMIT = 2,  /* entries; each read decodes a frame */
	PLACES_LIMIT = 8, /* devices that are emitted for */
	PATH_SIZE = 4096
};

#define EMIT_LIMIT ((uint64_t)4 * TKB_MIB)

static void close_bundle_at(struct tkb_bundle **bundle)
{
	tkb_bundle_close(*bundle);
}

/* A failure that anybody's bytes may cause, with a sentence. */
static void check_refusal(int rc, const struct tkb_error *err)
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

/* What a bundle gives of a file is what the manifest says. */
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
			check_refusal(rc, &err);
			is_whole = false;
		}
	}
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

/* Is every byte of `bundle` as it should be? */
static bool verify(const struct tkb_bundle *bundle)
{
	const struct tkb_verify_options options = { .threads = 1 };
	struct tkb_verify_report report = { 0 };
	struct tkb_error err = { 0 };
	const int rc = tkb_bundle_verify(bundle, &options, &report, &err);

	MUST(report.verified_count + report.failed_count ==
	     tkb_bundle_entry_count(bundle));
	if (rc < 0) {
		check_refusal(rc, &err);
		return false;
	}
	MUST(report.failed_count == 0);
	return true;
}

/* Each entry is in one frame. */
static void check_entries(const struct tkb_bundle *bundle)
{
	const size_t count = tkb_bundle_entry_count(bundle);
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
}

/* The bytes of each frame have the digest that is said of them. */
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

/* The file ends with what its header asks for. */
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

static size_t count_slashes(const char *path)
{
	size_t count = 0;

	for (; *path != '\0'; path++)
		count += *path == '/';
	return count;
}

/* Other tools see the same files, and nothing that could do harm. */
static void check_tar(const struct tkb_bundle *bundle, struct tkb_bytes bytes)
{
	struct archive *archive = archive_read_new();
	struct archive_entry *member = NULL;
	size_t expected = 0;
	size_t count = 0;

	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++)
		expected += tkb_bundle_entry(bundle, i)->file_count;
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
		MUST(strncmp(path, "triton/", 7) == 0);
		MUST(count_slashes(path) == 2);
		count++;
	}
	MUST(archive_read_free(archive) == ARCHIVE_OK);
	MUST(count == expected);
}

static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

/* A new folder, in memory where that can be had. */
static void make_folder(char out[PATH_SIZE])
{
	const char *base = getenv("TMPDIR");

	(void)snprintf(out, PATH_SIZE, "/dev/shm/tkb-fuzz-XXXXXX");
	if (mkdtemp(out) != NULL)
		return;
	(void)snprintf(out, PATH_SIZE, "%s/tkb-fuzz-XXXXXX",
	               base == NULL || base[0] == '\0' ? "/tmp" : base);
	MUST(mkdtemp(out) != NULL);
}

static void remove_folder(const char *path)
{
	MUST(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
}

/* A group file was emitted: it lists files of its own folder, all there. */
static void check_group(int folder, const char *group_name,
                        const struct tkb_result *result)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(2 * EMIT_LIMIT);
	TKB_AUTO(tkb_buf_release) struct tkb_buf place = TKB_BUF_INIT(65536);
	struct tkb_group group = { 0 };
	struct tkb_error err = { 0 };
	struct stat status;

	MUST_OK(tkb_fd_read_file(folder, group_name, 2 * EMIT_LIMIT, &text,
	                         &status, &err),
	        &err);
	MUST_OK(tkb_group_parse(tkb_buf_bytes(&text), result->key, &arena,
	                        &group, &err),
	        &err);
	tkb_json_escape_python(tkb_text(result->root), &place);
	tkb_buf_add_byte(&place, '/');
	tkb_buf_add_text(&place, result->key);
	MUST(tkb_group_names(&group, tkb_buf_bytes(&place)));
	for (size_t i = 0; i < group.child_count; i++) {
		const char *name = group.children[i].name;

		MUST(!tkb_name_is_group(name));
		MUST(fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0);
		MUST(S_ISREG(status.st_mode));
	}
}

/* What a reader of the cache may rely on, the moment that it is there. */
static void check_emitted(void *self, const struct tkb_result *result)
{
	TKB_AUTO(tkb_fd_close_at) int root = -1;
	TKB_AUTO(tkb_dir_close_at) DIR *folder = NULL;
	const struct dirent *item;

	(void)self;
	if (result->outcome != TKB_EMITTED)
		return;
	root = tkb_fd_open(AT_FDCWD, result->root, O_RDONLY | O_DIRECTORY, 0);
	MUST(root >= 0);
	MUST(tkb_dir_open(root, result->key, &folder, NULL) == 0);
	for (item = readdir(folder); item != NULL; item = readdir(folder)) {
		if (tkb_name_is_group(item->d_name))
			check_group(dirfd(folder), item->d_name, result);
	}
}

static uint64_t count_outcomes(const struct tkb_emit_report *report)
{
	return report->emitted_count + report->present_count +
	       report->repaired_count + report->busy_count +
	       report->skipped_count + report->failed_count +
	       report->damaged_count + report->unsafe_count;
}

/* The places of all entries, or 0 where there are too many to write. */
static uint64_t count_places(const struct tkb_bundle *bundle)
{
	const size_t entry_count = tkb_bundle_entry_count(bundle);
	uint64_t places = 0;
	uint64_t size = 0;

	for (size_t i = 0; i < entry_count; i++) {
		const struct tkb_entry *entry = tkb_bundle_entry(bundle, i);

		places += entry->device_count;
		size += tkb_entry_size(entry);
	}
	return size > EMIT_LIMIT || places > entry_count + PLACES_LIMIT
	               ? 0
	               : places;
}

static int emit(const struct tkb_bundle *bundle, const char *root, bool dry_run,
                struct tkb_emit_report *report)
{
	const struct tkb_emit_options options = {
		.dry_run = dry_run,
		.threads = 1,
		.watch = { .on_result = dry_run ? NULL : check_emitted },
	};
	struct tkb_error err = { 0 };
	const int rc = tkb_emit(bundle, root, &options, report, &err);

	if (rc < 0)
		check_refusal(rc, &err);
	return rc;
}

/* What was verified can be emitted, whole, and is present then. */
static void check_emit(const struct tkb_bundle *bundle, const char *root,
                       bool is_verified, uint64_t places)
{
	const uint64_t entry_count = tkb_bundle_entry_count(bundle);
	struct tkb_emit_report first = { 0 };
	struct tkb_emit_report second = { 0 };
	const int rc = emit(bundle, root, false, &first);

	MUST(count_outcomes(&first) >= entry_count);
	MUST(count_outcomes(&first) <=
	     (first.is_inductor ? places : entry_count));
	MUST(first.present_count + first.repaired_count + first.busy_count +
	             first.failed_count + first.unsafe_count ==
	     0);
	if (!is_verified)
		return;
	MUST(rc == 0 && first.damaged_count == 0);
	MUST(emit(bundle, root, false, &second) == 0);
	MUST(second.present_count == first.emitted_count);
	MUST(second.skipped_count == first.skipped_count);
	MUST(count_outcomes(&second) == count_outcomes(&first));
}

static void try_to_emit(const struct tkb_bundle *bundle, bool is_verified)
{
	const uint64_t places = count_places(bundle);
	struct tkb_emit_report report = { 0 };
	char folder[PATH_SIZE];
	char root[PATH_SIZE + 16];

	if (places == 0)
		return;
	make_folder(folder);
	(void)snprintf(root, sizeof(root), "%s/root", folder);
	(void)emit(bundle, root, true, &report);
	MUST(access(root, F_OK) < 0 && errno == ENOENT);
	check_emit(bundle, root, is_verified, places);
	remove_folder(folder);
}

void fuzz_bundle(struct tkb_bytes bytes)
{
	TKB_AUTO(tkb_fd_close_at) int fd = file_of(bytes);
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	struct tkb_error err = { 0 };
	bool is_readable = true;
	bool is_verified;
	int rc;

	rc = tkb_bundle_open_fd(fd, "input", &bundle, &err);
	if (rc < 0) {
		check_refusal(rc, &err);
		return;
	}
	MUST(strcmp(tkb_bundle_profile(bundle), "full") == 0 ||
	     strcmp(tkb_bundle_profile(bundle), "lean") == 0);
	check_entries(bundle);
	find_entries(bundle);
	for (size_t i = 0;
	     i < READS_LIMIT && i < tkb_bundle_entry_count(bundle); i++)
		is_readable = read_files(bundle, i) && is_readable;
	is_verified = verify(bundle);
	MUST(is_readable || !is_verified);
	if (is_verified) {
		check_frames(bundle, bytes);
		check_end(bundle, bytes);
		check_tar(bundle, bytes);
	}
	try_to_emit(bundle, is_verified);
}
