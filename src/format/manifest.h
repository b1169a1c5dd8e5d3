/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_MANIFEST_H
#define TKB_FORMAT_MANIFEST_H

/*
 * The manifest lists what a bundle holds, as canonical JSON. It is the bundle's
 * first member, and its SHA-256 is the bundle's id. docs/format.md has the
 * rules; a reader refuses a manifest that breaks one.
 */

#include <tkbundle/launcher.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "cache/entry.h"

#define TKB_MANIFEST_SIZE_LIMIT ((size_t)32 * 1024 * 1024)

enum {
	TKB_FORMAT_VERSION = 1
};

struct tkb_manifest {
	struct tkb_arena arena;    /* owns what the other members point to */
	struct tkb_entry *entries; /* the items, see launcher_payload.h:
	                              entries, then payloads */
	size_t entry_count;
	size_t item_count;
	struct tkb_saved_launcher *launchers;
	size_t launcher_count;
	const char *profile;
	const char *layout; /* of the cache: "inductor", or NULL */
};

void tkb_manifest_release(struct tkb_manifest *manifest);

/*
 * Read the manifest in `text`. Returns 0, TKB_ERR_CORRUPT, TKB_ERR_UNSUPPORTED
 * (a newer version, or it requires something that this tkbundle does not know)
 * or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_manifest_parse(struct tkb_bytes text,
                                     struct tkb_manifest *out,
                                     struct tkb_error *err);

/* What a manifest is made of. Entries and launchers are in order. */
struct tkb_contents {
	const struct tkb_entry *const *entries;
	size_t entry_count;
	const struct tkb_saved_launcher *launchers;
	size_t launcher_count;
	const char *profile;
	const char *layout; /* "inductor", or NULL */
};

void tkb_manifest_write(const struct tkb_contents *contents,
                        struct tkb_buf *out);

#endif
