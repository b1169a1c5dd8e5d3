/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"
#include "fuzz.h"
#include "remote/http/http.h"

/*
 * Listings of an HTTP server. The first byte says which: nginx's, WebDAV's, or
 * tkbundle's own documents. Listed names can be parsed as digests; anything
 * else is refused.
 */

static void check_file(const struct tkb_http_file *file)
{
	struct tkb_digest digest;

	MUST(file->name != NULL);
	if (tkb_http_is_ours(file))
		MUST(!file->is_folder &&
		     tkb_digest_from_hex(tkb_text(file->name), &digest));
	MUST(file->modified_s >= 0);
	(void)tkb_http_age(1700000000, file->modified_s);
}

static int read_listing(uint8_t mode, struct tkb_bytes body,
                        struct tkb_http_listing *listing, struct tkb_error *err)
{
	switch (mode % 3) {
	case 0:
		return tkb_http_read_index(body, listing, err);
	case 1:
		return tkb_http_read_dav(body, "/base/cas", listing, err);
	default:
		return tkb_http_read_document(body, listing, err);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { .count = 0 };
	struct tkb_error err = { 0 };
	int rc;

	if (size == 0)
		return 0;
	rc = read_listing(data[0], (struct tkb_bytes){ data + 1, size - 1 },
	                  &listing, &err);
	MUST(rc == 0 || rc == TKB_ERR_CORRUPT);
	MUST(rc == 0 || (err.status == rc && err.message[0] != '\0'));
	for (size_t i = 0; i < listing.count; i++)
		check_file(&listing.files[i]);
	return 0;
}
