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
	return tkb_fd_open(to->stage->fd, name,
	                   O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
}

/* The bytes of file `index` as they are to lie in the root. */
static int restore(const struct tkb_destination *to, struct tkb_loader *loader,
                   size_t index, struct tkb_bytes packed, struct tkb_bytes *out,
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

/* Link file `index` from folder `from` to `dir`, if it holds no path. */
static bool link_file(const struct tkb_destination *to, size_t index, int from,
                      int dir)
{
	const struct tkb_file *file = &to->entry->files[index];

	return from >= 0 && file->sentinels == 0 &&
	       !tkb_name_is_group(file->name) &&
	       linkat(from, file->name, dir, file->name, 0) == 0;
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
	char name[TKB_STAGE_NUMBER_SIZE];
	int rc;

	tkb_buf_reset(&loader->place);
	rc = tkb_root_place(to->stage->root, entry->key, &loader->place, err);
	if (rc < 0)
		return rc;
	tkb_stage_format_number(to->number, name);
	dir = tkb_share_make_folder(&to->stage->share, to->stage->fd, name);
	if (dir < 0)
		return tkb_destination_fail(to, entry->key, err);
	if (written != NULL &&
	    tkb_share_equal(&written->stage->share, &to->stage->share))
		from = tkb_destination_open_written(written);

	*size_out = 0;
	for (size_t i = 0; i < entry->file_count; i++) {
		struct tkb_bytes bytes;

		if (link_file(to, i, from, dir))
			continue;
		rc = restore(to, loader, i, files[i], &bytes, err);
		if (rc < 0)
			return rc;
		rc = tkb_stage_write_file(to->stage, dir, entry->files[i].name,
		                          bytes, err);
		if (rc < 0)
			return rc;
		*size_out += bytes.size;
	}
	return 0;
}
