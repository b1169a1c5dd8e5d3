/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_MANIFEST_SCHEMA_H
#define TKB_FORMAT_MANIFEST_SCHEMA_H

/*
 * The JSON of an entry and of a saved launcher, as tables: docs/format.md,
 * section 2.
 */

#include "text/schema.h"

/* The list of struct tkb_entry in a manifest. */
extern const struct tkb_schema_list tkb_manifest_entries;

/* The list of struct tkb_saved_launcher in a manifest. */
extern const struct tkb_schema_list tkb_manifest_launchers;

/* The optional last part of a file of an entry or a unit. */
#define TKB_FIELD_SENTINELS                                                    \
	{                                                                      \
		.kind = TKB_SCHEMA_NUMBER,                                     \
		.offset = offsetof(struct tkb_file, sentinels),                \
		.size = sizeof(uint32_t), .is_optional = true, .least = 1,     \
		.limit = UINT32_MAX, .wrong = "a count of sentinels is 0"      \
	}

/* "inductor", the layout of Inductor's caches. Also for records. */
#define TKB_FIELD_LAYOUT(type_, member_)                                       \
	{                                                                      \
		.name = "layout", .kind = TKB_SCHEMA_TEXT,                     \
		.offset = offsetof(type_, member_), .is_optional = true,       \
		.wrong = "the layout is not known", .only = "inductor"         \
	}

/* Is it "full" or "lean"? Also for records. */
bool tkb_contents_profile_is_valid(const char *text);

/* [backend, architecture, warp size]. Also for records. */
extern const struct tkb_schema tkb_target_schema;

/* At least one index of a GPU, ascending. */
extern const struct tkb_schema_list tkb_device_list;

#endif
