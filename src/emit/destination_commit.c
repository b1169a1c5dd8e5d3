/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/destination.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "cache/kernel.h"
#include "cache/names.h"
#include "cache/scrub.h"

static int move_file(const struct tkb_destination *to, int from_fd, int to_fd,
                     const char *name, struct tkb_error *err)
{
	if (renameat(from_fd, name, to_fd, name) == 0)
		return 0;
	if (errno == EISDIR || errno == ENOTEMPTY || errno == EEXIST)
		return tkb_fail_entry(
			err, TKB_REASON_UNSAFE,
			"a folder has the name of file '%s' of '%s'", name,
			to->entry->key);
	return tkb_destination_fail(to, name, err);
}

/*
 * Replace every file: replacing only some would mix two compiles. The root's
 * lock is held.
 */
static int move_files(const struct tkb_destination *to, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int from_fd = -1;
	TKB_AUTO(tkb_fd_close_at) int to_fd = -1;
	const struct tkb_entry *entry = to->entry;
	const size_t group = tkb_kernel_group_index(entry);
	int rc;

	from_fd = tkb_destination_open_written(to);
	if (from_fd < 0)
		return tkb_destination_fail(to, entry->key, err);
	to_fd = tkb_share_open_folder(&to->stage->share, to->stage->root->fd,
	                              entry->key);
	if (to_fd < 0)
		return tkb_destination_fail(to, entry->key, err);

	if (group != entry->file_count &&
	    unlinkat(to_fd, entry->files[group].name, 0) < 0 && errno != ENOENT)
		return tkb_destination_fail(to, entry->files[group].name, err);
	for (size_t i = 0; i < entry->file_count; i++) {
		if (i == group)
			continue;
		rc = move_file(to, from_fd, to_fd, entry->files[i].name, err);
		if (rc < 0)
			return rc;
	}
	if (group == entry->file_count)
		return 0;
	return move_file(to, from_fd, to_fd, entry->files[group].name, err);
}

/* Write the group file with its present paths into the loader's text. */
static int rewrite_group(const struct tkb_destination *to,
                         struct tkb_loader *loader, int dir_fd,
                         const char *name, struct tkb_error *err)
{
	struct tkb_group group = { 0 };
	struct tkb_stamp stamp;
	uint32_t count;
	int rc;

	rc = tkb_scanned_entry_read_into(&loader->scratch, dir_fd, name,
	                                 TKB_FILE_SIZE_LIMIT, &stamp, err);
	if (rc < 0)
		return rc;
	tkb_arena_release(&loader->arena);
	rc = tkb_group_parse(tkb_buf_bytes(&loader->scratch), to->entry->key,
	                     &loader->arena, &group, err);
	if (rc < 0)
		return rc;
	tkb_buf_reset(&loader->place);
	rc = tkb_root_place(to->stage->root, to->entry->key, &loader->place,
	                    err);
	if (rc < 0)
		return rc;
	tkb_buf_reset(&loader->text);
	tkb_group_rewrite(&group, tkb_buf_bytes(&loader->place), false,
	                  &loader->text, &count);
	return tkb_buf_check(&loader->text, err);
}

/* The root's lock is held, so no gc removes the group file meanwhile. */
static int replace_group(const struct tkb_destination *to,
                         struct tkb_loader *loader, struct tkb_error *err)
{
	const int part = tkb_stage_part(to->stage, to->number);
	TKB_AUTO(tkb_fd_close_at) int dir = -1;
	const struct tkb_entry *entry = to->entry;
	const char *name = entry->files[tkb_kernel_group_index(entry)].name;
	char staged[sizeof("__grp__.json") + TKB_STAGE_NUMBER_SIZE];
	int rc;

	dir = tkb_fd_open_folder(to->stage->root->fd, entry->key);
	if (dir < 0)
		return tkb_destination_fail(to, entry->key, err);
	rc = rewrite_group(to, loader, dir, name, err);
	if (rc < 0)
		return rc;
	(void)snprintf(staged, sizeof(staged), "__grp__%zu.json", to->number);
	rc = tkb_stage_write_file(to->stage, part, staged,
	                          tkb_buf_bytes(&loader->text), err);
	if (rc < 0)
		return rc;
	if (renameat(part, staged, dir, name) < 0)
		return tkb_destination_fail(to, name, err);
	return 0;
}

int tkb_destination_relocate(const struct tkb_destination *to,
                             struct tkb_loader *loader, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;

	if (tkb_stage_lock(to->stage, &lock, err) == TKB_ERR_CANCELLED)
		return TKB_ERR_CANCELLED;
	return replace_group(to, loader, err);
}

/* Commit after the inspection under the root's lock, which is held. */
static int commit_in_lock(const struct tkb_destination *to,
                          struct tkb_loader *loader, enum tkb_entry_state state,
                          enum tkb_outcome *outcome, struct tkb_error *err)
{
	switch (state) {
	case TKB_ENTRY_STATE_PRESENT:
		*outcome = TKB_OUTCOME_PRESENT;
		return 0;
	case TKB_ENTRY_STATE_MOVED:
		*outcome = TKB_OUTCOME_REPAIRED;
		return replace_group(to, loader, err);
	case TKB_ENTRY_STATE_BUSY:
		*outcome = TKB_OUTCOME_SKIPPED;
		return 0;
	case TKB_ENTRY_STATE_UNSAFE:
		return tkb_fail_entry(err, TKB_REASON_UNSAFE,
		                      "'%s/%s' is not a folder",
		                      to->stage->root->path, to->entry->key);
	case TKB_ENTRY_STATE_ABSENT:
		*outcome = TKB_OUTCOME_EMITTED;
		return move_files(to, err);
	case TKB_ENTRY_STATE_BROKEN:
		*outcome = TKB_OUTCOME_REPAIRED;
		return move_files(to, err);
	}
	return 0;
}

/* Another process may have changed the entry: inspect again under the lock. */
static int commit_files(const struct tkb_destination *to,
                        struct tkb_loader *loader, enum tkb_outcome *outcome,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;
	enum tkb_entry_state state = TKB_ENTRY_STATE_ABSENT;
	int rc;

	rc = tkb_stage_lock(to->stage, &lock, err);
	if (rc < 0)
		return rc;
	rc = tkb_inspect_destination(loader, to->stage->root, to->entry,
	                             to->stage->is_trusted, &state, err);
	if (rc < 0)
		return rc;
	return commit_in_lock(to, loader, state, outcome, err);
}

int tkb_destination_commit(const struct tkb_destination *to,
                           struct tkb_loader *loader,
                           enum tkb_entry_state state,
                           enum tkb_outcome *outcome, struct tkb_error *err)
{
	struct tkb_stage *stage = to->stage;
	char name[TKB_STAGE_NUMBER_SIZE];

	if (state != TKB_ENTRY_STATE_ABSENT ||
	    atomic_load(&stage->lacks_noreplace))
		return commit_files(to, loader, outcome, err);

	tkb_stage_format_number(to->number, name);
	if (renameat2(tkb_stage_part(stage, to->number), name, stage->root->fd,
	              to->entry->key, RENAME_NOREPLACE) == 0) {
		*outcome = TKB_OUTCOME_EMITTED;
		return 0;
	}
	if (tkb_fd_lacks_noreplace(errno))
		atomic_store(&stage->lacks_noreplace, true);
	else if (errno != EEXIST && errno != ENOTEMPTY)
		return tkb_destination_fail(to, to->entry->key, err);
	return commit_files(to, loader, outcome, err);
}
