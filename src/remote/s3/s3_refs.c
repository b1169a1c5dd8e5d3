/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/blob_buffer.h"
#include "remote/net/escape.h"
#include "remote/s3/s3.h"
#include "remote/net/xml.h"

enum {
	COPIED_LIMIT = 64 * 1024
};

static int note_root(void *self, const char *name, size_t depth,
                     const char *text, struct tkb_error *err)
{
	bool *is_copied = self;

	(void)text, (void)err;
	if (depth == 1)
		*is_copied = strcmp(name, "CopyObjectResult") == 0;
	return 0;
}

/* S3 may answer 200 although the copy failed: the body tells. */
int tkb_s3_touch(void *self, const struct tkb_op_limits *limits,
                 const char *ref, const struct tkb_digest *digest,
                 struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(COPIED_LIMIT);
	const struct tkb_bytes nothing = { "", 0 };
	const struct tkb_blob empty = { 0, tkb_memory_source(&nothing) };
	const struct tkb_sink sink = tkb_buf_sink(&text);
	const struct tkb_s3_ask ask = { .method = "PUT",
		                        .ref = ref,
		                        .digest = digest,
		                        .body = &empty,
		                        .is_copy = true };
	struct tkb_http_request request = { .sink = &sink,
		                            .limit = COPIED_LIMIT };
	bool is_copied = false;
	const struct tkb_xml_visitor visitor = { note_root, &is_copied };
	int rc;

	rc = tkb_s3_do(self, limits, &ask, &request, err);
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

static int gather_listed_item(void *self, const struct tkb_s3_item *item,
                              struct tkb_error *err)
{
	struct tkb_http_listed found = { .size = item->size,
		                         .age_s = item->age_s };

	if (!tkb_digest_from_hex(tkb_text(item->name), &found.digest))
		return 0;
	return tkb_http_records_add(self, &found, err);
}

int tkb_s3_records(void *self, const struct tkb_op_limits *limits,
                   const char *ref, const struct tkb_record_visitor *visitor,
                   struct tkb_error *err)
{
	const struct tkb_http_objects objects =
		tkb_s3_objects_of(self, limits, ref);
	TKB_AUTO(tkb_http_records_release)
	struct tkb_http_records found = { 0 };
	char start[TKB_S3_KEY_SIZE];
	const struct tkb_s3_listing listing = { .start = start,
		                                .on_item = gather_listed_item,
		                                .self = &found };
	int rc;

	tkb_s3_key(ref, NULL, start);
	rc = tkb_s3_list(self, limits, &listing, err);
	return rc == 0 ? tkb_http_objects_records(&objects, found.items,
	                                          found.count, visitor, err)
	               : rc;
}

static int report_prefix_ref(void *self, const struct tkb_s3_item *item,
                             struct tkb_error *err)
{
	const struct tkb_ref_visitor *visitor = self;
	char ref[TKB_S3_REF_SIZE];

	if (strlen(item->name) >= sizeof(ref))
		return 0; /* not ours */
	tkb_ref_from_folder(item->name, ref, sizeof(ref));
	return visitor->on_ref(visitor->self, ref, err);
}

/* The folders are the refs: a ref without records does not exist. */
int tkb_s3_refs(void *self, const struct tkb_op_limits *limits,
                const struct tkb_ref_visitor *visitor, struct tkb_error *err)
{
	struct tkb_ref_visitor told = *visitor;
	const struct tkb_s3_listing listing = { .start = "ref/",
		                                .has_folders = true,
		                                .on_item = report_prefix_ref,
		                                .self = &told };

	return tkb_s3_list(self, limits, &listing, err);
}
