/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_RECORDER_H
#define TKB_COLLECT_RECORDER_H

/*
 * A collect of a recorder's, for those who send the bundle somewhere else:
 * between begin and finish tkb_collect_request() takes `order`, and the recorder
 * may be used as while it collects itself.
 */

#include <tkbundle/recorder.h>

#include "collect/collect.h"
#include "collect/recorder_set.h"

/* `order` points into `wishes`, which the caller releases. */
TKB_NODISCARD int tkb_recorder_begin_collect(
	struct tkb_recorder *recorder,
	const struct tkb_collect_options *options,
	struct tkb_collect_selection *wishes, struct tkb_pack_request *order,
	struct tkb_error *err);

/* Behind a begin that succeeded. `is_final`: nothing can be put any more. */
void tkb_recorder_finish_collect(struct tkb_recorder *recorder, bool is_final);

#endif
