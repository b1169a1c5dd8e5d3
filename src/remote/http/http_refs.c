/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/blob_buffer.h"
#include "remote/http/http.h"

enum {
	RECORD_LIMIT = 64 * 1024 * 1024,
	BATCH = 64,                    /* files per batch */
	BATCH_SIZE = 32 * 1024 * 1024, /* of the sizes that are listed */
	UNKNOWN_SIZE = 1024 * 1024     /* assumed where no size is listed */
};

static int add_to(struct tkb_http *http, const struct tkb_op_limits *limits,
                  const char *ref, const char *hex, struct tkb_bytes record,
                  struct tkb_error *err)
{
	const struct tkb_blob blob = { record.size,
		                       tkb_memory_source(&record) };
	char folder[TKB_HTTP_FOLDER_SIZE];
	int rc;

	tkb_http_ref_folder(ref, folder);
	rc = tkb_http_put(http, limits,
	                  &(struct tkb_http_put){ .folder = folder,
	                                          .name = hex,
	                                          .blob = &blob },
	                  err);
	if (rc == 0)
		rc = tkb_http_edit_index(http, limits, folder, hex, true, err);
	if (rc == 0)
		rc = tkb_http_edit_index(http, limits, "ref",
		                         folder + strlen("ref/"), true, err);
	return rc;
}

int tkb_http_add(void *self, const struct tkb_op_limits *limits,
                 const char *ref, const struct tkb_digest *digest,
                 struct tkb_bytes record, struct tkb_error *err)
{
	char hex[TKB_DIGEST_HEX_SIZE];
	int rc;

	tkb_digest_to_hex(digest, hex);
	rc = tkb_http_find_mode(self, limits, err);
	return rc == 0 ? add_to(self, limits, ref, hex, record, err) : rc;
}

int tkb_http_drop(void *self, const struct tkb_op_limits *limits,
                  const char *ref, const struct tkb_digest *digest,
                  struct tkb_error *err)
{
	char folder[TKB_HTTP_FOLDER_SIZE];
	char hex[TKB_DIGEST_HEX_SIZE];
	int rc;

	tkb_http_ref_folder(ref, folder);
	tkb_digest_to_hex(digest, hex);
	rc = tkb_http_find_mode(self, limits, err);
	if (rc == 0)
		rc = tkb_http_edit_index(self, limits, folder, hex, false, err);
	return rc == 0 ? tkb_http_delete(self, limits, folder, hex, err) : rc;
}

/* Put the same bytes again, which sets the modification time. */
int tkb_http_touch(void *self, const struct tkb_op_limits *limits,
                   const char *ref, const struct tkb_digest *digest,
                   struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf record = TKB_BUF_INIT(RECORD_LIMIT);
	const struct tkb_sink sink = tkb_buf_sink(&record);
	struct tkb_http_request request = { .method = "GET",
		                            .sink = &sink,
		                            .limit = RECORD_LIMIT };
	char folder[TKB_HTTP_FOLDER_SIZE];
	char hex[TKB_DIGEST_HEX_SIZE];
	struct tkb_digest found;
	int rc;

	tkb_http_ref_folder(ref, folder);
	tkb_digest_to_hex(digest, hex);
	rc = tkb_http_url(self, &arena, folder, hex, &request.url, err);
	if (rc == 0)
		rc = tkb_http_ask(self, limits, &request, err);
	if (rc == 0)
		rc = tkb_digest_of(tkb_buf_bytes(&record), &found, err);
	if (rc != 0)
		return rc;
	if (!tkb_digest_equal(&found, digest))
		return TKB_MISS; /* a damaged record must keep its age */
	return tkb_http_add(self, limits, ref, digest, tkb_buf_bytes(&record),
	                    err);
}

/* Files of a folder that are requested together. */
struct batch {
	uint64_t size; /* of all bodies so far */
	struct tkb_arena arena;
	struct tkb_http_request requests[BATCH];
	struct tkb_digest digests[BATCH];
	struct body {
		struct batch *batch;
		struct tkb_buf bytes;
	} bodies[BATCH];
	struct tkb_sink sinks[BATCH];
	size_t count;
};

static void free_batch(struct batch **batch)
{
	for (size_t i = 0; *batch != NULL && i < BATCH; i++)
		tkb_buf_release(&(*batch)->bodies[i].bytes);
	if (*batch != NULL)
		tkb_arena_release(&(*batch)->arena);
	free(*batch);
}

static void batch_reset(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		tkb_buf_release(&batch->bodies[i].bytes);
	tkb_arena_release(&batch->arena);
	batch->count = 0;
	batch->size = 0;
}

/* Where no sizes are listed, this bounds the bodies of a batch together. */
static int take_body(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	struct body *body = self;

	body->batch->size += bytes.size;
	if (body->batch->size > (uint64_t)4 * RECORD_LIMIT)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "its records have no end");
	tkb_buf_add(&body->bytes, bytes);
	return tkb_buf_check(&body->bytes, err);
}

static int batch_add(const struct tkb_http *http, struct batch *batch,
                     const char *method, const char *folder,
                     const struct tkb_http_file *file, struct tkb_error *err)
{
	const size_t i = batch->count++;
	struct tkb_http_request *request = &batch->requests[i];

	(void)tkb_digest_from_hex(tkb_text(file->name), &batch->digests[i]);
	batch->bodies[i] = (struct body){
		.batch = batch,
		.bytes = TKB_BUF_INIT(RECORD_LIMIT),
	};
	batch->sinks[i] = (struct tkb_sink){ take_body, &batch->bodies[i] };
	*request = (struct tkb_http_request){ .method = method,
		                              .sink = &batch->sinks[i],
		                              .limit = RECORD_LIMIT };
	/* A file that has grown since it was listed is not ours. */
	if (file->size < RECORD_LIMIT)
		request->limit = file->size + 1;
	return tkb_http_url(http, &batch->arena, folder, file->name,
	                    &request->url, err);
}

/*
 * Fill a batch with the files from `*next` on, up to the bytes that memory
 * should hold at once; HEAD needs none.
 */
static int fill_batch(const struct tkb_http *http, struct batch *batch,
                      const char *method, const char *folder,
                      const struct tkb_http_listing *listing, size_t *next,
                      struct tkb_error *err)
{
	uint64_t size = 0;
	int rc = 0;

	batch_reset(batch);
	for (; *next < listing->count && batch->count < BATCH && rc == 0;
	     (*next)++) {
		const struct tkb_http_file *file = &listing->files[*next];

		if (!tkb_http_is_ours(file))
			continue;
		if (batch->count != 0 && size > BATCH_SIZE &&
		    strcmp(method, "HEAD") != 0)
			return 0;
		size += file->size < RECORD_LIMIT ? file->size : UNKNOWN_SIZE;
		rc = batch_add(http, batch, method, folder, file, err);
	}
	return rc;
}

/* Called for each answer. */
struct answer_visitor {
	int (*on_answer)(void *self, const struct batch *batch, size_t i,
	                 struct tkb_error *err);
	/* Called for one that is refused or fails alone; NULL: that ends it. */
	int (*on_refusal)(void *self, const struct tkb_digest *digest,
	                  const struct tkb_error *why, struct tkb_error *err);
	void *self;
};

static int visit_answers(const struct tkb_op_limits *limits,
                         const struct batch *batch,
                         const struct answer_visitor *answer_visitor,
                         struct tkb_error *err)
{
	for (size_t i = 0; i < batch->count; i++) {
		struct tkb_error fault = { 0 };
		int rc;

		rc = tkb_http_request_judge(&batch->requests[i], limits,
		                            &fault);
		if (rc == 0)
			rc = answer_visitor->on_answer(answer_visitor->self,
			                               batch, i, err);
		else if (answer_visitor->on_refusal != NULL &&
		         (rc == TKB_ERR_DENIED ||
		          tkb_http_request_fails_alone(&batch->requests[i],
		                                       batch->requests,
		                                       batch->count, limits)))
			rc = answer_visitor->on_refusal(answer_visitor->self,
			                                &batch->digests[i],
			                                &fault, err);
		else if (rc < 0 && err != NULL)
			*err = fault;
		if (rc < 0)
			return rc; /* a file that was removed since it was listed is skipped */
	}
	return 0;
}

/* Request each file of a folder whose name is a digest. */
static int request_each(struct tkb_http *http,
                        const struct tkb_op_limits *limits, const char *method,
                        const char *folder,
                        const struct tkb_http_listing *listing,
                        const struct answer_visitor *answer_visitor,
                        struct tkb_error *err)
{
	TKB_AUTO(free_batch)
	struct batch *batch = tkb_alloc_array(1, sizeof(*batch));
	size_t next = 0;

	if (batch == NULL)
		return tkb_fail_nomem(err);
	while (next < listing->count) {
		int rc;

		rc = fill_batch(http, batch, method, folder, listing, &next,
		                err);
		if (rc == 0)
			rc = tkb_http_client_do(http->client, limits,
			                        batch->requests, batch->count,
			                        err);
		if (rc == 0)
			rc = visit_answers(limits, batch, answer_visitor, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int report_record(void *self, const struct batch *batch, size_t i,
                         struct tkb_error *err)
{
	const struct tkb_record_visitor *visitor = self;
	const struct tkb_http_request *request = &batch->requests[i];

	return visitor->on_record(
		visitor->self, &batch->digests[i],
		tkb_buf_bytes(&batch->bodies[i].bytes),
		tkb_http_age(request->date_s, request->modified_s), err);
}

static int report_refusal(void *self, const struct tkb_digest *digest,
                          const struct tkb_error *why, struct tkb_error *err)
{
	const struct tkb_record_visitor *visitor = self;

	return visitor->on_unread(visitor->self, digest, why, err);
}

/*
 * Report the records whose listed size is too large, and do not request them.
 */
static int report_large(struct tkb_http_listing *listing,
                        const struct tkb_record_visitor *visitor,
                        struct tkb_error *err)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < listing->count && rc == 0; i++) {
		const struct tkb_http_file *file = &listing->files[i];
		struct tkb_error why = { 0 };
		struct tkb_digest digest;

		if (!tkb_http_is_ours(file) || file->size <= RECORD_LIMIT ||
		    file->size == TKB_SIZE_UNKNOWN) {
			listing->files[kept++] = *file;
			continue;
		}
		(void)tkb_digest_from_hex(tkb_text(file->name), &digest);
		(void)tkb_fail(&why, TKB_ERR_TOO_LARGE,
		               "it has %llu bytes, more than a record may have",
		               (unsigned long long)file->size);
		rc = visitor->on_unread(visitor->self, &digest, &why, err);
	}
	listing->count = kept;
	return rc;
}

int tkb_http_records(void *self, const struct tkb_op_limits *limits,
                     const char *ref, const struct tkb_record_visitor *visitor,
                     struct tkb_error *err)
{
	struct tkb_record_visitor copy = *visitor;
	const struct answer_visitor answer_visitor = { report_record,
		                                       report_refusal, &copy };
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };
	char folder[TKB_HTTP_FOLDER_SIZE];
	const char *const folders[] = { folder };
	int rc;

	tkb_http_ref_folder(ref, folder);
	rc = tkb_http_list(self, limits, folders, 1, &listing, err);
	if (rc == 0)
		rc = report_large(&listing, visitor, err);
	return rc == 0 ? request_each(self, limits, "GET", folder, &listing,
	                              &answer_visitor, err)
	               : rc;
}

static int report_blob(void *self, const struct batch *batch, size_t i,
                       struct tkb_error *err)
{
	const struct tkb_blob_visitor *visitor = self;
	const struct tkb_http_request *request = &batch->requests[i];

	return visitor->on_blob(
		visitor->self, &batch->digests[i],
		request->length == UINT64_MAX ? 0 : request->length,
		tkb_http_age(request->date_s, request->modified_s), err);
}

/*
 * A document has only names, so the blobs are asked by HEAD. Other listings
 * have sizes and times.
 */
int tkb_http_list_blobs(void *self, const struct tkb_op_limits *limits,
                        const struct tkb_blob_visitor *visitor,
                        struct tkb_error *err)
{
	static const char *const folders[] = { "cas" };
	const struct tkb_http *http = self;
	struct tkb_blob_visitor copy = *visitor;
	const struct answer_visitor answer_visitor = { report_blob, NULL,
		                                       &copy };
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };
	int rc;

	rc = tkb_http_list(self, limits, folders, 1, &listing, err);
	if (rc == 0 && http->mode == TKB_HTTP_DOCUMENT)
		return request_each(self, limits, "HEAD", "cas", &listing,
		                    &answer_visitor, err);
	for (size_t i = 0; i < listing.count && rc == 0; i++) {
		const struct tkb_http_file *file = &listing.files[i];
		struct tkb_digest digest;

		if (!tkb_http_is_ours(file))
			continue;
		(void)tkb_digest_from_hex(tkb_text(file->name), &digest);
		rc = visitor->on_blob(
			visitor->self, &digest,
			file->size == UINT64_MAX ? 0 : file->size,
			tkb_http_age(listing.now_s, file->modified_s), err);
	}
	return rc;
}
