/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_IDENTITY_H
#define TKB_FLEET_IDENTITY_H

/*
 * The entries of a ref's records, without duplicates: key, platform, device,
 * and the version of a unit that was tuned or made again.
 */

#include "cache/scanned_entry.h"
#include "records/records.h"

struct tkb_loader;

struct tkb_identity {
	const char *key; /* borrowed from the records */
	const char *platform;
	uint32_t device;
	struct tkb_version version; /* of a unit that has one */
	bool is_made_again; /* only the newest version of the list counts */
};

struct tkb_identities {
	struct tkb_identity *items; /* owned; sorted */
	size_t count;
	size_t entry_count; /* entries that differ in more than the version */
};

void tkb_identities_release(struct tkb_identities *identities);

/* List the entries of all `records`. The records must outlive the list. */
TKB_NODISCARD int tkb_identities_list(const struct tkb_record_list *records,
                                      struct tkb_identities *out,
                                      struct tkb_error *err);

/*
 * Is the entry in the list? Of a unit that has a version, the list must have
 * this one or a newer one; a version of unknown time is older than any other.
 */
bool tkb_identities_have(const struct tkb_identities *identities,
                         const struct tkb_identity *wanted);

/*
 * Read the unit `found`, and give the identity its version. If the unit cannot be
 * read, or is changing, there is none: the packer will report that.
 */
TKB_NODISCARD int tkb_identity_read_version(
	struct tkb_identity *identity, struct tkb_loader *loader,
	const struct tkb_scanned_entry *found, struct tkb_error *err);

#endif
