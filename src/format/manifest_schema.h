/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_MANIFEST_SCHEMA_H
#define TKB_FORMAT_MANIFEST_SCHEMA_H

/*
 * What an entry and a saved launcher are in JSON: docs/format.md, section 2,
 * as tables.
 */

#include "text/schema.h"

/* A list of struct tkb_entry, in a manifest's order. */
extern const struct tkb_schema_list tkb_manifest_entries;

/* A list of struct tkb_saved_launcher, by cache key. */
extern const struct tkb_schema_list tkb_manifest_launchers;

/*
 * Files, of entries and of units, are sorted by name: what is wrong, or NULL.
 */
const char *tkb_file_order_fault(const void *earlier, size_t count,
                                 const void *item);

/* The last, optional item of a file, of entries and of units. */
#define TKB_FIELD_SENTINELS                                                    \
	{                                                                      \
		.kind = TKB_SCHEMA_NUMBER,                                     \
		.offset = offsetof(struct tkb_file, sentinels),                \
		.size = sizeof(uint32_t), .is_optional = true, .least = 1,     \
		.limit = UINT32_MAX, .wrong = "a count of no sentinels"        \
	}

/* Shared with records: "inductor", where the cache has Inductor's layout. */
bool tkb_layout_is_valid(const char *text);

#define TKB_FIELD_LAYOUT(type_, member_)                                       \
	{                                                                      \
		.name = "layout", .kind = TKB_SCHEMA_TEXT,                     \
		.offset = offsetof(type_, member_), .is_optional = true,       \
		.wrong = "the layout is not known",                            \
		.is_valid = tkb_layout_is_valid                                \
	}

/* Shared with records: "full" or "lean". */
bool tkb_contents_profile_is_valid(const char *text);

/* Shared with records: [backend, architecture, warp size]. */
extern const struct tkb_schema tkb_target_schema;

/* Indices of GPUs, ascending, at least one. */
extern const struct tkb_schema_list tkb_device_list;

#endif
