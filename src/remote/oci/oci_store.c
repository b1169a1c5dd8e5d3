/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "base/blob_buffer.h"
#include "remote/oci/oci.h"

/* Storing an object with a tag: first its blobs, then its manifest. */

enum {
	MANIFEST_TRIES = 4 /* if its blobs seem to be missing */
};

/* Store the empty configuration, which each manifest names. */
static int put_empty(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                     struct tkb_error *err)
{
	const struct tkb_bytes text = { "{}", 2 };
	const struct tkb_blob blob = { text.size, tkb_memory_source(&text) };
	struct tkb_digest digest;
	int rc;

	rc = tkb_digest_of(text, &digest, err);
	return rc == 0 ? tkb_oci_send(oci, limits, &digest, &blob, err) : rc;
}

/*
 * Do this blob and the empty configuration exist? Checked each time: a registry
 * also collects the configuration once no manifest names it.
 */
static int find_blobs(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                      const struct tkb_oci_item *item, bool *has_out,
                      bool *has_empty_out, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_http_request requests[] = { { .method = "HEAD" },
		                               { .method = "HEAD" } };
	const size_t count = TKB_COUNT_OF(requests);
	struct tkb_digest empty;
	int rc;

	rc = tkb_digest_of((struct tkb_bytes){ "{}", 2 }, &empty, err);
	if (rc == 0)
		rc = tkb_oci_blob_url(oci, &arena, item->digest,
		                      &requests[0].url, err);
	if (rc == 0)
		rc = tkb_oci_blob_url(oci, &arena, &empty, &requests[1].url,
		                      err);
	if (rc == 0)
		rc = tkb_oci_do(oci, limits, requests, count, err);
	for (size_t i = 0; i < count && rc >= 0; i++)
		rc = tkb_http_request_judge(&requests[i], limits, err);
	if (rc < 0)
		return rc;
	*has_out =
		requests[0].status == 200 && requests[0].length == item->size;
	*has_empty_out = requests[1].status == 200;
	return 0;
}

static int store_once(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                      const struct tkb_oci_item *item,
                      const struct tkb_blob *blob, bool *lacks_blob_out,
                      struct tkb_error *err)
{
	bool has = false;
	bool has_empty = false;
	int rc;

	*lacks_blob_out = false;
	rc = find_blobs(oci, limits, item, &has, &has_empty, err);
	if (rc == 0 && !has)
		rc = tkb_oci_send(oci, limits, item->digest, blob, err);
	if (rc == 0 && !has_empty)
		rc = put_empty(oci, limits, err);
	return rc == 0 ? tkb_oci_manifest_put(oci, limits, item, lacks_blob_out,
	                                      err)
	               : rc;
}

/*
 * While another client puts the same blob, a registry that keeps blobs in files may
 * report it missing for a moment.
 */
int tkb_oci_store(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                  const struct tkb_oci_item *item, const struct tkb_blob *blob,
                  struct tkb_error *err)
{
	struct timespec nap = { .tv_nsec = 20000000 };
	bool lacks_blob = false;
	int rc;

	for (int turn = 0;; turn++) {
		rc = store_once(oci, limits, item, blob, &lacks_blob, err);
		if (!lacks_blob || turn == MANIFEST_TRIES - 1)
			return rc;
		(void)nanosleep(&nap, NULL);
		nap.tv_nsec *= 2;
	}
}
