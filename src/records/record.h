/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_RECORDS_RECORD_H
#define TKB_RECORDS_RECORD_H

/*
 * A record: an immutable note that one bundle belongs to a ref. Canonical JSON,
 * as a manifest is:
 *
 *     {"blob":["<sha256>",SIZE],"bundle":"<id>",
 *      "entries":[["<key>","<platform>",["cuda","90",32],[0,1]],...],
 *      "format":"tkbundle-record","frames":"<sha256>","profile":"full",
 *      "version":1}
 *
 * A unit of a tree has a fifth part, ["<tree>","<name>"], or, of what was tuned,
 * ["<tree>","<name>",["<sha256>",MS]]: see unit_version.h. If the manifest has a layout,
 * "layout" is a member, too.
 *
 * A record with times has version 3 and a member "times", a number for each entry:
 * how many milliseconds it took to compile, 0 if unknown.
 *
 * A record that knows with which Tritons its entries were made ("triton", a list of
 * versions), of what made them besides ("makers", and for each entry "made", which of
 * those, counted from 1; see tkbundle/makers.h), or of pushes with labels ("pushes", see
 * pushes.h), has version 4.
 *
 * The blob's digest determines every byte of the bundle. Those of its manifest and
 * its frame list let a reader check each frame before the last one has arrived.
 * From the entries a pull knows whether it needs the blob.
 */

#include <tkbundle/bundle.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "cache/entry.h"
#include "collect/makers.h"
#include "collect/times.h"
#include "format/unit_version.h"
#include "notes/pushes.h"
#include "trust/signer.h"

enum {
	TKB_RECORD_VERSION = 1,
	TKB_RECORD_VERSION_UNITS =
		2, /* of a record that has units or a layout */
	TKB_RECORD_VERSION_TIMES =
		3, /* of one that has times, with those or not */
	TKB_RECORD_VERSION_NOTES =
		4, /* of one that tells of Tritons, makers or pushes */
	TKB_RECORD_VERSION_LAST = TKB_RECORD_VERSION_NOTES,
	TKB_RECORD_TRITONS_LIMIT = 64,
	TKB_RECORD_MAKERS_LIMIT = 64
};

#define TKB_RECORD_FORMAT "tkbundle-record"

/* What a record says of one entry. */
struct tkb_record_entry {
	const char *key;
	const char *platform;
	struct tkb_target target;
	const uint32_t *devices;
	size_t device_count;
	const char *tree;           /* of a unit, else NULL */
	const char *name;           /* likewise: its path in the tree */
	struct tkb_version version; /* of what was tuned */
};

/* What goes into a record beside the bundle's own data. */
struct tkb_record_facts {
	const struct tkb_times *times;       /* sorted; NULL: none is known */
	const struct tkb_versions *versions; /* likewise */
	const struct tkb_pushes *pushes;     /* likewise */
	const struct tkb_makers *makers;     /* likewise */
	const struct tkb_signer *signer;     /* of the record; NULL: nobody */
};

struct tkb_record {
	struct tkb_arena arena;    /* owns what the rest points to */
	struct tkb_digest digest;  /* of the record itself; set by its reader */
	uint64_t age_s;            /* likewise */
	struct tkb_bytes text;     /* likewise: its bytes */
	bool is_hole;              /* its blob is gone: see records.h */
	struct tkb_digests origin; /* owned: under a policy, what may be revoked
	                              of it: itself, its bundle, keys, ... */
	struct tkb_digest blob;
	uint64_t size;            /* of the blob, bytes */
	struct tkb_digest bundle; /* its id */
	struct tkb_digest frames; /* of the text of its tkbundle.frames */
	bool is_lean;
	const char *layout; /* as the manifest has it, or NULL */
	struct tkb_record_entry *entries;
	size_t entry_count;
	uint32_t *times; /* of the entries; NULL: none is known */
	size_t time_count;
	const char **tritons; /* versions, sorted */
	size_t triton_count;
	const char **makers; /* what made entries, sorted */
	size_t maker_count;
	uint32_t *made;    /* by which of those, from 1 on; 0: nobody knows */
	size_t made_count; /* none, or one for each entry */
	struct tkb_push_note *pushes; /* the oldest first */
	size_t push_count;
};

void tkb_record_release(struct tkb_record *record);

/*
 * Append the record of `bundle`, whose blob has `digest`, with `facts` (may be
 * NULL) about its entries.
 */
TKB_NODISCARD int tkb_record_write(const struct tkb_bundle *bundle,
                                   const struct tkb_digest *digest,
                                   uint64_t size,
                                   const struct tkb_record_facts *facts,
                                   struct tkb_buf *out, struct tkb_error *err);

/*
 * What is signed of a record that was read: its bundle, and all that it says but for
 * the members "blob" and "frames". Those tell how the bundle is compressed, which
 * may change, and signatures stay.
 */
TKB_NODISCARD int tkb_record_subject(const struct tkb_record *record,
                                     struct tkb_subject *out,
                                     struct tkb_error *err);

/* Sign a record that was read. */
TKB_NODISCARD int tkb_record_sign(const struct tkb_record *record,
                                  const struct tkb_signer *signer,
                                  struct tkb_remote *remote, const char *ref,
                                  struct tkb_error *err);

/* Add the versions that a record has to `versions`. */
TKB_NODISCARD int tkb_record_add_versions(const struct tkb_record *record,
                                          struct tkb_versions *versions,
                                          struct tkb_error *err);

/* Add the pushes that a record tells of, whose texts stay the record's. */
TKB_NODISCARD int tkb_record_add_pushes(const struct tkb_record *record,
                                        struct tkb_pushes *pushes,
                                        struct tkb_error *err);

/* Add the times of a record to `times`. */
TKB_NODISCARD int tkb_record_add_times(const struct tkb_record *record,
                                       struct tkb_times *times,
                                       struct tkb_error *err);

/* Add what made the entries of a record to `makers`. */
TKB_NODISCARD int tkb_record_add_makers(const struct tkb_record *record,
                                        struct tkb_makers *makers,
                                        struct tkb_error *err);

/*
 * May a record that fails with TKB_ERR_CORRUPT be of a newer tkbundle, whose
 * records have other members? True if it is JSON with another version.
 */
bool tkb_record_may_be_newer(struct tkb_bytes text);

/* Returns 0, TKB_ERR_CORRUPT, TKB_ERR_UNSUPPORTED or TKB_ERR_NOMEM. */
TKB_NODISCARD int tkb_record_parse(struct tkb_bytes text,
                                   struct tkb_record *out,
                                   struct tkb_error *err);

#endif
