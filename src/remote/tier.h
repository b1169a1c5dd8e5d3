/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_TIER_H
#define TKB_REMOTE_TIER_H

/*
 * A tier of a remote: a URL and its backend. It connects on demand, retries
 * temporary failures, and gives up at the deadline. If it is denied something, it
 * is opened again with what credentials there are then. Once it could not be
 * reached, it is not tried again.
 */

#include <tkbundle/remote.h>

#include "base/base.h"

struct tkb_tier {
	struct tkb_remote_url *url; /* owned */
	const struct tkb_remote_backend *backend;
	void *self;         /* owned; NULL while there is no connection */
	uint64_t opened_ns; /* when it was opened */
	const struct tkb_watch *watch;
	bool is_read_only;
	bool ignores_errors;
	uint32_t timeout_ms;
	uint32_t connect_ms;
	uint32_t stall_ms;
	uint32_t retries;
	unsigned vain_ranks; /* whose claims are not waited for: claims.h */
	bool is_unreachable; /* all tries of an operation were in vain */
	struct tkb_error unreachable_error; /* why */
};

/*
 * Prepare the tier that `text` names, with the rules in `options`. Returns 0,
 * TKB_ERR_INVALID, TKB_ERR_UNSUPPORTED or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_tier_open(struct tkb_tier *tier, const char *text,
                                const struct tkb_remote_options *options,
                                struct tkb_error *err);
void tkb_tier_close(struct tkb_tier *tier);

/* One operation of the backend, which may be called several times. */
struct tkb_tier_work {
	int (*run)(struct tkb_tier *tier, const struct tkb_op_limits *limits,
	           void *self, struct tkb_error *err);
	void *self;
};

/*
 * Do the work. A failure names the tier. Returns what the work returned, or
 * TKB_ERR_UNAVAILABLE.
 */
TKB_NODISCARD int tkb_tier_do(struct tkb_tier *tier,
                              const struct tkb_tier_work *work,
                              struct tkb_error *err);

#endif
