/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_PARALLEL_H
#define TKB_BASE_PARALLEL_H

/*
 * Do the same work for many items, on several threads.
 *
 * tkb_parallel() calls do_one(self, worker, index) once for each index below
 * `count`, ascending, on up to `threads` threads; `worker` is below `threads`
 * and identifies the thread, for data of its own. After the first failure no
 * further index is begun, and that failure's status and message are returned.
 * The calling thread works too, so with one thread no other is started. If the
 * system gives fewer threads, those do the work. Signals are blocked in the
 * started threads, which may use the cores that the caller may use, and have
 * stacks of 2 MiB.
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

struct tkb_parallel_team;

/*
 * Likewise, for items that do_one() may cut into parts by tkb_parallel_share():
 * threads that have no item left then work on parts, rather than end. All items
 * have `part_count` parts; so many threads may pay. `*team_out` is theirs until this
 * returns, and then NULL.
 */
TKB_NODISCARD int tkb_parallel_in_parts(size_t count, size_t part_count,
                                        size_t threads,
                                        const struct tkb_parallel_work *work,
                                        struct tkb_parallel_team **team_out,
                                        struct tkb_error *err);

/*
 * For do_one(), on the thread `worker`: call part->do_one() for each index below
 * `count`, on this thread and on those of the team that have no item left. Returns
 * once all have ended; failures are as with tkb_parallel(). `team` NULL: on this
 * thread alone.
 */
TKB_NODISCARD int tkb_parallel_share(struct tkb_parallel_team *team,
                                     size_t worker, size_t count,
                                     const struct tkb_parallel_work *part,
                                     struct tkb_error *err);

/*
 * For do_one(), on the thread `worker`, around work that only one thread of the
 * team may do at a time, as it takes much memory. Those that wait for it help with
 * the parts of others.
 */
void tkb_parallel_hold(struct tkb_parallel_team *team, size_t worker);
void tkb_parallel_let_go(struct tkb_parallel_team *team);

/*
 * The indices below `count`, the largest size first and equal ones ascending, so
 * that all threads end at about the same time. The caller frees it; NULL: no memory.
 */
size_t *tkb_largest_first(const uint64_t *sizes, size_t count);

/* `asked`; if 0, the number of cores that we may use. From 1 to 256. */
size_t tkb_parallel_threads(uint32_t asked);

/*
 * How many of `threads` pay for `count` small items, such as entries that are
 * looked at? One for each 8, of at least one thread.
 */
size_t tkb_parallel_useful(size_t count, size_t threads);

#endif
