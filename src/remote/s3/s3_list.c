/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <time.h>

#include "remote/s3/s3.h"
#include "remote/net/escape.h"
#include "remote/net/xml.h"
#include "text/ascii.h"

/* Listings by ListObjectsV2, which returns pages of a thousand keys. */

enum {
	PAGE_LIMIT = 16 * 1024 * 1024,
	TOKEN_LIMIT = 8 * 1024,
	NAME_LIMIT = 4096,
	NUMBER_LIMIT = 20
};

/* The state while a page is read. */
struct page {
	const struct tkb_s3_listing *listing;
	struct tkb_buf start; /* the prefix and listing->start */
	int64_t now_s;        /* by the server */
	bool is_listing;
	bool is_truncated;
	struct tkb_buf token; /* of the next page */
	int told;             /* result of the visitor */
	struct tkb_buf name;  /* of the current item */
	bool has_name;
	uint64_t size;
	int64_t modified_s;
};

static void page_release(struct page *page)
{
	tkb_buf_release(&page->start);
	tkb_buf_release(&page->token);
	tkb_buf_release(&page->name);
}

/* Some servers encode a space as a plus: in the prefix, accept both. */
static bool is_same_byte(char got, char wanted)
{
	return got == wanted || (got == '+' && wanted == ' ');
}

/*
 * Decode the key, and remove the listing's start. False: it has another start.
 */
static bool read_key_name(struct page *page, const char *key)
{
	const char *start = (const char *)page->start.data;

	tkb_buf_reset(&page->name);
	while (*key != '\0') {
		const char byte = tkb_unescape_next(&key);

		if (*start != '\0') {
			if (!is_same_byte(byte, *start))
				return false;
			start++;
			continue;
		}
		tkb_buf_add_byte(&page->name, byte);
	}
	tkb_buf_add_byte(&page->name, '\0');
	return *start == '\0' && tkb_buf_check(&page->name, NULL) == 0;
}

/* Read a time such as "2009-10-12T17:50:30.000Z"; 0 for anything else. */
static int64_t read_s3_time(const char *text)
{
	struct tm parts = { 0 };

	if (strptime(text, "%Y-%m-%dT%H:%M:%S", &parts) == NULL)
		return 0;
	return (int64_t)timegm(&parts);
}

static uint64_t read_size(const char *text)
{
	uint64_t size = 0;

	if (strlen(text) >= NUMBER_LIMIT)
		return UINT64_MAX;
	for (; tkb_is_digit(*text); text++)
		size = size * 10 + (uint64_t)(*text - '0');
	return size;
}

static void begin_item(struct page *page)
{
	page->has_name = false;
	page->size = 0;
	page->modified_s = 0;
}

static int report_item(struct page *page, struct tkb_error *err)
{
	const struct tkb_s3_item item = {
		.name = (const char *)page->name.data,
		.size = page->size,
		.age_s = page->modified_s == 0 || page->modified_s > page->now_s
		                 ? 0
		                 : (uint64_t)(page->now_s - page->modified_s),
	};

	if (page->has_name)
		page->told =
			page->listing->on_item(page->listing->self, &item, err);
	begin_item(page);
	return page->told;
}

/* Report a folder, "name/". */
static int report_folder(struct page *page, struct tkb_error *err)
{
	if (page->has_name && page->name.size >= 2) {
		page->name.data[page->name.size - 2] = '\0';
		return report_item(page, err);
	}
	begin_item(page);
	return 0;
}

/* Read an element of <Contents> or <CommonPrefixes>. */
static void read_item_part(struct page *page, const char *name,
                           const char *text)
{
	if (strcmp(name, "Key") == 0 || strcmp(name, "Prefix") == 0)
		page->has_name = read_key_name(page, text);
	if (strcmp(name, "Size") == 0)
		page->size = read_size(text);
	if (strcmp(name, "LastModified") == 0)
		page->modified_s = read_s3_time(text);
}

static int read_element(void *self, const char *name, size_t depth,
                        const char *text, struct tkb_error *err)
{
	struct page *page = self;

	if (depth == 1)
		page->is_listing = strcmp(name, "ListBucketResult") == 0;
	if (depth == 3)
		read_item_part(page, name, text);
	if (depth != 2)
		return 0;
	if (strcmp(name, "Contents") == 0)
		return report_item(page, err);
	if (strcmp(name, "CommonPrefixes") == 0)
		return report_folder(page, err);
	if (strcmp(name, "IsTruncated") == 0)
		page->is_truncated = strcmp(text, "true") == 0;
	if (strcmp(name, "NextContinuationToken") == 0) {
		tkb_buf_reset(&page->token);
		tkb_buf_add(&page->token,
		            (struct tkb_bytes){ text, strlen(text) + 1 });
		return tkb_buf_check(&page->token, err);
	}
	return 0;
}

static int fail_strange(struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_UNAVAILABLE,
	                "its listing is not one that S3 gives");
}

static int ask_for_page(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                        const struct page *page,
                        struct tkb_http_request *request, struct tkb_error *err)
{
	struct tkb_sigv4_pair query[5] = {
		{ "list-type", "2" },
		{ "encoding-type", "url" },
		{ "prefix", (const char *)page->start.data },
	};
	struct tkb_s3_ask wanted = { .method = "GET",
		                     .query = query,
		                     .query_count = 3 };
	int rc;

	if (page->listing->has_folders)
		query[wanted.query_count++] =
			(struct tkb_sigv4_pair){ "delimiter", "/" };
	if (page->token.size != 0)
		query[wanted.query_count++] = (struct tkb_sigv4_pair){
			"continuation-token", (const char *)page->token.data
		};
	rc = tkb_s3_do(s3, limits, &wanted, request, err);
	return rc == TKB_MISS ? fail_strange(err) : rc;
}

/* Request one page, and report its items. */
static int list_page(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                     struct page *page, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(PAGE_LIMIT);
	const struct tkb_sink sink = tkb_buf_sink(&text);
	const struct tkb_xml_visitor visitor = { read_element, page };
	struct tkb_http_request request = { .sink = &sink,
		                            .limit = PAGE_LIMIT };
	struct tkb_error fault = { 0 };
	int rc;

	rc = ask_for_page(s3, limits, page, &request, err);
	if (rc < 0)
		return rc;
	page->now_s =
		request.date_s != 0 ? request.date_s : (int64_t)time(NULL);
	page->is_listing = false;
	page->is_truncated = false;
	tkb_buf_reset(&page->token);
	begin_item(page);
	rc = tkb_xml_read(tkb_buf_bytes(&text), &visitor, &fault);
	if ((rc == TKB_ERR_CORRUPT && page->told == 0) ||
	    (rc == 0 && !page->is_listing))
		return fail_strange(err);
	return rc != 0 ? tkb_fail_as(err, rc, &fault) : 0;
}

/* If a server repeats a page for ever, the deadline ends the loop. */
int tkb_s3_list(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                const struct tkb_s3_listing *listing, struct tkb_error *err)
{
	TKB_AUTO(page_release)
	struct page page = { .listing = listing,
		             .start = TKB_BUF_INIT(NAME_LIMIT),
		             .token = TKB_BUF_INIT(TOKEN_LIMIT),
		             .name = TKB_BUF_INIT(NAME_LIMIT) };
	int rc;

	tkb_print(&page.start, "%s%s", s3->site.prefix, listing->start);
	rc = tkb_buf_check(&page.start, err);
	while (rc == 0) {
		rc = list_page(s3, limits, &page, err);
		if (rc != 0 || !page.is_truncated)
			return rc;
		if (page.token.size <= 1)
			return fail_strange(err);
	}
	return rc;
}
