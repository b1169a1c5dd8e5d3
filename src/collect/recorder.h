/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_RECORDER_H
#define TKB_COLLECT_RECORDER_H

/*
 * Collect a recorder's entries and send the bundle somewhere else. Between begin
 * and finish, tkb_collect_selected() takes `selection`, and the recorder may be
 * used as during a collect of its own.
 */

#include <tkbundle/recorder.h>

#include "collect/collect.h"
#include "collect/recorder_set.h"

/* The caller releases `selection`. */
TKB_NODISCARD int tkb_recorder_begin_collect(
	struct tkb_recorder *recorder,
	const struct tkb_collect_options *options,
	struct tkb_collect_selection *selection, struct tkb_error *err);

/* After a begin that succeeded. If `is_final`, nothing can be put any more. */
void tkb_recorder_finish_collect(struct tkb_recorder *recorder, bool is_final);

#endif
