/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_REMOTE_H
#define TKB_REMOTE_REMOTE_H

/* The private members and functions of struct tkb_remote. */

#include <tkbundle/remote.h>

#include "base/arena.h"
#include "base/blob_buffer.h"
#include "remote/tier.h"

enum {
	TKB_TIERS_LIMIT = 16
};

struct tkb_remote {
	char *urls;            /* owned; as given, including secrets */
	char *fallback_cafile; /* owned; `options` points to it */
	struct tkb_remote_options options;
	struct tkb_tier *tiers; /* owned */
	size_t tier_count;
	uint64_t max_blob_size;
	uint64_t max_record_size;
	struct tkb_watch watch; /* the tiers poll it */
};

/*
 * The most bytes of a blob of several entries, of which readers may need a few: a
 * single entry may take as many as `max_blob_size`.
 */
uint64_t tkb_remote_part_size(const struct tkb_remote *remote);

/*
 * While a watch is attached, it can cancel the operations of a remote and of its
 * clones, just like the remote's own watch:
 *
 *     TKB_AUTO(tkb_remote_detach_watch)
 *     struct tkb_remote_attachment attachment = { 0 };
 *
 *     tkb_remote_attach_watch(&attachment, remote, &options->watch);
 *
 * Neither struct may move meanwhile. Detach in the reverse order of attaching.
 */
struct tkb_remote_attachment {
	struct tkb_remote *remote;    /* NULL: nothing is attached */
	struct tkb_watch own;         /* the remote's watch before */
	const struct tkb_watch *more; /* not copied */
};

void tkb_remote_attach_watch(struct tkb_remote_attachment *attachment,
                             struct tkb_remote *remote,
                             const struct tkb_watch *watch);
void tkb_remote_detach_watch(struct tkb_remote_attachment *attachment);

/*
 * Make another handle for the same remote, for use in another thread. It polls
 * `watch`, which is copied. Tiers that `remote` could not reach are not tried
 * again.
 */
TKB_NODISCARD int tkb_remote_clone(const struct tkb_remote *remote,
                                   const struct tkb_watch *watch,
                                   struct tkb_remote **out,
                                   struct tkb_error *err);

/* Does a clone see the same blobs and records? */
bool tkb_remote_is_shared(const struct tkb_remote *remote);

/* Send the whole blob to `sink`. If it is cut short: TKB_ERR_IO, errno is EIO. */
TKB_NODISCARD int tkb_blob_send(const struct tkb_blob *blob,
                                const struct tkb_sink *sink,
                                struct tkb_error *err);

/* Compute the digest of `blob`. */
TKB_NODISCARD int tkb_blob_digest(const struct tkb_blob *blob,
                                  struct tkb_digest *out,
                                  struct tkb_error *err);

/* The tier that the fleet shares: the last writable one, or NULL. */
struct tkb_tier *tkb_fleet_tier(const struct tkb_remote *remote);

/* Tiers, by number. */
typedef uint32_t tkb_tier_set;

/* Which tiers took a blob, and then its record. */
struct tkb_uptake {
	/* Set by the caller: no tier gets a blob that is too large for the
	   fleet's, since others with its parts will follow. */
	bool is_divisible;
	tkb_tier_set tiers; /* those that took it */
	/* Why the fleet's tier did not, although others did; status 0: it did. */
	struct tkb_error missed;
};

/*
 * Like tkb_remote_put(); `watch` (may be NULL) gets the progress of the upload.
 * The call also succeeds if tiers whose errors are ignored, or for which the blob
 * is too large, did not take it.
 */
TKB_NODISCARD int tkb_remote_put_watched(struct tkb_remote *remote,
                                         const struct tkb_blob *blob,
                                         const struct tkb_watch *watch,
                                         struct tkb_digest *digest_out,
                                         struct tkb_uptake *uptake,
                                         struct tkb_error *err);

/*
 * Like tkb_remote_add() and tkb_remote_drop(), but only in the writable tiers of
 * the set: a record of a blob that a tier refused is of no use there. An add
 * leaves those in the set that took the record.
 */
TKB_NODISCARD int tkb_remote_add_in(struct tkb_remote *remote,
                                    struct tkb_uptake *uptake, const char *ref,
                                    struct tkb_bytes record,
                                    struct tkb_error *err);
TKB_NODISCARD int tkb_remote_drop_in(struct tkb_remote *remote,
                                     tkb_tier_set tiers, const char *ref,
                                     const struct tkb_digest *digest,
                                     struct tkb_error *err);

/* Put a blob into one tier. */
TKB_NODISCARD int tkb_tier_put(struct tkb_tier *tier,
                               const struct tkb_digest *digest,
                               const struct tkb_blob *blob,
                               struct tkb_error *err);

/*
 * Fetch a blob from one tier into `out`, replacing its contents. Returns 0,
 * TKB_MISS, TKB_ERR_CORRUPT (it has another digest) or what tkb_tier_do() does.
 */
TKB_NODISCARD int tkb_tier_fetch(struct tkb_tier *tier,
                                 const struct tkb_digest *digest,
                                 struct tkb_blob_buffer *out,
                                 struct tkb_error *err);

/*
 * Like tkb_remote_get(), into `out`, replacing its contents. If the limit of `out`
 * is below the remote's, it is the blob's size, and a longer blob is corrupt.
 */
TKB_NODISCARD int tkb_remote_fetch(struct tkb_remote *remote,
                                   const struct tkb_digest *digest,
                                   struct tkb_blob_buffer *out,
                                   struct tkb_error *err);

/* The same; the remote's watch gets the progress, out of `size` bytes. */
TKB_NODISCARD int tkb_remote_fetch_told(struct tkb_remote *remote,
                                        const struct tkb_digest *digest,
                                        uint64_t size,
                                        struct tkb_blob_buffer *out,
                                        struct tkb_error *err);

/*
 * Like tkb_remote_has(), with the size of each existing blob as reported by the
 * first tier that has it: TKB_SIZE_UNKNOWN if that tier does not report sizes.
 * `sizes` may be NULL.
 */
TKB_NODISCARD int tkb_remote_has_sized(struct tkb_remote *remote,
                                       const struct tkb_digest *digests,
                                       size_t count, bool *out, uint64_t *sizes,
                                       struct tkb_error *err);

/*
 * An on_unread() for struct tkb_record_visitor: an unreadable record counts as
 * absent.
 */
TKB_NODISCARD int tkb_record_ignore_unread(void *self,
                                           const struct tkb_digest *digest,
                                           const struct tkb_error *why,
                                           struct tkb_error *err);

/*
 * Called for records that no tier has undamaged; `tier` is the name of one
 * tier.
 */
struct tkb_damage_visitor {
	/* The record's bytes have another digest. */
	int (*on_damaged)(void *self, const char *tier,
	                  const struct tkb_digest *digest,
	                  struct tkb_error *err);
	/* The record cannot be read: see struct tkb_record_visitor. */
	int (*on_unread)(void *self, const char *tier,
	                 const struct tkb_digest *digest,
	                 const struct tkb_error *why, struct tkb_error *err);
	void *self;
};

/*
 * Like tkb_remote_records(), but also reports records that no tier has
 * undamaged. With `needs_all`, every tier must answer, even one whose errors
 * are ignored otherwise: a caller that removes unnamed blobs must have seen all
 * records.
 */
TKB_NODISCARD int tkb_remote_records_all(
	struct tkb_remote *remote, const char *ref, bool needs_all,
	const struct tkb_record_visitor *visitor,
	const struct tkb_damage_visitor *damage, struct tkb_error *err);

/*
 * Prefixes of reserved refs. The first keeps reports of the starts of another
 * ref, the second the signatures of its records.
 */
#define TKB_STARTS_PREFIX "@starts/"
#define TKB_SIGNED_PREFIX "@signed/"
/* The name under which revocation lists are kept as records. */
#define TKB_REVOKED_NAME "@revoked"

/* Does the name begin with one of these? */
bool tkb_ref_is_reserved(const char *ref);

/* A list of names of refs. A zeroed struct is an empty list. */
struct tkb_ref_names {
	struct tkb_arena arena; /* owns the names */
	const char **items;     /* owned; sorted */
	size_t count;
	size_t capacity;
	/*
	 * Set by the caller: list only names with this prefix. NULL: list the
	 * names of refs.
	 */
	const char *prefix;
};

void tkb_ref_names_release(struct tkb_ref_names *names);

/*
 * Like tkb_remote_refs(), into `out`, which must be empty. With `needs_all`,
 * every tier must answer.
 */
TKB_NODISCARD int tkb_remote_ref_names(struct tkb_remote *remote,
                                       bool needs_all,
                                       struct tkb_ref_names *out,
                                       struct tkb_error *err);

/*
 * Combines the results of several tiers: 0 if one succeeded, else the first
 * failure that is not to be ignored, else TKB_MISS or the first failure.
 */
struct tkb_verdict {
	bool is_done;
	bool is_missing;
	int strict_rc; /* from a tier whose errors count */
	int lenient_rc;
	struct tkb_error strict;
	struct tkb_error lenient;
};

void tkb_verdict_note(struct tkb_verdict *verdict, const struct tkb_tier *tier,
                      int rc, const struct tkb_error *err);

/* The result. With `is_strict`, every tier must have succeeded. */
TKB_NODISCARD int tkb_verdict_of(const struct tkb_verdict *verdict,
                                 bool is_strict, struct tkb_error *err);

#endif
