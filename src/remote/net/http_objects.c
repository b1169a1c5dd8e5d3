/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/http_objects.h"

#include <stdlib.h>

#include "base/digest.h"

enum {
	RECORDS_LIMIT = 1024 * 1024,
	BATCH = 64,                /* records requested together, */
	UNKNOWN_SIZE = 1024 * 1024 /* assumed if the size is unknown */
};

/* The size of a batch in bytes; a single larger record is also a batch. */
#define BATCH_SIZE ((uint64_t)64 * TKB_MIB)
/* Limit on the bytes received for a batch if the sizes are unknown. */
#define BODIES_LIMIT ((uint64_t)4 * TKB_HTTP_RECORD_LIMIT)

int tkb_http_records_add(struct tkb_http_records *records,
                         const struct tkb_http_listed *record,
                         struct tkb_error *err)
{
	if (records->count == RECORDS_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE, "more than %d records",
		                RECORDS_LIMIT);
	return tkb_append(&records->items, &records->count, &records->capacity,
	                  record, sizeof(*record), err);
}

void tkb_http_records_release(struct tkb_http_records *records)
{
	free(records->items);
}

uint64_t tkb_http_age(int64_t now_s, int64_t then_s)
{
	return now_s <= 0 || then_s <= 0 || then_s >= now_s
	               ? 0
	               : (uint64_t)(now_s - then_s);
}

int tkb_http_objects_head(const struct tkb_http_objects *objects,
                          const struct tkb_digest *digests, size_t count,
                          struct tkb_arena *arena,
                          struct tkb_http_request **out, struct tkb_error *err)
{
	struct tkb_http_request *requests =
		tkb_arena_alloc(arena, count, sizeof(*requests));
	int rc = 0;

	if (requests == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = objects->prepare(objects, "HEAD", &digests[i], arena,
		                      &requests[i], err);
	if (rc == 0)
		rc = tkb_http_client_do(objects->client, objects->limits,
		                        requests, count, err);
	*out = requests;
	return rc;
}

/* Records that are requested together. */
struct batch {
	struct tkb_arena arena; /* owns what the requests point to */
	struct tkb_http_request requests[BATCH];
	struct part {
		const struct tkb_http_listed *record;
		struct batch *batch;
		struct tkb_buf body;
		struct tkb_buf refusal;
		struct tkb_sink sink;
	} parts[BATCH];
	size_t count;
	uint64_t size; /* of all bodies so far */
};

static void batch_free(struct batch **batch)
{
	if (*batch == NULL)
		return;
	for (size_t i = 0; i < (*batch)->count; i++) {
		tkb_buf_release(&(*batch)->parts[i].body);
		tkb_buf_release(&(*batch)->parts[i].refusal);
	}
	tkb_arena_release(&(*batch)->arena);
	free(*batch);
}

static int take_body(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	struct part *part = self;

	part->batch->size += bytes.size;
	if (part->batch->size > BODIES_LIMIT)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "its records have no end");
	tkb_buf_add(&part->body, bytes);
	return tkb_buf_check(&part->body, err);
}

static int batch_add(const struct tkb_http_objects *objects,
                     struct batch *batch, const struct tkb_http_listed *record,
                     struct tkb_error *err)
{
	struct tkb_http_request *request = &batch->requests[batch->count];
	struct part *part = &batch->parts[batch->count++];

	*part = (struct part){
		.record = record,
		.batch = batch,
		.body = TKB_BUF_INIT(TKB_HTTP_RECORD_LIMIT),
		.refusal = TKB_BUF_INIT(TKB_HTTP_REFUSAL_LIMIT),
		.sink = { take_body, part },
	};
	/* A record that has grown since it was listed is not ours. */
	*request = (struct tkb_http_request){
		.sink = &part->sink,
		.limit = record->size < TKB_HTTP_RECORD_LIMIT
		                 ? record->size + 1
		                 : TKB_HTTP_RECORD_LIMIT,
		.refusal = &part->refusal,
	};
	return objects->prepare(objects, "GET", &record->digest, &batch->arena,
	                        request, err);
}

static int tell_large(const struct tkb_http_listed *record,
                      const struct tkb_record_visitor *visitor,
                      struct tkb_error *err)
{
	struct tkb_error why = { 0 };

	(void)tkb_fail(&why, TKB_ERR_TOO_LARGE,
	               "it has %llu bytes, more than a record may have",
	               (unsigned long long)record->size);
	return visitor->on_unread(visitor->self, &record->digest, &why, err);
}

/*
 * A body whose length was not announced can be cut without a failure. Such a
 * record is not damaged, which would be a reason to drop it.
 */
static int check_end(const struct tkb_http_request *request,
                     const struct part *part, struct tkb_error *err)
{
	const struct tkb_http_listed *record = part->record;
	const struct tkb_bytes body = tkb_buf_bytes(&part->body);
	struct tkb_digest digest;
	int rc;

	if (record->size != TKB_SIZE_UNKNOWN ? body.size >= record->size
	                                     : request->length != UINT64_MAX)
		return 0;
	rc = tkb_digest_of(body, &digest, err);
	if (rc < 0 || tkb_digest_equal(&digest, &record->digest))
		return rc;
	return tkb_fail(err, TKB_ERR_UNAVAILABLE, "its answer ended too early");
}

static int tell_answer(const struct tkb_http_objects *objects,
                       const struct batch *batch, size_t index,
                       const struct tkb_record_visitor *visitor,
                       struct tkb_error *err)
{
	const struct tkb_http_request *request = &batch->requests[index];
	const struct tkb_http_listed *record = batch->parts[index].record;
	struct tkb_error why = { 0 };
	bool is_cut = false;
	int rc;

	rc = objects->judge != NULL
	             ? objects->judge(objects, request, &why)
	             : tkb_http_request_judge(request, objects->limits, &why);
	if (rc == TKB_MISS)
		why.status = TKB_MISS; /* dropped since it was listed */
	if (rc == 0) {
		rc = check_end(request, &batch->parts[index], &why);
		is_cut = rc == TKB_ERR_UNAVAILABLE;
	}
	if (rc == TKB_MISS || rc == TKB_ERR_DENIED ||
	    (is_cut && objects->limits->is_last_attempt) ||
	    tkb_http_request_fails_alone(request, batch->requests, batch->count,
	                                 objects->limits))
		return visitor->on_unread(visitor->self, &record->digest, &why,
		                          err);
	if (rc < 0)
		return tkb_fail_as(err, rc, &why);
	return visitor->on_record(
		visitor->self, &record->digest,
		tkb_buf_bytes(&batch->parts[index].body),
		record->age_s != UINT64_MAX
			? record->age_s
			: tkb_http_age(request->date_s, request->modified_s),
		err);
}

/* Records that the visitor wants, and those whose age only the answer tells. */
static bool is_wanted_record(const struct tkb_http_listed *record,
                             const struct tkb_record_visitor *visitor)
{
	return visitor->wants == NULL || record->age_s == UINT64_MAX ||
	       visitor->wants(visitor->self, &record->digest, record->age_s);
}

/* Get one batch of records, from `*next` on, and pass them to the visitor. */
static int tell_batch(const struct tkb_http_objects *objects,
                      const struct tkb_http_listed *records, size_t count,
                      size_t *next, const struct tkb_record_visitor *visitor,
                      struct tkb_error *err)
{
	TKB_AUTO(batch_free)
	struct batch *batch = tkb_alloc_array(1, sizeof(*batch));
	uint64_t size = 0;
	int rc = 0;

	if (batch == NULL)
		return tkb_fail_nomem(err);
	for (; *next < count && batch->count < BATCH && rc == 0; (*next)++) {
		const struct tkb_http_listed *record = &records[*next];
		const bool is_told = record->size != TKB_SIZE_UNKNOWN;

		if (!is_wanted_record(record, visitor))
			continue;
		if (is_told && record->size > TKB_HTTP_RECORD_LIMIT) {
			rc = tell_large(record, visitor, err);
			continue;
		}
		size += is_told ? record->size : UNKNOWN_SIZE;
		if (size > BATCH_SIZE && batch->count != 0)
			break;
		rc = batch_add(objects, batch, record, err);
	}
	if (rc == 0 && batch->count != 0)
		rc = tkb_http_client_do(objects->client, objects->limits,
		                        batch->requests, batch->count, err);
	for (size_t i = 0; i < batch->count && rc == 0; i++)
		rc = tell_answer(objects, batch, i, visitor, err);
	return rc;
}

int tkb_http_objects_records(const struct tkb_http_objects *objects,
                             const struct tkb_http_listed *records,
                             size_t count,
                             const struct tkb_record_visitor *visitor,
                             struct tkb_error *err)
{
	size_t next = 0;
	int rc = 0;

	while (next < count && rc == 0)
		rc = tell_batch(objects, records, count, &next, visitor, err);
	return rc;
}
