/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "cache/names.h"
#include "ninja/record.h"
#include "tree/unit.h"

enum {
	PATH_SIZE = 4096
};

/*
 * Find the way to a unit
 */

/*
 * Open the parent folder of `path`. If it does not exist, go through its parts
 * one by one: that makes missing folders, or finds out what is wrong.
 */
static int open_parent(int root_fd, const struct tkb_share *share,
                       const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[TKB_UNIT_PATH_LIMIT + 1];
	int fd;

	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path),
	               path);
	fd = tkb_fd_open_below(root_fd, folder, O_RDONLY | O_DIRECTORY);
	if (fd >= 0 || (errno == ENOENT && share == NULL))
		return fd;
	fd = tkb_fd_open(root_fd, ".", O_RDONLY | O_DIRECTORY, 0);
	while (fd >= 0 && (slash = strchr(path, '/')) != NULL) {
		TKB_AUTO(tkb_fd_close_at) int parent = fd;
		char name[TKB_UNIT_PATH_LIMIT + 1];
		const size_t length = (size_t)(slash - path);

		memcpy(name, path, length);
		name[length] = '\0';
		fd = tkb_share_open_folder(share, parent, name);
		path = slash + 1;
	}
	return fd;
}

int tkb_unit_find_parent(struct tkb_unit_parent *parent, int root_fd,
                         const struct tkb_share *share, const char *path,
                         const char **name_out)
{
	const char *slash = strrchr(path, '/');
	int fd;

	*name_out = slash == NULL ? path : slash + 1;
	if (slash == NULL)
		return root_fd;
	if (tkb_unit_parent_holds(parent, root_fd, path) &&
	    (parent->fd >= 0 || share == NULL)) {
		errno = ENOENT;
		return parent->fd;
	}
	fd = open_parent(root_fd, share, path);
	if (fd >= 0 || errno == ENOENT)
		tkb_unit_parent_set(parent, root_fd, fd, path);
	return fd;
}

/*
 * Write
 */

/* Make the folders for file `name` of a unit, in the stage's folder `dir`. */
static int make_folders(const struct tkb_destination *to, int dir,
                        const char *name, struct tkb_error *err)
{
	const int fd = open_parent(dir, &to->stage->share, name);

	if (fd < 0)
		return tkb_destination_fail(to, name, err);
	(void)close(fd);
	return 0;
}

/* Allow everybody who may read the file to execute it. */
static int make_executable(const struct tkb_destination *to, int dir,
                           const char *name, struct tkb_error *err)
{
	struct stat status;
	mode_t wanted;

	if (fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return tkb_destination_fail(to, name, err);
	wanted = status.st_mode | (status.st_mode & 0444) >> 2;
	if (wanted != status.st_mode &&
	    fchmodat(dir, name, wanted & 07777, 0) < 0)
		return tkb_destination_fail(to, name, err);
	return 0;
}

/* Write `file` as `name` in `dir`, a folder of the stage. */
static int write_staged(const struct tkb_destination *to,
                        struct tkb_loader *loader, const struct tkb_file *file,
                        struct tkb_bytes bytes, int dir, const char *name,
                        uint64_t *size, struct tkb_error *err)
{
	int rc = 0;

	if (file->sentinels != 0) {
		tkb_buf_reset(&loader->text);
		rc = tkb_paths_restore(bytes, file->style, loader->named,
		                       loader->named_count, file->sentinels,
		                       &loader->text, err);
		bytes = tkb_buf_bytes(&loader->text);
		/* An input of the build is missing here, or differs. */
		if (rc == TKB_ERR_CORRUPT && tkb_unit_record(to->entry) != NULL)
			err->reason = TKB_REASON_INPUTS;
	}
	if (rc == 0 && strchr(name, '/') != NULL)
		rc = make_folders(to, dir, name, err);
	if (rc == 0)
		rc = tkb_stage_write_file(to->stage, dir, name, bytes, err);
	if (rc == 0 && file->is_executable)
		rc = make_executable(to, dir, name, err);
	*size += bytes.size;
	return rc;
}

/* A unit's file or folder in the stage. */
struct staged {
	int folder; /* not owned; -1: it cannot be opened */
	char name[TKB_STAGE_NUMBER_SIZE + TKB_UNIT_PATH_LIMIT];
};

static void find_staged(const struct tkb_destination *to,
                        struct tkb_loader *loader, struct staged *out)
{
	const char *path = to->entry->name;
	const char *name;

	tkb_stage_format_number(to->number, out->name);
	out->folder = tkb_stage_part(to->stage, to->number);
	if (!to->has_siblings)
		return;
	(void)snprintf(out->name + strlen(out->name), TKB_UNIT_PATH_LIMIT, "%s",
	               strrchr(path, '/'));
	out->folder = tkb_unit_find_parent(&loader->staged, out->folder,
	                                   &to->stage->share, out->name, &name);
	memmove(out->name, name, strlen(name) + 1);
}

bool tkb_unit_begin_siblings(const struct tkb_destination *to,
                             struct tkb_loader *loader)
{
	const int part = tkb_stage_part(to->stage, to->number);
	char name[TKB_STAGE_NUMBER_SIZE];
	char path[TKB_STAGE_NUMBER_SIZE + sizeof("/")];
	int fd;

	tkb_stage_format_number(to->number, name);
	fd = tkb_share_make_folder(&to->stage->share, part, name);
	if (fd < 0)
		return false;
	(void)snprintf(path, sizeof(path), "%s/", name);
	tkb_unit_parent_set(&loader->staged, part, fd, path);
	return true;
}

/* If that fails, others get the room that it took. */
int tkb_unit_write(const struct tkb_destination *to, struct tkb_loader *loader,
                   const struct tkb_bytes *files, uint64_t *size_out,
                   struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int dir = -1;
	const struct tkb_entry *unit = to->entry;
	struct staged staged;
	int rc = 0;

	*size_out = 0;
	find_staged(to, loader, &staged);
	if (staged.folder < 0)
		return tkb_destination_fail(to, unit->name, err);
	if (tkb_unit_is_file(unit)) {
		rc = write_staged(to, loader, unit->files, files[0],
		                  staged.folder, staged.name, size_out, err);
		if (rc < 0)
			(void)unlinkat(staged.folder, staged.name, 0);
		return rc;
	}
	dir = tkb_share_make_folder(&to->stage->share, staged.folder,
	                            staged.name);
	if (dir < 0)
		return tkb_destination_fail(to, unit->name, err);
	for (size_t i = 0; i < unit->file_count && rc == 0; i++)
		rc = write_staged(to, loader, &unit->files[i], files[i], dir,
		                  unit->files[i].name, size_out, err);
	for (size_t i = 0; i < unit->file_count && rc < 0; i++)
		(void)unlinkat(dir, unit->files[i].name, 0);
	return rc;
}

/*
 * Commit
 */

static int move_file(const struct tkb_destination *to, int from, int dir,
                     const char *name, struct tkb_error *err)
{
	const char *slash = strrchr(name, '/');
	TKB_AUTO(tkb_fd_close_at) int folder = -1;

	if (slash != NULL) {
		folder = open_parent(dir, &to->stage->share, name);
		if (folder < 0)
			return tkb_destination_fail(to, name, err);
	}
	return renameat(from, name, slash != NULL ? folder : dir,
	                slash != NULL ? slash + 1 : name) == 0
	               ? 0
	               : tkb_destination_fail(to, name, err);
}

/* ninja's record was written as two files: the log and the dependencies. */
static int move_logs(const struct tkb_destination *to, int from, int dir,
                     struct tkb_error *err)
{
	if (renameat(from, TKB_NINJA_DEPS, dir, TKB_NINJA_DEPS) < 0 &&
	    (errno != ENOENT ||
	     (unlinkat(dir, TKB_NINJA_DEPS, 0) < 0 && errno != ENOENT)))
		return tkb_destination_fail(to, TKB_NINJA_DEPS, err);
	return move_file(to, from, dir, TKB_NINJA_LOG, err);
}

/*
 * Move a unit's files into place. Files that name others are removed first, and
 * written last.
 */
static int move_files(const struct tkb_destination *to,
                      const struct staged *staged, int parent, const char *name,
                      struct tkb_error *err)
{
	const struct tkb_entry *unit = to->entry;
	TKB_AUTO(tkb_fd_close_at)
	int from = tkb_fd_open_folder(staged->folder, staged->name);
	TKB_AUTO(tkb_fd_close_at)
	int dir = tkb_share_open_folder(&to->stage->share, parent, name);
	int rc = 0;

	if (from < 0 || dir < 0)
		return tkb_destination_fail(to, unit->name, err);
	for (size_t i = 0; i < unit->file_count; i++) {
		if (unit->files[i].is_last &&
		    unlinkat(dir, unit->files[i].name, 0) < 0 &&
		    errno != ENOENT)
			return tkb_destination_fail(to, unit->files[i].name,
			                            err);
	}
	for (size_t i = 0; i < 2 * unit->file_count && rc == 0; i++) {
		const struct tkb_file *file =
			&unit->files[i % unit->file_count];

		if (file->is_last != (i >= unit->file_count))
			continue;
		rc = file->style == TKB_PATH_STYLE_BUILD
		             ? move_logs(to, from, dir, err)
		             : move_file(to, from, dir, file->name, err);
	}
	return rc;
}

/* Fill the place of a unit. The root's lock is held. */
static int fill_unit(const struct tkb_destination *to,
                     const struct staged *staged, int parent, const char *name,
                     struct tkb_error *err)
{
	if (!tkb_unit_is_file(to->entry))
		return move_files(to, staged, parent, name, err);
	return renameat(staged->folder, staged->name, parent, name) == 0
	               ? 0
	               : tkb_destination_fail(to, to->entry->name, err);
}

/* Another process may have changed the unit: inspect again under the lock. */
static int commit_in_lock(const struct tkb_destination *to,
                          const struct staged *staged,
                          struct tkb_loader *loader, int parent,
                          const char *name, enum tkb_outcome *outcome,
                          struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;
	enum tkb_entry_state state = TKB_ENTRY_STATE_ABSENT;
	int rc;

	rc = tkb_stage_lock(to->stage, &lock, err);
	if (rc == 0)
		rc = tkb_inspect_unit(loader, to->stage->root, to->entry,
		                      to->stage->is_trusted, &state, err);
	if (rc < 0)
		return rc;
	if (state == TKB_ENTRY_STATE_PRESENT) {
		*outcome = TKB_OUTCOME_PRESENT;
		return 0;
	}
	if (state == TKB_ENTRY_STATE_UNSAFE)
		return tkb_fail_entry(err, TKB_REASON_UNSAFE,
		                      "something else is in the way of '%s/%s'",
		                      to->stage->root->path, to->entry->name);
	*outcome = state == TKB_ENTRY_STATE_ABSENT ? TKB_OUTCOME_EMITTED
	                                           : TKB_OUTCOME_REPAIRED;
	return fill_unit(to, staged, parent, name, err);
}

/* Write `bytes` as file `name` of the unit in the stage. */
static int replace_log(const struct tkb_destination *to, int dir,
                       const char *name, const struct tkb_buf *bytes,
                       struct tkb_error *err)
{
	if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
		return tkb_destination_fail(to, name, err);
	return bytes->size == 0
	               ? 0
	               : tkb_stage_write_file(to->stage, dir, name,
	                                      tkb_buf_bytes(bytes), err);
}

int tkb_unit_stamp(const struct tkb_destination *to, struct tkb_loader *loader,
                   struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int dir = tkb_destination_open_written(to);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf log = TKB_BUF_INIT(TKB_FILE_SIZE_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf deps = TKB_BUF_INIT(TKB_FILE_SIZE_LIMIT);
	char path[2 * PATH_SIZE];
	const struct tkb_ninja_place place = { .dir_fd = dir, .folder = path };
	struct stat status;
	int rc;

	if (dir < 0)
		return tkb_destination_fail(to, to->entry->name, err);
	if (snprintf(path, sizeof(path), "%s/%s", to->stage->root->path,
	             to->entry->folder) >= (int)sizeof(path))
		return tkb_fail_entry(err, TKB_REASON_LIMIT,
		                      "its path is too long");
	tkb_buf_reset(&loader->scratch);
	rc = tkb_fd_read_file(dir, TKB_NINJA_LOG, TKB_FILE_SIZE_LIMIT,
	                      &loader->scratch, &status, err);
	if (rc == 0)
		rc = tkb_ninja_record_apply(&place,
		                            tkb_buf_bytes(&loader->scratch),
		                            &loader->hasher, &log, &deps, err);
	if (rc == 0)
		rc = replace_log(to, dir, TKB_NINJA_LOG, &log, err);
	return rc < 0 ? rc : replace_log(to, dir, TKB_NINJA_DEPS, &deps, err);
}

bool tkb_unit_commit_siblings(const struct tkb_destination *to,
                              struct tkb_loader *loader)
{
	const struct tkb_stage *stage = to->stage;
	char path[TKB_UNIT_PATH_LIMIT + 1];
	char staged[TKB_STAGE_NUMBER_SIZE];
	const char *name = NULL;
	int parent;

	(void)snprintf(path, sizeof(path), "%.*s",
	               (int)tkb_path_parent_length(to->entry->name),
	               to->entry->name);
	tkb_stage_format_number(to->number, staged);
	parent = tkb_unit_find_parent(&loader->parent, stage->root->fd,
	                              &stage->share, path, &name);
	return parent >= 0 &&
	       renameat2(tkb_stage_part(to->stage, to->number), staged, parent,
	                 name, RENAME_NOREPLACE) == 0;
}

int tkb_unit_commit(const struct tkb_destination *to, struct tkb_loader *loader,
                    enum tkb_entry_state state, enum tkb_outcome *outcome,
                    struct tkb_error *err)
{
	struct tkb_stage *stage = to->stage;
	struct staged staged;
	const char *name = NULL;
	int parent;

	find_staged(to, loader, &staged);
	if (staged.folder < 0)
		return tkb_destination_fail(to, to->entry->name, err);
	if (state != TKB_ENTRY_STATE_ABSENT)
		tkb_unit_parent_close(&loader->parent);
	for (bool is_again = false;; is_again = true) {
		parent = tkb_unit_find_parent(&loader->parent, stage->root->fd,
		                              &stage->share, to->entry->name,
		                              &name);
		if (parent < 0)
			return tkb_destination_fail(to, to->entry->name, err);
		if (state != TKB_ENTRY_STATE_ABSENT ||
		    atomic_load(&stage->lacks_noreplace))
			break;
		if (renameat2(staged.folder, staged.name, parent, name,
		              RENAME_NOREPLACE) == 0) {
			*outcome = TKB_OUTCOME_EMITTED;
			return 0;
		}
		/* The remembered parent folder may have been removed: open
		   it again. */
		if (errno == ENOENT && !is_again) {
			tkb_unit_parent_close(&loader->parent);
			continue;
		}
		if (tkb_fd_lacks_noreplace(errno))
			atomic_store(&stage->lacks_noreplace, true);
		else if (errno != EEXIST && errno != ENOTEMPTY)
			return tkb_destination_fail(to, to->entry->name, err);
		break;
	}
	return commit_in_lock(to, &staged, loader, parent, name, outcome, err);
}
