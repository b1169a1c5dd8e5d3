/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle/watch.h"

void tkb_watcher_init(struct tkb_watcher *watcher,
                      const struct tkb_watch *watch, uint64_t total)
{
	*watcher = (struct tkb_watcher){ .watch = watch, .total = total };
	(void)pthread_mutex_init(&watcher->lock, NULL);
}

void tkb_watcher_release(struct tkb_watcher *watcher)
{
	(void)pthread_mutex_destroy(&watcher->lock);
}

void tkb_watcher_result(struct tkb_watcher *watcher,
                        const struct tkb_result *result)
{
	if (watcher->watch->on_result == NULL)
		return;
	(void)pthread_mutex_lock(&watcher->lock);
	watcher->watch->on_result(watcher->watch->self, result);
	(void)pthread_mutex_unlock(&watcher->lock);
}

/* In the lock, so that what is told never goes back. */
static void tell_progress(struct tkb_watcher *watcher)
{
	watcher->watch->on_progress(watcher->watch->self,
	                            atomic_load(&watcher->done),
	                            watcher->total);
	(void)pthread_mutex_unlock(&watcher->lock);
}

void tkb_watcher_progress(struct tkb_watcher *watcher, uint64_t done)
{
	if (watcher->watch->on_progress == NULL)
		return;
	(void)atomic_fetch_add(&watcher->done, done);
	if (pthread_mutex_trylock(&watcher->lock) == 0)
		tell_progress(watcher);
}

void tkb_watcher_finish(struct tkb_watcher *watcher)
{
	if (watcher->watch->on_progress == NULL)
		return;
	(void)pthread_mutex_lock(&watcher->lock);
	tell_progress(watcher);
}

int tkb_watcher_check(struct tkb_watcher *watcher, struct tkb_error *err)
{
	if (watcher->watch->is_cancelled == NULL)
		return 0;
	if (!atomic_load(&watcher->is_cancelled) &&
	    pthread_mutex_trylock(&watcher->lock) == 0) {
		if (watcher->watch->is_cancelled(watcher->watch->self))
			atomic_store(&watcher->is_cancelled, true);
		(void)pthread_mutex_unlock(&watcher->lock);
	}
	if (atomic_load(&watcher->is_cancelled))
		return tkb_fail(err, TKB_ERR_CANCELLED, "cancelled");
	return 0;
}
