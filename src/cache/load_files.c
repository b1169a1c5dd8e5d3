/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/load.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/path.h"
#include "cache/entry.h"
#include "cache/names.h"
#include "cache/scrub.h"
#include "text/json.h"

enum {
	PREFIX_LIMIT = 64 * 1024
};

int tkb_load_alloc_files(struct tkb_loader *loader,
                         struct tkb_scanned_entry *found, size_t count,
                         struct tkb_error *err)
{
	found->files =
		tkb_arena_alloc(&loader->arena, count, sizeof(*found->files));
	found->loaded =
		tkb_arena_alloc(&loader->arena, count, sizeof(*found->loaded));
	if (found->files == NULL || found->loaded == NULL)
		return tkb_fail_nomem(err);
	found->entry.files = found->files;
	return 0;
}

void tkb_load_add_file(struct tkb_scanned_entry *found, const char *name)
{
	found->files[found->entry.file_count++].name = name;
}

void tkb_load_sort_files(struct tkb_scanned_entry *found)
{
	qsort(found->files, found->entry.file_count, sizeof(*found->files),
	      tkb_compare_files);
}

int tkb_load_check_name(const char *name, struct tkb_error *err)
{
	if (!tkb_name_is_valid(tkb_text(name)))
		return tkb_fail_entry(err, TKB_REASON_NAME,
		                      "'%s' cannot be a file's name", name);
	return 0;
}

int tkb_load_name_entry(struct tkb_loader *loader,
                        struct tkb_scanned_entry *found, const char *file_name,
                        struct tkb_error *err)
{
	const char *start = NULL;
	const size_t length = tkb_name_stem(file_name, &start);

	found->entry.name = tkb_arena_string(
		&loader->arena, (struct tkb_bytes){ start, length });
	if (found->entry.name == NULL)
		return tkb_fail_nomem(err);
	if (!tkb_name_is_valid(tkb_text(found->entry.name)))
		return tkb_fail_entry(err, TKB_REASON_NAME,
		                      "'%s' names no kernel or module",
		                      file_name);
	return 0;
}

int tkb_load_read_file(struct tkb_loader *loader, int dir_fd,
                       struct tkb_scanned_entry *found, size_t index,
                       struct tkb_error *err)
{
	return tkb_scanned_entry_read_into(&loader->scratch, dir_fd,
	                                   found->files[index].name,
	                                   TKB_FILE_SIZE_LIMIT,
	                                   &found->loaded[index].stamp, err);
}

int tkb_load_keep_bytes(struct tkb_loader *loader,
                        struct tkb_scanned_entry *found, size_t index,
                        struct tkb_bytes bytes, struct tkb_error *err)
{
	struct tkb_file *file = &found->files[index];
	char *kept = tkb_arena_string(&loader->arena, bytes);

	if (kept == NULL)
		return tkb_fail_nomem(err);
	found->loaded[index].bytes = (struct tkb_bytes){ kept, bytes.size };
	file->size = bytes.size;
	return tkb_hasher_digest(&loader->hasher, bytes, &file->digest, err);
}

int tkb_load_stat_file(int dir_fd, struct tkb_scanned_entry *found,
                       size_t index, struct tkb_error *err)
{
	const uint64_t limit = tkb_entry_file_limit(&found->entry);
	struct tkb_file *file = &found->files[index];
	struct stat status;

	if (fstatat(dir_fd, file->name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return tkb_fail_look(TKB_REASON_MISSING, "is not there",
		                     file->name, err);
	if (S_ISDIR(status.st_mode))
		return tkb_fail_entry(err, TKB_REASON_MISSING,
		                      "'%s' is a folder", file->name);
	if (!S_ISREG(status.st_mode))
		return tkb_fail_entry(err, TKB_REASON_UNSAFE,
		                      "'%s' is not a regular file", file->name);
	if ((uint64_t)status.st_size > limit)
		return tkb_fail_entry(err, TKB_REASON_LIMIT,
		                      "'%s' has %lld bytes, more than %llu",
		                      file->name, (long long)status.st_size,
		                      (unsigned long long)limit);
	found->loaded[index].stamp = tkb_stamp_of(&status);
	file->size = (uint64_t)status.st_size;
	return 0;
}

/*
 * Two paths, both unescaped: that of the entry's folder, and the one that its
 * group file names.
 */
struct prefixes {
	struct tkb_buf own;
	struct tkb_buf recorded;
};

static void prefixes_release(struct prefixes *prefixes)
{
	tkb_buf_release(&prefixes->own);
	tkb_buf_release(&prefixes->recorded);
}

static int find_prefixes(const struct tkb_root *root, const char *key,
                         const struct tkb_group *group, struct prefixes *out,
                         struct tkb_error *err)
{
	int rc;

	tkb_print(&out->own, "%s/%s", root->path, key);
	rc = tkb_buf_check(&out->own, err);
	if (rc < 0)
		return rc;
	if (group == NULL || group->is_list)
		return 0;
	tkb_json_decode(tkb_bytes_slice(group->text, group->children[0].start,
	                                group->children[0].slash),
	                &out->recorded);
	rc = tkb_buf_check(&out->recorded, err);
	if (rc < 0)
		return rc;
	/* A bare key is not replaced: it may be the hash in the metadata. */
	if (memchr(out->recorded.data, '/', out->recorded.size) == NULL)
		tkb_buf_reset(&out->recorded);
	return 0;
}

static int load_json(struct tkb_loader *loader, int dir_fd,
                     struct tkb_scanned_entry *found, size_t index,
                     const struct prefixes *prefixes, struct tkb_error *err)
{
	const struct tkb_bytes list[] = { tkb_buf_bytes(&prefixes->own),
		                          tkb_buf_bytes(&prefixes->recorded) };
	const size_t count = prefixes->recorded.size == 0 ? 1 : 2;
	struct tkb_file *file = &found->files[index];
	int rc;

	rc = tkb_load_read_file(loader, dir_fd, found, index, err);
	if (rc < 0)
		return rc;
	tkb_buf_reset(&loader->text);
	rc = tkb_scrub(tkb_buf_bytes(&loader->scratch), file->name, list, count,
	               &loader->text, &file->sentinels, err);
	if (rc < 0)
		return rc;
	return tkb_load_keep_bytes(loader, found, index,
	                           tkb_buf_bytes(&loader->text), err);
}

/* Keep the group file with a sentinel in place of each path. */
static int keep_group(struct tkb_loader *loader,
                      struct tkb_scanned_entry *found, size_t index,
                      const struct tkb_group *group, struct tkb_error *err)
{
	int rc;

	tkb_buf_reset(&loader->text);
	tkb_group_rewrite(group, tkb_text(TKB_SENTINEL), loader->is_lean,
	                  &loader->text, &found->files[index].sentinels);
	rc = tkb_buf_check(&loader->text, err);
	if (rc < 0)
		return rc;
	return tkb_load_keep_bytes(loader, found, index,
	                           tkb_buf_bytes(&loader->text), err);
}

int tkb_load_files(struct tkb_loader *loader, const struct tkb_folder *folder,
                   struct tkb_scanned_entry *found,
                   const struct tkb_group *group,
                   const struct tkb_stamp *group_stamp, struct tkb_error *err)
{
	TKB_AUTO(prefixes_release)
	struct prefixes prefixes = { .own = TKB_BUF_INIT(PREFIX_LIMIT),
		                     .recorded = TKB_BUF_INIT(PREFIX_LIMIT) };
	int rc;

	rc = find_prefixes(found->root, folder->key, group, &prefixes, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < found->entry.file_count; i++) {
		const char *name = found->files[i].name;

		if (group != NULL && strcmp(name, found->group_name) == 0) {
			found->loaded[i].stamp = *group_stamp;
			rc = keep_group(loader, found, i, group, err);
		} else if (strcmp(tkb_name_extension(name), "json") == 0) {
			rc = load_json(loader, folder->fd, found, i, &prefixes,
			               err);
		} else {
			rc = tkb_load_stat_file(folder->fd, found, i, err);
		}
		if (rc < 0)
			return rc;
	}
	if (tkb_entry_size(&found->entry) > TKB_ENTRY_SIZE_LIMIT)
		return tkb_fail_entry(err, TKB_REASON_LIMIT,
		                      "the entry has more than %llu bytes",
		                      (unsigned long long)TKB_ENTRY_SIZE_LIMIT);
	return 0;
}
