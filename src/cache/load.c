/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/load.h"

#include <errno.h>

#include "cache/elf.h"
#include "cache/key.h"
#include "cache/names.h"

enum {
	NAMES_LIMIT = 16 * 1024 * 1024, /* of all names in a folder together */
	PREFIX_LIMIT = 64 * 1024
};

int tkb_loader_open(struct tkb_loader *loader, bool is_lean,
                    bool is_kernels_only, struct tkb_error *err)
{
	*loader = (struct tkb_loader){
		.scratch = TKB_BUF_INIT(TKB_UNIT_FILE_SIZE_LIMIT + 1),
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
	tkb_unit_parent_close(&loader->parent);
	tkb_unit_parent_close(&loader->staged);
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

/* Take the folder's names for which `wanted` is true as the entry's files. */
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
	rc = tkb_load_alloc_files(loader, found, count, err);
	if (rc < 0)
		return rc;
	for (const char *name = tkb_folder_next(folder, NULL); name != NULL;
	     name = tkb_folder_next(folder, name)) {
		const char *kept;

		if (!wanted(name))
			continue;
		rc = tkb_load_check_name(name, err);
		if (rc == 0)
			rc = tkb_arena_copy(&loader->arena, tkb_text(name),
			                    &kept, err);
		if (rc < 0)
			return rc;
		tkb_load_add_file(found, kept);
	}
	tkb_load_sort_files(found);
	found->stray_count -= count;
	return tkb_load_name_entry(loader, found, found->files[0].name, err);
}

/* Set the entry's platform. All its modules must have the same one. */
static int set_platform(struct tkb_loader *loader,
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
	return tkb_arena_copy(&loader->arena, platform, &found->entry.platform,
	                      err);
}

static int load_module_file(struct tkb_loader *loader,
                            const struct tkb_folder *folder,
                            struct tkb_scanned_entry *found, size_t index,
                            struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf platform = TKB_BUF_INIT(512);
	const char *name = found->files[index].name;
	int rc;

	rc = tkb_load_read_file(loader, folder->fd, found, index, err);
	if (rc < 0)
		return rc;
	rc = tkb_elf_check_module(tkb_buf_bytes(&loader->scratch), name,
	                          &platform, err);
	if (rc < 0)
		return rc;
	rc = set_platform(loader, found, tkb_buf_bytes(&platform), err);
	if (rc < 0)
		return rc;
	return tkb_load_keep_bytes(loader, found, index,
	                           tkb_buf_bytes(&loader->scratch), err);
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

int tkb_load_tuned(struct tkb_loader *loader, struct tkb_scanned_entry *found,
                   struct tkb_error *err)
{
	const int rc = tkb_gpu_ask(&loader->here, err);

	return rc < 0 ? rc
	              : tkb_arena_copy(&loader->arena,
	                               tkb_text(loader->here.platform),
	                               &found->entry.platform, err);
}

static int load_autotune(struct tkb_loader *loader,
                         const struct tkb_folder *folder,
                         struct tkb_scanned_entry *found, struct tkb_error *err)
{
	int rc;

	rc = list_matching(loader, folder, found, folder->autotune_count,
	                   tkb_name_is_autotune, err);
	if (rc == 0)
		rc = tkb_load_tuned(loader, found, err);
	return rc < 0 ? rc
	              : tkb_load_files(loader, folder, found, NULL, NULL, err);
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
		return tkb_load_kernel(loader, folder, found, err);
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
		return TKB_MISS; /* the folder was just removed */
	if (rc < 0 && rc != TKB_ERR_NOMEM && !tkb_key_is_valid(key))
		return TKB_MISS; /* for example "lost+found" */
	if (rc < 0)
		return rc;
	out->stray_count = folder.name_count;
	if (folder.group_count + folder.module_count + folder.autotune_count ==
	    0)
		return TKB_MISS;
	if (!tkb_key_is_valid(key))
		return tkb_fail_entry(
			err, TKB_REASON_NAME,
			"the folder's name does not have the shape of "
			"a key");

	found.stray_count = folder.name_count;
	found.entry.key = tkb_arena_string(&loader->arena, tkb_text(key));
	if (found.entry.key == NULL)
		return tkb_fail_nomem(err);
	rc = load_kind(loader, &folder, &found, err);
	if (rc != 0)
		return rc;
	*out = found;
	return 0;
}
