/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "remote/http/http.h"
#include "remote/net/escape.h"
#include "remote/net/xml.h"
#include "text/ascii.h"

/* Reading a folder listing from WebDAV's PROPFIND (RFC 4918). */

struct reading {
	const char *path; /* of the folder itself, which is also listed */
	struct tkb_http_listing *listing;
	struct tkb_buf href; /* decoded; no slash at its end */
	struct tkb_http_file file;
};

/* Read "/a/b%20c/" or "http://host/a/b%20c/". */
static void read_href(struct reading *reading, const char *text)
{
	const char *at = text + strspn(text, " \t\r\n");
	const char *host = strstr(at, "://");
	struct tkb_buf *href = &reading->href;

	if (host != NULL && at[0] != '/')
		at = host + 3 + strcspn(host + 3, "/");
	tkb_buf_reset(href);
	while (*at > ' ')
		tkb_buf_add_byte(href, tkb_unescape_next(&at));
	while (href->size != 0 && href->data[href->size - 1] == '/') {
		reading->file.is_folder = true;
		href->size--;
	}
}

static int add_file(struct reading *reading, struct tkb_error *err)
{
	const struct tkb_bytes href = tkb_buf_bytes(&reading->href);
	size_t begin = href.size;
	int rc;

	rc = tkb_buf_check(&reading->href, err);
	if (rc < 0 || href.size == 0 ||
	    tkb_bytes_equal(href, tkb_text(reading->path)))
		return rc;
	while (begin != 0 && reading->href.data[begin - 1] != '/')
		begin--;
	return tkb_http_listing_add(reading->listing,
	                            tkb_bytes_slice(href, begin, href.size),
	                            &reading->file, err);
}

static void start_response(struct reading *reading)
{
	tkb_buf_reset(&reading->href);
	reading->file = (struct tkb_http_file){ .size = UINT64_MAX };
}

static int read_element(void *self, const char *name, size_t depth,
                        const char *text, struct tkb_error *err)
{
	struct reading *reading = self;
	struct tkb_http_file *file = &reading->file;
	int rc;

	if (depth == 1)
		return strcmp(name, "multistatus") == 0
		               ? 0
		               : tkb_fail(err, TKB_ERR_CORRUPT,
		                          "not a WebDAV listing");
	if (strcmp(name, "href") == 0 && depth == 3)
		read_href(reading, text);
	else if (strcmp(name, "collection") == 0)
		file->is_folder = true;
	else if (strcmp(name, "getcontentlength") == 0 && tkb_is_digit(text[0]))
		file->size = strtoull(text, NULL, 10);
	else if (strcmp(name, "getlastmodified") == 0)
		file->modified_s = tkb_http_date_parse(text);
	if (strcmp(name, "response") != 0 || depth != 2)
		return 0;
	rc = add_file(reading, err);
	start_response(reading);
	return rc;
}

int tkb_http_read_dav(struct tkb_bytes body, const char *path,
                      struct tkb_http_listing *listing, struct tkb_error *err)
{
	struct reading reading = { .path = path,
		                   .listing = listing,
		                   .href = TKB_BUF_INIT(16 * TKB_KIB) };
	const struct tkb_xml_visitor visitor = { read_element, &reading };
	int rc;

	start_response(&reading);
	rc = tkb_xml_read(body, &visitor, err);
	tkb_buf_release(&reading.href);
	return rc;
}
