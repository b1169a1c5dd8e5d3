/* SPDX-License-Identifier: Apache-2.0 */
#include "report/spans.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/auto.h"
#include "cli/cli.h"
#include "cli/fd.h"

#define NS_PER_MS 1000000

void spans_release(struct spans *spans)
{
	for (size_t i = 0; i < spans->count; i++) {
		free(spans->items[i].tree);
		free(spans->items[i].name);
	}
	free(spans->items);
}

void spans_add(struct spans *spans, const char *tree, const char *name,
               int64_t begin_ns, int64_t end_ns)
{
	struct span span = { .begin_ns = begin_ns, .end_ns = end_ns };
	struct span *items;

	if (end_ns <= begin_ns)
		return;
	items = table_grow(spans->items, spans->count, sizeof(*items));
	if (items == NULL)
		return;
	spans->items = items;
	span.tree = tree != NULL ? strdup(tree) : NULL;
	span.name = strdup(name);
	if (span.name == NULL || (tree != NULL && span.tree == NULL)) {
		free(span.tree);
		free(span.name);
		return;
	}
	spans->items[spans->count++] = span;
}

static int compare_ends(const void *a, const void *b)
{
	const struct span *const left = a;
	const struct span *const right = b;

	return (left->end_ns > right->end_ns) - (left->end_ns < right->end_ns);
}

/* Times that are already counted. They do not overlap; the latest is on top. */
struct taken {
	struct span *items;
	size_t count;
};

/*
 * The part of `span`, which ends last, that is not counted yet; then it is
 * counted.
 */
static int64_t take_free_time(struct taken *taken, const struct span *span)
{
	struct span sum = { .begin_ns = span->begin_ns,
		            .end_ns = span->end_ns };
	int64_t free_ns = span->end_ns - span->begin_ns;

	while (taken->count > 0 &&
	       taken->items[taken->count - 1].end_ns >= span->begin_ns) {
		const struct span *const last = &taken->items[--taken->count];
		const int64_t begin = last->begin_ns > span->begin_ns
		                              ? last->begin_ns
		                              : span->begin_ns;

		free_ns -= last->end_ns - begin;
		if (last->begin_ns < sum.begin_ns)
			sum.begin_ns = last->begin_ns;
	}
	taken->items[taken->count++] = sum;
	return free_ns;
}

int spans_note(struct spans *spans, const char *cache_root,
               struct tkb_error *err)
{
	TKB_AUTO(auto_free)
	struct tkb_time *times = calloc(spans->count + 1, sizeof(*times));
	TKB_AUTO(auto_free)
	struct span *spent = calloc(spans->count + 1, sizeof(*spent));
	struct taken taken = { .items = spent };
	size_t count = 0;

	if (times == NULL || spent == NULL)
		return cli_error_nomem(err);
	if (spans->count > 1)
		qsort(spans->items, spans->count, sizeof(*spans->items),
		      compare_ends);
	for (size_t i = 0; i < spans->count; i++) {
		const struct span *const span = &spans->items[i];
		const int64_t ms = take_free_time(&taken, span) / NS_PER_MS;

		if (ms > 0 && ms < UINT32_MAX)
			times[count++] =
				(struct tkb_time){ .tree = span->tree,
				                   .name = span->name,
				                   .ms = (uint32_t)ms };
	}
	return tkb_times_note(cache_root, times, count, err);
}

static int64_t oldest_in(int dir_fd, const char *name)
{
	TKB_AUTO(folder_close)
	DIR *folder = folder_open(dir_fd, name, O_NOFOLLOW);
	const struct dirent *item;
	int64_t oldest = INT64_MAX;

	while (folder != NULL && (item = readdir(folder)) != NULL) {
		struct stat status;
		int64_t time;

		if (fstatat(dirfd(folder), item->d_name, &status,
		            AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(status.st_mode))
			continue;
		time = (int64_t)status.st_mtim.tv_sec * 1000000000 +
		       status.st_mtim.tv_nsec;
		oldest = time < oldest ? time : oldest;
	}
	return oldest;
}

int64_t spans_begin(int dir_fd, const char *name)
{
	struct statx status;

	if (statx(dir_fd, name, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &status) ==
	            0 &&
	    (status.stx_mask & STATX_BTIME) != 0)
		return (int64_t)status.stx_btime.tv_sec * 1000000000 +
		       status.stx_btime.tv_nsec;
	return oldest_in(dir_fd, name);
}
