/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "remote/http/http.h"

/* The names of all refs. */

enum {
	FOLDERS = 16 /* listed in one go */
};

static int tell_ref(const struct tkb_http_listing *listing, const char *folder,
                    const struct tkb_ref_visitor *visitor,
                    struct tkb_error *err)
{
	char ref[TKB_HTTP_FOLDER_SIZE];
	size_t i = 0;

	while (i < listing->count && !tkb_http_is_ours(&listing->files[i]))
		i++;
	if (i == listing->count)
		return 0;
	memcpy(ref, folder + strlen("ref/"),
	       strlen(folder + strlen("ref/")) + 1);
	for (char *at = ref; *at != '\0'; at++)
		*at = *at == ',' ? '/' : *at;
	return visitor->on_ref(visitor->self, ref, err);
}

/* Some refs' folders, listed at once. */
struct shelf {
	char names[FOLDERS][TKB_HTTP_FOLDER_SIZE];
	const char *folders[FOLDERS];
	struct tkb_http_listing listings[FOLDERS];
	size_t count;
};

static void shelf_reset(struct shelf *shelf)
{
	for (size_t i = 0; i < FOLDERS; i++)
		tkb_http_listing_release(&shelf->listings[i]);
	shelf->count = 0;
}

static void free_shelf(struct shelf **shelf)
{
	if (*shelf != NULL)
		shelf_reset(*shelf);
	free(*shelf);
}

static int tell_shelf(struct tkb_http *http, const struct tkb_op_limits *call,
                      struct shelf *shelf,
                      const struct tkb_ref_visitor *visitor,
                      struct tkb_error *err)
{
	int rc;

	rc = tkb_http_list(http, call, shelf->folders, shelf->count,
	                   shelf->listings, err);
	for (size_t i = 0; i < shelf->count && rc == 0; i++)
		rc = tell_ref(&shelf->listings[i], shelf->folders[i], visitor,
		              err);
	shelf_reset(shelf);
	return rc;
}

/* A name that is too long is none of ours. */
static void shelf_add(struct shelf *shelf, const char *name)
{
	const size_t size = strlen(name);

	if (size == 0 || size + sizeof("ref/") > TKB_HTTP_FOLDER_SIZE)
		return;
	tkb_http_ref_folder(name, shelf->names[shelf->count]);
	shelf->folders[shelf->count] = shelf->names[shelf->count];
	shelf->count++;
}

int tkb_http_refs(void *self, const struct tkb_op_limits *call,
                  const struct tkb_ref_visitor *visitor, struct tkb_error *err)
{
	static const char *const folders[] = { "ref" };
	const struct tkb_http *http = self;
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };
	TKB_AUTO(free_shelf)
	struct shelf *shelf = tkb_alloc_array(1, sizeof(*shelf));
	int rc;

	if (shelf == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_http_list(self, call, folders, 1, &listing, err);
	for (size_t i = 0; i < listing.count && rc == 0; i++) {
		if (listing.files[i].is_folder ||
		    http->way == TKB_HTTP_DOCUMENT)
			shelf_add(shelf, listing.files[i].name);
		if (shelf->count == FOLDERS)
			rc = tell_shelf(self, call, shelf, visitor, err);
	}
	return rc == 0 && shelf->count != 0
	               ? tell_shelf(self, call, shelf, visitor, err)
	               : rc;
}
