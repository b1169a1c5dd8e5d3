/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/blob_buffer.h"
#include "remote/http/http.h"

enum {
	RECORD_LIMIT = 64 * 1024 * 1024,
	BATCH = 64,                    /* files asked for in one go */
	BATCH_SIZE = 32 * 1024 * 1024, /* as many bytes as they say they have */
	UNKNOWN_SIZE = 1024 * 1024 /* what one is counted as that says none */
};

static int add_to(struct tkb_http *http, const struct tkb_op_limits *call,
                  const char *ref, const char *hex, struct tkb_bytes record,
                  struct tkb_error *err)
{
	const struct tkb_blob blob = { record.size,
		                       tkb_memory_source(&record) };
	char folder[TKB_HTTP_FOLDER_SIZE];
	int rc;

	tkb_http_ref_folder(ref, folder);
	rc = tkb_http_put(http, call,
	                  &(struct tkb_http_put){ .folder = folder,
	                                          .name = hex,
	                                          .blob = &blob },
	                  err);
	if (rc == 0)
		rc = tkb_http_note(http, call, folder, hex, true, err);
	if (rc == 0)
		rc = tkb_http_note(http, call, "ref", folder + strlen("ref/"),
		                   true, err);
	return rc;
}

int tkb_http_add(void *self, const struct tkb_op_limits *call, const char *ref,
                 const struct tkb_digest *digest, struct tkb_bytes record,
                 struct tkb_error *err)
{
	char hex[TKB_DIGEST_HEX_SIZE];
	int rc;

	tkb_digest_to_hex(digest, hex);
	rc = tkb_http_settle(self, call, err);
	return rc == 0 ? add_to(self, call, ref, hex, record, err) : rc;
}

int tkb_http_drop(void *self, const struct tkb_op_limits *call, const char *ref,
                  const struct tkb_digest *digest, struct tkb_error *err)
{
	char folder[TKB_HTTP_FOLDER_SIZE];
	char hex[TKB_DIGEST_HEX_SIZE];
	int rc;

	tkb_http_ref_folder(ref, folder);
	tkb_digest_to_hex(digest, hex);
	rc = tkb_http_settle(self, call, err);
	if (rc == 0)
		rc = tkb_http_note(self, call, folder, hex, false, err);
	return rc == 0 ? tkb_http_delete(self, call, folder, hex, err) : rc;
}

/* The same bytes again: then they were modified now. */
int tkb_http_touch(void *self, const struct tkb_op_limits *call,
                   const char *ref, const struct tkb_digest *digest,
                   struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf record = TKB_BUF_INIT(RECORD_LIMIT);
	const struct tkb_sink sink = tkb_buf_sink(&record);
	struct tkb_web_request request = { .method = "GET",
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
		rc = tkb_http_ask(self, call, &request, err);
	if (rc == 0)
		rc = tkb_digest_of(tkb_buf_bytes(&record), &found, err);
	if (rc != 0)
		return rc;
	if (!tkb_digest_equal(&found, digest))
		return TKB_MISS; /* damaged: it must not look young */
	return tkb_http_add(self, call, ref, digest, tkb_buf_bytes(&record),
	                    err);
}

/* Files of a folder, asked for at once. */
struct batch {
	uint64_t size; /* of all bodies */
	struct tkb_arena arena;
	struct tkb_web_request requests[BATCH];
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

/* Where a server tells no sizes, all of them together are bounded here. */
static int keep(void *self, struct tkb_bytes bytes, struct tkb_error *err)
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
	struct tkb_web_request *request = &batch->requests[i];

	(void)tkb_digest_from_hex(tkb_text(file->name), &batch->digests[i]);
	batch->bodies[i] = (struct body){
		.batch = batch,
		.bytes = TKB_BUF_INIT(RECORD_LIMIT),
	};
	batch->sinks[i] = (struct tkb_sink){ keep, &batch->bodies[i] };
	*request = (struct tkb_web_request){ .method = method,
		                             .sink = &batch->sinks[i],
		                             .limit = RECORD_LIMIT };
	/* One that grows while it is listed is none of ours. */
	if (file->size < RECORD_LIMIT)
		request->limit = file->size + 1;
	return tkb_http_url(http, &batch->arena, folder, file->name,
	                    &request->url, err);
}

/*
 * Fill a batch with files from `*next` on: as many as memory should hold at
 * once. HEAD takes none.
 */
static int fill(const struct tkb_http *http, struct batch *batch,
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

/* What is told of each answer. */
struct teller {
	int (*on_answer)(void *self, const struct batch *batch, size_t i,
	                 struct tkb_error *err);
	/* Of one that is refused, or fails alone; NULL: that ends it. */
	int (*on_refusal)(void *self, const struct tkb_digest *digest,
	                  const struct tkb_error *why, struct tkb_error *err);
	void *self;
};

static int tell_batch(const struct tkb_op_limits *call,
                      const struct batch *batch, const struct teller *teller,
                      struct tkb_error *err)
{
	for (size_t i = 0; i < batch->count; i++) {
		struct tkb_error fault = { 0 };
		int rc;

		rc = tkb_web_judge(&batch->requests[i], call, &fault);
		if (rc == 0)
			rc = teller->on_answer(teller->self, batch, i, err);
		else if (teller->on_refusal != NULL &&
		         (rc == TKB_ERR_DENIED ||
		          tkb_web_fails_alone(&batch->requests[i],
		                              batch->requests, batch->count,
		                              call)))
			rc = teller->on_refusal(
				teller->self, &batch->digests[i], &fault, err);
		else if (rc < 0 && err != NULL)
			*err = fault;
		if (rc < 0)
			return rc; /* one that is gone meanwhile is no failure */
	}
	return 0;
}

/* Ask for each file of a folder that is called as a digest is. */
static int ask_each(struct tkb_http *http, const struct tkb_op_limits *call,
                    const char *method, const char *folder,
                    const struct tkb_http_listing *listing,
                    const struct teller *teller, struct tkb_error *err)
{
	TKB_AUTO(free_batch)
	struct batch *batch = tkb_alloc_array(1, sizeof(*batch));
	size_t next = 0;

	if (batch == NULL)
		return tkb_fail_nomem(err);
	while (next < listing->count) {
		int rc;

		rc = fill(http, batch, method, folder, listing, &next, err);
		if (rc == 0)
			rc = tkb_web_do(http->web, call, batch->requests,
			                batch->count, err);
		if (rc == 0)
			rc = tell_batch(call, batch, teller, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int tell_record(void *self, const struct batch *batch, size_t i,
                       struct tkb_error *err)
{
	const struct tkb_record_visitor *visitor = self;
	const struct tkb_web_request *request = &batch->requests[i];

	return visitor->on_record(
		visitor->self, &batch->digests[i],
		tkb_buf_bytes(&batch->bodies[i].bytes),
		tkb_http_age(request->date_s, request->modified_s), err);
}

static int tell_refusal(void *self, const struct tkb_digest *digest,
                        const struct tkb_error *why, struct tkb_error *err)
{
	const struct tkb_record_visitor *visitor = self;

	return visitor->on_unread(visitor->self, digest, why, err);
}

/* Those that say that they are too large are told, and not asked for. */
static int sift_large(struct tkb_http_listing *listing,
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

int tkb_http_records(void *self, const struct tkb_op_limits *call,
                     const char *ref, const struct tkb_record_visitor *visitor,
                     struct tkb_error *err)
{
	struct tkb_record_visitor copy = *visitor;
	const struct teller teller = { tell_record, tell_refusal, &copy };
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };
	char folder[TKB_HTTP_FOLDER_SIZE];
	const char *const folders[] = { folder };
	int rc;

	tkb_http_ref_folder(ref, folder);
	rc = tkb_http_list(self, call, folders, 1, &listing, err);
	if (rc == 0)
		rc = sift_large(&listing, visitor, err);
	return rc == 0 ? ask_each(self, call, "GET", folder, &listing, &teller,
	                          err)
	               : rc;
}

static int tell_blob(void *self, const struct batch *batch, size_t i,
                     struct tkb_error *err)
{
	const struct tkb_blob_visitor *visitor = self;
	const struct tkb_web_request *request = &batch->requests[i];

	return visitor->on_blob(
		visitor->self, &batch->digests[i],
		request->length == UINT64_MAX ? 0 : request->length,
		tkb_http_age(request->date_s, request->modified_s), err);
}

/* A document has only names; the others say all. */
int tkb_http_list_blobs(void *self, const struct tkb_op_limits *call,
                        const struct tkb_blob_visitor *visitor,
                        struct tkb_error *err)
{
	static const char *const folders[] = { "cas" };
	const struct tkb_http *http = self;
	struct tkb_blob_visitor copy = *visitor;
	const struct teller teller = { tell_blob, NULL, &copy };
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };
	int rc;

	rc = tkb_http_list(self, call, folders, 1, &listing, err);
	if (rc == 0 && http->way == TKB_HTTP_DOCUMENT)
		return ask_each(self, call, "HEAD", "cas", &listing, &teller,
		                err);
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
