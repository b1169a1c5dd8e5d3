/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/entry_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "base/fd.h"
#include "base/path.h"
#include "cache/elf.h"
#include "cache/kernel.h"
#include "cache/key.h"
#include "cache/names.h"

enum {
	PLACE_LIMIT = 64 * 1024,
	YOUNG_S = 600 /* a compile takes minutes at most */
};

/* An entry, at a root. */
struct spot {
	struct tkb_loader *loader;
	const struct tkb_root *root;
	const struct tkb_entry *entry;
	int folder; /* what stands there, opened; shorter paths cost less */
	struct tkb_bytes place; /* its path, escaped */
	bool is_trusted;
};

/* The size of `file` once its sentinels are replaced. */
static uint64_t restored_size(const struct spot *spot,
                              const struct tkb_file *file)
{
	return file->size - file->sentinels * strlen(TKB_SENTINEL) +
	       file->sentinels * spot->place.size;
}

/*
 * Put the sentinel in for each `place` in `text`. This may replace too much;
 * then the digest is another, and the entry is looked at closely.
 */
static void put_sentinels(struct tkb_bytes text, struct tkb_bytes place,
                          struct tkb_buf *out)
{
	const char *at = text.data;
	const char *end = at + text.size;

	while (at < end) {
		const char *found =
			memmem(at, (size_t)(end - at), place.data, place.size);

		if (found == NULL)
			break;
		tkb_buf_add(out,
		            (struct tkb_bytes){ at, (size_t)(found - at) });
		tkb_buf_add_text(out, TKB_SENTINEL);
		at = found + place.size;
	}
	tkb_buf_add(out, (struct tkb_bytes){ at, (size_t)(end - at) });
}

/* Is the file there, byte for byte? A failure to read it means no. */
static int has_bytes(const struct spot *spot, const struct tkb_file *file,
                     bool *out, struct tkb_error *err)
{
	struct tkb_buf *scratch = &spot->loader->scratch;
	struct tkb_buf *text = &spot->loader->text;
	struct tkb_error fault = { 0 };
	struct tkb_digest digest;
	struct stat status;
	int rc;

	*out = false;
	tkb_buf_reset(scratch);
	rc = tkb_fd_read_file(spot->folder, file->name, TKB_FILE_SIZE_LIMIT,
	                      scratch, &status, &fault);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (rc < 0 || scratch->size != restored_size(spot, file))
		return 0;

	tkb_buf_reset(text);
	if (file->sentinels != 0)
		put_sentinels(tkb_buf_bytes(scratch), spot->place, text);
	rc = tkb_buf_check(text, err);
	if (rc < 0)
		return rc;
	rc = tkb_hasher_digest(
		&spot->loader->hasher,
		tkb_buf_bytes(file->sentinels != 0 ? text : scratch), &digest,
		err);
	if (rc < 0)
		return rc;
	*out = tkb_digest_equal(&digest, &file->digest);
	return 0;
}

static bool has_size(const struct spot *spot, const struct tkb_file *file)
{
	struct stat status;

	return fstatat(spot->folder, file->name, &status,
	               AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(status.st_mode) &&
	       (uint64_t)status.st_size == restored_size(spot, file);
}

/* Is what is there what the bundle holds? */
static int is_same(const struct spot *spot, bool *out, struct tkb_error *err)
{
	const struct tkb_entry *entry = spot->entry;
	const size_t group = tkb_kernel_group_index(entry);
	int rc;

	*out = true;
	if (group != entry->file_count) {
		rc = has_bytes(spot, &entry->files[group], out, err);
		if (rc < 0 || !*out)
			return rc;
	}
	for (size_t i = 0; i < entry->file_count && *out; i++) {
		if (i != group)
			*out = has_size(spot, &entry->files[i]);
	}
	return 0;
}

static int has_all_bytes(const struct spot *spot, bool *out,
                         struct tkb_error *err)
{
	int rc;

	*out = true;
	for (size_t i = 0; i < spot->entry->file_count && *out; i++) {
		rc = has_bytes(spot, &spot->entry->files[i], out, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool is_young(int dir_fd, const char *name)
{
	const time_t now = time(NULL);
	struct stat status;

	return fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       status.st_mtim.tv_sec > now - YOUNG_S;
}

int tkb_entry_state_has_writer(const struct tkb_root *root, const char *key,
                               bool *out, struct tkb_error *err)
{
	static const char prefix[] = "tmp.pid_";
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item = NULL;
	struct tkb_error fault = { 0 };
	int rc;

	*out = false;
	rc = tkb_dir_open(root->fd, key, &dir, &fault);
	if (rc == TKB_ERR_IO &&
	    (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return 0;
	while (rc == 0 && !*out) {
		rc = tkb_dir_next(dir, &item, &fault);
		*out = rc == 0 &&
		       strncmp(item->d_name, prefix, strlen(prefix)) == 0 &&
		       is_young(dirfd(dir), item->d_name);
	}
	if (rc < 0 && err != NULL)
		*err = fault;
	return rc < 0 ? rc : 0;
}

/*
 * After a power failure a text may be cut short, or nothing but zero bytes. A
 * compiler ends each with a line break.
 */
static bool looks_written(const char *name, struct tkb_bytes bytes)
{
	if (bytes.size == 0)
		return false;
	if (!tkb_name_is_lean_drop(name))
		return true;
	return ((const char *)bytes.data)[bytes.size - 1] == '\n' &&
	       memchr(bytes.data, '\0', bytes.size) == NULL;
}

/* The files that tkb_scanned_entry_load() only looked at. */
static int check_rest(struct tkb_loader *loader,
                      const struct tkb_scanned_entry *found, bool is_trusted,
                      struct tkb_error *err)
{
	int rc;

	for (size_t i = 0; i < found->entry.file_count; i++) {
		const char *name = found->files[i].name;
		struct tkb_bytes bytes;

		if (found->found[i].bytes.data != NULL ||
		    (is_trusted && tkb_name_is_lean_drop(name)))
			continue;
		rc = tkb_scanned_entry_read(loader, found, i, &bytes, err);
		if (rc < 0)
			return rc;
		if (!looks_written(name, bytes))
			return tkb_fail_entry(err, TKB_REASON_BINARY,
			                      "'%s' was never written", name);
	}
	return 0;
}

int tkb_entry_state_inspect(struct tkb_loader *loader,
                            const struct tkb_root *root, const char *key,
                            enum tkb_kind kind, bool is_trusted,
                            enum tkb_entry_state *out, struct tkb_error *err)
{
	struct tkb_error fault = { 0 };
	struct tkb_scanned_entry found = { 0 };
	bool has_writer = false;
	int rc;

	rc = tkb_scanned_entry_load(loader, root, key, &found, &fault);
	if (rc == 0 && found.entry.kind == kind &&
	    tkb_platform_fits(found.entry.platform)) {
		rc = check_rest(loader, &found, is_trusted, &fault);
		if (rc == 0) {
			*out = found.is_moved ? TKB_ENTRY_STATE_MOVED
			                      : TKB_ENTRY_STATE_PRESENT;
			return 0;
		}
	}
	if (rc < 0 && !tkb_failure_is_of_entry(rc, &fault)) {
		if (err != NULL)
			*err = fault;
		return rc;
	}
	rc = tkb_entry_state_has_writer(root, key, &has_writer, err);
	*out = has_writer ? TKB_ENTRY_STATE_BUSY : TKB_ENTRY_STATE_BROKEN;
	return rc;
}

static int look(const struct spot *spot, enum tkb_entry_state *out,
                struct tkb_error *err)
{
	bool same = false;
	int rc;

	rc = is_same(spot, &same, err);
	if (rc < 0)
		return rc;
	if (!same)
		return tkb_entry_state_inspect(
			spot->loader, spot->root, spot->entry->key,
			spot->entry->kind, spot->is_trusted, out, err);
	if (!spot->is_trusted) {
		rc = has_all_bytes(spot, &same, err);
		if (rc < 0)
			return rc;
	}
	*out = same ? TKB_ENTRY_STATE_PRESENT : TKB_ENTRY_STATE_BROKEN;
	return 0;
}

int tkb_entry_state_look(struct tkb_loader *loader, const struct tkb_root *root,
                         const struct tkb_entry *entry, bool is_trusted,
                         enum tkb_entry_state *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int folder = -1;
	struct tkb_buf *place = &loader->place;
	struct spot spot = { .loader = loader,
		             .root = root,
		             .entry = entry,
		             .is_trusted = is_trusted };
	int rc;

	folder = tkb_fd_open(root->fd, entry->key,
	                     O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	if (folder < 0 && errno == ENOENT) {
		*out = TKB_ENTRY_STATE_ABSENT;
		return 0;
	}
	if (folder < 0 && (errno == ENOTDIR || errno == ELOOP)) {
		*out = TKB_ENTRY_STATE_UNSAFE;
		return 0;
	}
	if (folder < 0)
		return tkb_fail_errno(err, "cannot look at '%s/%s'", root->path,
		                      entry->key);
	tkb_buf_reset(place);
	rc = tkb_root_place(root, entry->key, place, err);
	if (rc < 0)
		return rc;
	spot.place = tkb_buf_bytes(place);
	spot.folder = folder;
	return look(&spot, out, err);
}
