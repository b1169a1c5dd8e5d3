/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/blob_buffer.h"
#include "base/random.h"
#include "remote/net/base64.h"
#include "remote/oci/oci.h"
#include "text/json_walk.h"

/* Manifests: see oci.h. */

enum {
	BATCH = 64 /* requested together */
};

#define MEDIA_TYPE "application/vnd.oci.image.manifest.v1+json"
#define BLOB_TYPE "application/vnd.tkbundle.blob.v1"
#define RECORD_TYPE "application/vnd.tkbundle.record.v1"
#define REF_NAME "vnd.tkbundle.ref"
#define PUT_NAME "vnd.tkbundle.put"

/* The empty configuration "{}", which every manifest names. */
#define EMPTY_CONFIG                                                           \
	"\"config\":{\"mediaType\":\"application/vnd.oci.empty.v1+json\","     \
	"\"digest\":\"sha256:44136fa355b3678a1146ad16f7e8649e"                 \
	"94fb4fc21fe77e8310c060f61caaff8a\",\"size\":2,\"data\":\"e30=\"}"

static const char *const accept[] = { "Accept: " MEDIA_TYPE };
static const char content_type[] = "Content-Type: " MEDIA_TYPE;

/* Write a manifest. */
static int write_manifest(const struct tkb_oci *oci,
                          const struct tkb_oci_item *item, struct tkb_buf *out,
                          struct tkb_error *err)
{
	const char *type = item->ref != NULL ? RECORD_TYPE : BLOB_TYPE;
	char stamp[32 + TKB_RANDOM_NAME_SIZE];
	char word[TKB_RANDOM_NAME_SIZE];
	int rc;

	rc = tkb_random_name(word, err);
	if (rc < 0)
		return rc;
	(void)snprintf(stamp, sizeof(stamp), "%lld %s", (long long)oci->now_s,
	               word);
	tkb_buf_add_text(out, "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_TYPE
	                      "\"");
	tkb_json_add_text(out, ",\"artifactType\":", type);
	tkb_buf_add_text(out, "," EMPTY_CONFIG);
	tkb_json_add_text(out, ",\"layers\":[{\"mediaType\":", type);
	tkb_print(out, ",\"digest\":\"sha256:%s\",\"size\":%" PRIu64,
	          tkb_digest_hex(item->digest).text, item->size);
	if (item->data.size != 0) {
		tkb_buf_add_text(out, ",\"data\":\"");
		tkb_base64_add(item->data, out);
		tkb_buf_add_byte(out, '"');
	}
	tkb_buf_add_text(out, "}],\"annotations\":{");
	if (item->ref != NULL) {
		tkb_json_add_text(out, "\"" REF_NAME "\":", item->ref);
		tkb_buf_add_byte(out, ',');
	}
	tkb_json_add_text(out, "\"" PUT_NAME "\":", stamp);
	tkb_buf_add_text(out, "}}");
	return tkb_buf_check(out, err);
}

static int tag_url(const struct tkb_oci *oci, const struct tkb_oci_item *item,
                   struct tkb_arena *arena, const char **out,
                   struct tkb_error *err)
{
	char tag[TKB_OCI_TAG_SIZE];
	int rc;

	rc = tkb_oci_tag(item->ref, item->digest, tag, err);
	return rc == 0 ? tkb_oci_url(oci, arena, "/manifests/", tag, out, err)
	               : rc;
}

int tkb_oci_manifest_put(struct tkb_oci *oci,
                         const struct tkb_op_limits *limits,
                         const struct tkb_oci_item *item, bool *lacks_blob_out,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_OCI_MANIFEST_LIMIT);
	const char *const headers[] = { content_type, item->condition };
	struct tkb_http_request request = {
		.method = "PUT",
		.headers = headers,
		.header_count = item->condition != NULL ? 2 : 1,
	};
	struct tkb_bytes bytes;
	struct tkb_blob body;
	int rc;

	*lacks_blob_out = false;
	rc = write_manifest(oci, item, &text, err);
	if (rc == 0)
		rc = tag_url(oci, item, &arena, &request.url, err);
	if (rc < 0)
		return rc;
	bytes = tkb_buf_bytes(&text);
	body = (struct tkb_blob){ bytes.size, tkb_memory_source(&bytes) };
	request.body = &body;
	rc = tkb_oci_ask(oci, limits, &request, err);
	if (rc == TKB_ERR_DENIED && request.status == 412 &&
	    item->condition != NULL)
		return TKB_MISS;
	if (rc != TKB_MISS && (rc != TKB_ERR_DENIED || request.status != 400))
		return rc;
	*lacks_blob_out = true;
	return tkb_fail(
		err, TKB_ERR_UNAVAILABLE,
		"it does not take a manifest (HTTP %ld): its blobs were "
		"removed meanwhile, or it takes only images",
		request.status);
}

/* The state while a manifest is read. */
struct reading {
	struct tkb_oci_manifest *out;
	struct tkb_arena *arena; /* owns its data */
	bool is_manifest;
};

/* Read the embedded data; if they are not base64, or too large, ignore them. */
static int take_data(const struct reading *reading, const char *value,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf data = TKB_BUF_INIT(TKB_OCI_DATA_LIMIT + 3);
	struct tkb_bytes *out = &reading->out->data;

	if (!tkb_base64_read(tkb_text(value), &data) || data.failure != 0)
		return 0;
	out->data = tkb_arena_string(reading->arena, tkb_buf_bytes(&data));
	out->size = data.size;
	return out->data == NULL ? tkb_fail_nomem(err) : 0;
}

static int take_manifest_value(void *self, const char *path,
                               enum tkb_json_type type, const char *value,
                               struct tkb_error *err)
{
	struct reading *reading = self;
	struct tkb_oci_manifest *out = reading->out;
	char *end = NULL;

	if (strcmp(path, "schemaVersion") == 0) {
		reading->is_manifest = strcmp(value, "2") == 0;
	} else if (strcmp(path, "layers/*/size") == 0 &&
	           type == TKB_JSON_NUMBER) {
		errno = 0;
		out->size = strtoull(value, &end, 10);
		if (errno != 0 || *end != '\0' || value[0] == '-')
			out->size = TKB_SIZE_UNKNOWN;
	} else if (strcmp(path, "annotations/" REF_NAME) == 0 &&
	           strlen(value) < sizeof(out->ref)) {
		memcpy(out->ref, value, strlen(value) + 1);
	} else if (strcmp(path, "annotations/" PUT_NAME) == 0) {
		out->put_s = strtoll(value, NULL, 10);
	} else if (strcmp(path, "layers/*/data") == 0 &&
	           type == TKB_JSON_STRING) {
		return take_data(reading, value, err);
	}
	return 0;
}

static int read_manifest(struct tkb_bytes text, struct tkb_arena *arena,
                         struct tkb_oci_manifest *out, struct tkb_error *err)
{
	struct reading reading = { .out = out, .arena = arena };
	const struct tkb_json_walker walker = { take_manifest_value, &reading };
	int rc;

	*out = (struct tkb_oci_manifest){ .size = TKB_SIZE_UNKNOWN };
	rc = tkb_json_walk(text, &walker, NULL);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (rc < 0 || !reading.is_manifest)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "its answer is not a manifest");
	return tkb_digest_of(text, &out->digest, err);
}

/* Manifests that are requested together. */
struct batch {
	struct tkb_arena arena;
	struct tkb_http_request requests[BATCH];
	struct tkb_buf bodies[BATCH];
	struct tkb_sink sinks[BATCH];
	const char *headers[BATCH][2];
	const char *tags[BATCH]; /* not kept */
	size_t count;
};

static void batch_free(struct batch **batch)
{
	if (*batch == NULL)
		return;
	for (size_t i = 0; i < (*batch)->count; i++)
		tkb_buf_release(&(*batch)->bodies[i]);
	tkb_arena_release(&(*batch)->arena);
	free(*batch);
}

/* Write "If-None-Match: ..." if the manifest was seen before, else NULL. */
static int write_condition(const struct tkb_oci *oci, struct batch *batch,
                           const char *tag, const char **out,
                           struct tkb_error *err)
{
	const struct tkb_oci_seen_item *seen =
		tkb_oci_seen_find(&oci->seen, tag);
	char line[128];

	*out = NULL;
	if (seen == NULL)
		return 0;
	(void)snprintf(line, sizeof(line), "If-None-Match: %s", seen->etag);
	return tkb_arena_copy(&batch->arena, tkb_text(line), out, err);
}

static int batch_add(const struct tkb_oci *oci, struct batch *batch,
                     const char *tag, struct tkb_error *err)
{
	const size_t i = batch->count++;
	int rc;

	batch->bodies[i] = (struct tkb_buf)TKB_BUF_INIT(TKB_OCI_MANIFEST_LIMIT);
	batch->sinks[i] = tkb_buf_sink(&batch->bodies[i]);
	batch->tags[i] = tag;
	batch->headers[i][0] = accept[0];
	rc = write_condition(oci, batch, tag, &batch->headers[i][1], err);
	if (rc < 0)
		return rc;
	batch->requests[i] = (struct tkb_http_request){
		.method = "GET",
		.headers = batch->headers[i],
		.header_count = batch->headers[i][1] != NULL ? 2 : 1,
		.sink = &batch->sinks[i]
	};
	return tkb_oci_url(oci, &batch->arena, "/manifests/", tag,
	                   &batch->requests[i].url, err);
}

/* Is the manifest unchanged since it was seen? */
static bool is_unchanged(const struct tkb_oci *oci, const struct batch *batch,
                         size_t index, struct tkb_oci_manifest *out)
{
	const struct tkb_http_request *request = &batch->requests[index];
	const struct tkb_oci_seen_item *seen =
		tkb_oci_seen_find(&oci->seen, batch->tags[index]);

	if (request->rc != 0 || request->status != 304 || seen == NULL)
		return false;
	*out = seen->manifest;
	return true;
}

static int read_manifest_answer(struct tkb_oci *oci, struct batch *batch,
                                size_t index,
                                const struct tkb_op_limits *limits,
                                struct tkb_oci_manifest *out,
                                struct tkb_error *err)
{
	const struct tkb_http_request *request = &batch->requests[index];
	int rc = 0;

	if (request->rc == TKB_ERR_TOO_LARGE)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "its manifest has more than %d bytes",
		                TKB_OCI_MANIFEST_LIMIT);
	if (!is_unchanged(oci, batch, index, out)) {
		rc = tkb_http_request_judge(request, limits, err);
		if (rc == 0)
			rc = read_manifest(tkb_buf_bytes(&batch->bodies[index]),
			                   &batch->arena, out, err);
		if (rc != 0)
			return rc;
		tkb_oci_seen_note(&oci->seen, batch->tags[index], request->etag,
		                  out);
	}
	out->age_s = tkb_http_age(request->date_s, out->put_s);
	return 0;
}

/*
 * Does the failure concern only this manifest, such as an answer that is not a
 * manifest? The others can still be read.
 */
static bool is_of_one(const struct batch *batch, size_t index, int rc,
                      const struct tkb_op_limits *limits)
{
	const struct tkb_http_request *request = &batch->requests[index];

	return rc == TKB_ERR_DENIED ||
	       (rc == TKB_ERR_UNAVAILABLE && request->rc == 0 &&
	        request->status / 100 == 2) ||
	       rc == TKB_ERR_TOO_LARGE ||
	       tkb_http_request_fails_alone(request, batch->requests,
	                                    batch->count, limits);
}

static int tell_batch(struct tkb_oci *oci, struct batch *batch, size_t first,
                      const struct tkb_op_limits *limits,
                      const struct tkb_oci_manifest_visitor *visitor,
                      struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < batch->count && rc == 0; i++) {
		struct tkb_oci_manifest manifest = { .size = 0 };
		struct tkb_error why = { 0 };
		int told;

		told = read_manifest_answer(oci, batch, i, limits, &manifest,
		                            &why);
		if (told < 0 && !is_of_one(batch, i, told, limits))
			return tkb_fail_as(err, told, &why);
		rc = visitor->on_manifest(visitor->self, first + i, told,
		                          &manifest, &why, err);
	}
	return rc;
}

int tkb_oci_manifests(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                      const char *const *tags, size_t count,
                      const struct tkb_oci_manifest_visitor *visitor,
                      struct tkb_error *err)
{
	int rc = 0;

	for (size_t first = 0; first < count && rc == 0; first += BATCH) {
		TKB_AUTO(batch_free)
		struct batch *batch = tkb_alloc_array(1, sizeof(*batch));

		if (batch == NULL)
			return tkb_fail_nomem(err);
		while (rc == 0 && batch->count < BATCH &&
		       first + batch->count < count)
			rc = batch_add(oci, batch, tags[first + batch->count],
			               err);
		if (rc == 0)
			rc = tkb_oci_do(oci, limits, batch->requests,
			                batch->count, err);
		if (rc == 0)
			rc = tell_batch(oci, batch, first, limits, visitor,
			                err);
	}
	return rc;
}

/* Where tkb_oci_manifest_get() wants its manifest. */
struct wanted {
	struct tkb_oci_manifest *out;
	struct tkb_buf *data; /* may be NULL */
	int rc;
};

static int take_one(void *self, size_t index, int rc,
                    const struct tkb_oci_manifest *manifest,
                    const struct tkb_error *why, struct tkb_error *err)
{
	struct wanted *wanted = self;

	(void)index;
	if (rc < 0)
		return tkb_fail_as(err, rc, why);
	*wanted->out = *manifest;
	wanted->out->data = (struct tkb_bytes){ NULL, 0 };
	if (wanted->data != NULL)
		tkb_buf_add(wanted->data, manifest->data);
	wanted->rc = rc;
	return 0;
}

int tkb_oci_manifest_get(struct tkb_oci *oci,
                         const struct tkb_op_limits *limits, const char *tag,
                         struct tkb_oci_manifest *out, struct tkb_buf *data,
                         struct tkb_error *err)
{
	struct wanted wanted = { .out = out, .data = data };
	const struct tkb_oci_manifest_visitor visitor = { take_one, &wanted };
	int rc;

	rc = tkb_oci_manifests(oci, limits, &tag, 1, &visitor, err);
	return rc == 0 ? wanted.rc : rc;
}

static int fail_refused(long status, struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_DENIED,
	                "it refuses to delete (HTTP %ld): allow it to (in "
	                "docker-registry: storage.delete.enabled), or leave "
	                "that to its own retention rules",
	                status);
}

int tkb_oci_manifest_delete(struct tkb_oci *oci,
                            const struct tkb_op_limits *limits,
                            const struct tkb_oci_item *item,
                            struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_http_request request = { .method = "DELETE" };
	struct tkb_oci_manifest manifest;
	char tag[TKB_OCI_TAG_SIZE];
	int rc;

	rc = tkb_oci_tag(item->ref, item->digest, tag, err);
	if (rc == 0)
		rc = tkb_oci_manifest_get(oci, limits, tag, &manifest, NULL,
		                          err);
	if (rc != 0)
		return rc;
	rc = tkb_oci_url(oci, &arena, "/manifests/sha256:",
	                 tkb_digest_hex(&manifest.digest).text, &request.url,
	                 err);
	if (rc == 0)
		rc = tkb_oci_ask(oci, limits, &request, err);
	if (rc == TKB_ERR_DENIED && request.status != 401 &&
	    request.status != 403)
		return fail_refused(request.status, err);
	return rc;
}
