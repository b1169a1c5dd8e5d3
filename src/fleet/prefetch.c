/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/prefetch.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum {
	/* Of many blobs that are all kept, little each. */
	SMALL_MEMORY = 256 * 1024
};

/* One blob. */
struct flight {
	struct tkb_blob_buffer hold;
	bool is_done;
	int rc;
	struct tkb_error error;
};

struct fetcher {
	struct tkb_prefetch *flights;
	struct tkb_remote *remote;
	bool owns_remote;
	bool has_thread;
	pthread_t thread;
};

struct tkb_prefetch {
	struct tkb_prefetch_start order;
	struct tkb_watch watch;     /* of the fetchers' remotes */
	struct tkb_watch old_watch; /* of the caller's remote */
	pthread_mutex_t lock;       /* of all below */
	pthread_cond_t moved;
	struct flight *items; /* owned; `order.count` */
	size_t next;          /* the first that nobody fetches */
	size_t dropped;       /* so many are done with */
	bool is_closing;
	struct fetcher *fetchers; /* owned */
	size_t fetcher_count;
};

static void fly(struct tkb_prefetch *flights, struct tkb_remote *remote,
                size_t index)
{
	struct flight *flight = &flights->items[index];
	struct tkb_error fault = { 0 };
	int rc;

	rc = tkb_remote_fetch(remote, &flights->order.blobs[index],
	                      &flight->hold, &fault);
	if (rc == TKB_MISS)
		(void)tkb_fail(&fault, TKB_ERR_UNAVAILABLE, "it is gone");
	tkb_blob_buffer_end(&flight->hold,
	                    rc == TKB_MISS ? TKB_ERR_UNAVAILABLE : rc, &fault);
	(void)pthread_mutex_lock(&flights->lock);
	flight->is_done = true;
	flight->rc = rc;
	flight->error = fault;
	(void)pthread_cond_broadcast(&flights->moved);
	(void)pthread_mutex_unlock(&flights->lock);
}

/* The next blob to be fetched, or false where there is none. */
static bool next_flight(struct tkb_prefetch *flights, size_t *out)
{
	const struct tkb_prefetch_start *order = &flights->order;
	bool has_next;

	(void)pthread_mutex_lock(&flights->lock);
	while (!flights->is_closing && flights->next < order->count &&
	       !order->keeps_all &&
	       flights->next >= flights->dropped + order->connections)
		(void)pthread_cond_wait(&flights->moved, &flights->lock);
	has_next = !flights->is_closing && flights->next < order->count;
	if (has_next)
		*out = flights->next++;
	(void)pthread_mutex_unlock(&flights->lock);
	return has_next;
}

static void *fly_all(void *argument)
{
	struct fetcher *fetcher = argument;
	size_t index = 0;

	while (next_flight(fetcher->flights, &index))
		fly(fetcher->flights, fetcher->remote, index);
	return NULL;
}

/* The first uses the caller's handle, which the caller does not meanwhile. */
static int hire(struct tkb_prefetch *flights, struct fetcher *fetcher,
                struct tkb_error *err)
{
	fetcher->flights = flights;
	fetcher->remote = flights->order.remote;
	if (flights->fetcher_count == 0)
		return 0;
	fetcher->owns_remote = true;
	return tkb_remote_clone(flights->order.remote, &flights->watch,
	                        &fetcher->remote, err);
}

/*
 * All are hired before one begins to work: a clone looks at what has become of
 * the remote that the first one uses. With no thread at all, who awaits a blob
 * fetches it.
 */
static int start(struct tkb_prefetch *flights, size_t count,
                 struct tkb_error *err)
{
	sigset_t all;
	sigset_t old;

	while (flights->fetcher_count < count) {
		const int rc =
			hire(flights,
		             &flights->fetchers[flights->fetcher_count], err);

		if (rc < 0)
			return rc;
		flights->fetcher_count++;
	}
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	for (size_t i = 0; i < count; i++) {
		struct fetcher *fetcher = &flights->fetchers[i];

		fetcher->has_thread = pthread_create(&fetcher->thread, NULL,
		                                     fly_all, fetcher) == 0;
		if (!fetcher->has_thread)
			break;
	}
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	return 0;
}

/* Asked by several threads: the remote's watch, by one at a time. */
static bool is_cancelled(void *self)
{
	struct tkb_prefetch *flights = self;
	const struct tkb_watch *watch = &flights->old_watch;
	bool is_over;

	(void)pthread_mutex_lock(&flights->lock);
	is_over = flights->is_closing || (watch->is_cancelled != NULL &&
	                                  watch->is_cancelled(watch->self));
	(void)pthread_mutex_unlock(&flights->lock);
	return is_over;
}

static void close_at(struct tkb_prefetch **flights)
{
	tkb_prefetch_close(*flights);
}

int tkb_prefetch_open(const struct tkb_prefetch_start *order,
                      struct tkb_prefetch **out, struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_prefetch *flights = tkb_alloc_array(1, sizeof(*flights));
	size_t count = order->connections;
	int rc;

	if (flights == NULL)
		return tkb_fail_nomem(err);
	(void)pthread_mutex_init(&flights->lock, NULL);
	(void)pthread_cond_init(&flights->moved, NULL);
	flights->order = *order;
	flights->watch =
		(struct tkb_watch){ .struct_size = sizeof(flights->watch),
		                    .self = flights,
		                    .is_cancelled = is_cancelled };
	flights->old_watch = order->remote->watch;
	order->remote->watch = flights->watch;
	flights->items = tkb_alloc_array(order->count, sizeof(struct flight));
	if (flights->items == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < order->count; i++) {
		flights->items[i].hold =
			(struct tkb_blob_buffer)TKB_BLOB_BUFFER_INIT_SMALL(
				order->keeps_all ? SMALL_MEMORY
						 : TKB_BLOB_BUFFER_MEMORY,
				UINT64_MAX);
		tkb_blob_buffer_begin(&flights->items[i].hold);
	}
	if (count > order->count)
		count = order->count;
	if (!tkb_remote_is_shared(order->remote))
		count = 1;
	flights->fetchers = tkb_alloc_array(count, sizeof(*flights->fetchers));
	if (flights->fetchers == NULL)
		return tkb_fail_nomem(err);
	rc = start(flights, count, err);
	if (rc < 0)
		return rc;
	*out = tkb_take(flights);
	return 0;
}

void tkb_prefetch_close(struct tkb_prefetch *flights)
{
	if (flights == NULL)
		return;
	(void)pthread_mutex_lock(&flights->lock);
	flights->is_closing = true;
	(void)pthread_cond_broadcast(&flights->moved);
	(void)pthread_mutex_unlock(&flights->lock);
	for (size_t i = 0; i < flights->fetcher_count; i++) {
		struct fetcher *fetcher = &flights->fetchers[i];

		if (fetcher->has_thread)
			(void)pthread_join(fetcher->thread, NULL);
		if (fetcher->owns_remote)
			tkb_remote_close(fetcher->remote);
	}
	for (size_t i = 0; flights->items != NULL && i < flights->order.count;
	     i++)
		tkb_blob_buffer_release(&flights->items[i].hold);
	flights->order.remote->watch = flights->old_watch;
	(void)pthread_cond_destroy(&flights->moved);
	(void)pthread_mutex_destroy(&flights->lock);
	free(flights->items);
	free(flights->fetchers);
	free(flights);
}

static bool has_threads(const struct tkb_prefetch *flights)
{
	return flights->fetcher_count != 0 && flights->fetchers[0].has_thread;
}

struct tkb_source tkb_prefetch_source(struct tkb_prefetch *flights,
                                      size_t index)
{
	struct flight *flight = &flights->items[index];

	if (!has_threads(flights) && !flight->is_done)
		fly(flights, flights->order.remote, index);
	return tkb_blob_buffer_live_source(&flight->hold);
}

int tkb_prefetch_await(struct tkb_prefetch *flights, size_t index,
                       struct tkb_error *err)
{
	struct flight *flight = &flights->items[index];

	if (!has_threads(flights) && !flight->is_done)
		fly(flights, flights->order.remote, index);
	(void)pthread_mutex_lock(&flights->lock);
	while (!flight->is_done)
		(void)pthread_cond_wait(&flights->moved, &flights->lock);
	(void)pthread_mutex_unlock(&flights->lock);
	if (flight->rc < 0 && err != NULL)
		*err = flight->error;
	return flight->rc;
}

void tkb_prefetch_drop(struct tkb_prefetch *flights, size_t index)
{
	tkb_blob_buffer_release(&flights->items[index].hold);
	(void)pthread_mutex_lock(&flights->lock);
	flights->dropped++;
	(void)pthread_cond_broadcast(&flights->moved);
	(void)pthread_mutex_unlock(&flights->lock);
}
