/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_NAMES_H
#define TKB_CACHE_NAMES_H

/* The names of an entry's files. */

#include "base/base.h"

enum {
	TKB_FILES_LIMIT = 64,       /* of an entry */
	TKB_ENTRIES_LIMIT = 100000, /* of a bundle */
	TKB_DEVICE_LIMIT = 1024     /* device numbers are below this */
};

/* Of a kernel, a module or a payload; see tree/unit.h for units. */
#define TKB_FILE_SIZE_LIMIT ((uint64_t)64 * 1024 * 1024)
#define TKB_ENTRY_SIZE_LIMIT ((uint64_t)256 * 1024 * 1024)

/* The part of `name` after its last dot; "" if there is no dot. */
const char *tkb_name_extension(const char *name);

/* "__grp__<name>.json" */
bool tkb_name_is_group(const char *name);

/* "*.so", and "*.autotune.json" */
bool tkb_name_is_module(const char *name);
bool tkb_name_is_autotune(const char *name);

/*
 * The `<name>` in the name of a group, module or autotune file: where it
 * starts, and its length.
 */
size_t tkb_name_stem(const char *name, const char **start_out);

/* Is it source, IR or assembly? No launch reads those, so lean drops them. */
bool tkb_name_is_lean_drop(const char *name);

/* Compare two files of an entry: by extension, then by name. */
int tkb_name_compare(const char *a, const char *b);

#endif
