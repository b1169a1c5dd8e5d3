/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "remote/http/http.h"
#include "remote/net/escape.h"

/* The names of all refs. */

enum {
	FOLDERS = 16 /* listed per batch */
};

static int report_listed_ref(const struct tkb_http_listing *listing,
                             const char *folder,
                             const struct tkb_ref_visitor *visitor,
                             struct tkb_error *err)
{
	char ref[TKB_HTTP_FOLDER_SIZE];
	size_t i = 0;

	while (i < listing->count && !tkb_http_is_ours(&listing->files[i]))
		i++;
	if (i == listing->count)
		return 0;
	tkb_ref_from_folder(folder + strlen("ref/"), ref, sizeof(ref));
	return visitor->on_ref(visitor->self, ref, err);
}

/* Folders of refs that are listed together. */
struct ref_batch {
	char names[FOLDERS][TKB_HTTP_FOLDER_SIZE];
	const char *folders[FOLDERS];
	struct tkb_http_listing listings[FOLDERS];
	size_t count;
};

static void ref_batch_reset(struct ref_batch *ref_batch)
{
	for (size_t i = 0; i < FOLDERS; i++)
		tkb_http_listing_release(&ref_batch->listings[i]);
	ref_batch->count = 0;
}

static void free_ref_batch(struct ref_batch **ref_batch)
{
	if (*ref_batch != NULL)
		ref_batch_reset(*ref_batch);
	free(*ref_batch);
}

static int report_ref_batch(struct tkb_http *http,
                            const struct tkb_op_limits *limits,
                            struct ref_batch *ref_batch,
                            const struct tkb_ref_visitor *visitor,
                            struct tkb_error *err)
{
	int rc;

	rc = tkb_http_list(http, limits, ref_batch->folders, ref_batch->count,
	                   ref_batch->listings, err);
	for (size_t i = 0; i < ref_batch->count && rc == 0; i++)
		rc = report_listed_ref(&ref_batch->listings[i],
		                       ref_batch->folders[i], visitor, err);
	ref_batch_reset(ref_batch);
	return rc;
}

/* Add a name; one that is too long is not the name of a ref. */
static void ref_batch_add(struct ref_batch *ref_batch, const char *name)
{
	const size_t size = strlen(name);

	if (size == 0 || size + sizeof("ref/") > TKB_HTTP_FOLDER_SIZE)
		return;
	tkb_http_ref_folder(name, ref_batch->names[ref_batch->count]);
	ref_batch->folders[ref_batch->count] =
		ref_batch->names[ref_batch->count];
	ref_batch->count++;
}

int tkb_http_refs(void *self, const struct tkb_op_limits *limits,
                  const struct tkb_ref_visitor *visitor, struct tkb_error *err)
{
	static const char *const folders[] = { "ref" };
	const struct tkb_http *http = self;
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };
	TKB_AUTO(free_ref_batch)
	struct ref_batch *ref_batch = tkb_alloc_array(1, sizeof(*ref_batch));
	int rc;

	if (ref_batch == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_http_list(self, limits, folders, 1, &listing, err);
	for (size_t i = 0; i < listing.count && rc == 0; i++) {
		if (listing.files[i].is_folder ||
		    http->mode == TKB_HTTP_DOCUMENT)
			ref_batch_add(ref_batch, listing.files[i].name);
		if (ref_batch->count == FOLDERS)
			rc = report_ref_batch(self, limits, ref_batch, visitor,
			                      err);
	}
	return rc == 0 && ref_batch->count != 0
	               ? report_ref_batch(self, limits, ref_batch, visitor, err)
	               : rc;
}
