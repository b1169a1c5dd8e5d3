/* SPDX-License-Identifier: Apache-2.0 */
#include "spy.h"

#include <stdio.h>
#include <stdlib.h>

struct spy spy = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A connection. */
struct agent {
	const struct tkb_remote_backend *backend; /* that does the work */
	void *folder;                             /* its connection */
	const char *path;
};

static _Thread_local bool is_inside; /* this thread runs a hook */

void spy_reset(void)
{
	(void)pthread_mutex_lock(&spy.lock);
	spy.before = NULL;
	spy.after = NULL;
	spy.refusal.count = 0;
	spy.vanishing = 0;
	spy.get_ms = 0;
	spy.get_parts = 0;
	spy.get_size = 0;
	spy.is_deaf = false;
	spy.count = 0;
	memset(spy.counts, 0, sizeof(spy.counts));
	spy.flying = 0;
	spy.most_flying = 0;
	(void)pthread_mutex_unlock(&spy.lock);
}

void spy_refuse(enum spy_op op, size_t count, int status, const char *words)
{
	spy.refusal.op = op;
	spy.refusal.count = count;
	spy.refusal.status = status;
	spy.refusal.words = words;
}

size_t spy_count(enum spy_op op)
{
	(void)pthread_mutex_lock(&spy.lock);
	size_t count = spy.counts[op];
	(void)pthread_mutex_unlock(&spy.lock);
	return count;
}

size_t spy_trips(void)
{
	size_t count = 0;

	for (int op = SPY_OPEN + 1; op < SPY_OPS; op++)
		count += spy_count((enum spy_op)op);
	return count;
}

static int enter(struct spy_event *event, struct tkb_error *err)
{
	if (is_inside)
		return 0;
	(void)pthread_mutex_lock(&spy.lock);
	event->earlier = spy.counts[event->op]++;
	if (spy.count < TKB_COUNT_OF(spy.events))
		spy.events[spy.count++] = *event;
	(void)pthread_mutex_unlock(&spy.lock);
	if (event->op == spy.refusal.op && event->earlier < spy.refusal.count)
		return tkb_fail(err, spy.refusal.status, "%s",
		                spy.refusal.words);
	if (spy.before == NULL)
		return 0;
	is_inside = true;
	int rc = spy.before(event, err);
	is_inside = false;
	return rc;
}

static int leave(const struct spy_event *event, int rc)
{
	if (is_inside || spy.after == NULL)
		return rc;
	is_inside = true;
	spy.after(event);
	is_inside = false;
	return rc;
}

static struct spy_event event_of(const struct agent *agent, enum spy_op op,
                                 const struct tkb_digest *digest)
{
	struct spy_event event = { .op = op };
	const char *name = strrchr(agent->path, '/');

	(void)snprintf(event.folder, sizeof(event.folder), "%s", name + 1);
	if (digest != NULL)
		event.digest = *digest;
	return event;
}

/*
 * Every operation: record the call, then return the hook's result if it is not
 * 0.
 */
#define ENTER(op, digest)                                                      \
	struct agent *const agent = self;                                      \
	struct spy_event event = event_of(agent, (op), (digest));              \
	int rc;                                                                \
                                                                               \
	rc = enter(&event, err);                                               \
	if (rc != 0)                                                           \
	return rc

static int spy_open(const struct tkb_remote_url *url,
                    const struct tkb_op_limits *limits, void **self_out,
                    struct tkb_error *err)
{
	struct agent *self = calloc(1, sizeof(*self));

	CHECK(self != NULL);
	self->path = url->path;
	self->backend = tkb_remote_backend_find("file");
	{
		struct spy_event event = event_of(self, SPY_OPEN, NULL);
		int rc = enter(&event, err);

		if (rc == 0)
			rc = self->backend->open(url, limits, &self->folder,
			                         err);
		if (rc < 0) {
			free(self);
			return rc;
		}
	}
	*self_out = self;
	return 0;
}

static void spy_close(void *self)
{
	struct agent *agent = self;

	agent->backend->close(agent->folder);
	free(agent);
}

/* Bytes that come slowly. */
struct drip {
	const struct tkb_op_limits *limits;
	const struct tkb_sink *sink;
	size_t left; /* bytes to hand on */
};

static bool is_cancelled(const struct tkb_op_limits *limits)
{
	return limits->watch->is_cancelled != NULL &&
	       limits->watch->is_cancelled(limits->watch->self);
}

static int drip(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	struct drip *drip = self;
	const size_t parts = spy.get_parts == 0 ? 1 : spy.get_parts;
	int rc = 0;

	if (bytes.size > drip->left)
		bytes.size = drip->left;
	drip->left -= bytes.size;
	for (size_t i = 0; i < parts && rc == 0; i++) {
		const size_t from = bytes.size * i / parts;
		const size_t to = bytes.size * (i + 1) / parts;

		for (unsigned ms = 0; ms < spy.get_ms / parts; ms += 5) {
			if (!spy.is_deaf && is_cancelled(drip->limits))
				return tkb_fail(err, TKB_ERR_CANCELLED,
				                "cancelled");
			nap_ms(5);
		}
		rc = drip->sink->write(drip->sink->self,
		                       tkb_bytes_slice(bytes, from, to), err);
	}
	return rc;
}

static void fly(int by)
{
	(void)pthread_mutex_lock(&spy.lock);
	spy.flying = by > 0 ? spy.flying + 1 : spy.flying - 1;
	if (spy.flying > spy.most_flying)
		spy.most_flying = spy.flying;
	(void)pthread_mutex_unlock(&spy.lock);
}

static int spy_get(void *self, const struct tkb_op_limits *limits,
                   const struct tkb_digest *digest, uint64_t offset,
                   const struct tkb_sink *sink, struct tkb_error *err)
{
	struct drip dripping = { limits, sink,
		                 spy.get_size != 0 ? spy.get_size : SIZE_MAX };
	const struct tkb_sink slow = { drip, &dripping };

	ENTER(SPY_GET, digest);
	fly(1);
	rc = agent->backend->get(agent->folder, limits, digest, offset, &slow,
	                         err);
	fly(-1);
	return leave(&event, rc);
}

static int spy_put(void *self, const struct tkb_op_limits *limits,
                   const struct tkb_digest *digest, const struct tkb_blob *blob,
                   struct tkb_error *err)
{
	ENTER(SPY_PUT, digest);
	return leave(&event, agent->backend->put(agent->folder, limits, digest,
	                                         blob, err));
}

static int spy_has(void *self, const struct tkb_op_limits *limits,
                   const struct tkb_digest *digests, size_t count, bool *out,
                   uint64_t *sizes, struct tkb_error *err)
{
	ENTER(SPY_HAS, NULL);
	return leave(&event, agent->backend->has(agent->folder, limits, digests,
	                                         count, out, sizes, err));
}

static int spy_remove(void *self, const struct tkb_op_limits *limits,
                      const struct tkb_digest *digest, struct tkb_error *err)
{
	ENTER(SPY_REMOVE, digest);
	return leave(&event, agent->backend->remove(agent->folder, limits,
	                                            digest, err));
}

static int spy_list(void *self, const struct tkb_op_limits *limits,
                    const struct tkb_blob_visitor *visitor,
                    struct tkb_error *err)
{
	ENTER(SPY_LIST, NULL);
	return leave(&event,
	             agent->backend->list(agent->folder, limits, visitor, err));
}

static int spy_add(void *self, const struct tkb_op_limits *limits,
                   const char *ref, const struct tkb_digest *digest,
                   struct tkb_bytes record, struct tkb_error *err)
{
	ENTER(SPY_ADD, digest);
	return leave(&event, agent->backend->add(agent->folder, limits, ref,
	                                         digest, record, err));
}

static int tell_vanished(void *self, const struct tkb_digest *digest,
                         struct tkb_bytes record, uint64_t age_s,
                         struct tkb_error *err)
{
	const struct tkb_record_visitor *visitor = self;
	const struct tkb_error gone = { .status = TKB_MISS };

	(void)record, (void)age_s;
	return visitor->on_unread(visitor->self, digest, &gone, err);
}

static int spy_records(void *self, const struct tkb_op_limits *limits,
                       const char *ref,
                       const struct tkb_record_visitor *visitor,
                       struct tkb_error *err)
{
	ENTER(SPY_RECORDS, NULL);
	const struct tkb_record_visitor vanishing = {
		.on_record = tell_vanished,
		.self = (void *)(uintptr_t)visitor,
		.on_unread = visitor->on_unread,
	};

	if (event.earlier < spy.vanishing)
		visitor = &vanishing;
	return leave(&event, agent->backend->records(agent->folder, limits, ref,
	                                             visitor, err));
}

static int spy_drop(void *self, const struct tkb_op_limits *limits,
                    const char *ref, const struct tkb_digest *digest,
                    struct tkb_error *err)
{
	ENTER(SPY_DROP, digest);
	return leave(&event, agent->backend->drop(agent->folder, limits, ref,
	                                          digest, err));
}

static int spy_touch(void *self, const struct tkb_op_limits *limits,
                     const char *ref, const struct tkb_digest *digest,
                     struct tkb_error *err)
{
	ENTER(SPY_TOUCH, digest);
	return leave(&event, agent->backend->touch(agent->folder, limits, ref,
	                                           digest, err));
}

static int spy_refs(void *self, const struct tkb_op_limits *limits,
                    const struct tkb_ref_visitor *visitor,
                    struct tkb_error *err)
{
	ENTER(SPY_REFS, NULL);
	return leave(&event,
	             agent->backend->refs(agent->folder, limits, visitor, err));
}

#define SPY_FUNCTIONS                                                          \
	.abi = TKB_REMOTE_BACKEND_ABI,                                         \
	.params = (const char *const[]){ NULL }, .open = spy_open,             \
	.close = spy_close, .get = spy_get, .put = spy_put, .has = spy_has,    \
	.remove = spy_remove, .list = spy_list, .add = spy_add,                \
	.records = spy_records, .drop = spy_drop, .touch = spy_touch,          \
	.refs = spy_refs

static const struct tkb_remote_backend shared = {
	SPY_FUNCTIONS,
	.is_shared = true,
	.schemes = (const char *const[]){ "spy", NULL },
};

static const struct tkb_remote_backend lone = {
	SPY_FUNCTIONS,
	.schemes = (const char *const[]){ "lone", NULL },
};

struct tkb_remote *open_spy_with(const char *urls,
                                 struct tkb_remote_options options)
{
	static const struct tkb_remote_backend *const backends[] = { &shared,
		                                                     &lone };

	options.backends = backends;
	options.backend_count = TKB_COUNT_OF(backends);
	return must_open_remote(urls, &options);
}

struct tkb_remote *open_spy(const char *urls)
{
	return open_spy_with(urls, DEFAULTS(tkb_remote_options));
}
