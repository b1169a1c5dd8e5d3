/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_REMOTE_H
#define TKB_REMOTE_REMOTE_H

/* struct tkb_remote, for push and pull. */

#include <tkbundle/remote.h>

#include "base/arena.h"
#include "base/blob_buffer.h"
#include "remote/tier.h"

enum {
	TKB_TIERS_LIMIT = 16
};

struct tkb_remote {
	char *urls;            /* owned; as given, secrets and all */
	char *fallback_cafile; /* owned; in the options */
	struct tkb_remote_options options;
	struct tkb_tier *tiers; /* owned */
	size_t tier_count;
	uint64_t max_blob_size;
	uint64_t max_record_size;
	struct tkb_watch watch; /* asked by the tiers */
};

/*
 * While a watch is attached, the operations of a remote, and those of its clones,
 * end when that watch says so, as they do when the remote's own does:
 *
 *     TKB_AUTO(tkb_remote_detach_watch)
 *     struct tkb_remote_attachment attachment = { 0 };
 *
 *     tkb_remote_attach_watch(&attachment, remote, &options->watch);
 *
 * Neither may move meanwhile. What is attached last is detached first.
 */
struct tkb_remote_attachment {
	struct tkb_remote *remote;    /* NULL: nothing is attached */
	struct tkb_watch own;         /* what it asked before */
	const struct tkb_watch *more; /* by reference */
};

void tkb_remote_attach_watch(struct tkb_remote_attachment *attachment,
                             struct tkb_remote *remote,
                             const struct tkb_watch *watch);
void tkb_remote_detach_watch(struct tkb_remote_attachment *attachment);

/*
 * Another handle for the same, for another thread, which asks `watch` (copied).
 * What did not answer `remote` is not asked again.
 */
TKB_NODISCARD int tkb_remote_clone(const struct tkb_remote *remote,
                                   const struct tkb_watch *watch,
                                   struct tkb_remote **out,
                                   struct tkb_error *err);

/* Does a clone see the same? */
bool tkb_remote_is_shared(const struct tkb_remote *remote);

/* Hash all of `blob`. */
TKB_NODISCARD int tkb_blob_digest(const struct tkb_blob *blob,
                                  struct tkb_digest *out,
                                  struct tkb_error *err);

/* As tkb_remote_put(); `watch`, or NULL, gets the progress of the upload. */
TKB_NODISCARD int tkb_remote_put_watched(struct tkb_remote *remote,
                                         const struct tkb_blob *blob,
                                         const struct tkb_watch *watch,
                                         struct tkb_digest *digest_out,
                                         struct tkb_error *err);

/* Put a blob into one tier. */
TKB_NODISCARD int tkb_tier_put(struct tkb_tier *tier,
                               const struct tkb_digest *digest,
                               const struct tkb_blob *blob,
                               struct tkb_error *err);

/*
 * Fetch a blob from one tier into `out`, which is emptied before. Returns 0,
 * TKB_MISS, TKB_ERR_CORRUPT (it has another digest) or what tkb_tier_do() does.
 */
TKB_NODISCARD int tkb_tier_fetch(struct tkb_tier *tier,
                                 const struct tkb_digest *digest,
                                 struct tkb_blob_buffer *out,
                                 struct tkb_error *err);

/*
 * As tkb_remote_get(), into `out`, which is emptied before and keeps what it is
 * limited to.
 */
TKB_NODISCARD int tkb_remote_fetch(struct tkb_remote *remote,
                                   const struct tkb_digest *digest,
                                   struct tkb_blob_buffer *out,
                                   struct tkb_error *err);

/* The same, and the remote's watch is told how much of `size` bytes is there. */
TKB_NODISCARD int tkb_remote_fetch_told(struct tkb_remote *remote,
                                        const struct tkb_digest *digest,
                                        uint64_t size,
                                        struct tkb_blob_buffer *out,
                                        struct tkb_error *err);

/*
 * As tkb_remote_has(), with the sizes of those that are there, in the first tier
 * that has them: TKB_SIZE_UNKNOWN where it does not tell.
 */
TKB_NODISCARD int tkb_remote_has_sized(struct tkb_remote *remote,
                                       const struct tkb_digest *digests,
                                       size_t count, bool *out, uint64_t *sizes,
                                       struct tkb_error *err);

/* For struct tkb_record_visitor: what cannot be read counts as absent. */
TKB_NODISCARD int tkb_record_ignore_unread(void *self,
                                           const struct tkb_digest *digest,
                                           const struct tkb_error *why,
                                           struct tkb_error *err);

/* Called for records that no tier has whole; `tier` is the name of one. */
struct tkb_damage_visitor {
	/* Its bytes have another digest. */
	int (*on_damaged)(void *self, const char *tier,
	                  const struct tkb_digest *digest,
	                  struct tkb_error *err);
	/* It cannot be read: see struct tkb_record_visitor. */
	int (*on_unread)(void *self, const char *tier,
	                 const struct tkb_digest *digest,
	                 const struct tkb_error *why, struct tkb_error *err);
	void *self;
};

/*
 * As tkb_remote_records(); tells, too, what no tier has undamaged. With
 * `needs_all`, every tier must answer, also one whose errors are to be ignored:
 * who removes what no record names must have seen all.
 */
TKB_NODISCARD int tkb_remote_records_all(
	struct tkb_remote *remote, const char *ref, bool needs_all,
	const struct tkb_record_visitor *visitor,
	const struct tkb_damage_visitor *damage, struct tkb_error *err);

/*
 * Refs that begin so have no records: the first the reports of the starts of
 * another ref, the second the signatures of its records.
 */
#define TKB_STARTS_PREFIX "@starts/"
#define TKB_SIGNED_PREFIX "@signed/"
/* Under which lists of what is revoked lie as records. */
#define TKB_REVOKED_NAME "@revoked"

bool tkb_ref_is_of_starts(const char *ref);

/* Does it begin with any of them? */
bool tkb_ref_is_reserved(const char *ref);

/* The names of refs. Zeroed it is empty. */
struct tkb_ref_names {
	struct tkb_arena arena; /* owns the names */
	const char **items;     /* owned; sorted */
	size_t count;
	size_t capacity;
	/* Set before: names that begin so, and no others; NULL: those of refs. */
	const char *prefix;
};

void tkb_ref_names_release(struct tkb_ref_names *names);

/*
 * As tkb_remote_refs(), into `out`, which is empty. With `needs_all`, every tier
 * must answer.
 */
TKB_NODISCARD int tkb_remote_ref_names(struct tkb_remote *remote,
                                       bool needs_all,
                                       struct tkb_ref_names *out,
                                       struct tkb_error *err);

/*
 * Sum up what several tiers said: 0 if one did its work, else the first
 * failure that is not to be ignored, else TKB_MISS or the first failure.
 */
struct tkb_verdict {
	bool is_done;
	bool is_missing;
	int strict_rc; /* of a tier whose errors count */
	int lenient_rc;
	struct tkb_error strict;
	struct tkb_error lenient;
};

void tkb_verdict_note(struct tkb_verdict *verdict, const struct tkb_tier *tier,
                      int rc, const struct tkb_error *err);

/* Where all had to do it (`is_strict`), or one was enough. */
TKB_NODISCARD int tkb_verdict_of(const struct tkb_verdict *verdict,
                                 bool is_strict, struct tkb_error *err);

#endif
