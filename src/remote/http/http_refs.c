/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/blob_buffer.h"
#include "remote/http/http.h"

enum {
	BATCH = 64 /* blobs that are asked for together */
};

/* TKB_MISS: the condition, a header or NULL, was false. */
static int add_to(struct tkb_http *http, const struct tkb_op_limits *limits,
                  const char *ref, const char *hex, struct tkb_bytes record,
                  const char *condition, struct tkb_error *err)
{
	const struct tkb_blob blob = { record.size,
		                       tkb_memory_source(&record) };
	char folder[TKB_HTTP_FOLDER_SIZE];
	int rc;

	tkb_http_ref_folder(ref, folder);
	rc = tkb_http_put(http, limits,
	                  &(struct tkb_http_put){ .folder = folder,
	                                          .name = hex,
	                                          .blob = &blob,
	                                          .condition = condition },
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
	int rc;

	rc = tkb_http_find_mode(self, limits, err);
	return rc == 0 ? add_to(self, limits, ref, tkb_digest_hex(digest).text,
	                        record, NULL, err)
	               : rc;
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

/*
 * Put the same bytes again: this sets the modification time. TKB_MISS: there is
 * no such record, or, with a condition, not the one that was read.
 */
static int put_again(struct tkb_http *http, const struct tkb_op_limits *limits,
                     const char *ref, const struct tkb_digest *digest,
                     bool has_condition, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf record = TKB_BUF_INIT(TKB_HTTP_RECORD_LIMIT);
	const struct tkb_sink sink = tkb_buf_sink(&record);
	struct tkb_http_request request = { .method = "GET",
		                            .sink = &sink,
		                            .limit = TKB_HTTP_RECORD_LIMIT };
	char condition[TKB_HTTP_CONDITION_SIZE];
	char folder[TKB_HTTP_FOLDER_SIZE];
	char hex[TKB_DIGEST_HEX_SIZE];
	struct tkb_digest found;
	int rc;

	tkb_http_ref_folder(ref, folder);
	tkb_digest_to_hex(digest, hex);
	rc = tkb_http_ask(http, limits, folder, hex, &request, err);
	if (rc == 0)
		rc = tkb_digest_of(tkb_buf_bytes(&record), &found, err);
	if (rc != 0)
		return rc;
	if (!tkb_digest_equal(&found, digest))
		return TKB_MISS; /* a damaged record must keep its age */
	rc = tkb_http_find_mode(http, limits, err);
	if (rc < 0)
		return rc;
	has_condition &= tkb_http_if_match(request.etag, condition);
	return add_to(http, limits, ref, hex, tkb_buf_bytes(&record),
	              has_condition ? condition : NULL, err);
}

/*
 * The condition keeps a touch from bringing back what was dropped meanwhile. It
 * is also false if another client was faster with a touch, or if the server
 * cannot compare: the second try tells.
 */
int tkb_http_touch(void *self, const struct tkb_op_limits *limits,
                   const char *ref, const struct tkb_digest *digest,
                   struct tkb_error *err)
{
	int rc;

	rc = put_again(self, limits, ref, digest, true, err);
	return rc == TKB_MISS ? put_again(self, limits, ref, digest, false, err)
	                      : rc;
}

/* List the files whose names are digests. */
static int list_ours(struct tkb_http *http, const struct tkb_op_limits *limits,
                     const char *folder, struct tkb_arena *arena,
                     struct tkb_http_listed **out, size_t *count_out,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };
	struct tkb_http_listed *items;
	size_t count = 0;
	int rc;

	rc = tkb_http_list(http, limits, &folder, 1, &listing, err);
	if (rc < 0)
		return rc;
	items = tkb_arena_alloc(arena, listing.count, sizeof(*items));
	if (items == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < listing.count; i++) {
		const struct tkb_http_file *file = &listing.files[i];

		if (!tkb_http_is_ours(file))
			continue;
		(void)tkb_digest_from_hex(tkb_text(file->name),
		                          &items[count].digest);
		items[count].size = file->size;
		items[count++].age_s =
			tkb_http_age(listing.now_s, file->modified_s);
	}
	*out = items;
	*count_out = count;
	return 0;
}

int tkb_http_records(void *self, const struct tkb_op_limits *limits,
                     const char *ref, const struct tkb_record_visitor *visitor,
                     struct tkb_error *err)
{
	const struct tkb_http_objects objects =
		tkb_http_objects_of(self, limits, ref);
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	char folder[TKB_HTTP_FOLDER_SIZE];
	struct tkb_http_listed *records = NULL;
	size_t count = 0;
	int rc;

	tkb_http_ref_folder(ref, folder);
	rc = list_ours(self, limits, folder, &arena, &records, &count, err);
	for (size_t i = 0; i < count; i++)
		records[i].age_s = UINT64_MAX; /* some listings have no times */
	return rc == 0 ? tkb_http_objects_records(&objects, records, count,
	                                          visitor, err)
	               : rc;
}

/* A document has only names: ask for sizes and ages of a batch of blobs. */
static int ask_for_facts(struct tkb_http *http,
                         const struct tkb_op_limits *limits,
                         struct tkb_http_listed *blobs, size_t count,
                         const struct tkb_blob_visitor *visitor,
                         struct tkb_error *err)
{
	const struct tkb_http_objects objects =
		tkb_http_objects_of(http, limits, NULL);
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_digest digests[BATCH];
	struct tkb_http_request *requests = NULL;
	int rc;

	for (size_t i = 0; i < count; i++)
		digests[i] = blobs[i].digest;
	rc = tkb_http_objects_head(&objects, digests, count, &arena, &requests,
	                           err);
	for (size_t i = 0; i < count && rc >= 0; i++) {
		const struct tkb_http_request *request = &requests[i];

		rc = tkb_http_request_judge(request, limits, err);
		if (rc == 0)
			rc = visitor->on_blob(visitor->self, &digests[i],
			                      request->length == UINT64_MAX
			                              ? 0
			                              : request->length,
			                      tkb_http_age(request->date_s,
			                                   request->modified_s),
			                      err);
	}
	return rc < 0 ? rc : 0;
}

int tkb_http_list_blobs(void *self, const struct tkb_op_limits *limits,
                        const struct tkb_blob_visitor *visitor,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	const struct tkb_http *http = self;
	struct tkb_http_listed *blobs = NULL;
	size_t count = 0;
	int rc;

	rc = list_ours(self, limits, "cas", &arena, &blobs, &count, err);
	if (http->mode == TKB_HTTP_DOCUMENT) {
		for (size_t at = 0; at < count && rc == 0; at += BATCH)
			rc = ask_for_facts(self, limits, blobs + at,
			                   count - at < BATCH ? count - at
			                                      : BATCH,
			                   visitor, err);
		return rc;
	}
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = visitor->on_blob(
			visitor->self, &blobs[i].digest,
			blobs[i].size == UINT64_MAX ? 0 : blobs[i].size,
			blobs[i].age_s, err);
	return rc;
}
