/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "remote/backends.h"
#include "remote/memory_store.h"

/* The smallest complete backend. `self` is a list that dies with the handle. */

static int make(const struct tkb_remote_url *place,
                const struct tkb_op_limits *call, void **self_out,
                struct tkb_error *err)
{
	(void)place, (void)call;
	*self_out = calloc(1, sizeof(struct tkb_memory_store));
	return *self_out == NULL ? tkb_fail_nomem(err) : 0;
}

static void discard(void *self)
{
	tkb_memory_store_release(self);
	free(self);
}

static int get(void *self, const struct tkb_op_limits *call,
               const struct tkb_digest *digest, uint64_t offset,
               const struct tkb_sink *sink, struct tkb_error *err)
{
	const struct tkb_memory_item *blob =
		tkb_memory_store_find(self, "", digest);

	(void)call;
	if (blob == NULL)
		return TKB_MISS;
	if (offset >= blob->bytes.size)
		return 0;
	return sink->write(
		sink->self,
		tkb_bytes_slice(blob->bytes, (size_t)offset, blob->bytes.size),
		err);
}

static int put(void *self, const struct tkb_op_limits *call,
               const struct tkb_digest *digest, const struct tkb_blob *blob,
               struct tkb_error *err)
{
	(void)call;
	return tkb_memory_store_add(self, "", digest, blob, err);
}

static int has(void *self, const struct tkb_op_limits *call,
               const struct tkb_digest *digests, size_t count, bool *out,
               uint64_t *sizes, struct tkb_error *err)
{
	(void)call, (void)err;
	for (size_t i = 0; i < count; i++) {
		const struct tkb_memory_item *blob =
			tkb_memory_store_find(self, "", &digests[i]);

		out[i] = blob != NULL;
		if (sizes != NULL && blob != NULL)
			sizes[i] = blob->bytes.size;
	}
	return 0;
}

static int drop(void *self, const struct tkb_op_limits *call, const char *ref,
                const struct tkb_digest *digest, struct tkb_error *err)
{
	(void)call, (void)err;
	return tkb_memory_store_remove(self, ref, digest);
}

static int remove_blob(void *self, const struct tkb_op_limits *call,
                       const struct tkb_digest *digest, struct tkb_error *err)
{
	return drop(self, call, "", digest, err);
}

static int add(void *self, const struct tkb_op_limits *call, const char *ref,
               const struct tkb_digest *digest, struct tkb_bytes record,
               struct tkb_error *err)
{
	const struct tkb_blob blob = { record.size,
		                       tkb_memory_source(&record) };

	(void)call;
	return tkb_memory_store_add(self, ref, digest, &blob, err);
}

static int touch(void *self, const struct tkb_op_limits *call, const char *ref,
                 const struct tkb_digest *digest, struct tkb_error *err)
{
	(void)call, (void)err;
	return tkb_memory_store_find(self, ref, digest) == NULL ? TKB_MISS : 0;
}

static int list(void *self, const struct tkb_op_limits *call,
                const struct tkb_blob_visitor *to, struct tkb_error *err)
{
	int rc = 0;

	(void)call;
	for (struct tkb_memory_item *at = tkb_memory_store_first(self);
	     at != NULL && rc == 0; at = at->next) {
		if (at->ref[0] == '\0')
			rc = to->on_blob(to->self, &at->digest, at->bytes.size,
			                 0, err);
	}
	return rc;
}

static int records(void *self, const struct tkb_op_limits *call,
                   const char *ref, const struct tkb_record_visitor *to,
                   struct tkb_error *err)
{
	int rc = 0;

	(void)call;
	for (struct tkb_memory_item *at = tkb_memory_store_first(self);
	     at != NULL && rc == 0; at = at->next) {
		if (strcmp(at->ref, ref) == 0)
			rc = to->on_record(to->self, &at->digest, at->bytes, 0,
			                   err);
	}
	return rc;
}

static int refs(void *self, const struct tkb_op_limits *call,
                const struct tkb_ref_visitor *to, struct tkb_error *err)
{
	int rc = 0;

	(void)call;
	for (struct tkb_memory_item *at = tkb_memory_store_first(self);
	     at != NULL && rc == 0; at = at->next) {
		if (at->ref[0] != '\0')
			rc = to->on_ref(to->self, at->ref, err);
	}
	return rc;
}

const struct tkb_remote_backend tkb_backend_memory = {
	.abi = TKB_REMOTE_BACKEND_ABI,
	.schemes = (const char *const[]){ "memory", NULL },
	.params = (const char *const[]){ NULL },
	.open = make,
	.close = discard,
	.get = get,
	.put = put,
	.has = has,
	.remove = remove_blob,
	.list = list,
	.add = add,
	.records = records,
	.drop = drop,
	.touch = touch,
	.refs = refs,
};
