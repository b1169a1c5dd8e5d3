/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_PUSH_SESSION_H
#define TKB_FLEET_PUSH_SESSION_H

/* The common beginning, upload and end of all kinds of pushes, and these kinds. */

#include <tkbundle/fleet.h>

#include "cache/watch.h"
#include "records/records.h"
#include "remote/remote.h"

/*
 * A push while it lasts:
 *
 *     rc = tkb_push_session_begin(&session, remote, options, report, err);
 *     if (rc != 0)
 *             return rc < 0 ? rc : 0;
 *     rc = work(&session.options, &done, err);
 *     return tkb_push_session_end(&session, rc, &done, report, err);
 *
 * The session must not move meanwhile.
 */
struct tkb_push_session {
	struct tkb_push_options options; /* points to `collect` */
	/* Its watch ends the push at the caller's deadline, and it has no
	   deadline of its own. */
	struct tkb_collect_options collect;
	struct tkb_label labels[TKB_LABELS_LIMIT]; /* of the options */
	struct tkb_timed timed;
	struct tkb_remote_attachment attachment;
};

/* Copy and check what a caller gave: options, and `report` (may be NULL). */
TKB_NODISCARD int tkb_push_session_read(struct tkb_push_session *session,
                                        const struct tkb_push_options *given,
                                        const struct tkb_push_report *report,
                                        struct tkb_error *err);

/*
 * The same, and attach the session's watch to the remote. TKB_MISS if tkbundle
 * is disabled; the report is then zeroed.
 */
TKB_NODISCARD int tkb_push_session_begin(struct tkb_push_session *session,
                                         struct tkb_remote *remote,
                                         const struct tkb_push_options *given,
                                         struct tkb_push_report *report,
                                         struct tkb_error *err);

/*
 * End the push: fill the report if `rc` is 0, and return `rc`. If the deadline
 * ended the push, `err` says so.
 */
TKB_NODISCARD int tkb_push_session_end(struct tkb_push_session *session, int rc,
                                       const struct tkb_push_report *done,
                                       struct tkb_push_report *report,
                                       struct tkb_error *err);

/*
 * Keep the records whose entries need not be pushed: those that the fleet has
 * and, with signing keys, that these have signed. Begin to sign, if the caller
 * wants that; else `*out` is NULL. The caller must release `signer` in any case.
 */
TKB_NODISCARD int tkb_push_ref_begin(struct tkb_signer *signer,
                                     const struct tkb_push_options *options,
                                     struct tkb_remote *remote, const char *ref,
                                     struct tkb_record_list *records,
                                     const struct tkb_signer **out,
                                     struct tkb_error *err);

/*
 * If options->base_ref is set, read its records that the remote's policy trusts:
 * their entries also count as present. It is not a failure if none is trusted.
 */
TKB_NODISCARD int tkb_push_base_read(struct tkb_remote *remote,
                                     const struct tkb_push_options *options,
                                     struct tkb_record_list *out,
                                     struct tkb_error *err);

/*
 * Upload the bundle in `buffer`, then add its record with `facts` (may be
 * NULL) to the tiers that took it. `uptake` tells which took both; the record's
 * digest goes to `record_out` (may be NULL). `watch` (may be NULL) gets the
 * progress of the upload.
 */
TKB_NODISCARD int tkb_push_blob(struct tkb_remote *remote, const char *ref,
                                struct tkb_blob_buffer *buffer,
                                const struct tkb_record_facts *facts,
                                const struct tkb_watch *watch,
                                struct tkb_digest *record_out,
                                struct tkb_uptake *uptake,
                                struct tkb_error *err);

/*
 * Add the verified bundle in `buffer`, which has `entry_count` entries, to the
 * ref, and compact the ref. A bundle that the ref already has, byte for byte,
 * is not uploaded. Adds to `report`.
 */
TKB_NODISCARD int tkb_push_whole(struct tkb_remote *remote, const char *ref,
                                 struct tkb_blob_buffer *buffer,
                                 uint64_t entry_count,
                                 const struct tkb_push_options *options,
                                 struct tkb_push_report *report,
                                 struct tkb_error *err);

/* tkb_push() with TKB_PUSH_LAYOUT_TRITON. */
TKB_NODISCARD int tkb_push_triton(struct tkb_remote *remote,
                                  const char *cache_root,
                                  const struct tkb_push_options *options,
                                  struct tkb_push_report *report,
                                  struct tkb_error *err);

#endif
