/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "remote/backends.h"

/*
 * The smallest complete backend: a list in memory, gone with the handle, whose
 * head is `self`. A thing is a record of its ref; where that is "", a blob.
 */
struct thing {
	struct thing *next;
	struct tkb_digest digest;
	struct tkb_bytes bytes; /* in `text`, behind the ref */
	char text[];            /* the ref */
};

static int memory_open(const struct tkb_place *place,
                       const struct tkb_call *call, void **self_out,
                       struct tkb_error *err)
{
	(void)place, (void)call;
	*self_out = calloc(1, sizeof(struct thing *));
	return *self_out == NULL ? tkb_fail_nomem(err) : 0;
}

/* The link to the thing, or to NULL at the end. */
static struct thing **find(void *self, const char *ref,
                           const struct tkb_digest *digest)
{
	struct thing **link = self;

	while (*link != NULL && (strcmp((*link)->text, ref) != 0 ||
	                         !tkb_digest_equal(&(*link)->digest, digest)))
		link = &(*link)->next;
	return link;
}

static int memory_drop(void *self, const struct tkb_call *call, const char *ref,
                       const struct tkb_digest *digest, struct tkb_error *err)
{
	struct thing **link = find(self, ref, digest);
	struct thing *thing = *link;

	(void)call, (void)err;
	if (thing == NULL)
		return TKB_MISS;
	*link = thing->next;
	free(thing);
	return 0;
}

static void memory_close(void *self)
{
	struct thing **head = self;

	while (*head != NULL)
		(void)memory_drop(self, NULL, (*head)->text, &(*head)->digest,
		                  NULL);
	free(self);
}

/* What is there already is as good. */
static int store(void *self, const char *ref, const struct tkb_digest *digest,
                 const struct tkb_blob *blob, struct tkb_error *err)
{
	struct thing **end = find(self, ref, digest);
	const size_t length = strlen(ref) + 1;
	struct thing *thing;
	int rc;

	if (*end != NULL)
		return 0;
	thing = calloc(1, sizeof(*thing) + length + (size_t)blob->size);
	if (thing == NULL)
		return tkb_fail_nomem(err);
	memcpy(thing->text, ref, length);
	thing->digest = *digest;
	thing->bytes.data = thing->text + length;
	rc = blob->source.read_at(blob->source.self, 0, thing->text + length,
	                          (size_t)blob->size, &thing->bytes.size, err);
	if (rc == 0 && thing->bytes.size != blob->size)
		rc = tkb_fail(err, TKB_ERR_IO, "the blob is cut short");
	if (rc < 0)
		free(thing);
	else
		*end = thing;
	return rc;
}

static int memory_put(void *self, const struct tkb_call *call,
                      const struct tkb_digest *digest,
                      const struct tkb_blob *blob, struct tkb_error *err)
{
	(void)call;
	return store(self, "", digest, blob, err);
}

static int memory_get(void *self, const struct tkb_call *call,
                      const struct tkb_digest *digest, uint64_t offset,
                      const struct tkb_sink *sink, struct tkb_error *err)
{
	const struct thing *thing = *find(self, "", digest);

	(void)call;
	if (thing == NULL)
		return TKB_MISS;
	if (offset >= thing->bytes.size)
		return 0;
	return sink->write(sink->self,
	                   tkb_bytes_slice(thing->bytes, (size_t)offset,
	                                   thing->bytes.size),
	                   err);
}

static int memory_has(void *self, const struct tkb_call *call,
                      const struct tkb_digest *digests, size_t count, bool *out,
                      struct tkb_error *err)
{
	(void)call, (void)err;
	for (size_t i = 0; i < count; i++)
		out[i] = *find(self, "", &digests[i]) != NULL;
	return 0;
}

static int memory_remove(void *self, const struct tkb_call *call,
                         const struct tkb_digest *digest, struct tkb_error *err)
{
	return memory_drop(self, call, "", digest, err);
}

static int memory_list(void *self, const struct tkb_call *call,
                       const struct tkb_blob_visitor *visitor,
                       struct tkb_error *err)
{
	int rc = 0;

	(void)call;
	for (struct thing *at = *(struct thing **)self; at != NULL && rc == 0;
	     at = at->next) {
		if (at->text[0] == '\0')
			rc = visitor->on_blob(visitor->self, &at->digest,
			                      at->bytes.size, 0, err);
	}
	return rc;
}

static int memory_add(void *self, const struct tkb_call *call, const char *ref,
                      const struct tkb_digest *digest, struct tkb_bytes record,
                      struct tkb_error *err)
{
	struct tkb_blob blob = { .size = record.size };

	(void)call;
	blob.source = tkb_bytes_source(&record);
	return store(self, ref, digest, &blob, err);
}

static int memory_records(void *self, const struct tkb_call *call,
                          const char *ref,
                          const struct tkb_record_visitor *visitor,
                          struct tkb_error *err)
{
	int rc = 0;

	(void)call;
	for (struct thing *at = *(struct thing **)self; at != NULL && rc == 0;
	     at = at->next) {
		if (strcmp(at->text, ref) == 0)
			rc = visitor->on_record(visitor->self, &at->digest,
			                        at->bytes, 0, err);
	}
	return rc;
}

static int memory_touch(void *self, const struct tkb_call *call,
                        const char *ref, const struct tkb_digest *digest,
                        struct tkb_error *err)
{
	(void)call, (void)err;
	return *find(self, ref, digest) == NULL ? TKB_MISS : 0;
}

static int memory_refs(void *self, const struct tkb_call *call,
                       const struct tkb_ref_visitor *visitor,
                       struct tkb_error *err)
{
	int rc = 0;

	(void)call;
	for (struct thing *at = *(struct thing **)self; at != NULL && rc == 0;
	     at = at->next) {
		if (at->text[0] != '\0')
			rc = visitor->on_ref(visitor->self, at->text, err);
	}
	return rc;
}

const struct tkb_remote_backend tkb_backend_memory = {
	.abi = TKB_REMOTE_BACKEND_ABI,
	.schemes = (const char *const[]){ "memory", NULL },
	.params = (const char *const[]){ NULL },
	.open = memory_open,
	.close = memory_close,
	.get = memory_get,
	.put = memory_put,
	.has = memory_has,
	.remove = memory_remove,
	.list = memory_list,
	.add = memory_add,
	.records = memory_records,
	.drop = memory_drop,
	.touch = memory_touch,
	.refs = memory_refs,
};
