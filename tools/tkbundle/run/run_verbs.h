/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_VERBS_H
#define TKBUNDLE_RUN_VERBS_H

#include "run/run.h"

/*
 * Start a pull into the root, which ends by `end_ms`.
 *
 * It gets the remote in the environment, since ps(1) shows command lines.
 */
bool run_verbs_pull(struct run *run, uint64_t end_ms);

/*
 * Start a push of what the ref lacks, except units that changed within
 * `settle_ms`. It has a low priority, so as not to slow the command.
 */
bool run_verbs_push(struct run *run, uint64_t settle_ms, uint64_t end_ms);

#endif
