/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/load.h"

#include <stdio.h>

#include "base/fd.h"
#include "base/path.h"
#include "cache/entry.h"
#include "cache/names.h"
#include "cache/scrub.h"

/* Check that the kernel has a binary that its backend can load. */
static int check_has_binary(const struct tkb_scanned_entry *found,
                            struct tkb_error *err)
{
	const char *backend = found->metadata.target.backend;

	for (size_t i = 0; i < found->entry.file_count; i++) {
		if (tkb_metadata_is_binary(backend, found->files[i].name))
			return 0;
	}
	return tkb_fail_entry(err, TKB_REASON_BINARY,
	                      "the group file lists no '%s.%s'",
	                      found->entry.name, tkb_metadata_binary(backend));
}

static int check_metadata(struct tkb_loader *loader,
                          struct tkb_scanned_entry *found,
                          struct tkb_error *err)
{
	char name[TKB_NAME_LIMIT + 8];
	size_t index;
	int rc;

	(void)snprintf(name, sizeof(name), "%s.json", found->entry.name);
	index = tkb_entry_find_file(&found->entry, name);
	if (index == found->entry.file_count)
		return tkb_fail_entry(err, TKB_REASON_METADATA,
		                      "the group file lists no '%s'", name);
	rc = tkb_metadata_parse(found->loaded[index].bytes, name,
	                        &loader->arena, &found->metadata, err);
	if (rc < 0)
		return rc;
	rc = tkb_metadata_check_key(&found->metadata, found->entry.key, err);
	if (rc < 0)
		return rc;
	found->entry.target = found->metadata.target;
	found->entry.producer_version = found->metadata.version;
	return check_has_binary(found, err);
}

/*
 * Check that a listed file exists. Even a file that lean drops must, or else
 * the entry is torn.
 */
static int check_is_there(int dir_fd, const char *name, struct tkb_error *err)
{
	if (!tkb_fd_exists(dir_fd, name))
		return tkb_fail_look(TKB_REASON_MISSING, "is not there", name,
		                     err);
	return 0;
}

/* Add the group file and the files that it names to the list. */
static int list_children(struct tkb_loader *loader, int dir_fd,
                         struct tkb_scanned_entry *found,
                         const struct tkb_group *group, struct tkb_error *err)
{
	int rc;

	rc = tkb_load_alloc_files(loader, found, group->child_count + 1, err);
	if (rc < 0)
		return rc;
	tkb_load_add_file(found, found->group_name);
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
		tkb_load_add_file(found, name);
	}
	tkb_load_sort_files(found);
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
 * Count the files that the group file does not list. It may list files that
 * appeared after the folder was listed.
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

static const char *find_group_name(const struct tkb_folder *folder)
{
	const char *name = tkb_folder_next(folder, NULL);

	while (!tkb_name_is_group(name))
		name = tkb_folder_next(folder, name);
	return name;
}

int tkb_load_kernel(struct tkb_loader *loader, const struct tkb_folder *folder,
                    struct tkb_scanned_entry *found, struct tkb_error *err)
{
	struct tkb_stamp stamp = { 0 };
	struct tkb_group group = { 0 };
	int rc;

	found->group_name = tkb_arena_string(&loader->arena,
	                                     tkb_text(find_group_name(folder)));
	if (found->group_name == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_load_check_name(found->group_name, err);
	if (rc < 0)
		return rc;
	rc = tkb_load_name_entry(loader, found, found->group_name, err);
	if (rc < 0)
		return rc;
	rc = tkb_scanned_entry_read_into(&loader->group, folder->fd,
	                                 found->group_name, TKB_FILE_SIZE_LIMIT,
	                                 &stamp, err);
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
	rc = tkb_load_files(loader, folder, found, &group, &stamp, err);
	if (rc < 0)
		return rc;
	return check_metadata(loader, found, err);
}
