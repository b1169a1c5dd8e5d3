/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_PARALLEL_H
#define TKB_BASE_PARALLEL_H

/*
 * Do the same to many things, on several threads.
 *
 * tkb_parallel() calls do_one(self, worker, index) once for each index below
 * `count`, ascending, on up to `threads` threads; `worker` is below `threads`
 * and names the thread, for memory of its own. The first failure ends it: no
 * further index is begun, and its code and sentence are returned. The calling
 * thread works too, so one thread means no thread is started; where the system
 * gives fewer, the rest does the work. Signals are blocked in the threads: a
 * signal never lands in them.
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

/* `asked`, or where it is 0 the cores of the affinity mask; 1 to 256. */
size_t tkb_parallel_threads(uint32_t asked);

#endif
