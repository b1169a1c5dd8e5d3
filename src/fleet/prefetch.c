/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/prefetch.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "cache/watch.h"
#include "format/reader.h"

enum {
	/* Bytes of each blob that stay in memory if many blobs are kept. */
	SMALL_MEMORY = 256 * 1024
};

/* The state of fetching one blob. */
struct blob_fetch {
	struct tkb_blob_buffer buffer;
	bool is_done;
	int rc;
	struct tkb_error error;
};

struct fetcher {
	struct tkb_prefetch *prefetch;
	struct tkb_remote *own; /* owned, or NULL: uses the caller's */
	bool is_refused;        /* uses the caller's, too */
	bool has_thread;
	pthread_t thread;
};

struct tkb_prefetch {
	struct tkb_prefetch_start request;
	struct tkb_watch watch;     /* of the fetchers' remotes */
	struct tkb_watch old_watch; /* of the caller's remote, to be restored */
	pthread_mutex_t first;      /* held while the caller's remote is used */
	pthread_mutex_t lock;       /* protects everything below */
	pthread_cond_t changed;
	struct blob_fetch *items; /* owned; `request.count` */
	size_t next;              /* the next one to fetch */
	size_t dropped;           /* how many were dropped */
	bool is_closing;
	struct fetcher *fetchers; /* owned */
	size_t fetcher_count;
};

/* A server may refuse further connections: then share the caller's. */
static int fetch_by(struct fetcher *fetcher, const struct tkb_digest *digest,
                    struct tkb_blob_buffer *out, struct tkb_error *err)
{
	struct tkb_prefetch *prefetch = fetcher->prefetch;
	struct tkb_error fault = { 0 };
	int rc;

	if (fetcher->own != NULL && !fetcher->is_refused) {
		rc = tkb_remote_fetch(fetcher->own, digest, out, &fault);
		if (rc < 0 && rc != TKB_ERR_UNAVAILABLE)
			return tkb_fail_as(err, rc, &fault);
		if (rc >= 0)
			return rc;
		fetcher->is_refused = true;
	}
	(void)pthread_mutex_lock(&prefetch->first);
	rc = tkb_remote_fetch(prefetch->request.remote, digest, out, err);
	(void)pthread_mutex_unlock(&prefetch->first);
	return rc;
}

static void fetch_blob(struct fetcher *fetcher, size_t index)
{
	struct tkb_prefetch *prefetch = fetcher->prefetch;
	struct blob_fetch *fetch = &prefetch->items[index];
	struct tkb_error fault = { 0 };
	int rc;

	rc = fetch_by(fetcher, &prefetch->request.blobs[index].digest,
	              &fetch->buffer, &fault);
	if (rc == TKB_MISS)
		(void)tkb_fail(&fault, TKB_ERR_UNAVAILABLE, "it is gone");
	tkb_blob_buffer_end(&fetch->buffer,
	                    rc == TKB_MISS ? TKB_ERR_UNAVAILABLE : rc, &fault);
	(void)pthread_mutex_lock(&prefetch->lock);
	fetch->is_done = true;
	fetch->rc = rc;
	fetch->error = fault;
	(void)pthread_cond_broadcast(&prefetch->changed);
	(void)pthread_mutex_unlock(&prefetch->lock);
}

/* Wait for room, and take the next blob to fetch; false if none is left. */
static bool take_next(struct tkb_prefetch *prefetch, size_t *out)
{
	const struct tkb_prefetch_start *request = &prefetch->request;
	bool has_next;

	(void)pthread_mutex_lock(&prefetch->lock);
	while (!prefetch->is_closing && prefetch->next < request->count &&
	       !request->keeps_all &&
	       prefetch->next >= prefetch->dropped + request->connections)
		(void)pthread_cond_wait(&prefetch->changed, &prefetch->lock);
	has_next = !prefetch->is_closing && prefetch->next < request->count;
	if (has_next)
		*out = prefetch->next++;
	(void)pthread_mutex_unlock(&prefetch->lock);
	return has_next;
}

static void *fetch_blobs(void *argument)
{
	struct fetcher *fetcher = argument;
	size_t index = 0;

	while (take_next(fetcher->prefetch, &index))
		fetch_blob(fetcher, index);
	return NULL;
}

/* The first fetcher uses the caller's handle; the others use clones. */
static int prepare_fetcher(struct tkb_prefetch *prefetch,
                           struct fetcher *fetcher, struct tkb_error *err)
{
	fetcher->prefetch = prefetch;
	if (prefetch->fetcher_count == 0)
		return 0;
	return tkb_remote_clone(prefetch->request.remote, &prefetch->watch,
	                        &fetcher->own, err);
}

/*
 * Make all handles before any thread starts: tkb_remote_clone() reads the remote
 * that the first fetcher uses. If no thread can be started, tkb_prefetch_await()
 * fetches.
 */
static int start_fetchers(struct tkb_prefetch *prefetch, size_t count,
                          struct tkb_error *err)
{
	sigset_t all;
	sigset_t old;

	while (prefetch->fetcher_count < count) {
		const int rc = prepare_fetcher(
			prefetch, &prefetch->fetchers[prefetch->fetcher_count],
			err);

		if (rc < 0)
			return rc;
		prefetch->fetcher_count++;
	}
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	for (size_t i = 0; i < count; i++) {
		struct fetcher *fetcher = &prefetch->fetchers[i];

		fetcher->has_thread = pthread_create(&fetcher->thread, NULL,
		                                     fetch_blobs, fetcher) == 0;
		if (!fetcher->has_thread)
			break;
	}
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	return 0;
}

/* Called by several threads; calls the remote's watch from one at a time. */
static bool is_prefetch_cancelled(void *self)
{
	struct tkb_prefetch *prefetch = self;
	bool is_over;

	(void)pthread_mutex_lock(&prefetch->lock);
	is_over = prefetch->is_closing ||
	          tkb_watch_is_cancelled(&prefetch->old_watch);
	(void)pthread_mutex_unlock(&prefetch->lock);
	return is_over;
}

TKB_AUTO_POINTER(close_at, struct tkb_prefetch, tkb_prefetch_close)

int tkb_prefetch_open(const struct tkb_prefetch_start *request,
                      struct tkb_prefetch **out, struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_prefetch *prefetch = tkb_alloc_array(1, sizeof(*prefetch));
	size_t count = request->connections;
	int rc;

	if (prefetch == NULL)
		return tkb_fail_nomem(err);
	(void)pthread_mutex_init(&prefetch->first, NULL);
	(void)pthread_mutex_init(&prefetch->lock, NULL);
	(void)pthread_cond_init(&prefetch->changed, NULL);
	prefetch->request = *request;
	prefetch->watch =
		(struct tkb_watch){ .struct_size = sizeof(prefetch->watch),
		                    .self = prefetch,
		                    .is_cancelled = is_prefetch_cancelled };
	prefetch->old_watch = request->remote->watch;
	request->remote->watch = prefetch->watch;
	prefetch->items =
		tkb_alloc_array(request->count, sizeof(struct blob_fetch));
	if (prefetch->items == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < request->count; i++) {
		prefetch->items[i].buffer =
			(struct tkb_blob_buffer)TKB_BLOB_BUFFER_INIT_SMALL(
				request->keeps_all ? SMALL_MEMORY
						   : TKB_BLOB_BUFFER_MEMORY,
				request->blobs[i].size);
		tkb_blob_buffer_begin(&prefetch->items[i].buffer);
	}
	if (count > request->count)
		count = request->count;
	if (!tkb_remote_is_shared(request->remote))
		count = 1;
	prefetch->fetchers =
		tkb_alloc_array(count, sizeof(*prefetch->fetchers));
	if (prefetch->fetchers == NULL)
		return tkb_fail_nomem(err);
	rc = start_fetchers(prefetch, count, err);
	if (rc < 0)
		return rc;
	*out = tkb_take(prefetch);
	return 0;
}

void tkb_prefetch_close(struct tkb_prefetch *prefetch)
{
	if (prefetch == NULL)
		return;
	(void)pthread_mutex_lock(&prefetch->lock);
	prefetch->is_closing = true;
	(void)pthread_cond_broadcast(&prefetch->changed);
	(void)pthread_mutex_unlock(&prefetch->lock);
	for (size_t i = 0; i < prefetch->fetcher_count; i++) {
		struct fetcher *fetcher = &prefetch->fetchers[i];

		if (fetcher->has_thread)
			(void)pthread_join(fetcher->thread, NULL);
		tkb_remote_close(fetcher->own);
	}
	for (size_t i = 0;
	     prefetch->items != NULL && i < prefetch->request.count; i++)
		tkb_blob_buffer_release(&prefetch->items[i].buffer);
	prefetch->request.remote->watch = prefetch->old_watch;
	(void)pthread_cond_destroy(&prefetch->changed);
	(void)pthread_mutex_destroy(&prefetch->lock);
	(void)pthread_mutex_destroy(&prefetch->first);
	free(prefetch->items);
	free(prefetch->fetchers);
	free(prefetch);
}

static bool has_threads(const struct tkb_prefetch *prefetch)
{
	return prefetch->fetcher_count != 0 && prefetch->fetchers[0].has_thread;
}

struct tkb_source tkb_prefetch_source(struct tkb_prefetch *prefetch,
                                      size_t index)
{
	struct blob_fetch *fetch = &prefetch->items[index];

	if (!has_threads(prefetch) && !fetch->is_done)
		fetch_blob(&prefetch->fetchers[0], index);
	return tkb_blob_buffer_live_source(&fetch->buffer);
}

int tkb_prefetch_await(struct tkb_prefetch *prefetch, size_t index,
                       struct tkb_error *err)
{
	struct blob_fetch *fetch = &prefetch->items[index];

	if (!has_threads(prefetch) && !fetch->is_done)
		fetch_blob(&prefetch->fetchers[0], index);
	(void)pthread_mutex_lock(&prefetch->lock);
	while (!fetch->is_done)
		(void)pthread_cond_wait(&prefetch->changed, &prefetch->lock);
	(void)pthread_mutex_unlock(&prefetch->lock);
	return fetch->rc < 0 ? tkb_fail_as(err, fetch->rc, &fetch->error)
	                     : fetch->rc;
}

void tkb_prefetch_drop(struct tkb_prefetch *prefetch, size_t index)
{
	tkb_blob_buffer_release(&prefetch->items[index].buffer);
	(void)pthread_mutex_lock(&prefetch->lock);
	prefetch->dropped++;
	(void)pthread_cond_broadcast(&prefetch->changed);
	(void)pthread_mutex_unlock(&prefetch->lock);
}

static int gather_one(struct tkb_gathering *gathering,
                      const struct tkb_record *record, size_t index,
                      struct tkb_error *err)
{
	struct tkb_source source;
	int rc;

	rc = tkb_prefetch_await(gathering->prefetch, index, err);
	if (rc != 0)
		return rc;
	source = tkb_prefetch_source(gathering->prefetch, index);
	rc = tkb_bundle_open_pinned(&source, "a blob", &record->bundle,
	                            &record->frames,
	                            &gathering->bundles[gathering->count], err);
	if (rc == 0)
		gathering->records[gathering->count++] = record;
	return rc;
}

int tkb_gather(struct tkb_gathering *gathering, struct tkb_remote *remote,
               const struct tkb_record *records, size_t count,
               size_t connections, bool skips_damaged, struct tkb_error *err)
{
	struct tkb_prefetch_start request = { .remote = remote,
		                              .count = count,
		                              .connections = connections,
		                              .keeps_all = true };
	struct tkb_gathering *to = gathering;
	int rc;

	to->blobs = tkb_alloc_array(count, sizeof(*to->blobs));
	to->bundles = tkb_alloc_array(count, sizeof(*to->bundles));
	to->records = tkb_alloc_array(count, sizeof(*to->records));
	if (to->blobs == NULL || to->bundles == NULL || to->records == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		to->blobs[i] = (struct tkb_prefetch_blob){ records[i].blob,
			                                   records[i].size };
	request.blobs = to->blobs;
	rc = tkb_prefetch_open(&request, &to->prefetch, err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		struct tkb_error fault = { 0 };

		rc = gather_one(to, &records[i], i, &fault);
		if (rc == TKB_MISS ||
		    (skips_damaged &&
		     (rc == TKB_ERR_CORRUPT || rc == TKB_ERR_TOO_LARGE)))
			rc = 0;
		if (rc < 0)
			rc = tkb_fail_as(err, rc, &fault);
	}
	return rc;
}

/* A record lists its bundle's entries in the bundle's order. */
static const struct tkb_version *find_record_version(const void *self,
                                                     size_t bundle, size_t item)
{
	const struct tkb_gathering *gathering = self;
	const struct tkb_record *record = gathering->records[bundle];

	return item < record->entry_count ? &record->entries[item].version
	                                  : NULL;
}

int tkb_gathering_merge(const struct tkb_gathering *gathering,
                        const struct tkb_merge_options *options,
                        const struct tkb_sink *sink, struct tkb_error *err)
{
	const struct tkb_merge_versions versions = { gathering,
		                                     find_record_version };

	return tkb_merge_newest(
		(const struct tkb_bundle *const *)gathering->bundles,
		gathering->count, &versions, options, sink, NULL, err);
}

void tkb_gathering_close(struct tkb_gathering *gathering)
{
	for (size_t i = 0; i < gathering->count; i++)
		tkb_bundle_close(gathering->bundles[i]);
	free(gathering->bundles);
	free(gathering->records);
	tkb_prefetch_close(gathering->prefetch);
	free(gathering->blobs);
}
