/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "remote/backends.h"

/*
 * The smallest complete backend: a list of blobs and records that is lost when
 * the handle is closed.
 */

struct item {
	struct item *next;
	struct tkb_digest digest;
	struct tkb_bytes bytes; /* stored after the NUL of `ref` */
	char ref[];             /* "" for a blob */
};

struct memory {
	struct item *first; /* owned, with all that follow */
};

static int memory_open(const struct tkb_remote_url *url,
                       const struct tkb_op_limits *limits, void **self_out,
                       struct tkb_error *err)
{
	(void)url, (void)limits;
	*self_out = calloc(1, sizeof(struct memory));
	return *self_out == NULL ? tkb_fail_nomem(err) : 0;
}

static void memory_close(void *self)
{
	struct memory *memory = self;

	while (memory->first != NULL) {
		struct item *item = memory->first;

		memory->first = item->next;
		free(item);
	}
	free(memory);
}

/* The link to the item, or to NULL at the end. */
static struct item **find_link(struct memory *memory, const char *ref,
                               const struct tkb_digest *digest)
{
	struct item **link = &memory->first;

	while (*link != NULL && (strcmp((*link)->ref, ref) != 0 ||
	                         !tkb_digest_equal(&(*link)->digest, digest)))
		link = &(*link)->next;
	return link;
}

/* Store an item; it replaces one with the same digest. */
static int store_item(struct memory *memory, const char *ref,
                      const struct tkb_digest *digest,
                      const struct tkb_blob *blob, struct tkb_error *err)
{
	struct item **link = find_link(memory, ref, digest);
	const size_t length = strlen(ref) + 1;
	TKB_AUTO(tkb_free_at)
	struct item *item =
		calloc(1, sizeof(*item) + length + (size_t)blob->size);
	int rc;

	if (item == NULL)
		return tkb_fail_nomem(err);
	memcpy(item->ref, ref, length);
	item->digest = *digest;
	item->bytes.data = item->ref + length;
	rc = blob->source.read_at(blob->source.self, 0, item->ref + length,
	                          (size_t)blob->size, &item->bytes.size, err);
	if (rc == 0 && item->bytes.size != blob->size)
		rc = tkb_fail(err, TKB_ERR_IO, "the blob is cut short");
	if (rc < 0)
		return rc;
	if (*link != NULL) {
		item->next = (*link)->next;
		free(*link);
	}
	*link = tkb_take(item);
	return 0;
}

static int memory_get(void *self, const struct tkb_op_limits *limits,
                      const struct tkb_digest *digest, uint64_t offset,
                      const struct tkb_sink *sink, struct tkb_error *err)
{
	const struct item *blob = *find_link(self, "", digest);

	(void)limits;
	if (blob == NULL)
		return TKB_MISS;
	if (offset >= blob->bytes.size)
		return 0;
	return sink->write(
		sink->self,
		tkb_bytes_slice(blob->bytes, (size_t)offset, blob->bytes.size),
		err);
}

static int memory_put(void *self, const struct tkb_op_limits *limits,
                      const struct tkb_digest *digest,
                      const struct tkb_blob *blob, struct tkb_error *err)
{
	(void)limits;
	return store_item(self, "", digest, blob, err);
}

static int memory_has(void *self, const struct tkb_op_limits *limits,
                      const struct tkb_digest *digests, size_t count, bool *out,
                      uint64_t *sizes, struct tkb_error *err)
{
	(void)limits, (void)err;
	for (size_t i = 0; i < count; i++) {
		const struct item *blob = *find_link(self, "", &digests[i]);

		out[i] = blob != NULL;
		if (sizes != NULL && blob != NULL)
			sizes[i] = blob->bytes.size;
	}
	return 0;
}

static int memory_drop(void *self, const struct tkb_op_limits *limits,
                       const char *ref, const struct tkb_digest *digest,
                       struct tkb_error *err)
{
	struct item **link = find_link(self, ref, digest);
	struct item *item = *link;

	(void)limits, (void)err;
	if (item == NULL)
		return TKB_MISS;
	*link = item->next;
	free(item);
	return 0;
}

static int memory_remove(void *self, const struct tkb_op_limits *limits,
                         const struct tkb_digest *digest, struct tkb_error *err)
{
	return memory_drop(self, limits, "", digest, err);
}

static int memory_add(void *self, const struct tkb_op_limits *limits,
                      const char *ref, const struct tkb_digest *digest,
                      struct tkb_bytes record, struct tkb_error *err)
{
	const struct tkb_blob blob = { record.size,
		                       tkb_memory_source(&record) };

	(void)limits;
	return store_item(self, ref, digest, &blob, err);
}

static int memory_touch(void *self, const struct tkb_op_limits *limits,
                        const char *ref, const struct tkb_digest *digest,
                        struct tkb_error *err)
{
	(void)limits, (void)err;
	return *find_link(self, ref, digest) == NULL ? TKB_MISS : 0;
}

static int memory_list(void *self, const struct tkb_op_limits *limits,
                       const struct tkb_blob_visitor *to, struct tkb_error *err)
{
	const struct memory *memory = self;
	int rc = 0;

	(void)limits;
	for (const struct item *at = memory->first; at != NULL && rc == 0;
	     at = at->next) {
		if (at->ref[0] == '\0')
			rc = to->on_blob(to->self, &at->digest, at->bytes.size,
			                 0, err);
	}
	return rc;
}

static int memory_records(void *self, const struct tkb_op_limits *limits,
                          const char *ref, const struct tkb_record_visitor *to,
                          struct tkb_error *err)
{
	const struct memory *memory = self;
	int rc = 0;

	(void)limits;
	for (const struct item *at = memory->first; at != NULL && rc == 0;
	     at = at->next) {
		if (strcmp(at->ref, ref) == 0)
			rc = to->on_record(to->self, &at->digest, at->bytes, 0,
			                   err);
	}
	return rc;
}

static int memory_refs(void *self, const struct tkb_op_limits *limits,
                       const struct tkb_ref_visitor *to, struct tkb_error *err)
{
	const struct memory *memory = self;
	int rc = 0;

	(void)limits;
	for (const struct item *at = memory->first; at != NULL && rc == 0;
	     at = at->next) {
		if (at->ref[0] != '\0')
			rc = to->on_ref(to->self, at->ref, err);
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
