/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/blob_buffer.h"
#include "remote/oci/oci.h"

/* Records and refs. */

int tkb_oci_add(void *self, const struct tkb_op_limits *limits, const char *ref,
                const struct tkb_digest *digest, struct tkb_bytes record,
                struct tkb_error *err)
{
	const bool is_small = record.size <= TKB_OCI_DATA_LIMIT;
	const struct tkb_oci_item item = {
		.ref = ref,
		.digest = digest,
		.size = record.size,
		.data = is_small ? record : (struct tkb_bytes){ NULL, 0 },
	};
	const struct tkb_blob blob = { record.size,
		                       tkb_memory_source(&record) };

	return tkb_oci_store(self, limits, &item, &blob, err);
}

int tkb_oci_drop(void *self, const struct tkb_op_limits *limits,
                 const char *ref, const struct tkb_digest *digest,
                 struct tkb_error *err)
{
	const struct tkb_oci_item item = { .ref = ref, .digest = digest };

	return tkb_oci_manifest_delete(self, limits, &item, err);
}

/*
 * A newer manifest takes the tag. TKB_MISS: there is no such record, or, with a
 * condition, not the one that was read.
 */
static int put_again(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                     const char *ref, const struct tkb_digest *digest,
                     bool has_condition, struct tkb_error *err)
{
	const struct tkb_oci_seen_item *seen;
	char condition[TKB_HTTP_CONDITION_SIZE];
	struct tkb_oci_manifest manifest;
	struct tkb_oci_item item = { .ref = ref, .digest = digest };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf data = TKB_BUF_INIT(TKB_OCI_DATA_LIMIT);
	char tag[TKB_OCI_TAG_SIZE];
	bool lacks_blob;
	int rc;

	rc = tkb_oci_tag(ref, digest, tag, err);
	if (rc == 0)
		rc = tkb_oci_manifest_get(oci, limits, tag, &manifest, &data,
		                          err);
	if (rc == 0)
		rc = tkb_buf_check(&data, err);
	if (rc != 0)
		return rc;
	seen = tkb_oci_seen_find(&oci->seen, tag);
	if (has_condition && seen != NULL &&
	    tkb_http_if_match(seen->etag, condition))
		item.condition = condition;
	item.size = manifest.size;
	item.data = tkb_buf_bytes(&data);
	return tkb_oci_manifest_put(oci, limits, &item, &lacks_blob, err);
}

/*
 * The condition keeps a touch from bringing back what was dropped meanwhile, if
 * the registry heeds it. It is also false if another client was faster with a
 * touch, or if the registry cannot compare: the second try tells.
 */
int tkb_oci_touch(void *self, const struct tkb_op_limits *limits,
                  const char *ref, const struct tkb_digest *digest,
                  struct tkb_error *err)
{
	int rc;

	rc = put_again(self, limits, ref, digest, true, err);
	return rc == TKB_MISS ? put_again(self, limits, ref, digest, false, err)
	                      : rc;
}

/* The records that are listed. */
struct gathering {
	const struct tkb_oci_tags *tags;
	size_t start; /* length of the tag before the digest */
	const struct tkb_record_visitor *visitor;
	struct tkb_http_records records; /* owned */
};

static void gathering_release(struct gathering *gathering)
{
	tkb_http_records_release(&gathering->records);
}

/* Check that the bytes have the digest. */
static int is_whole(struct tkb_bytes data, const struct tkb_digest *digest,
                    bool *out, struct tkb_error *err)
{
	struct tkb_digest found;
	int rc;

	*out = false;
	if (data.size == 0)
		return 0;
	rc = tkb_digest_of(data, &found, err);
	*out = rc == 0 && tkb_digest_equal(&found, digest);
	return rc;
}

/* Report a record that is embedded in its manifest. */
static int tell_record(const struct tkb_record_visitor *visitor,
                       const struct tkb_http_listed *found,
                       struct tkb_bytes record, struct tkb_error *err)
{
	if (visitor->wants != NULL &&
	    !visitor->wants(visitor->self, &found->digest, found->age_s))
		return 0;
	return visitor->on_record(visitor->self, &found->digest, record,
	                          found->age_s, err);
}

static int gather_listed_record(void *self, size_t index, int rc,
                                const struct tkb_oci_manifest *manifest,
                                const struct tkb_error *why,
                                struct tkb_error *err)
{
	struct gathering *gathering = self;
	const struct tkb_record_visitor *visitor = gathering->visitor;
	struct tkb_http_listed found = { .size = manifest->size,
		                         .age_s = manifest->age_s };
	const struct tkb_error gone = { .status = TKB_MISS };
	bool is_here = false;
	size_t start;

	if (!tkb_oci_tag_read(gathering->tags->items[index], &found.digest,
	                      &start) ||
	    start != gathering->start)
		return 0;
	if (rc == TKB_MISS)
		return visitor->on_unread(visitor->self, &found.digest, &gone,
		                          err);
	if (rc < 0)
		return visitor->on_unread(visitor->self, &found.digest, why,
		                          err);
	rc = is_whole(manifest->data, &found.digest, &is_here, err);
	if (rc < 0 || is_here)
		return rc < 0 ? rc
		              : tell_record(visitor, &found, manifest->data,
		                            err);
	return tkb_http_records_add(&gathering->records, &found, err);
}

static int prepare_blob_request(const struct tkb_http_objects *objects,
                                const char *method,
                                const struct tkb_digest *digest,
                                struct tkb_arena *arena,
                                struct tkb_http_request *out,
                                struct tkb_error *err)
{
	out->method = method;
	return tkb_oci_blob_url(objects->self, arena, digest, &out->url, err);
}

int tkb_oci_records(void *self, const struct tkb_op_limits *limits,
                    const char *ref, const struct tkb_record_visitor *visitor,
                    struct tkb_error *err)
{
	struct tkb_oci *oci = self;
	TKB_AUTO(tkb_oci_tags_release) struct tkb_oci_tags tags = { 0 };
	TKB_AUTO(gathering_release)
	struct gathering found = { .tags = &tags, .visitor = visitor };
	const struct tkb_oci_manifest_visitor manifests = {
		gather_listed_record, &found
	};
	const struct tkb_http_objects objects = {
		.self = oci,
		.client = oci->client,
		.limits = limits,
		.ref = ref,
		.prepare = prepare_blob_request
	};
	char start[TKB_OCI_TAG_SIZE];
	int rc;

	rc = tkb_oci_tag_start(ref, start, err);
	if (rc < 0)
		return rc;
	found.start = strlen(start);
	rc = tkb_oci_tags_read(oci, limits, start, &tags, err);
	if (rc == 0)
		rc = tkb_oci_manifests(oci, limits, tags.items, tags.count,
		                       &manifests, err);
	return rc == 0 ? tkb_http_objects_records(&objects, found.records.items,
	                                          found.records.count, visitor,
	                                          err)
	               : rc;
}

/* Report a name that is too long for a tag: it is in the manifest. */
static int tell_name(void *self, size_t index, int rc,
                     const struct tkb_oci_manifest *manifest,
                     const struct tkb_error *why, struct tkb_error *err)
{
	const struct tkb_ref_visitor *visitor = self;

	(void)index;
	if (rc < 0)
		return tkb_fail_as(err, rc, why);
	if (rc == TKB_MISS || manifest->ref[0] == '\0')
		return 0;
	return visitor->on_ref(visitor->self, manifest->ref, err);
}

static bool begins_alike(const char *a, const char *b, size_t size)
{
	return a != NULL && strncmp(a, b, size) == 0;
}

/* Report the names in tags, and keep the other tags. */
static int tell_names(struct tkb_oci_tags *tags,
                      const struct tkb_ref_visitor *visitor,
                      struct tkb_error *err)
{
	const char *last = NULL;
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < tags->count && rc == 0; i++) {
		const char *tag = tags->items[i];
		struct tkb_digest digest;
		char ref[TKB_OCI_REF_SIZE];
		size_t start = 0;

		if (!tkb_oci_tag_read(tag, &digest, &start) ||
		    begins_alike(last, tag, start))
			continue;
		last = tag;
		if (tkb_oci_tag_ref(tag, start, ref))
			rc = visitor->on_ref(visitor->self, ref, err);
		else if (tag[0] == 'h')
			tags->items[kept++] = tag;
	}
	tags->count = kept;
	return rc;
}

int tkb_oci_refs(void *self, const struct tkb_op_limits *limits,
                 const struct tkb_ref_visitor *visitor, struct tkb_error *err)
{
	struct tkb_ref_visitor told = *visitor;
	const struct tkb_oci_manifest_visitor manifests = { tell_name, &told };
	TKB_AUTO(tkb_oci_tags_release) struct tkb_oci_tags tags = { 0 };
	int rc;

	rc = tkb_oci_tags_read(self, limits, "", &tags, err);
	if (rc == 0)
		rc = tell_names(&tags, visitor, err);
	return rc == 0 ? tkb_oci_manifests(self, limits, tags.items, tags.count,
	                                   &manifests, err)
	               : rc;
}
