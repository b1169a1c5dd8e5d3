/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/blob_buffer.h"
#include "remote/net/escape.h"
#include "remote/s3/s3.h"
#include "remote/net/xml.h"

enum {
	KEY_LIMIT = 1024,
	RECORDS_LIMIT = 1024 * 1024,
	BATCH = 64, /* records per batch, and */
	COPIED_LIMIT = 64 * 1024
};

/* ... of at most so many bytes, or one. */
#define BATCH_SIZE ((uint64_t)64 * TKB_MIB)

int tkb_s3_add(void *self, const struct tkb_op_limits *limits, const char *ref,
               const struct tkb_digest *digest, struct tkb_bytes record,
               struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf key = TKB_BUF_INIT(KEY_LIMIT);
	const struct tkb_blob blob = { record.size,
		                       tkb_memory_source(&record) };
	int rc;

	rc = tkb_s3_key(ref, digest, &key, err);
	if (rc < 0)
		return rc;
	return tkb_s3_store(self, limits, (const char *)key.data, digest, &blob,
	                    err);
}

int tkb_s3_drop(void *self, const struct tkb_op_limits *limits, const char *ref,
                const struct tkb_digest *digest, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf key = TKB_BUF_INIT(KEY_LIMIT);
	int rc;

	rc = tkb_s3_key(ref, digest, &key, err);
	if (rc < 0)
		return rc;
	return tkb_s3_erase(self, limits, (const char *)key.data, err);
}

static int note_root(void *self, const char *name, size_t depth,
                     const char *text, struct tkb_error *err)
{
	bool *is_copied = self;

	(void)text, (void)err;
	if (depth == 1)
		*is_copied = strcmp(name, "CopyObjectResult") == 0;
	return 0;
}

/* S3 may answer 200 and fail to copy: the body says so. */
static int copy(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                const char *key, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(COPIED_LIMIT);
	const struct tkb_bytes nothing = { "", 0 };
	const struct tkb_blob empty = { 0, tkb_memory_source(&nothing) };
	const struct tkb_sink sink = tkb_buf_sink(&text);
	const struct tkb_s3_ask ask = {
		.method = "PUT", .key = key, .body = &empty, .is_copy = true
	};
	struct tkb_http_request request = { .sink = &sink,
		                            .limit = COPIED_LIMIT };
	bool is_copied = false;
	const struct tkb_xml_visitor visitor = { note_root, &is_copied };
	int rc;

	rc = tkb_s3_prepare(s3, &ask, &arena, &request, err);
	if (rc == 0)
		rc = tkb_s3_do(s3, limits, &request, err);
	if (rc != 0)
		return rc;
	rc = tkb_xml_read(tkb_buf_bytes(&text), &visitor, NULL);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (rc < 0 || !is_copied)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "it did not copy the record onto itself");
	return 0;
}

int tkb_s3_touch(void *self, const struct tkb_op_limits *limits,
                 const char *ref, const struct tkb_digest *digest,
                 struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf key = TKB_BUF_INIT(KEY_LIMIT);
	int rc;

	rc = tkb_s3_key(ref, digest, &key, err);
	return rc < 0 ? rc : copy(self, limits, (const char *)key.data, err);
}

/* A record that is listed. */
struct found {
	struct tkb_digest digest;
	uint64_t size;
	uint64_t age_s;
};

struct gathering {
	const struct tkb_record_visitor *visitor;
	struct found *items; /* owned */
	size_t count;
	size_t capacity;
};

static void gathering_release(struct gathering *gathering)
{
	free(gathering->items);
}

static int report_large(const struct tkb_record_visitor *visitor,
                        const struct found *found, struct tkb_error *err)
{
	struct tkb_error why = { 0 };

	(void)tkb_fail(&why, TKB_ERR_TOO_LARGE,
	               "it has %llu bytes, more than a record may have",
	               (unsigned long long)found->size);
	return visitor->on_unread(visitor->self, &found->digest, &why, err);
}

static int gather(void *self, const struct tkb_s3_item *item,
                  struct tkb_error *err)
{
	struct gathering *gathering = self;
	struct found found = { .size = item->size, .age_s = item->age_s };
	int rc;

	if (!tkb_digest_from_hex(tkb_text(item->name), &found.digest))
		return 0;
	if (item->size > BATCH_SIZE)
		return report_large(gathering->visitor, &found, err);
	if (gathering->count == RECORDS_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE, "more than %d records",
		                RECORDS_LIMIT);
	rc = tkb_grow(&gathering->items, &gathering->capacity, gathering->count,
	              sizeof(found), err);
	if (rc == 0)
		gathering->items[gathering->count++] = found;
	return rc;
}

/* Records that are being fetched. */
struct batch {
	struct tkb_arena arena; /* owns the requests */
	struct tkb_http_request requests[BATCH];
	struct tkb_buf records[BATCH];
	struct tkb_buf refusals[BATCH];
	struct tkb_sink sinks[BATCH];
	size_t count;
};

static void batch_release(struct batch **at)
{
	struct batch *batch = *at;

	if (batch == NULL)
		return;
	for (size_t i = 0; i < batch->count; i++) {
		tkb_buf_release(&batch->records[i]);
		tkb_buf_release(&batch->refusals[i]);
	}
	tkb_arena_release(&batch->arena);
	free(batch);
}

static int add_request(struct tkb_s3 *s3, const char *ref,
                       const struct found *found, struct batch *batch,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf key = TKB_BUF_INIT(KEY_LIMIT);
	const size_t at = batch->count;
	const size_t limit = (size_t)found->size + 1;
	struct tkb_s3_ask ask = { .method = "GET" };
	int rc;

	rc = tkb_s3_key(ref, &found->digest, &key, err);
	if (rc < 0)
		return rc;
	ask.key = (const char *)key.data;
	batch->records[at] = (struct tkb_buf)TKB_BUF_INIT(limit);
	batch->refusals[at] =
		(struct tkb_buf)TKB_BUF_INIT(TKB_S3_REFUSAL_LIMIT);
	batch->sinks[at] = tkb_buf_sink(&batch->records[at]);
	batch->requests[at] =
		(struct tkb_http_request){ .sink = &batch->sinks[at],
		                           .limit = limit,
		                           .refusal = &batch->refusals[at] };
	rc = tkb_s3_prepare(s3, &ask, &batch->arena, &batch->requests[at], err);
	batch->count++;
	return rc;
}

static int pass_on(int rc, const struct tkb_error *fault, struct tkb_error *err)
{
	if (err != NULL)
		*err = *fault;
	return rc;
}

/* A record that is refused, or fails alone, does not end it. */
static int report_batch(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                        const struct found *items, const struct batch *batch,
                        const struct tkb_record_visitor *visitor,
                        struct tkb_error *err)
{
	for (size_t i = 0; i < batch->count; i++) {
		struct tkb_error fault = { 0 };
		int rc;

		rc = tkb_s3_judge(s3, limits, &batch->requests[i], &fault);
		if (rc == TKB_MISS)
			continue; /* dropped since it was listed */
		if (rc == TKB_ERR_DENIED ||
		    tkb_http_request_fails_alone(&batch->requests[i],
		                                 batch->requests, batch->count,
		                                 limits))
			rc = visitor->on_unread(visitor->self, &items[i].digest,
			                        &fault, err);
		else if (rc < 0)
			rc = pass_on(rc, &fault, err);
		else
			rc = visitor->on_record(
				visitor->self, &items[i].digest,
				tkb_buf_bytes(&batch->records[i]),
				items[i].age_s, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* How many to fetch at once: at least one. */
static size_t count_batch(const struct found *items, size_t count)
{
	uint64_t size = 0;
	size_t at;

	for (at = 0; at < count && at < BATCH; at++) {
		size += items[at].size;
		if (size > BATCH_SIZE && at != 0)
			break;
	}
	return at;
}

static int fetch_batch(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                       const char *ref, const struct found *items, size_t count,
                       const struct tkb_record_visitor *visitor,
                       struct tkb_error *err)
{
	TKB_AUTO(batch_release)
	struct batch *batch = tkb_alloc_array(1, sizeof(*batch));
	int rc = 0;

	if (batch == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add_request(s3, ref, &items[i], batch, err);
	if (rc == 0)
		rc = tkb_http_client_do(s3->client, limits, batch->requests,
		                        count, err);
	return rc < 0 ? rc
	              : report_batch(s3, limits, items, batch, visitor, err);
}

int tkb_s3_records(void *self, const struct tkb_op_limits *limits,
                   const char *ref, const struct tkb_record_visitor *visitor,
                   struct tkb_error *err)
{
	TKB_AUTO(gathering_release)
	struct gathering found = { .visitor = visitor };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf start = TKB_BUF_INIT(KEY_LIMIT);
	struct tkb_s3_listing listing = { .on_item = gather, .self = &found };
	size_t count;
	int rc;

	rc = tkb_s3_key(ref, NULL, &start, err);
	if (rc < 0)
		return rc;
	listing.start = (const char *)start.data;
	rc = tkb_s3_list(self, limits, &listing, err);
	for (size_t at = 0; at < found.count && rc == 0; at += count) {
		count = count_batch(found.items + at, found.count - at);
		rc = fetch_batch(self, limits, ref, found.items + at, count,
		                 visitor, err);
	}
	return rc;
}

static int report_ref(void *self, const struct tkb_s3_item *item,
                      struct tkb_error *err)
{
	const struct tkb_ref_visitor *visitor = self;
	char ref[TKB_S3_REF_SIZE];

	if (strlen(item->name) >= sizeof(ref))
		return 0; /* not ours */
	tkb_ref_from_folder(item->name, ref, sizeof(ref));
	return visitor->on_ref(visitor->self, ref, err);
}

/* The folders are the refs: a ref without records is none. */
int tkb_s3_refs(void *self, const struct tkb_op_limits *limits,
                const struct tkb_ref_visitor *visitor, struct tkb_error *err)
{
	struct tkb_ref_visitor told = *visitor;
	const struct tkb_s3_listing listing = { .start = "ref/",
		                                .has_folders = true,
		                                .on_item = report_ref,
		                                .self = &told };

	return tkb_s3_list(self, limits, &listing, err);
}
