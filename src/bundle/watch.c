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

void tkb_watcher_progress(struct tkb_watcher *watcher, uint64_t done)
{
	if (watcher->watch->on_progress == NULL)
		return;
	(void)pthread_mutex_lock(&watcher->lock);
	watcher->done += done;
	watcher->watch->on_progress(watcher->watch->self, watcher->done,
	                            watcher->total);
	(void)pthread_mutex_unlock(&watcher->lock);
}

int tkb_watcher_check(struct tkb_watcher *watcher, struct tkb_error *err)
{
	bool cancelled;

	if (watcher->watch->is_cancelled == NULL)
		return 0;
	(void)pthread_mutex_lock(&watcher->lock);
	cancelled = watcher->watch->is_cancelled(watcher->watch->self);
	(void)pthread_mutex_unlock(&watcher->lock);
	if (cancelled)
		return tkb_fail(err, TKB_ERR_CANCELLED, "cancelled");
	return 0;
}
