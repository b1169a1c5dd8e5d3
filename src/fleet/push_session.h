/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_PUSH_SESSION_H
#define TKB_FLEET_PUSH_SESSION_H

/* What all ways to push have in common: how they begin, upload and end. */

#include <tkbundle/fleet.h>

#include "cache/watch.h"
#include "fleet/record.h"
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
 * It must not move meanwhile.
 */
struct tkb_push_session {
	struct tkb_push_options options; /* they point to `collect` */
	/* Its watch ends the push at the caller's deadline, and it has no
	   deadline of its own. */
	struct tkb_collect_options collect;
	struct tkb_timed timed;
	struct tkb_remote_attachment attachment;
};

/* Copy and check what a caller gave: options, and `report` (may be NULL). */
TKB_NODISCARD int tkb_push_session_read(struct tkb_push_session *session,
                                        const struct tkb_push_options *given,
                                        const struct tkb_push_report *report,
                                        struct tkb_error *err);

/*
 * The same, and let the remote end its work with the push. TKB_MISS where
 * tkbundle is disabled; then the report is all zeros.
 */
TKB_NODISCARD int tkb_push_session_begin(struct tkb_push_session *session,
                                         struct tkb_remote *remote,
                                         const struct tkb_push_options *given,
                                         struct tkb_push_report *report,
                                         struct tkb_error *err);

/*
 * Fill the report where `rc` is 0. Returns `rc`; where it was the deadline that
 * ended the push, says so.
 */
TKB_NODISCARD int tkb_push_session_end(struct tkb_push_session *session, int rc,
                                       const struct tkb_push_report *done,
                                       struct tkb_push_report *report,
                                       struct tkb_error *err);

/*
 * Upload the bundle in `buffer`, then add its record, with `facts` (may be NULL),
 * whose digest goes to `record_out` (may be NULL). `watch` (may be NULL) is told of the bytes that
 * have gone up.
 */
TKB_NODISCARD int tkb_push_blob(struct tkb_remote *remote, const char *ref,
                                struct tkb_blob_buffer *buffer,
                                const struct tkb_record_facts *facts,
                                const struct tkb_watch *watch,
                                struct tkb_digest *record_out,
                                struct tkb_error *err);

#endif
