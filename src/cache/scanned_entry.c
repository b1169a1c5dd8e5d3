/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/scanned_entry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "text/json.h"
#include "base/path.h"
#include "cache/elf.h"
#include "cache/folder.h"
#include "cache/key.h"
#include "cache/names.h"
#include "cache/scrub.h"

enum {
	NAMES_LIMIT = 16 * 1024 * 1024, /* of all names in one folder */
	PREFIX_LIMIT = 64 * 1024
};

int tkb_loader_open(struct tkb_loader *loader, bool is_lean,
                    bool is_kernels_only, struct tkb_error *err)
{
	*loader = (struct tkb_loader){
		.scratch = TKB_BUF_INIT(TKB_FILE_SIZE_LIMIT + 1),
		.text = TKB_BUF_INIT(2 * TKB_FILE_SIZE_LIMIT),
		.group = TKB_BUF_INIT(TKB_FILE_SIZE_LIMIT + 1),
		.names = TKB_BUF_INIT(NAMES_LIMIT),
		.place = TKB_BUF_INIT(PREFIX_LIMIT),
		.is_lean = is_lean,
		.is_kernels_only = is_kernels_only,
	};
	return tkb_hasher_open(&loader->hasher, err);
}

void tkb_loader_close(struct tkb_loader *loader)
{
	tkb_arena_release(&loader->arena);
	tkb_hasher_close(&loader->hasher);
	tkb_buf_release(&loader->scratch);
	tkb_buf_release(&loader->text);
	tkb_buf_release(&loader->group);
	tkb_buf_release(&loader->names);
	tkb_buf_release(&loader->place);
}

bool tkb_failure_is_of_entry(int rc, const struct tkb_error *err)
{
	return rc != TKB_ERR_NOMEM && err->reason != TKB_REASON_NONE;
}

static char *keep(struct tkb_loader *loader, const char *text)
{
	return tkb_arena_string(&loader->arena, tkb_text(text));
}

/* Room for `count` files; their names and all else follow. */
static int alloc_files(struct tkb_loader *loader,
                       struct tkb_scanned_entry *found, size_t count,
                       struct tkb_error *err)
{
	found->files =
		tkb_arena_alloc(&loader->arena, count, sizeof(*found->files));
	found->found =
		tkb_arena_alloc(&loader->arena, count, sizeof(*found->found));
	if (found->files == NULL || found->found == NULL)
		return tkb_fail_nomem(err);
	found->entry.files = found->files;
	return 0;
}

static int compare_files(const void *a, const void *b)
{
	const struct tkb_file *left = a;
	const struct tkb_file *right = b;

	return tkb_name_compare(left->name, right->name);
}

static void add_file(struct tkb_scanned_entry *found, const char *name)
{
	found->files[found->entry.file_count++].name = name;
}

static void sort_files(struct tkb_scanned_entry *found)
{
	qsort(found->files, found->entry.file_count, sizeof(*found->files),
	      compare_files);
}

static int read_scratch(struct tkb_loader *loader, int dir_fd, const char *name,
                        struct tkb_stamp *stamp_out, struct tkb_error *err)
{
	return tkb_scanned_entry_read_into(&loader->scratch, dir_fd, name,
	                                   stamp_out, err);
}

/* Keep `bytes` as what file `index` is in a bundle. */
static int keep_bytes(struct tkb_loader *loader,
                      struct tkb_scanned_entry *found, size_t index,
                      struct tkb_bytes bytes, struct tkb_error *err)
{
	struct tkb_file *file = &found->files[index];
	char *kept = tkb_arena_string(&loader->arena, bytes);

	if (kept == NULL)
		return tkb_fail_nomem(err);
	found->found[index].bytes = (struct tkb_bytes){ kept, bytes.size };
	file->size = bytes.size;
	return tkb_hasher_digest(&loader->hasher, bytes, &file->digest, err);
}

/* A file that is packed as it is: look at it, do not read it yet. */
static int look_at(int dir_fd, struct tkb_scanned_entry *found, size_t index,
                   struct tkb_error *err)
{
	struct tkb_file *file = &found->files[index];
	struct stat status;

	if (fstatat(dir_fd, file->name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return tkb_fail_look(TKB_REASON_MISSING, "is not there",
		                     file->name, err);
	if (!S_ISREG(status.st_mode))
		return tkb_fail_entry(err, TKB_REASON_UNSAFE,
		                      "'%s' is not a regular file", file->name);
	if ((uint64_t)status.st_size > TKB_FILE_SIZE_LIMIT)
		return tkb_fail_entry(err, TKB_REASON_LIMIT,
		                      "'%s' has %lld bytes, more than %llu",
		                      file->name, (long long)status.st_size,
		                      (unsigned long long)TKB_FILE_SIZE_LIMIT);
	found->found[index].stamp = tkb_stamp_of(&status);
	file->size = (uint64_t)status.st_size;
	return 0;
}

/* The entry's own path, and the one that its group file holds, unescaped. */
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

	tkb_buf_add_text(&out->own, root->path);
	tkb_buf_add_byte(&out->own, '/');
	tkb_buf_add_text(&out->own, key);
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
	/* A bare key names no place; the metadata's hash may be the same. */
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

	rc = read_scratch(loader, dir_fd, file->name,
	                  &found->found[index].stamp, err);
	if (rc < 0)
		return rc;
	tkb_buf_reset(&loader->text);
	rc = tkb_scrub(tkb_buf_bytes(&loader->scratch), file->name, list, count,
	               &loader->text, &file->sentinels, err);
	if (rc < 0)
		return rc;
	return keep_bytes(loader, found, index, tkb_buf_bytes(&loader->text),
	                  err);
}

/* The group file as it is in a bundle. */
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
	return keep_bytes(loader, found, index, tkb_buf_bytes(&loader->text),
	                  err);
}

static int index_of(const struct tkb_scanned_entry *found, const char *name,
                    size_t *out)
{
	for (size_t i = 0; i < found->entry.file_count; i++) {
		if (strcmp(found->files[i].name, name) == 0) {
			*out = i;
			return 0;
		}
	}
	return TKB_MISS;
}

static int load_files(struct tkb_loader *loader,
                      const struct tkb_folder *folder,
                      struct tkb_scanned_entry *found,
                      const struct tkb_group *group,
                      const struct tkb_stamp *group_stamp,
                      struct tkb_error *err)
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
			found->found[i].stamp = *group_stamp;
			rc = keep_group(loader, found, i, group, err);
		} else if (strcmp(tkb_name_extension(name), "json") == 0) {
			rc = load_json(loader, folder->fd, found, i, &prefixes,
			               err);
		} else {
			rc = look_at(folder->fd, found, i, err);
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

/* One of the files must be a binary that the backend can load. */
static int check_has_binary(const struct tkb_scanned_entry *found,
                            struct tkb_error *err)
{
	const char *const *binaries =
		tkb_metadata_binaries(found->metadata.target.backend);

	for (size_t i = 0; i < found->entry.file_count; i++) {
		const char *extension =
			tkb_name_extension(found->files[i].name);

		for (size_t j = 0; binaries[j] != NULL; j++) {
			if (strcmp(extension, binaries[j]) == 0)
				return 0;
		}
	}
	return tkb_fail_entry(err, TKB_REASON_BINARY,
	                      "the group file lists no '%s.%s'",
	                      found->entry.name, binaries[0]);
}

static int check_metadata(struct tkb_loader *loader,
                          struct tkb_scanned_entry *found,
                          struct tkb_error *err)
{
	char name[TKB_NAME_LIMIT + 8];
	size_t index = 0;
	int rc;

	(void)snprintf(name, sizeof(name), "%s.json", found->entry.name);
	if (index_of(found, name, &index) != 0)
		return tkb_fail_entry(err, TKB_REASON_METADATA,
		                      "the group file lists no '%s'", name);
	rc = tkb_metadata_parse(found->found[index].bytes, name, &loader->arena,
	                        &found->metadata, err);
	if (rc < 0)
		return rc;
	rc = tkb_metadata_check_key(&found->metadata, found->entry.key, err);
	if (rc < 0)
		return rc;
	found->entry.target = found->metadata.target;
	found->entry.producer_version = found->metadata.version;
	return check_has_binary(found, err);
}

/* Lean does without a file, but does not make a torn entry a whole one. */
static int check_is_there(int dir_fd, const char *name, struct tkb_error *err)
{
	if (faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return tkb_fail_look(TKB_REASON_MISSING, "is not there", name,
		                     err);
	return 0;
}

/* The entry's files: what the group file lists, and the group file. */
static int list_children(struct tkb_loader *loader, int dir_fd,
                         struct tkb_scanned_entry *found,
                         const struct tkb_group *group, struct tkb_error *err)
{
	int rc;

	rc = alloc_files(loader, found, group->child_count + 1, err);
	if (rc < 0)
		return rc;
	add_file(found, found->group_name);
	for (size_t i = 0; i < group->child_count; i++) {
		const char *name = group->children[i].name;

		if (tkb_name_is_group(name))
			return tkb_fail_entry(err, TKB_REASON_GROUP,
			                      "the group file lists a group "
			                      "file, '%s'",
			                      name);
		if (loader->is_lean && tkb_name_is_lean_drop(name)) {
			rc = check_is_there(dir_fd, name, err);
			if (rc < 0)
				return rc;
			continue;
		}
		add_file(found, name);
	}
	sort_files(found);
	return 0;
}

static bool lists(const struct tkb_group *group, const char *name)
{
	for (size_t i = 0; i < group->child_count; i++) {
		if (strcmp(group->children[i].name, name) == 0)
			return true;
	}
	return false;
}

/*
 * What a kernel's folder holds besides it. A file that a compiler put there
 * after the folder was listed is the kernel's, and no name of the listing.
 */
static size_t count_strays(const struct tkb_folder *folder,
                           const struct tkb_scanned_entry *found,
                           const struct tkb_group *group)
{
	size_t count = 0;

	for (const char *name = tkb_folder_next(folder, NULL); name != NULL;
	     name = tkb_folder_next(folder, name))
		count += strcmp(name, found->group_name) != 0 &&
		         !lists(group, name);
	return count;
}

static int check_name(const char *name, struct tkb_error *err)
{
	if (!tkb_name_is_valid(tkb_text(name)))
		return tkb_fail_entry(err, TKB_REASON_NAME,
		                      "'%s' cannot be a file's name", name);
	return 0;
}

static int keep_name(struct tkb_loader *loader, struct tkb_scanned_entry *found,
                     const char *file_name, struct tkb_error *err)
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

/* The name of its one group file. */
static const char *group_name(const struct tkb_folder *folder)
{
	const char *name = tkb_folder_next(folder, NULL);

	while (!tkb_name_is_group(name))
		name = tkb_folder_next(folder, name);
	return name;
}

static int load_kernel(struct tkb_loader *loader,
                       const struct tkb_folder *folder,
                       struct tkb_scanned_entry *found, struct tkb_error *err)
{
	struct tkb_stamp stamp = { 0 };
	struct tkb_group group = { 0 };
	int rc;

	found->group_name = keep(loader, group_name(folder));
	if (found->group_name == NULL)
		return tkb_fail_nomem(err);
	rc = check_name(found->group_name, err);
	if (rc < 0)
		return rc;
	rc = keep_name(loader, found, found->group_name, err);
	if (rc < 0)
		return rc;
	rc = tkb_scanned_entry_read_into(&loader->group, folder->fd,
	                                 found->group_name, &stamp, err);
	if (rc < 0)
		return rc;
	rc = tkb_hasher_digest(&loader->hasher, tkb_buf_bytes(&loader->group),
	                       &found->group_digest, err);
	if (rc < 0)
		return rc;
	rc = tkb_group_parse(tkb_buf_bytes(&loader->group), folder->key,
	                     &loader->arena, &group, err);
	if (rc < 0)
		return rc;
	tkb_buf_reset(&loader->place);
	rc = tkb_root_place(found->root, folder->key, &loader->place, err);
	if (rc < 0)
		return rc;
	found->is_moved =
		!tkb_group_names(&group, tkb_buf_bytes(&loader->place));

	rc = list_children(loader, folder->fd, found, &group, err);
	if (rc < 0)
		return rc;
	found->stray_count = count_strays(folder, found, &group);
	rc = load_files(loader, folder, found, &group, &stamp, err);
	if (rc < 0)
		return rc;
	return check_metadata(loader, found, err);
}

/* The names for which `wanted` is true are the entry's files. */
static int list_matching(struct tkb_loader *loader,
                         const struct tkb_folder *folder,
                         struct tkb_scanned_entry *found, size_t count,
                         bool (*wanted)(const char *name),
                         struct tkb_error *err)
{
	int rc;

	if (count > TKB_FILES_LIMIT)
		return tkb_fail_entry(err, TKB_REASON_LIMIT,
		                      "the folder holds more than %d files",
		                      TKB_FILES_LIMIT);
	rc = alloc_files(loader, found, count, err);
	if (rc < 0)
		return rc;
	for (const char *name = tkb_folder_next(folder, NULL); name != NULL;
	     name = tkb_folder_next(folder, name)) {
		const char *kept;

		if (!wanted(name))
			continue;
		rc = check_name(name, err);
		if (rc < 0)
			return rc;
		kept = keep(loader, name);
		if (kept == NULL)
			return tkb_fail_nomem(err);
		add_file(found, kept);
	}
	sort_files(found);
	found->stray_count -= count;
	return keep_name(loader, found, found->files[0].name, err);
}

/* All of an entry's modules are for one platform, or it fits none. */
static int note_platform(struct tkb_loader *loader,
                         struct tkb_scanned_entry *found,
                         struct tkb_bytes platform, struct tkb_error *err)
{
	if (found->entry.platform[0] != '\0' &&
	    !tkb_bytes_equal(tkb_text(found->entry.platform), platform))
		return tkb_fail_entry(err, TKB_REASON_BINARY,
		                      "the folder holds modules for '%s' and "
		                      "'%.*s'",
		                      found->entry.platform, (int)platform.size,
		                      (const char *)platform.data);
	found->entry.platform = tkb_arena_string(&loader->arena, platform);
	return found->entry.platform == NULL ? tkb_fail_nomem(err) : 0;
}

static int load_module_file(struct tkb_loader *loader,
                            const struct tkb_folder *folder,
                            struct tkb_scanned_entry *found, size_t index,
                            struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf platform = TKB_BUF_INIT(512);
	const char *name = found->files[index].name;
	int rc;

	rc = read_scratch(loader, folder->fd, name, &found->found[index].stamp,
	                  err);
	if (rc < 0)
		return rc;
	rc = tkb_elf_check_module(tkb_buf_bytes(&loader->scratch), name,
	                          &platform, err);
	if (rc < 0)
		return rc;
	rc = note_platform(loader, found, tkb_buf_bytes(&platform), err);
	if (rc < 0)
		return rc;
	return keep_bytes(loader, found, index, tkb_buf_bytes(&loader->scratch),
	                  err);
}

static int load_module(struct tkb_loader *loader,
                       const struct tkb_folder *folder,
                       struct tkb_scanned_entry *found, struct tkb_error *err)
{
	int rc;

	rc = list_matching(loader, folder, found, folder->module_count,
	                   tkb_name_is_module, err);
	for (size_t i = 0; i < found->entry.file_count && rc == 0; i++)
		rc = load_module_file(loader, folder, found, i, err);
	return rc;
}

static int load_autotune(struct tkb_loader *loader,
                         const struct tkb_folder *folder,
                         struct tkb_scanned_entry *found, struct tkb_error *err)
{
	int rc;

	rc = list_matching(loader, folder, found, folder->autotune_count,
	                   tkb_name_is_autotune, err);
	if (rc < 0)
		return rc;
	return load_files(loader, folder, found, NULL, NULL, err);
}

static int load_kind(struct tkb_loader *loader, struct tkb_folder *folder,
                     struct tkb_scanned_entry *found, struct tkb_error *err)
{
	if (folder->group_count > 1)
		return tkb_fail_entry(err, TKB_REASON_GROUP,
		                      "the folder holds %zu group files",
		                      folder->group_count);
	if (folder->group_count == 1) {
		found->entry.kind = TKB_KIND_KERNEL;
		return load_kernel(loader, folder, found, err);
	}
	if (folder->module_count != 0) {
		found->is_unwanted = loader->is_kernels_only;
		if (loader->is_kernels_only)
			return 0;
		found->entry.kind = TKB_KIND_MODULE;
		return load_module(loader, folder, found, err);
	}
	found->entry.kind = TKB_KIND_AUTOTUNE;
	return load_autotune(loader, folder, found, err);
}

int tkb_scanned_entry_load(struct tkb_loader *loader,
                           const struct tkb_root *root, const char *key,
                           struct tkb_scanned_entry *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_folder_close) struct tkb_folder folder = { 0 };
	struct tkb_scanned_entry found = {
		.root = root,
		.entry = { .name = "",
		           .platform = "",
		           .producer = "triton",
		           .producer_version = "",
		           .target = { .backend = "", .arch = "" },
		           .devices = &root->device,
		           .device_count = 1 },
	};
	int rc;

	rc = tkb_folder_open(root->fd, key, &loader->names, &folder, err);
	if (rc == TKB_ERR_IO && errno == ENOENT)
		return TKB_MISS; /* somebody has just removed it */
	if (rc < 0 && rc != TKB_ERR_NOMEM && !tkb_key_is_valid(key))
		return TKB_MISS; /* "lost+found" */
	if (rc < 0)
		return rc;
	out->stray_count = folder.name_count;
	if (folder.group_count + folder.module_count + folder.autotune_count ==
	    0)
		return TKB_MISS;
	if (!tkb_key_is_valid(key))
		return tkb_fail_entry(err, TKB_REASON_NAME,
		                      "the folder's name has not the shape of "
		                      "a key");

	found.stray_count = folder.name_count;
	found.entry.key = keep(loader, key);
	if (found.entry.key == NULL)
		return tkb_fail_nomem(err);
	rc = load_kind(loader, &folder, &found, err);
	if (rc != 0)
		return rc;
	*out = found;
	return 0;
}
