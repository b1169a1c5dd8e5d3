/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_PARALLEL_H
#define TKB_BASE_PARALLEL_H

/*
 * Do the same work for many items, on several threads.
 *
 * tkb_parallel() calls do_one(self, worker, index) once for each index below
 * `count`, ascending, on up to `threads` threads; `worker` is below `threads`
 * and identifies the thread, for memory of its own. After the first failure no
 * further index is begun, and its status and message are returned. The calling
 * thread works, too, so with one thread none is started. If the system gives
 * fewer threads, the others do the work. Signals are blocked in the threads.
 */

#include "base/base.h"

struct tkb_parallel_work {
	int (*do_one)(void *self, size_t worker, size_t index,
	              struct tkb_error *err);
	void *self;
};

TKB_NODISCARD int tkb_parallel(size_t count, size_t threads,
                               const struct tkb_parallel_work *work,
                               struct tkb_error *err);

/* `asked`, or, if that is 0, the number of cores that we may use; 1 to 256. */
size_t tkb_parallel_threads(uint32_t asked);

#endif
