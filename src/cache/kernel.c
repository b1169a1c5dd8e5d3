/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/kernel.h"

#include <stdio.h>

#include "base/buf.h"
#include "cache/entry.h"
#include "cache/metadata.h"
#include "cache/names.h"
#include "cache/scrub.h"

size_t tkb_kernel_group_index(const struct tkb_entry *entry)
{
	size_t i = 0;

	while (i < entry->file_count &&
	       !tkb_name_is_group(entry->files[i].name))
		i++;
	return i;
}

/* Does the entry have the file `name`? The group file may not list itself. */
static bool has_file(const struct tkb_entry *entry, const char *name)
{
	return !tkb_name_is_group(name) &&
	       tkb_entry_find_file(entry, name) != entry->file_count;
}

int tkb_kernel_check_group(const struct tkb_entry *entry, struct tkb_bytes text,
                           struct tkb_bytes place, struct tkb_arena *arena,
                           struct tkb_error *err)
{
	struct tkb_group group = { 0 };
	int rc;

	rc = tkb_group_parse(text, entry->key, arena, &group, err);
	if (rc < 0)
		return rc;
	if (group.child_count + 1 != entry->file_count)
		return tkb_fail_entry(err, TKB_REASON_GROUP,
		                      "the group file lists %zu files, the "
		                      "manifest %zu besides it",
		                      group.child_count, entry->file_count - 1);
	for (size_t i = 0; i < group.child_count; i++) {
		if (!has_file(entry, group.children[i].name))
			return tkb_fail_entry(err, TKB_REASON_GROUP,
			                      "the group file lists '%s', the "
			                      "manifest does not",
			                      group.children[i].name);
	}
	if (!tkb_group_names(&group, place))
		return tkb_fail_entry(err, TKB_REASON_GROUP,
		                      "the group file names another place "
		                      "than its own");
	return 0;
}

/* Restore the group file for an arbitrary folder, and check it there. */
static int check_packed_group(const struct tkb_entry *entry,
                              struct tkb_bytes packed, struct tkb_arena *arena,
                              struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(2 * TKB_FILE_SIZE_LIMIT);
	const size_t index = tkb_kernel_group_index(entry);
	char place[128];
	int rc;

	(void)snprintf(place, sizeof(place), "/%s", entry->key);
	rc = tkb_restore(packed, entry->files[index].name, tkb_text(place),
	                 entry->files[index].sentinels, &text, err);
	if (rc < 0)
		return rc;
	return tkb_kernel_check_group(entry, tkb_buf_bytes(&text),
	                              tkb_text(place), arena, err);
}

static int check_metadata(const struct tkb_entry *entry,
                          const struct tkb_bytes *files,
                          struct tkb_arena *arena, struct tkb_metadata *out,
                          struct tkb_error *err)
{
	char name[512];
	size_t index;
	int rc;

	(void)snprintf(name, sizeof(name), "%s.json", entry->name);
	index = tkb_entry_find_file(entry, name);
	if (index == entry->file_count)
		return tkb_fail_entry(err, TKB_REASON_METADATA,
		                      "there is no '%s'", name);
	rc = tkb_metadata_parse(files[index], name, arena, out, err);
	if (rc < 0)
		return rc;
	if (!tkb_target_is_equal(&out->target, &entry->target))
		return tkb_fail_entry(err, TKB_REASON_METADATA,
		                      "'%s' has another target than the "
		                      "manifest says",
		                      name);
	return tkb_metadata_check_key(out, entry->key, err);
}

int tkb_kernel_check(const struct tkb_entry *entry,
                     const struct tkb_bytes *files, struct tkb_arena *arena,
                     struct tkb_error *err)
{
	struct tkb_metadata metadata = { 0 };
	int rc;

	rc = check_packed_group(entry, files[tkb_kernel_group_index(entry)],
	                        arena, err);
	if (rc < 0)
		return rc;
	rc = check_metadata(entry, files, arena, &metadata, err);
	for (size_t i = 0; i < entry->file_count && rc == 0; i++)
		rc = tkb_metadata_check_binary(&metadata, entry->files[i].name,
		                               files[i], err);
	return rc;
}
