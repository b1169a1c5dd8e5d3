/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_EXPLAIN_H
#define TKBUNDLE_EXPLAIN_H

#include <tkbundle/makers.h>

#include "report/source.h"
#include "why/start.h"

/*
 * Why a command compiled what it did: compare each entry that it made with the
 * most similar one that was there.
 *
 * Entries of the same start are compared only if just their environment
 * differs: a kernel's other constants are no reason, but a second ptxas is.
 *
 * Where nothing that is recorded of two kernels differs, the probable cause is what
 * differs from the start before.
 */

/* A unit that the pull skipped, since it was tuned elsewhere. */
struct explain_skipped {
	const char *name;     /* its path in the tree */
	const char *platform; /* "gpu NVIDIA H200, driver 580" */
};

struct explain {
	const struct source *source; /* what there is; NULL: it is not known */
	const struct tkb_makers *makers; /* of that; NULL: none is known */
	const struct tkb_made *made;     /* what the command made */
	size_t made_count;
	const struct explain_skipped *skipped;
	size_t skipped_count;
	const struct facts *before; /* of the start before; NULL: not known */
	const char *engine;         /* "vllm"; "": none */
	bool is_pull_failed;        /* it failed, or was not done in time */
	bool is_pull_untrusted;     /* and that is because of the policy */
	bool is_pull_damaged; /* and that is because something is damaged */
	uint64_t deadline_ms; /* of CLOCK_MONOTONIC: entries left then have no
			        reason */
};

/* Add all that was made to `start`, whose facts are known. 0 or TKB_ERR_NOMEM. */
TKB_NODISCARD int explain_all(const struct explain *explain,
                              struct start *start, struct tkb_error *err);

#endif
