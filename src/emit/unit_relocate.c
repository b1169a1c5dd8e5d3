/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/unit_relocate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "cache/names.h"
#include "emit/unit.h"
#include "tree/moved.h"
#include "tree/unit.h"

/* A unit, and the folder that contains its files. */
struct place {
	const struct tkb_destination *to;
	struct tkb_loader *loader;
	int fd; /* owned */
};

static void place_close(struct place *place)
{
	tkb_fd_close_at(&place->fd);
}

static int open_place(struct place *place, struct tkb_error *err)
{
	const struct tkb_entry *unit = place->to->entry;
	const struct tkb_root *root = place->to->stage->root;
	const char *name = NULL;
	int parent;

	if (tkb_unit_is_file(unit)) {
		place->fd =
			tkb_fd_open(root->fd, ".", O_RDONLY | O_DIRECTORY, 0);
	} else {
		parent = tkb_unit_find_parent(
			&place->loader->parent, root->fd, NULL,
			tkb_unit_names_here(root->names, unit->name, NULL),
			&name);
		if (parent >= 0)
			place->fd = tkb_fd_open_folder(parent, name);
	}
	return place->fd < 0 ? tkb_destination_fail(place->to, unit->name, err)
	                     : 0;
}

/* The name in the stage of file `index` of the unit. */
static void format_staged(const struct place *place, size_t index,
                          char out[2 * TKB_STAGE_NUMBER_SIZE])
{
	(void)snprintf(out, 2 * TKB_STAGE_NUMBER_SIZE, "%zu-%zu",
	               place->to->number, index);
}

/*
 * Give a file the owner and mode of another one. SMB and object stores may
 * refuse that, but there, all files have the same anyway.
 */
static int give_rights(int fd, const struct stat *other)
{
	struct stat own;

	if (fstat(fd, &own) < 0)
		return -1;
	/* Only root can change a file's owner. */
	if (geteuid() == 0 &&
	    (own.st_uid != other->st_uid || own.st_gid != other->st_gid) &&
	    fchown(fd, other->st_uid, other->st_gid) < 0)
		return -1;
	return own.st_mode == other->st_mode
	               ? 0
	               : fchmod(fd, other->st_mode & 07777);
}

/*
 * Write the loader's text to the stage, to replace the file with `status`. The
 * text may have secrets, so the new file never has more permissions than the
 * old one. It also keeps that file's times, because some engines compare them.
 */
static int stage_text(const struct place *place, size_t index,
                      const struct stat *status, struct tkb_error *err)
{
	const struct timespec times[] = { status->st_atim, status->st_mtim };
	const char *name = place->to->entry->files[index].name;
	char staged[2 * TKB_STAGE_NUMBER_SIZE];
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	int closing;
	int rc;

	format_staged(place, index, staged);
	fd = tkb_fd_open(tkb_stage_part(place->to->stage, place->to->number),
	                 staged, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
	                 0600);
	if (fd < 0)
		return tkb_destination_fail(place->to, name, err);
	rc = tkb_fd_write_all(fd, tkb_buf_bytes(&place->loader->text), name,
	                      err);
	if (rc < 0)
		return rc;
	if (give_rights(fd, status) < 0 || futimens(fd, times) < 0)
		return tkb_destination_fail(place->to, name, err);
	/* On NFS or with quotas, close() may be the first call to fail. */
	closing = fd;
	fd = -1;
	return close(closing) < 0 ? tkb_destination_fail(place->to, name, err)
	                          : 0;
}

/*
 * If file `index` names the tree's old root, write its replacement to the
 * stage. `*status` is the status of the old file when it was read.
 */
static int stage_file(const struct place *place, size_t index,
                      struct stat *status, bool *is_staged,
                      struct tkb_error *err)
{
	const struct tkb_entry *unit = place->to->entry;
	const struct tkb_file *file = &unit->files[index];
	const struct tkb_text_place at = { .tree = unit->tree,
		                           .folder = unit->folder };
	struct tkb_loader *loader = place->loader;
	uint32_t sentinels = 0;
	int rc;

	*is_staged = false;
	if (file->sentinels == 0)
		return 0;
	tkb_buf_reset(&loader->scratch);
	tkb_buf_reset(&loader->group);
	tkb_buf_reset(&loader->text);
	rc = tkb_fd_read_file(place->fd, file->name, TKB_FILE_SIZE_LIMIT,
	                      &loader->scratch, status, err);
	if (rc == 0)
		rc = tkb_moved_scrub(tkb_buf_bytes(&loader->scratch),
		                     file->style, &at, loader->named,
		                     loader->named_count, &loader->group,
		                     &sentinels, is_staged, err);
	if (rc == 0 && *is_staged)
		rc = tkb_paths_restore(tkb_buf_bytes(&loader->group),
		                       file->style, loader->named,
		                       loader->named_count, sentinels,
		                       &loader->text, err);
	if (rc == TKB_ERR_CORRUPT)
		return tkb_fail_while(err, rc, "'%s'", file->name);
	return rc < 0 || !*is_staged ? rc
	                             : stage_text(place, index, status, err);
}

/* Replace the file, unless an engine has rewritten it since it was read. */
static int publish_file(const struct place *place, size_t index,
                        const struct stat *status, struct tkb_error *err)
{
	const struct tkb_stamp stamp = tkb_stamp_of(status);
	const char *name = place->to->entry->files[index].name;
	char staged[2 * TKB_STAGE_NUMBER_SIZE];
	struct stat now;

	format_staged(place, index, staged);
	if (fstatat(place->fd, name, &now, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !tkb_stamp_is_of(&stamp, &now))
		return tkb_fail_entry(err, TKB_REASON_BUSY,
		                      "'%s' was changed meanwhile", name);
	return renameat(tkb_stage_part(place->to->stage, place->to->number),
	                staged, place->fd, name) == 0
	               ? 0
	               : tkb_destination_fail(place->to, name, err);
}

/* Is a file's replacement staged, and which status had the file when read? */
struct staged {
	bool is_staged;
	struct stat status;
};

static int replace_texts(const struct place *place, struct staged *staged,
                         struct tkb_error *err)
{
	const struct tkb_entry *unit = place->to->entry;
	const size_t count = unit->file_count;
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++)
		rc = stage_file(place, i, &staged[i].status,
		                &staged[i].is_staged, err);
	for (size_t i = 0; i < 2 * count && rc == 0; i++) {
		const size_t file = i % count;

		if (staged[file].is_staged &&
		    unit->files[file].is_last == (i >= count))
			rc = publish_file(place, file, &staged[file].status,
			                  err);
	}
	return rc;
}

/* If a unit still has the name from its bundle, give it its name here. */
static int rename_unit(const struct place *place, struct tkb_error *err)
{
	const struct tkb_root *root = place->to->stage->root;
	const struct tkb_entry *unit = place->to->entry;
	struct tkb_loader *loader = place->loader;
	char path[TKB_UNIT_PATH_LIMIT + 1];
	struct stat status;
	bool is_stale;
	int rc;

	(void)tkb_unit_names_here(root->names, unit->name, &is_stale);
	if (!is_stale)
		return 0;
	tkb_buf_reset(&loader->scratch);
	rc = tkb_fd_read_file(place->fd, TKB_UNIT_CODE, TKB_FILE_SIZE_LIMIT,
	                      &loader->scratch, &status, err);
	if (rc < 0)
		return rc;
	tkb_unit_names_find(root->names, unit->name,
	                    tkb_buf_bytes(&loader->scratch), path,
	                    sizeof(path));
	/* A folder replaces nothing but an empty one. NFS lacks renameat2(). */
	return renameat(root->fd, unit->name, root->fd, path) == 0 ||
	                       errno == EEXIST || errno == ENOTEMPTY ||
	                       errno == ENOTDIR
	               ? 0
	               : tkb_destination_fail(place->to, unit->name, err);
}

int tkb_unit_relocate(const struct tkb_destination *to,
                      struct tkb_loader *loader, struct tkb_error *err)
{
	TKB_AUTO(place_close)
	struct place place = { .to = to, .loader = loader, .fd = -1 };
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;
	TKB_AUTO(tkb_free_at)
	struct staged *staged =
		tkb_alloc_array(to->entry->file_count, sizeof(*staged));
	int rc;

	if (staged == NULL)
		return tkb_fail_nomem(err);
	if (tkb_stage_lock(to->stage, &lock, err) == TKB_ERR_CANCELLED)
		return TKB_ERR_CANCELLED;
	rc = open_place(&place, err);
	if (rc == 0)
		rc = replace_texts(&place, staged, err);
	return rc < 0 ? rc : rename_unit(&place, err);
}
