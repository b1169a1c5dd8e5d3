/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/install.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "cache/kernel.h"
#include "cache/names.h"
#include "cache/scrub.h"

enum {
	NUMBER_SIZE = 24
};

static void format_number(char out[NUMBER_SIZE], size_t number)
{
	(void)snprintf(out, NUMBER_SIZE, "%zu", number);
}

static int fail_write(const struct tkb_install *install, const char *name,
                      struct tkb_error *err)
{
	return tkb_fail_errno(err, "cannot write '%s' in '%s'", name,
	                      install->stage->root->path);
}

/* Access time 0 until somebody reads it: that is how use is told later. */
static void stamp_unused(int fd)
{
	const struct timespec times[] = { { .tv_sec = 0 },
		                          { .tv_nsec = UTIME_OMIT } };

	(void)futimens(fd, times);
}

static int write_file(const struct tkb_install *install, int dir_fd,
                      const char *name, struct tkb_bytes bytes,
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	int closing;
	int rc;

	fd = tkb_fd_open(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
	                 0666);
	if (fd < 0)
		return fail_write(install, name, err);
	tkb_share_apply(&install->stage->share, fd);
	rc = tkb_fd_write_all(fd, bytes, name, err);
	if (rc < 0)
		return rc;
	if (tkb_name_is_group(name))
		stamp_unused(fd);
	/* NFS and quotas tell only here that bytes did not fit. */
	closing = fd;
	fd = -1;
	if (close(closing) < 0)
		return fail_write(install, name, err);
	return 0;
}

/* The bytes of file `index` as they are to lie in the root. */
static int restore(const struct tkb_install *install, struct tkb_loader *loader,
                   size_t index, struct tkb_bytes packed, struct tkb_bytes *out,
                   struct tkb_error *err)
{
	const struct tkb_file *file = &install->entry->files[index];
	int rc;

	*out = packed;
	if (file->sentinels != 0) {
		tkb_buf_reset(&loader->text);
		rc = tkb_restore(packed, file->name,
		                 tkb_buf_bytes(&loader->place), file->sentinels,
		                 &loader->text, err);
		if (rc < 0)
			return rc;
		*out = tkb_buf_bytes(&loader->text);
	}
	if (!tkb_name_is_group(file->name))
		return 0;
	tkb_arena_release(&loader->arena);
	return tkb_kernel_check_group(install->entry, *out,
	                              tkb_buf_bytes(&loader->place),
	                              &loader->arena, err);
}

static int open_staged(const struct tkb_install *install)
{
	char name[NUMBER_SIZE];

	format_number(name, install->number);
	return tkb_fd_open(install->stage->fd, name,
	                   O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
}

int tkb_install_stage(const struct tkb_install *install,
                      struct tkb_loader *loader, const struct tkb_bytes *files,
                      const struct tkb_install *twin, uint64_t *written_out,
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int dir = -1;
	TKB_AUTO(tkb_fd_close_at) int twin_dir = -1;
	const struct tkb_entry *entry = install->entry;
	char name[NUMBER_SIZE];
	int rc;

	tkb_buf_reset(&loader->place);
	rc = tkb_root_place(install->stage->root, entry->key, &loader->place,
	                    err);
	if (rc < 0)
		return rc;
	format_number(name, install->number);
	dir = tkb_share_make_folder(&install->stage->share, install->stage->fd,
	                            name);
	if (dir < 0)
		return fail_write(install, entry->key, err);
	if (twin != NULL &&
	    tkb_share_equal(&twin->stage->share, &install->stage->share))
		twin_dir = open_staged(twin);

	*written_out = 0;
	for (size_t i = 0; i < entry->file_count; i++) {
		const struct tkb_file *file = &entry->files[i];
		struct tkb_bytes bytes;

		if (twin_dir >= 0 && file->sentinels == 0 &&
		    !tkb_name_is_group(file->name) &&
		    linkat(twin_dir, file->name, dir, file->name, 0) == 0)
			continue;
		rc = restore(install, loader, i, files[i], &bytes, err);
		if (rc < 0)
			return rc;
		rc = write_file(install, dir, file->name, bytes, err);
		if (rc < 0)
			return rc;
		*written_out += bytes.size;
	}
	return 0;
}

static int move_file(const struct tkb_install *install, int from, int to,
                     const char *name, struct tkb_error *err)
{
	if (renameat(from, name, to, name) == 0)
		return 0;
	if (errno == EISDIR || errno == ENOTEMPTY || errno == EEXIST)
		return tkb_fail_entry(err, TKB_REASON_UNSAFE,
		                      "a folder stands where '%s' of '%s' "
		                      "should",
		                      name, install->entry->key);
	return fail_write(install, name, err);
}

/* In the root's lock. Every file is replaced: some would mix two compiles. */
static int move_files(const struct tkb_install *install, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int from = -1;
	TKB_AUTO(tkb_fd_close_at) int to = -1;
	const struct tkb_entry *entry = install->entry;
	const size_t group = tkb_kernel_group_index(entry);
	const int root = install->stage->root->fd;
	int rc;

	from = open_staged(install);
	if (from < 0)
		return fail_write(install, entry->key, err);
	to = tkb_share_publish_folder(&install->stage->share, root, entry->key);
	if (to < 0 && errno == EEXIST)
		to = tkb_fd_open(root, entry->key,
		                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (to < 0)
		return fail_write(install, entry->key, err);

	if (group != entry->file_count &&
	    unlinkat(to, entry->files[group].name, 0) < 0 && errno != ENOENT)
		return fail_write(install, entry->files[group].name, err);
	for (size_t i = 0; i < entry->file_count; i++) {
		if (i == group)
			continue;
		rc = move_file(install, from, to, entry->files[i].name, err);
		if (rc < 0)
			return rc;
	}
	if (group == entry->file_count)
		return 0;
	return move_file(install, from, to, entry->files[group].name, err);
}

/* Act on what stands there now, after somebody else was faster. */
static int settle(const struct tkb_install *install, struct tkb_loader *loader,
                  enum tkb_entry_state state, enum tkb_outcome *outcome,
                  bool *is_settled, struct tkb_error *err)
{
	*is_settled = true;
	switch (state) {
	case TKB_ENTRY_STATE_PRESENT:
		*outcome = TKB_OUTCOME_PRESENT;
		return 0;
	case TKB_ENTRY_STATE_MOVED:
		*outcome = TKB_OUTCOME_REPAIRED;
		return tkb_install_relocate_group(install, loader, err);
	case TKB_ENTRY_STATE_BUSY:
		*outcome = TKB_OUTCOME_SKIPPED;
		return 0;
	case TKB_ENTRY_STATE_UNSAFE:
		return tkb_fail_entry(
			err, TKB_REASON_UNSAFE, "'%s/%s' is not a folder",
			install->stage->root->path, install->entry->key);
	case TKB_ENTRY_STATE_ABSENT:
	case TKB_ENTRY_STATE_BROKEN:
		break;
	}
	*is_settled = false;
	return 0;
}

static int install_files(const struct tkb_install *install,
                         struct tkb_loader *loader, enum tkb_outcome *outcome,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;
	enum tkb_entry_state state = TKB_ENTRY_STATE_ABSENT;
	bool is_settled = false;
	int rc;

	rc = tkb_stage_lock(install->stage, &lock, err);
	if (rc < 0)
		return rc;
	rc = tkb_entry_state_look(loader, install->stage->root, install->entry,
	                          install->stage->is_trusted, &state, err);
	if (rc < 0)
		return rc;
	rc = settle(install, loader, state, outcome, &is_settled, err);
	if (rc < 0 || is_settled)
		return rc;
	*outcome = state == TKB_ENTRY_STATE_ABSENT ? TKB_OUTCOME_EMITTED
	                                           : TKB_OUTCOME_REPAIRED;
	return move_files(install, err);
}

int tkb_install_publish(const struct tkb_install *install,
                        struct tkb_loader *loader, enum tkb_entry_state state,
                        enum tkb_outcome *outcome, struct tkb_error *err)
{
	struct tkb_stage *stage = install->stage;
	char name[NUMBER_SIZE];

	if (state != TKB_ENTRY_STATE_ABSENT ||
	    atomic_load(&stage->no_noreplace))
		return install_files(install, loader, outcome, err);

	format_number(name, install->number);
	if (renameat2(stage->fd, name, stage->root->fd, install->entry->key,
	              RENAME_NOREPLACE) == 0) {
		*outcome = TKB_OUTCOME_EMITTED;
		return 0;
	}
	if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)
		atomic_store(&stage->no_noreplace, true);
	else if (errno != EEXIST && errno != ENOTEMPTY)
		return fail_write(install, install->entry->key, err);
	return install_files(install, loader, outcome, err);
}

/* The group file as it should be, in the loader's text. */
static int relocate_group(const struct tkb_install *install,
                          struct tkb_loader *loader, int dir_fd,
                          const char *name, struct tkb_error *err)
{
	struct tkb_group group = { 0 };
	struct stat status;
	uint32_t count;
	int rc;

	tkb_buf_reset(&loader->scratch);
	rc = tkb_fd_read_file(dir_fd, name, TKB_FILE_SIZE_LIMIT,
	                      &loader->scratch, &status, err);
	if (rc < 0)
		return rc;
	tkb_arena_release(&loader->arena);
	rc = tkb_group_parse(tkb_buf_bytes(&loader->scratch),
	                     install->entry->key, &loader->arena, &group, err);
	if (rc < 0)
		return rc;
	tkb_buf_reset(&loader->place);
	rc = tkb_root_place(install->stage->root, install->entry->key,
	                    &loader->place, err);
	if (rc < 0)
		return rc;
	tkb_buf_reset(&loader->text);
	tkb_group_rewrite(&group, tkb_buf_bytes(&loader->place), false,
	                  &loader->text, &count);
	return tkb_buf_check(&loader->text, err);
}

int tkb_install_relocate_group(const struct tkb_install *install,
                               struct tkb_loader *loader, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int dir = -1;
	const struct tkb_entry *entry = install->entry;
	const char *group = entry->files[tkb_kernel_group_index(entry)].name;
	char staged[sizeof("__grp__.json") + NUMBER_SIZE];
	int rc;

	dir = tkb_fd_open(install->stage->root->fd, entry->key,
	                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (dir < 0)
		return fail_write(install, entry->key, err);
	rc = relocate_group(install, loader, dir, group, err);
	if (rc < 0)
		return rc;
	(void)snprintf(staged, sizeof(staged), "__grp__%zu.json",
	               install->number);
	rc = write_file(install, install->stage->fd, staged,
	                tkb_buf_bytes(&loader->text), err);
	if (rc < 0)
		return rc;
	if (renameat(install->stage->fd, staged, dir, group) < 0)
		return fail_write(install, group, err);
	return 0;
}
