/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_WATCH_H
#define TKB_CACHE_WATCH_H

/*
 * Calls a caller's struct tkb_watch from several threads, one at a time. A
 * thread never waits for the lock to report progress or to ask for
 * cancellation: if another thread holds the lock, it skips the call. Waiting at
 * each of a thousand entries would cost more than the entries themselves.
 */

#include <pthread.h>
#include <stdatomic.h>

#include <tkbundle/entry.h>

#include "base/base.h"

struct tkb_watcher {
	const struct tkb_watch *watch; /* kept by reference */
	pthread_mutex_t lock;
	_Atomic uint64_t done;
	atomic_bool is_cancelled;
	uint64_t total;
	struct tkb_error first; /* see tkb_result_note(); guarded by the lock */
};

/* Copy a caller's watch; NULL gives a watch that does nothing. */
TKB_NODISCARD int tkb_watch_read(struct tkb_watch *out,
                                 const struct tkb_watch *given,
                                 struct tkb_error *err);

/* Does the watch cancel the call? NULL never does. */
bool tkb_watch_is_cancelled(const struct tkb_watch *watch);

/* Returns 0, or TKB_ERR_CANCELLED if the watch cancels the call. */
TKB_NODISCARD int tkb_watch_check(const struct tkb_watch *watch,
                                  struct tkb_error *err);

/*
 * Report that `key`, as the caller gave it, is missing or, if `key` is "", that
 * the device is. Returns TKB_MISS.
 */
int tkb_watch_missing(const struct tkb_watch *watch, const char *key,
                      const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Report the call's progress; only for calls that use one thread. */
void tkb_watch_tell(const struct tkb_watch *watch, uint64_t done,
                    uint64_t total);

/*
 * A caller's watch that also cancels the call at its deadline:
 *
 *     rc = tkb_timed_begin(&timed, options.watch, options.deadline_ms, err);
 *     if (rc < 0)
 *             return rc;
 *     rc = work(&timed.watch, err);
 *     return tkb_timed_end(&timed, rc, err);
 *
 * The struct must not be moved in between.
 */
struct tkb_timed {
	struct tkb_watch watch; /* the watch to use */
	struct tkb_watch own;   /* the caller's */
	uint32_t deadline_ms;
	uint64_t end_ns; /* on CLOCK_MONOTONIC */
};

/* Begin the time; `given` is the caller's watch, as for tkb_watch_read(). */
TKB_NODISCARD int tkb_timed_begin(struct tkb_timed *timed,
                                  const struct tkb_watch *given,
                                  uint32_t deadline_ms, struct tkb_error *err);

/* Returns `rc`; if the deadline ended the call, the message says so. */
TKB_NODISCARD int tkb_timed_end(const struct tkb_timed *timed, int rc,
                                struct tkb_error *err);

void tkb_watcher_init(struct tkb_watcher *watcher,
                      const struct tkb_watch *watch, uint64_t total);
void tkb_watcher_release(struct tkb_watcher *watcher);

/*
 * If `result` means that something the caller asked for was not done, describe
 * that in `first`, unless `first` already describes an earlier one. The caller
 * zeroes `first` before.
 */
void tkb_result_note(struct tkb_error *first, const struct tkb_result *result);

/* Returns 0, or the status of `first` (TKB_ERR_PARTIAL) with its message. */
TKB_NODISCARD int tkb_partial(const struct tkb_error *first,
                              struct tkb_error *err);

/* Note a result, and report it to the caller. */
void tkb_watcher_result(struct tkb_watcher *watcher,
                        const struct tkb_result *result);

/* Add `done` bytes to the progress. */
void tkb_watcher_progress(struct tkb_watcher *watcher, uint64_t done);

/* Report the final progress. */
void tkb_watcher_finish(struct tkb_watcher *watcher);

/* Returns 0, or TKB_ERR_CANCELLED. */
TKB_NODISCARD int tkb_watcher_check(struct tkb_watcher *watcher,
                                    struct tkb_error *err);

#endif
