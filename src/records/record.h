/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_RECORDS_RECORD_H
#define TKB_RECORDS_RECORD_H

/*
 * A record is an immutable note that a bundle belongs to a ref. It is canonical
 * JSON, like a manifest:
 *
 *     {"blob":["<sha256>",SIZE],"bundle":"<id>",
 *      "entries":[["<key>","<platform>",["cuda","90",32],[0,1]],...],
 *      "format":"tkbundle-record","frames":"<sha256>","profile":"full",
 *      "version":1}
 *
 * A unit of a tree has a fifth part, ["<tree>","<name>"]; one that was tuned, or
 * made again, has ["<tree>","<name>",["<sha256>",MS]]: see unit_version.h. If the manifest has
 * a layout, the record has a member "layout" too.
 *
 * A record with times has version 3 and a member "times": for each entry, the
 * milliseconds that its compile took, or 0 if unknown.
 *
 * A record has version 4 if it has one of these members: "triton", the versions
 * of Triton that made entries; "makers", what else made entries, and "made",
 * for each entry the number of its maker, counted from 1 (see
 * tkbundle/makers.h); "pushes", the pushes with labels (see pushes.h).
 *
 * The digest of the blob determines every byte of the bundle. With the digests
 * of its manifest and its frame list, a reader can check each frame before the
 * last one has arrived. The entries tell a pull whether it needs the blob.
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
	TKB_RECORD_VERSION_UNITS = 2, /* with units or a layout */
	TKB_RECORD_VERSION_TIMES = 3, /* with times */
	TKB_RECORD_VERSION_NOTES = 4, /* with Tritons, makers or pushes */
	TKB_RECORD_VERSION_LAST = TKB_RECORD_VERSION_NOTES,
	TKB_RECORD_TRITONS_LIMIT = 64,
	TKB_RECORD_MAKERS_LIMIT = 64
};

#define TKB_RECORD_FORMAT "tkbundle-record"

/* What a record says about one entry. */
struct tkb_record_entry {
	const char *key;
	const char *platform;
	struct tkb_target target;
	const uint32_t *devices;
	size_t device_count;
	const char *tree;           /* of a unit; else NULL */
	const char *name;           /* its path in the tree; else NULL */
	struct tkb_version version; /* of a unit that has one */
};

/* What goes into a record besides the bundle's own data. */
struct tkb_record_facts {
	const struct tkb_times *times;       /* sorted; NULL: none is known */
	const struct tkb_versions *versions; /* sorted; NULL: none is known */
	const struct tkb_pushes *pushes;     /* sorted; NULL: none is known */
	const struct tkb_makers *makers;     /* sorted; NULL: none is known */
	const struct tkb_signer *signer;     /* of the record; NULL: nobody */
};

struct tkb_record {
	struct tkb_arena arena;    /* owns what the other members point to */
	struct tkb_digest digest;  /* of the record; set by its reader */
	uint64_t age_s;            /* set by the record's reader */
	struct tkb_bytes text;     /* its bytes, set by the record's reader */
	bool is_hole;              /* the blob is gone: see records.h */
	struct tkb_digests origin; /* owned; under a policy, digests of what
	                              may be revoked: the record, its bundle,
	                              keys, ... */
	struct tkb_digest blob;
	uint64_t size;            /* of the blob, in bytes */
	struct tkb_digest bundle; /* the bundle's id */
	struct tkb_digest frames; /* of the text of its tkbundle.frames */
	bool is_lean;
	const char *layout; /* the manifest's, or NULL */
	struct tkb_record_entry *entries;
	size_t entry_count;
	uint32_t *times; /* one per entry; NULL: none is known */
	size_t time_count;
	const char **tritons; /* versions of Triton, sorted */
	size_t triton_count;
	const char **makers; /* what made entries, sorted */
	size_t maker_count;
	uint32_t *made;    /* one per entry: its maker, from 1; 0: unknown */
	size_t made_count; /* none, or one for each entry */
	struct tkb_push_note *pushes; /* the oldest first */
	size_t push_count;
};

void tkb_record_release(struct tkb_record *record);

/*
 * Append the record of `bundle`, whose blob has the digest `digest`, with
 * `facts` about its entries; `facts` may be NULL.
 */
TKB_NODISCARD int tkb_record_write(const struct tkb_bundle *bundle,
                                   const struct tkb_digest *digest,
                                   uint64_t size,
                                   const struct tkb_record_facts *facts,
                                   struct tkb_buf *out, struct tkb_error *err);

/*
 * What is signed of a record that was read: its bundle, and everything that it
 * says except the members "blob" and "frames". These depend on how the bundle
 * is compressed. If that changes, signatures stay valid.
 */
TKB_NODISCARD int tkb_record_subject(const struct tkb_record *record,
                                     struct tkb_subject *out,
                                     struct tkb_error *err);

/* Sign a record that was read. */
TKB_NODISCARD int tkb_record_sign(const struct tkb_record *record,
                                  const struct tkb_signer *signer,
                                  struct tkb_remote *remote, const char *ref,
                                  struct tkb_error *err);

/* Add the versions in a record to `versions`. */
TKB_NODISCARD int tkb_record_add_versions(const struct tkb_record *record,
                                          struct tkb_versions *versions,
                                          struct tkb_error *err);

/* Add the pushes in a record to `pushes`; texts still belong to the record. */
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
 * May a record that fails with TKB_ERR_CORRUPT come from a newer tkbundle,
 * whose records have other members? True if the record is JSON with another
 * version.
 */
bool tkb_record_may_be_newer(struct tkb_bytes text);

/* Returns 0, TKB_ERR_CORRUPT, TKB_ERR_UNSUPPORTED or TKB_ERR_NOMEM. */
TKB_NODISCARD int tkb_record_parse(struct tkb_bytes text,
                                   struct tkb_record *out,
                                   struct tkb_error *err);

#endif
