/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_REMOTE_FIXTURE_H
#define TKB_TESTS_REMOTE_FIXTURE_H

/*
 * For tests of remotes: bytes and digests, a connection as the library's core
 * has one, and notebooks that record what callbacks receive.
 */

#include "harness.h"

#include <tkbundle/remote.h>

#include "base/digest.h"

enum {
	BLOB_LIMIT = 128 * 1024 * 1024
};

/*
 * What `attempt` measures must be `wanted` ms, or up to 20 % more. On a busy
 * machine it may need several attempts; it is never less.
 */
void check_in_time(uint64_t (*attempt)(void *self), void *self,
                   unsigned wanted);

/* Bytes that no other seed gives, all values among them. */
struct tkb_bytes make_bytes(size_t size, uint32_t seed);
/* A digest that nothing has. */
struct tkb_digest made_up(uint32_t number);

/* A backend's connection; its bounds may be changed before or after open. */
struct handle {
	const struct tkb_remote_backend *backend;
	struct tkb_remote_url *url;
	struct tkb_watch watch;
	struct tkb_op_limits call;
	void *self;
};

/* What its backend answers to the rest: ASK(handle, touch, "ref", &digest, &err) */
#define ASK(handle, verb, ...)                                                 \
	((handle)->backend->verb((handle)->self, &(handle)->call, __VA_ARGS__))

/* For TKB_AUTO. */
void close_handle(struct handle *handle);

/* With ten seconds for everything, and a minute in all. */
int open_handle(const char *url, struct handle *handle, struct tkb_error *err);

void must_open(const char *url, struct handle *handle);

/* One that is closed with the test. */
struct handle *must_connect(const char *url);

/* The call's deadline is so far from now. */
void set_deadline(struct handle *handle, unsigned ms);

int put_blob(const struct handle *handle, const struct tkb_digest *digest,
             const struct tkb_bytes *bytes, struct tkb_error *err);
/* Into `out`, which is emptied before. */
int get(const struct handle *handle, const struct tkb_digest *digest,
        uint64_t offset, struct tkb_buf *out, struct tkb_error *err);

struct tkb_digest must_put(const struct handle *handle, struct tkb_bytes bytes);
struct tkb_digest must_add(const struct handle *handle, const char *ref,
                           struct tkb_bytes record);
void check_blob(const struct handle *handle, const struct tkb_digest *digest,
                uint64_t offset, struct tkb_bytes wanted);
bool is_there(const struct handle *handle, const struct tkb_digest *digest);

/* An item that a callback received. */
struct told {
	struct tkb_digest digest;
	struct tkb_bytes bytes;
	const char *name;
	uint64_t size;
	uint64_t age_s;
	int unread; /* a record that cannot be read: why, in `name`, too */
};

struct notebook {
	struct told items[2048];
	size_t count;
	size_t vanished_count; /* records that were gone when they were read */
	int rc;                /* what the callback returns */
};

struct notebook *new_notebook(void);
struct tkb_blob_visitor blob_visitor(struct notebook *notebook);
struct tkb_record_visitor record_visitor(struct notebook *notebook);
struct tkb_ref_visitor ref_visitor(struct notebook *notebook);

struct notebook *list_blobs(const struct handle *handle);
struct notebook *list_records(const struct handle *handle, const char *ref);
struct notebook *list_refs(const struct handle *handle);

/* How often the item was received. */
size_t count_digest(const struct notebook *notebook,
                    const struct tkb_digest *digest);
size_t count_name(const struct notebook *notebook, const char *name);

/* Closed with the test. */
struct tkb_remote *must_open_remote(const char *urls,
                                    const struct tkb_remote_options *options);

/* In the cache `root`, where nobody works now. */
void check_nothing_of_ours(const char *root);

#endif
