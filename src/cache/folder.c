/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/folder.h"

#include "base/path.h"
#include "cache/names.h"

static void add_item_name(struct tkb_folder *folder, struct tkb_buf *names,
                          const char *name)
{
	if (tkb_name_is_dots(name))
		return;
	folder->name_count++;
	folder->group_count += tkb_name_is_group(name);
	folder->module_count += tkb_name_is_module(name);
	folder->autotune_count += tkb_name_is_autotune(name);
	tkb_buf_add(names, (struct tkb_bytes){ name, strlen(name) + 1 });
}

static int list_folder_names(struct tkb_folder *folder, struct tkb_buf *names,
                             struct tkb_error *err)
{
	const struct dirent *item = NULL;
	int rc;

	tkb_buf_reset(names);
	for (;;) {
		rc = tkb_dir_next(folder->dir, &item, err);
		if (rc != 0)
			break;
		add_item_name(folder, names, item->d_name);
	}
	return rc < 0 ? rc : tkb_buf_check(names, err);
}

int tkb_folder_open(int root_fd, const char *key, struct tkb_buf *names,
                    struct tkb_folder *out, struct tkb_error *err)
{
	int rc;

	*out = (struct tkb_folder){ .key = key, .names = names };
	rc = tkb_dir_open(root_fd, key, &out->dir, err);
	if (rc == 0) {
		out->fd = dirfd(out->dir);
		rc = list_folder_names(out, names, err);
	}
	if (rc == TKB_ERR_IO && err != NULL)
		err->reason = TKB_REASON_UNREADABLE;
	return rc;
}

void tkb_folder_close(struct tkb_folder *folder)
{
	tkb_dir_close_at(&folder->dir);
}

const char *tkb_folder_next(const struct tkb_folder *folder, const char *name)
{
	const char *all = (const char *)folder->names->data;

	if (name == NULL)
		return folder->names->size == 0 ? NULL : all;
	name += strlen(name) + 1;
	return name < all + folder->names->size ? name : NULL;
}
