/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/destination.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "cache/kernel.h"
#include "cache/names.h"
#include "cache/scrub.h"

int tkb_destination_fail(const struct tkb_destination *to, const char *name,
                         struct tkb_error *err)
{
	return tkb_fail_errno(err, "cannot write '%s' in '%s'", name,
	                      to->stage->root->path);
}

int tkb_destination_open_written(const struct tkb_destination *to)
{
	char name[TKB_STAGE_NUMBER_SIZE];

	tkb_stage_format_number(to->number, name);
	return tkb_fd_open_folder(tkb_stage_part(to->stage, to->number), name);
}

/* Restore the paths in file `index`, which gives the bytes for the root. */
static int restore_file(const struct tkb_destination *to,
                        struct tkb_loader *loader, size_t index,
                        struct tkb_bytes packed, struct tkb_bytes *out,
                        struct tkb_error *err)
{
	const struct tkb_file *file = &to->entry->files[index];
	const struct tkb_bytes place = tkb_buf_bytes(&loader->place);
	int rc;

	*out = packed;
	if (file->sentinels != 0) {
		tkb_buf_reset(&loader->text);
		rc = tkb_restore(packed, file->name, place, file->sentinels,
		                 &loader->text, err);
		if (rc < 0)
			return rc;
		*out = tkb_buf_bytes(&loader->text);
	}
	if (!tkb_name_is_group(file->name))
		return 0;
	tkb_arena_release(&loader->arena);
	return tkb_kernel_check_group(to->entry, *out, place, &loader->arena,
	                              err);
}

/*
 * Try to hard-link file `index` from folder `from` into `dir`. A file with
 * paths is not linked.
 */
static bool link_file(const struct tkb_destination *to, size_t index, int from,
                      int dir)
{
	const struct tkb_file *file = &to->entry->files[index];

	return from >= 0 && file->sentinels == 0 &&
	       !tkb_name_is_group(file->name) &&
	       linkat(from, file->name, dir, file->name, 0) == 0;
}

/* Make the entry's folder in the stage. The loader keeps its final path. */
static int begin_staged_entry(const struct tkb_destination *to,
                              struct tkb_loader *loader, int *dir_out,
                              struct tkb_error *err)
{
	const char *key = to->entry->key;
	char name[TKB_STAGE_NUMBER_SIZE];
	int rc;

	tkb_buf_reset(&loader->place);
	rc = tkb_root_place(to->stage->root, key, &loader->place, err);
	if (rc < 0)
		return rc;
	tkb_stage_format_number(to->number, name);
	*dir_out = tkb_share_make_folder(
		&to->stage->share, tkb_stage_part(to->stage, to->number), name);
	return *dir_out < 0 ? tkb_destination_fail(to, key, err) : 0;
}

/* The entry is written, or `rc` says that it is not: others get the room it took. */
static int end_staged_entry(const struct tkb_destination *to, int dir, int rc)
{
	const struct tkb_entry *entry = to->entry;

	for (size_t i = 0; i < entry->file_count && rc < 0; i++)
		(void)unlinkat(dir, entry->files[i].name, 0);
	return rc;
}

/* Write file `index`, whose bytes in the bundle are `packed`. */
static int put_file(const struct tkb_destination *to, struct tkb_loader *loader,
                    size_t index, struct tkb_bytes packed, int dir,
                    uint64_t *size, struct tkb_error *err)
{
	struct tkb_bytes bytes;
	int rc;

	rc = restore_file(to, loader, index, packed, &bytes, err);
	if (rc < 0)
		return rc;
	*size += bytes.size;
	return tkb_stage_write_file(to->stage, dir,
	                            to->entry->files[index].name, bytes, err);
}

int tkb_destination_write(const struct tkb_destination *to,
                          struct tkb_loader *loader,
                          const struct tkb_bytes *files,
                          const struct tkb_destination *written,
                          uint64_t *size_out, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int dir = -1;
	TKB_AUTO(tkb_fd_close_at) int from = -1;
	const struct tkb_entry *entry = to->entry;
	int rc;

	rc = begin_staged_entry(to, loader, &dir, err);
	if (rc < 0)
		return rc;
	if (written != NULL &&
	    tkb_share_equal(&written->stage->share, &to->stage->share))
		from = tkb_destination_open_written(written);

	*size_out = 0;
	for (size_t i = 0; i < entry->file_count && rc == 0; i++) {
		if (!link_file(to, i, from, dir))
			rc = put_file(to, loader, i, files[i], dir, size_out,
			              err);
	}
	return end_staged_entry(to, dir, rc);
}

static int link_or_copy(const struct tkb_destination *to,
                        struct tkb_loader *loader,
                        const struct tkb_scanned_entry *found, size_t index,
                        int from, int dir, struct tkb_error *err)
{
	const char *name = found->files[index].name;
	struct tkb_bytes bytes;
	struct stat status;
	uint64_t size = 0;
	int rc;

	if (link_file(to, index, from, dir)) {
		if (fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    tkb_stamp_is_of(&found->loaded[index].stamp, &status))
			return 0;
		return tkb_fail_entry(err, TKB_REASON_BUSY,
		                      "'%s' changed while it was linked", name);
	}
	rc = tkb_scanned_entry_read(loader, found, index, &bytes, err);
	if (rc < 0)
		return rc;
	return put_file(to, loader, index, bytes, dir, &size, err);
}

int tkb_destination_link(const struct tkb_destination *to,
                         struct tkb_loader *loader,
                         const struct tkb_scanned_entry *found,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int dir = -1;
	TKB_AUTO(tkb_fd_close_at) int from = -1;
	struct tkb_share share;
	int rc;

	rc = tkb_scanned_entry_check(loader, found, err);
	if (rc == 0)
		rc = begin_staged_entry(to, loader, &dir, err);
	if (rc < 0)
		return rc;
	tkb_share_of(found->root->fd, &share);
	if (tkb_share_equal(&share, &to->stage->share))
		from = tkb_fd_open_folder(found->root->fd, found->entry.key);
	for (size_t i = 0; i < found->entry.file_count && rc == 0; i++)
		rc = link_or_copy(to, loader, found, i, from, dir, err);
	return end_staged_entry(to, dir, rc);
}
