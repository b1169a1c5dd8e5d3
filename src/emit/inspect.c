/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "base/fd.h"
#include "cache/elf.h"
#include "cache/kernel.h"
#include "cache/names.h"

enum {
	YOUNG_S = 600 /* no compile takes longer */
};

/* The folder to which an entry goes. */
struct folder {
	struct tkb_loader *loader;
	const struct tkb_entry *entry;
	int fd;
	struct tkb_bytes place; /* its path, escaped as in a group file */
};

/* The size of `file` once its sentinels are replaced. */
static uint64_t restored_size(const struct folder *at,
                              const struct tkb_file *file)
{
	return file->size - file->sentinels * strlen(TKB_SENTINEL) +
	       file->sentinels * at->place.size;
}

/*
 * Append `text` with the sentinel in place of each `place`. If the text
 * contains that path by chance, its digest differs, and the entry is loaded and
 * read.
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

/* Does the folder have this file, byte for byte? No if it cannot be read. */
static int has_bytes(const struct folder *at, const struct tkb_file *file,
                     bool *out, struct tkb_error *err)
{
	struct tkb_buf *scratch = &at->loader->scratch;
	struct tkb_buf *text = &at->loader->text;
	struct tkb_error fault = { 0 };
	struct tkb_digest digest;
	struct stat status;
	int rc;

	*out = false;
	tkb_buf_reset(scratch);
	rc = tkb_fd_read_file(at->fd, file->name, TKB_FILE_SIZE_LIMIT, scratch,
	                      &status, &fault);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (rc < 0 || scratch->size != restored_size(at, file))
		return 0;

	tkb_buf_reset(text);
	if (file->sentinels != 0)
		put_sentinels(tkb_buf_bytes(scratch), at->place, text);
	rc = tkb_buf_check(text, err);
	if (rc < 0)
		return rc;
	rc = tkb_hasher_digest(
		&at->loader->hasher,
		tkb_buf_bytes(file->sentinels != 0 ? text : scratch), &digest,
		err);
	if (rc < 0)
		return rc;
	*out = tkb_digest_equal(&digest, &file->digest);
	return 0;
}

static bool has_size(const struct folder *at, const struct tkb_file *file)
{
	struct stat status;

	return fstatat(at->fd, file->name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(status.st_mode) &&
	       (uint64_t)status.st_size == restored_size(at, file);
}

/* Compare the group file's bytes, and the other files' sizes. */
static int looks_same(const struct folder *at, bool *out, struct tkb_error *err)
{
	const struct tkb_entry *entry = at->entry;
	const size_t group = tkb_kernel_group_index(entry);
	int rc;

	*out = true;
	if (group != entry->file_count) {
		rc = has_bytes(at, &entry->files[group], out, err);
		if (rc < 0 || !*out)
			return rc;
	}
	for (size_t i = 0; i < entry->file_count && *out; i++) {
		if (i != group)
			*out = has_size(at, &entry->files[i]);
	}
	return 0;
}

/* Compare the bytes of the other files too. */
static int has_all_bytes(const struct folder *at, bool *out,
                         struct tkb_error *err)
{
	const size_t group = tkb_kernel_group_index(at->entry);
	int rc;

	*out = true;
	for (size_t i = 0; i < at->entry->file_count && *out; i++) {
		if (i == group)
			continue;
		rc = has_bytes(at, &at->entry->files[i], out, err);
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

int tkb_inspect_writer(const struct tkb_root *root, const char *key,
                       bool *has_writer_out, struct tkb_error *err)
{
	static const char prefix[] = "tmp.pid_";
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item = NULL;
	struct tkb_error fault = { 0 };
	int rc;

	*has_writer_out = false;
	rc = tkb_dir_open(root->fd, key, &dir, &fault);
	if (rc == TKB_ERR_IO &&
	    (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return 0;
	while (rc == 0 && !*has_writer_out) {
		rc = tkb_dir_next(dir, &item, &fault);
		*has_writer_out = rc == 0 &&
		                  tkb_begins_with(item->d_name, prefix) &&
		                  is_young(dirfd(dir), item->d_name);
	}
	if (rc < 0 && err != NULL)
		*err = fault;
	return rc < 0 ? rc : 0;
}

/*
 * Read the files. A compiler ends each text with a line break. If there is
 * none, a power failure may have cut the text short, so an emit writes it
 * again. Callers that cannot write the file pass `is_trusted` and count it as
 * whole: the compiler may have written it so.
 */
static int read_files(struct tkb_loader *loader,
                      const struct tkb_scanned_entry *found, bool is_trusted,
                      struct tkb_error *err)
{
	for (size_t i = 0; i < found->entry.file_count; i++) {
		const char *name = found->files[i].name;
		const bool is_text = tkb_name_is_lean_drop(name);
		struct tkb_bytes bytes;
		int rc;

		if (is_trusted && is_text)
			continue;
		rc = tkb_scanned_entry_read(loader, found, i, &bytes, err);
		if (rc < 0)
			return rc;
		if (is_text &&
		    (bytes.size == 0 ||
		     ((const char *)bytes.data)[bytes.size - 1] != '\n'))
			return tkb_fail_entry(err, TKB_REASON_BINARY,
			                      "'%s' is cut short", name);
	}
	return 0;
}

int tkb_inspect_entry(struct tkb_loader *loader, const struct tkb_root *root,
                      const char *key, enum tkb_kind kind, bool is_trusted,
                      enum tkb_entry_state *out, struct tkb_error *err)
{
	struct tkb_error fault = { 0 };
	struct tkb_scanned_entry found = { 0 };
	bool has_writer = false;
	int rc;

	rc = tkb_scanned_entry_load(loader, root, key, &found, &fault);
	if (rc == 0 && found.entry.kind == kind &&
	    tkb_platform_fits(found.entry.platform, &loader->here)) {
		rc = read_files(loader, &found, is_trusted, &fault);
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
	rc = tkb_inspect_writer(root, key, &has_writer, err);
	*out = has_writer ? TKB_ENTRY_STATE_BUSY : TKB_ENTRY_STATE_BROKEN;
	return rc;
}

static int compare_folder(const struct folder *at, const struct tkb_root *root,
                          bool is_trusted, enum tkb_entry_state *out,
                          struct tkb_error *err)
{
	bool same = false;
	int rc;

	rc = looks_same(at, &same, err);
	if (rc < 0)
		return rc;
	if (!same)
		return tkb_inspect_entry(at->loader, root, at->entry->key,
		                         at->entry->kind, is_trusted, out, err);
	if (!is_trusted) {
		rc = has_all_bytes(at, &same, err);
		if (rc < 0)
			return rc;
	}
	*out = same ? TKB_ENTRY_STATE_PRESENT : TKB_ENTRY_STATE_BROKEN;
	return 0;
}

int tkb_inspect_unopened(const struct tkb_root *root, const char *name,
                         enum tkb_entry_state *out, struct tkb_error *err)
{
	if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
		return tkb_fail_errno(err, "cannot look at '%s/%s'", root->path,
		                      name);
	*out = errno == ENOENT ? TKB_ENTRY_STATE_ABSENT
	                       : TKB_ENTRY_STATE_UNSAFE;
	return 0;
}

int tkb_inspect_destination(struct tkb_loader *loader,
                            const struct tkb_root *root,
                            const struct tkb_entry *entry, bool is_trusted,
                            enum tkb_entry_state *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int folder = -1;
	struct folder at = { .loader = loader, .entry = entry };
	int rc;

	if (entry->kind == TKB_KIND_UNIT)
		return tkb_inspect_unit(loader, root, entry, is_trusted, out,
		                        err);
	/* A path in this folder is cheaper to look up than one in the root. */
	folder = tkb_fd_open(root->fd, entry->key,
	                     O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	if (folder < 0)
		return tkb_inspect_unopened(root, entry->key, out, err);
	tkb_buf_reset(&loader->place);
	rc = tkb_root_place(root, entry->key, &loader->place, err);
	if (rc < 0)
		return rc;
	at.fd = folder;
	at.place = tkb_buf_bytes(&loader->place);
	return compare_folder(&at, root, is_trusted, out, err);
}
