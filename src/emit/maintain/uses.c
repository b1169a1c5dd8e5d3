/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/maintain/uses.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/struct.h"
#include "cache/cache.h"
#include "tree/unit.h"

struct tkb_uses {
	struct tkb_cache *cache; /* owned */
	struct tkb_use *items;   /* owned; in the order that the public
	                            header states */
	size_t count;
	bool are_known;
};

const char *tkb_use_state_name(enum tkb_use_state state)
{
	static const char *const names[] = {
		[TKB_USE_STATE_UNKNOWN] = "unknown",
		[TKB_USE_STATE_UNUSED] = "unused",
		[TKB_USE_STATE_USED] = "used",
		[TKB_USE_STATE_COMPILED] = "compiled",
	};

	return (size_t)state < TKB_COUNT_OF(names) ? names[state] : "";
}

static bool is_mounted_with_access_times(const struct tkb_root *root)
{
	struct statvfs status;

	return fstatvfs(root->fd, &status) == 0 &&
	       (status.f_flag & (ST_NOATIME | ST_RDONLY)) == 0;
}

static bool has_access_times(const struct tkb_root *root)
{
	static const struct timespec never[] = { { .tv_sec = 0 },
		                                 { .tv_nsec = UTIME_OMIT } };
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	struct stat status;
	char byte = '\n';

	fd = tkb_fd_open(root->fd, ".", O_TMPFILE | O_RDWR, 0600);
	if (fd < 0 || write(fd, &byte, 1) != 1 || futimens(fd, never) < 0)
		return is_mounted_with_access_times(root);
	if (tkb_fd_pread_full(fd, &byte, 1, 0) != 1 || fstat(fd, &status) < 0)
		return false;
	return status.st_atim.tv_sec != 0;
}

/* Limit the result, because a file's time can be set to any year. */
static int64_t nanoseconds(const struct timespec *time)
{
	static const int64_t second = 1000000000;

	if (time->tv_sec >= INT64_MAX / second)
		return INT64_MAX;
	if (time->tv_sec <= INT64_MIN / second)
		return INT64_MIN;
	return (int64_t)time->tv_sec * second + time->tv_nsec;
}

static enum tkb_use_state state_of(int64_t read_ns, int64_t written_ns)
{
	if (read_ns == 0)
		return TKB_USE_STATE_UNUSED;
	return read_ns > written_ns ? TKB_USE_STATE_USED
	                            : TKB_USE_STATE_COMPILED;
}

/* The file whose times stand for the entry's. */
static const char *stamp_name(const struct tkb_scanned_entry *found)
{
	return found->group_name != NULL ? found->group_name
	                                 : found->files[0].name;
}

static uint64_t size_on_disk(const struct tkb_scanned_entry *found)
{
	uint64_t size = 0;

	for (size_t i = 0; i < found->entry.file_count; i++)
		size += (uint64_t)found->loaded[i].stamp.size;
	return size;
}

/*
 * Combine the states of two files of a unit. A file that was read makes the
 * unit used; otherwise, one that an engine wrote makes it compiled.
 */
static enum tkb_use_state stronger(enum tkb_use_state a, enum tkb_use_state b)
{
	if (a == TKB_USE_STATE_USED || b == TKB_USE_STATE_USED)
		return TKB_USE_STATE_USED;
	if (a == TKB_USE_STATE_COMPILED || b == TKB_USE_STATE_COMPILED)
		return TKB_USE_STATE_COMPILED;
	return b;
}

/* Update `use` with the times of file `name` if they are later. */
static int look_at_file(const struct tkb_scanned_entry *found, const char *name,
                        bool has_times, struct tkb_use *use,
                        struct tkb_error *err)
{
	char path[2 * TKB_UNIT_PATH_LIMIT + 2];
	enum tkb_use_state state = TKB_USE_STATE_UNKNOWN;
	struct stat status;
	int64_t written_ns;

	(void)snprintf(path, sizeof(path), "%s/%s",
	               tkb_root_folder(found->root, &found->entry), name);
	if (fstatat(found->root->fd, path, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || errno == ENOTDIR
		               ? TKB_MISS
		               : tkb_fail_errno(err, "cannot look at '%s'",
		                                path);
	written_ns = nanoseconds(&status.st_mtim);
	if (written_ns > use->written_ns)
		use->written_ns = written_ns;
	if (has_times)
		state = state_of(nanoseconds(&status.st_atim), written_ns);
	use->state = stronger(use->state, state);
	if (state == TKB_USE_STATE_USED &&
	    nanoseconds(&status.st_atim) > use->used_ns)
		use->used_ns = nanoseconds(&status.st_atim);
	return 0;
}

int tkb_use_look(const struct tkb_scanned_entry *found, bool has_times,
                 struct tkb_use *out, struct tkb_error *err)
{
	struct tkb_use use = { .entry = &found->entry,
		               .root = found->root->path,
		               .device = found->entry.devices[0],
		               .written_ns = INT64_MIN,
		               .size = size_on_disk(found) };
	int rc = 0;

	if (found->entry.kind != TKB_KIND_UNIT)
		rc = look_at_file(found, stamp_name(found), has_times, &use,
		                  err);
	for (size_t i = 0; found->entry.kind == TKB_KIND_UNIT &&
	                   i < found->entry.file_count && rc == 0;
	     i++)
		rc = look_at_file(found, found->files[i].name, has_times, &use,
		                  err);
	if (rc == 0)
		*out = use;
	return rc;
}

static int compare_use_names(const struct tkb_use *a, const struct tkb_use *b)
{
	int order = strcmp(a->entry->name, b->entry->name);

	if (order == 0)
		order = strcmp(a->entry->key, b->entry->key);
	if (order == 0)
		order = (a->device > b->device) - (a->device < b->device);
	return order;
}

static int compare_uses(const void *a, const void *b)
{
	const struct tkb_use *left = a;
	const struct tkb_use *right = b;
	const bool is_used = left->state == TKB_USE_STATE_USED;

	if (is_used != (right->state == TKB_USE_STATE_USED))
		return is_used ? -1 : 1;
	if (left->used_ns != right->used_ns)
		return left->used_ns < right->used_ns ? -1 : 1;
	return compare_use_names(left, right);
}

bool tkb_use_find_times(const struct tkb_roots *roots, bool *has_times)
{
	bool have_all = true;

	for (size_t i = 0; i < roots->count; i++) {
		if (roots->items[i].fd < 0)
			continue;
		has_times[i] = has_access_times(&roots->items[i]);
		have_all &= has_times[i];
	}
	return have_all;
}

static int look_up_all(struct tkb_uses *uses, struct tkb_error *err)
{
	const struct tkb_cache *cache = uses->cache;
	TKB_AUTO(tkb_free_at)
	bool *has_times =
		tkb_alloc_array(cache->roots.count, sizeof(*has_times));
	int rc;

	uses->items = tkb_alloc_array(cache->found_count, sizeof(*uses->items));
	if (has_times == NULL || uses->items == NULL)
		return tkb_fail_nomem(err);
	uses->are_known = tkb_use_find_times(&cache->roots, has_times);
	for (size_t i = 0; i < cache->found_count; i++) {
		const struct tkb_scanned_entry *found = &cache->found[i];

		rc = tkb_use_look(found,
		                  has_times[tkb_cache_root_of(cache, found)],
		                  &uses->items[uses->count], err);
		if (rc < 0)
			return rc;
		if (rc == 0)
			uses->count++;
	}
	tkb_sort(uses->items, uses->count, sizeof(*uses->items), compare_uses);
	return 0;
}

TKB_AUTO_POINTER(uses_close_at, struct tkb_uses, tkb_uses_close)

int tkb_uses_open(const char *cache_root,
                  const struct tkb_uses_options *options, struct tkb_uses **out,
                  struct tkb_error *err)
{
	struct tkb_uses_options chosen;
	struct tkb_timed timed;
	struct tkb_cache_options wanted = { .watch = &timed.watch };
	const struct tkb_scan scan = { .options = &wanted,
		                       .keeps_apart = true,
		                       .is_followed = true };
	TKB_AUTO(uses_close_at)
	struct tkb_uses *uses = tkb_alloc_array(1, sizeof(*uses));
	int rc;

	if (uses == NULL)
		return tkb_fail_nomem(err);
	rc = TKB_STRUCT_READ(tkb_uses_options, watch, &chosen, options, err);
	if (rc == 0)
		rc = tkb_timed_begin(&timed, chosen.watch, chosen.deadline_ms,
		                     err);
	if (rc < 0)
		return rc;
	wanted.threads = chosen.threads;
	wanted.trees = chosen.trees;
	wanted.tree_count = chosen.tree_count;
	rc = tkb_cache_scan(cache_root, &scan, &uses->cache, err);
	if (rc != 0)
		return tkb_timed_end(&timed, rc, err);
	rc = look_up_all(uses, err);
	if (rc < 0)
		return rc;
	*out = tkb_take(uses);
	return 0;
}

void tkb_uses_close(struct tkb_uses *uses)
{
	if (uses == NULL)
		return;
	tkb_cache_close(uses->cache);
	free(uses->items);
	free(uses);
}

bool tkb_uses_are_known(const struct tkb_uses *uses)
{
	return uses->are_known;
}

size_t tkb_uses_count(const struct tkb_uses *uses)
{
	return uses->count;
}

const struct tkb_use *tkb_uses_at(const struct tkb_uses *uses, size_t index)
{
	return &uses->items[index];
}
