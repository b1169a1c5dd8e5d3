/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tkbundle/emit.h>
#include <tkbundle/launcher.h>

#include "base/arena.h"
#include "base/fd.h"
#include "text/json.h"
#include "cache/names.h"
#include "format/reader.h"
#include "cache/scrub.h"
#include "tree/unit.h"
#include "fuzz.h"

enum {
	PLACES_LIMIT = 8, /* devices that are emitted for */
	PATH_SIZE = 4096
};

/* In the path of a tree's root. */
#define TREE_MARK "-tree-"
#define EMIT_LIMIT ((uint64_t)4 * TKB_MIB)

static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

/* A new folder, in memory if possible. */
static void make_folder(char out[PATH_SIZE])
{
	const char *base = getenv("TMPDIR");

	(void)snprintf(out, PATH_SIZE, "/dev/shm/tkb-fuzz-XXXXXX");
	if (mkdtemp(out) != NULL)
		return;
	(void)snprintf(out, PATH_SIZE, "%s/tkb-fuzz-XXXXXX",
	               base == NULL || base[0] == '\0' ? "/tmp" : base);
	MUST(mkdtemp(out) != NULL);
}

static void remove_folder(const char *path)
{
	MUST(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
}

/* An emitted group file lists only existing files of its folder. */
static void check_group(int folder, const char *group_name,
                        const struct tkb_result *result)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(2 * EMIT_LIMIT);
	TKB_AUTO(tkb_buf_release) struct tkb_buf place = TKB_BUF_INIT(65536);
	struct tkb_group group = { 0 };
	struct tkb_error err = { 0 };
	struct stat status;

	MUST_OK(tkb_fd_read_file(folder, group_name, 2 * EMIT_LIMIT, &text,
	                         &status, &err),
	        &err);
	MUST_OK(tkb_group_parse(tkb_buf_bytes(&text), result->key, &arena,
	                        &group, &err),
	        &err);
	tkb_json_escape_python(tkb_text(result->root), &place);
	tkb_buf_add_byte(&place, '/');
	tkb_buf_add_text(&place, result->key);
	MUST(tkb_group_names(&group, tkb_buf_bytes(&place)));
	for (size_t i = 0; i < group.child_count; i++) {
		const char *name = group.children[i].name;

		MUST(!tkb_name_is_group(name));
		MUST(fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0);
		MUST(S_ISREG(status.st_mode));
	}
}

/* What a reader of the cache can rely on as soon as the entry exists. */
static void check_emitted(void *self, const struct tkb_result *result)
{
	TKB_AUTO(tkb_fd_close_at) int root = -1;
	TKB_AUTO(tkb_dir_close_at) DIR *folder = NULL;
	const struct dirent *item;

	(void)self;
	if (result->outcome != TKB_OUTCOME_EMITTED)
		return;
	root = tkb_fd_open(AT_FDCWD, result->root, O_RDONLY | O_DIRECTORY, 0);
	MUST(root >= 0);
	if (strstr(result->root, TREE_MARK) != NULL) {
		struct stat status;

		MUST(fstatat(root, result->name, &status,
		             AT_SYMLINK_NOFOLLOW) == 0);
		return;
	}
	MUST(tkb_dir_open(root, result->key, &folder, NULL) == 0);
	for (item = readdir(folder); item != NULL; item = readdir(folder)) {
		if (tkb_name_is_group(item->d_name))
			check_group(dirfd(folder), item->d_name, result);
	}
}

static uint64_t count_outcomes(const struct tkb_emit_report *report)
{
	return report->emitted_count + report->present_count +
	       report->repaired_count + report->busy_count +
	       report->skipped_count + report->failed_count +
	       report->damaged_count + report->unsafe_count;
}

/* The number of places of all entries, or 0 if they are too many. */
static uint64_t count_places(const struct tkb_bundle *bundle)
{
	const size_t entry_count = tkb_bundle_entry_count(bundle);
	uint64_t places = 0;
	uint64_t size = 0;

	for (size_t i = 0; i < entry_count; i++) {
		const struct tkb_entry *entry = tkb_bundle_entry(bundle, i);

		places += entry->device_count;
		size += tkb_entry_size(entry);
	}
	return size > EMIT_LIMIT || places > entry_count + PLACES_LIMIT
	               ? 0
	               : places;
}

/* Make a root for each tree of the bundle, and return their number. */
static size_t list_trees(const struct tkb_bundle *bundle, const char *root,
                         struct tkb_arena *arena,
                         struct tkb_tree out[TKB_TREES_LIMIT])
{
	size_t count = 0;

	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++) {
		const char *tree = tkb_bundle_entry(bundle, i)->tree;
		char path[PATH_SIZE + 64];

		if (tree == NULL ||
		    (count != 0 && strcmp(out[count - 1].name, tree) == 0))
			continue;
		MUST(count < TKB_TREES_LIMIT);
		(void)snprintf(path, sizeof(path), "%s" TREE_MARK "%s", root,
		               tree);
		out[count] = (struct tkb_tree){
			.name = tree,
			.path = tkb_arena_string(arena, tkb_text(path)),
		};
		MUST(out[count++].path != NULL);
	}
	return count;
}

static int emit(const struct tkb_bundle *bundle, const char *root,
                bool is_dry_run, struct tkb_emit_report *report)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_tree trees[TKB_TREES_LIMIT];
	const struct tkb_emit_options options = {
		.struct_size = sizeof(options),
		.is_dry_run = is_dry_run,
		.threads = 1,
		.trees = trees,
		.tree_count = list_trees(bundle, root, &arena, trees),
		.watch =
			&(const struct tkb_watch){
				.struct_size = sizeof(struct tkb_watch),
				.on_result =
					is_dry_run ? NULL : check_emitted },
	};
	struct tkb_error err = { 0 };
	const int rc = tkb_emit(bundle, root, &options, report, &err);

	if (rc < 0)
		fuzz_check_refusal(rc, &err);
	return rc;
}

/* A verified bundle can be emitted completely, and is then present. */
static void check_emit(const struct tkb_bundle *bundle, const char *root,
                       bool is_verified, uint64_t places)
{
	const uint64_t entry_count = tkb_bundle_entry_count(bundle);
	struct tkb_emit_report first = { .struct_size = sizeof(first) };
	struct tkb_emit_report second = { .struct_size = sizeof(second) };
	const int rc = emit(bundle, root, false, &first);

	MUST(count_outcomes(&first) >= entry_count);
	MUST(count_outcomes(&first) <=
	     (first.is_inductor ? places : entry_count));
	MUST(first.present_count + first.repaired_count + first.busy_count +
	             first.failed_count + first.unsafe_count ==
	     0);
	if (!is_verified)
		return;
	MUST(rc == 0 && first.damaged_count == 0);
	MUST(emit(bundle, root, false, &second) == 0);
	MUST(second.present_count == first.emitted_count);
	MUST(second.skipped_count == first.skipped_count);
	MUST(count_outcomes(&second) == count_outcomes(&first));
}

TKB_AUTO_POINTER(close_launchers_at, struct tkb_launchers, tkb_launchers_close)

/* The launcher that the bundle has under `key`, which must be there. */
static const struct tkb_saved_launcher *saved_as(
	const struct tkb_bundle *bundle, const char *key)
{
	const size_t count = tkb_bundle_launcher_count(bundle);
	size_t i = 0;

	while (i < count &&
	       strcmp(tkb_bundle_launcher(bundle, i)->cache_key, key) != 0)
		i++;
	MUST(i < count);
	return tkb_bundle_launcher(bundle, i);
}

/* It has the saved payload, and the kernels that it needs. */
static void check_ready(const struct tkb_bundle *bundle,
                        const struct tkb_launchers *launchers,
                        const struct tkb_launcher *ready)
{
	const struct tkb_saved_launcher *saved =
		saved_as(bundle, ready->cache_key);
	struct tkb_error err = { 0 };
	struct tkb_digest digest;

	MUST(ready->payload.size == saved->size);
	MUST_OK(tkb_digest_of(ready->payload, &digest, &err), &err);
	MUST(tkb_digest_equal(&digest, &saved->digest));
	MUST(ready->kernel_count != 0);
	MUST(ready->kernel_count == saved->need_count ||
	     saved->need == TKB_NEED_ANY);
	for (size_t i = 0; i < ready->kernel_count; i++)
		MUST(access(ready->kernels[i].binary, F_OK) == 0);
	MUST(tkb_launchers_find(launchers, ready->cache_key, ready->device) ==
	     ready);
}

/* Each launcher is ready for some device, or dropped once. */
static void check_launchers(const struct tkb_bundle *bundle, const char *root,
                            bool is_verified)
{
	TKB_AUTO(close_launchers_at) struct tkb_launchers *launchers = NULL;
	struct tkb_error err = { 0 };
	const char *last = NULL;
	size_t ready_count = 0;
	size_t dropped_count;

	MUST_OK(tkb_launchers_open(bundle, root, NULL, &launchers, &err), &err);
	for (size_t i = 0; i < tkb_launchers_count(launchers); i++) {
		const struct tkb_launcher *ready =
			tkb_launchers_at(launchers, i);

		check_ready(bundle, launchers, ready);
		ready_count +=
			last == NULL || strcmp(last, ready->cache_key) != 0;
		last = ready->cache_key;
	}
	dropped_count = tkb_launchers_dropped_count(launchers);
	for (size_t i = 0; i < dropped_count; i++) {
		const struct tkb_dropped_launcher *dropped =
			tkb_launchers_dropped(launchers, i);

		MUST(dropped->message[0] != '\0');
		MUST(saved_as(bundle, dropped->cache_key) != NULL);
		MUST(!is_verified || dropped->reason == TKB_REASON_NEEDS);
	}
	MUST(ready_count + dropped_count == tkb_bundle_launcher_count(bundle));
}

void fuzz_emit(const struct tkb_bundle *bundle, bool is_verified)
{
	const uint64_t places = count_places(bundle);
	struct tkb_emit_report report = { .struct_size = sizeof(report) };
	char folder[PATH_SIZE];
	char root[PATH_SIZE + 16];

	if (places == 0)
		return;
	make_folder(folder);
	(void)snprintf(root, sizeof(root), "%s/root", folder);
	(void)emit(bundle, root, true, &report);
	MUST(access(root, F_OK) < 0 && errno == ENOENT);
	check_emit(bundle, root, is_verified, places);
	check_launchers(bundle, root, is_verified);
	remove_folder(folder);
}
