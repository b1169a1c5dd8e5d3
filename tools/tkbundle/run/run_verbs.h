/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_VERBS_H
#define TKBUNDLE_RUN_VERBS_H

#include "run/run.h"

/*
 * Start a pull into the root, which ends at `end_ms`.
 *
 * The remote goes to it by the environment: ps(1) shows command lines.
 */
bool run_verbs_pull(struct run *run, uint64_t end_ms);

/*
 * Start a push of what the ref lacks, but for units that were changed within
 * `settle_ms`. It is to disturb the command little.
 */
bool run_verbs_push(struct run *run, uint64_t settle_ms, uint64_t end_ms);

#endif
