/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_RECORDS_RECORDS_H
#define TKB_RECORDS_RECORDS_H

/* The records of a ref. */

#include <tkbundle/fleet.h>

#include "records/record.h"

/* A record that cannot be used. */
struct tkb_record_fault {
	struct tkb_digest digest;
	enum tkb_record_trouble {
		TKB_RECORD_DAMAGED, /* its digest is not the one in its name */
		TKB_RECORD_GARBLED, /* it is not a record of any version */
		TKB_RECORD_NEWER,   /* a newer tkbundle wrote it */
		TKB_RECORD_UNREAD   /* it exists, and cannot be read */
	} trouble;
	int status;
	const char *message; /* a sentence; the list's arena owns it */
};

struct tkb_record_list {
	struct tkb_record *items; /* owned, with what each points to */
	size_t count;
	size_t capacity;
	struct tkb_arena arena;          /* owns the faults' messages */
	struct tkb_record_fault *faults; /* owned */
	size_t fault_count;
	size_t fault_capacity;
	uint64_t untrusted_count;   /* removed by tkb_records_keep_trusted() */
	struct tkb_error untrusted; /* why the first of those was removed */
};

/*
 * Find the first fault of this kind, of record `digest` or, if that is NULL, of
 * any record; or NULL.
 */
const struct tkb_record_fault *tkb_record_list_fault(
	const struct tkb_record_list *list, enum tkb_record_trouble trouble,
	const struct tkb_digest *digest);

/* The fault of a record of `ref` as callers are told of it. */
struct tkb_remote_fault tkb_record_fault_of(
	const char *ref, const struct tkb_record_fault *fault);

void tkb_record_list_release(struct tkb_record_list *list);

/*
 * Read the records of `ref`. Records that cannot be used are listed as faults.
 * With `needs_all`, every tier must answer: see tkb_remote_records_all().
 */
TKB_NODISCARD int tkb_record_list_read(struct tkb_remote *remote,
                                       const char *ref, bool needs_all,
                                       struct tkb_record_list *out,
                                       struct tkb_error *err);

/* Keep the records for which is_kept() sets `*out`. */
TKB_NODISCARD int tkb_records_keep(struct tkb_record_list *list,
                                   int (*is_kept)(void *self,
                                                  struct tkb_record *record,
                                                  bool *out,
                                                  struct tkb_error *err),
                                   void *self, struct tkb_error *err);

/* Keep those that are no holes: see tkb_records_check(). */
TKB_NODISCARD int tkb_records_keep_whole(struct tkb_record_list *list,
                                         struct tkb_error *err);

/*
 * Remove the records that the remote's policy does not trust, and call its
 * on_untrusted() for them. Without a policy, nothing is removed.
 */
TKB_NODISCARD int tkb_records_keep_trusted(struct tkb_remote *remote,
                                           const char *ref,
                                           struct tkb_record_list *list,
                                           struct tkb_error *err);

/*
 * Remove the records that any revocation list in the remote names, whoever
 * signed the list. After a merge with other records, a revoked one could no
 * longer be recognised.
 */
TKB_NODISCARD int tkb_records_drop_revoked(struct tkb_remote *remote,
                                           struct tkb_record_list *list,
                                           struct tkb_error *err);

/* Keep only the records that `signer` has signed. */
TKB_NODISCARD int tkb_records_keep_own(struct tkb_record_list *list,
                                       const struct tkb_signer *signer,
                                       const char *ref, struct tkb_error *err);

/*
 * Keep only the records that `signer` and nobody else has signed, because a
 * merge would lose the signatures of others.
 */
TKB_NODISCARD int tkb_records_keep_alone(struct tkb_record_list *list,
                                         const struct tkb_signer *signer,
                                         const char *ref,
                                         struct tkb_error *err);

/* Keep only the records that nobody has signed. */
TKB_NODISCARD int tkb_records_keep_unsigned(struct tkb_remote *remote,
                                            const char *ref,
                                            struct tkb_record_list *list,
                                            struct tkb_error *err);

/*
 * Keep the records that the last writable tier has, or one behind it: what only a
 * nearer one has, the fleet does not get. If that tier does not answer and its
 * errors are ignored, all stay.
 */
TKB_NODISCARD int tkb_records_keep_in_fleet(struct tkb_remote *remote,
                                            const char *ref,
                                            struct tkb_record_list *list,
                                            struct tkb_error *err);

/*
 * Does `rc` end the whole pull or verification, and not only the work on one
 * blob?
 */
bool tkb_fleet_is_final(int rc);

/*
 * Set is_hole of each record whose blob is gone, or has another size than the
 * record says, in the last writable tier. If that tier does not answer and its
 * errors are ignored, there are no holes. With `only_holes`, only records that
 * are holes are checked again.
 */
TKB_NODISCARD int tkb_records_check(struct tkb_remote *remote,
                                    struct tkb_record_list *list,
                                    bool only_holes, struct tkb_error *err);

/*
 * Drop the records that are holes. Meanwhile another process may push the same
 * blob, and with it the same record: if the blob exists after its record was
 * dropped, the record is added again and is no hole.
 */
TKB_NODISCARD int tkb_records_drop_holes(struct tkb_remote *remote,
                                         const char *ref,
                                         struct tkb_record_list *list,
                                         struct tkb_error *err);

/*
 * Drop the damaged records, whose digest is not their name. Each is read once
 * more before it is dropped, because the damage may have happened in the
 * transfer.
 */
TKB_NODISCARD int tkb_records_drop_damaged(struct tkb_remote *remote,
                                           const char *ref,
                                           const struct tkb_record_list *list,
                                           uint64_t *dropped_out,
                                           struct tkb_error *err);

/*
 * Mark the record and its blob as used now, unless this was done less than a
 * day ago. False if the remote does not let us, which is not a failure for the
 * caller.
 */
bool tkb_record_stamp(struct tkb_remote *remote, const char *ref,
                      const struct tkb_record *record);

#endif
