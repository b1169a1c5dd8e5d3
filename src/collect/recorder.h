/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_RECORDER_H
#define TKB_COLLECT_RECORDER_H

/*
 * Collect a recorder's entries for a bundle that is sent somewhere else.
 * Between begin and finish, pass `selection` to tkb_collect_selected(). The
 * recorder may be used meanwhile, as during its own collect.
 */

#include <tkbundle/recorder.h>

#include "collect/collect.h"
#include "collect/recorder_set.h"

/* The caller releases `selection`. */
TKB_NODISCARD int tkb_recorder_begin_collect(
	struct tkb_recorder *recorder,
	const struct tkb_collect_options *options,
	struct tkb_collect_selection *selection, struct tkb_error *err);

/* Call after a successful begin. If `is_final`, nothing more can be put. */
void tkb_recorder_finish_collect(struct tkb_recorder *recorder, bool is_final);

#endif
