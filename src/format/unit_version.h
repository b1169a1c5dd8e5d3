/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_UNIT_VERSION_H
#define TKB_FORMAT_UNIT_VERSION_H

/*
 * Versions of units. Most units never change, or any copy of them will do. But
 * an engine may write a better tuning later, under the same name, or find that
 * a unit does not fit it, and make it again. So a record states the version of
 * a tuned unit, and of one that was made again. The newest version in a ref is
 * used; a unit without a version is older than all of them.
 */

#include "base/base.h"
#include "base/digest.h"

/* A zeroed version means: there is none. */
struct tkb_version {
	struct tkb_digest digest; /* of the unit, as in its manifest */
	uint64_t changed_ms;      /* when written, since 1970; 0: not known */
};

/* A zeroed list is empty. */
struct tkb_versions {
	struct tkb_version *items; /* owned */
	size_t count;
	size_t capacity;
};

void tkb_versions_release(struct tkb_versions *versions);

TKB_NODISCARD int tkb_versions_add(struct tkb_versions *versions,
                                   const struct tkb_version *version,
                                   struct tkb_error *err);

/* The version with `digest`, or NULL. `versions` may be NULL. */
const struct tkb_version *tkb_versions_find(const struct tkb_versions *versions,
                                            const struct tkb_digest *digest);

/*
 * Positive if `a` is newer. Two versions of the same time have an order that is
 * arbitrary but the same on all machines.
 */
int tkb_version_compare(const struct tkb_version *a,
                        const struct tkb_version *b);

bool tkb_version_is_none(const struct tkb_version *version);

/* Is the entry a tuned unit? These always have a version. */
bool tkb_unit_is_tuned(const struct tkb_entry *entry);

/* Compute the digest of a unit from those of its files. */
TKB_NODISCARD int tkb_unit_version_digest(const struct tkb_entry *unit,
                                          struct tkb_digest *out,
                                          struct tkb_error *err);

#endif
