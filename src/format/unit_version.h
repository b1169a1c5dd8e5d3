/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_UNIT_VERSION_H
#define TKB_FORMAT_UNIT_VERSION_H

/*
 * Versions of what was tuned. Other units never change, or any copy of them
 * will do. But an engine writes what it tuned first, and later something better
 * under the same name. So a record names the version of such a unit, and the
 * newest of a ref is used.
 */

#include "base/base.h"
#include "base/digest.h"

/* Zeroed: there is none. */
struct tkb_version {
	struct tkb_digest digest; /* of the unit, as its manifest has it */
	uint64_t changed_ms; /* when it was written, since 1970; 0: not known */
};

/* Zeroed is empty. */
struct tkb_versions {
	struct tkb_version *items; /* owned */
	size_t count;
	size_t capacity;
};

void tkb_versions_release(struct tkb_versions *versions);

TKB_NODISCARD int tkb_versions_add(struct tkb_versions *versions,
                                   const struct tkb_version *version,
                                   struct tkb_error *err);

/* When the version with that digest was written, or 0; `versions` may be NULL. */
uint64_t tkb_versions_time(const struct tkb_versions *versions,
                           const struct tkb_digest *digest);

/*
 * Above 0 if `a` is newer. Two of the same time are ordered in some way that is
 * the same on all machines.
 */
int tkb_version_compare(const struct tkb_version *a,
                        const struct tkb_version *b);

bool tkb_version_is_none(const struct tkb_version *version);

/* Is it a unit that was tuned? */
bool tkb_unit_has_versions(const struct tkb_entry *entry);

/* The digest of a unit whose files have theirs. */
TKB_NODISCARD int tkb_unit_version_digest(const struct tkb_entry *unit,
                                          struct tkb_digest *out,
                                          struct tkb_error *err);

#endif
