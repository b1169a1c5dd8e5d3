/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_EXPLAIN_H
#define TKBUNDLE_EXPLAIN_H

#include <tkbundle/makers.h>

#include "report/source.h"
#include "why/start.h"

/*
 * Explain why a command compiled entries: compare each entry that it made with
 * the most similar one that existed before.
 *
 * Two entries of the same start are compared only if nothing but their
 * environment differs: a kernel's other constants are no reason, but a second
 * ptxas is.
 *
 * If nothing that is recorded for two kernels differs, the probable cause is a
 * difference from the start before.
 */

/* A unit that the pull skipped, since it was tuned elsewhere. */
struct explain_skipped {
	const char *name;     /* its path in the tree */
	const char *platform; /* "gpu NVIDIA H200, driver 580" */
};

struct explain {
	const struct source *source;     /* the entries; NULL: unknown */
	const struct tkb_makers *makers; /* makers of the entries; NULL:
	                                    unknown */
	const struct tkb_made *made;     /* what the command made */
	size_t made_count;
	const struct explain_skipped *skipped;
	size_t skipped_count;
	const struct facts *before; /* facts of the start before; NULL:
	                               unknown */
	const char *engine;         /* "vllm"; "": none */
	bool is_pull_failed;        /* the pull failed, or was not done in
	                               time */
	bool is_pull_untrusted;     /* because of the policy */
	bool is_pull_damaged;       /* because something is damaged */
	uint64_t deadline_ms; /* of CLOCK_MONOTONIC: entries left at that time
	                         get no reason */
};

/*
 * Add all entries that were made to `start`, whose facts must be set. @return 0
 * or TKB_ERR_NOMEM
 */
TKB_NODISCARD int explain_all(const struct explain *explain,
                              struct start *start, struct tkb_error *err);

#endif
