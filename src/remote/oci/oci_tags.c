/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/blob_buffer.h"
#include "remote/oci/oci.h"
#include "text/ascii.h"
#include "text/json_walk.h"

/* Tags: their names, and listing them. */

enum {
	HEX = TKB_DIGEST_HEX_SIZE - 1,
	NAME_LIMIT = TKB_OCI_TAG_SIZE - 1 - HEX - 3, /* between "r." and "." */
	HASH = 32,                                   /* digits of the hash of
	                                                a long name */
	PAGE_LIMIT = 32 * 1024 * 1024,
	PAGES_LIMIT = 10000,
	TAGS_LIMIT = 1024 * 1024
};

static bool is_tag_byte(char byte)
{
	return tkb_is_letter(byte) || tkb_is_digit(byte) || byte == '.' ||
	       byte == '-';
}

static void escape(const char *ref, struct tkb_buf *out)
{
	static const char digits[] = "0123456789abcdef";

	for (; *ref != '\0'; ref++) {
		const unsigned char byte = (unsigned char)*ref;

		if (is_tag_byte(*ref)) {
			tkb_buf_add_byte(out, *ref);
			continue;
		}
		tkb_buf_add_byte(out, '_');
		if (byte == '/') {
			tkb_buf_add_byte(out, '_');
			continue;
		}
		tkb_buf_add_byte(out, digits[byte >> 4]);
		tkb_buf_add_byte(out, digits[byte & 15]);
	}
}

int tkb_oci_tag_start(const char *ref, char out[TKB_OCI_TAG_SIZE],
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf name = TKB_BUF_INIT(3 * TKB_OCI_REF_SIZE);
	struct tkb_digest digest;
	int rc;

	escape(ref, &name);
	rc = tkb_buf_check(&name, err);
	if (rc < 0)
		return rc;
	if (name.size <= NAME_LIMIT) {
		(void)snprintf(out, TKB_OCI_TAG_SIZE, "r.%.*s.", (int)name.size,
		               (const char *)name.data);
		return 0;
	}
	rc = tkb_digest_of(tkb_text(ref), &digest, err);
	if (rc < 0)
		return rc;
	(void)snprintf(out, TKB_OCI_TAG_SIZE, "h.%.*s.", HASH,
	               tkb_digest_hex(&digest).text);
	return 0;
}

int tkb_oci_tag(const char *ref, const struct tkb_digest *digest,
                char out[TKB_OCI_TAG_SIZE], struct tkb_error *err)
{
	char start[TKB_OCI_TAG_SIZE] = "b.";
	int rc = 0;

	if (ref != NULL)
		rc = tkb_oci_tag_start(ref, start, err);
	if (rc < 0)
		return rc;
	(void)snprintf(out, TKB_OCI_TAG_SIZE, "%.*s%s",
	               TKB_OCI_TAG_SIZE - TKB_DIGEST_HEX_SIZE, start,
	               tkb_digest_hex(digest).text);
	return 0;
}

bool tkb_oci_tag_read(const char *tag, struct tkb_digest *digest_out,
                      size_t *start_out)
{
	const size_t size = strlen(tag);

	if (size < HEX + 2 || size >= TKB_OCI_TAG_SIZE ||
	    tag[size - HEX - 1] != '.' || tag[1] != '.' ||
	    strchr("brh", tag[0]) == NULL)
		return false;
	*start_out = size - HEX;
	return tkb_digest_from_hex((struct tkb_bytes){ tag + *start_out, HEX },
	                           digest_out);
}

bool tkb_oci_tag_ref(const char *tag, size_t start, char out[TKB_OCI_REF_SIZE])
{
	const char *at = tag + 2;
	const char *end = tag + start - 1;
	char again[TKB_OCI_TAG_SIZE];
	size_t size = 0;

	if (tag[0] != 'r' || start < 4)
		return false;
	while (at < end && size + 1 < TKB_OCI_REF_SIZE) {
		if (*at != '_') {
			out[size++] = *at++;
		} else if (at[1] == '_') {
			out[size++] = '/';
			at += 2;
		} else {
			const int high = tkb_hex_value(at[1]);
			const int low = high < 0 ? -1 : tkb_hex_value(at[2]);

			if (low < 0)
				return false;
			out[size++] = (char)(high * 16 + low);
			at += 3;
		}
	}
	out[size] = '\0';
	/* A name has only one spelling. */
	return tkb_oci_tag_start(out, again, NULL) == 0 &&
	       strlen(again) == start && memcmp(again, tag, start) == 0;
}

void tkb_oci_tags_release(struct tkb_oci_tags *tags)
{
	tkb_arena_release(&tags->arena);
	free(tags->items);
	*tags = (struct tkb_oci_tags){ 0 };
}

/* The state while a page of tags is read. */
struct page {
	const char *start;
	struct tkb_oci_tags *tags;
	bool is_list;
};

static int take_tag_value(void *self, const char *path, enum tkb_json_type type,
                          const char *value, struct tkb_error *err)
{
	struct page *page = self;
	struct tkb_oci_tags *tags = page->tags;
	struct tkb_digest digest;
	const char *tag;
	size_t start;

	if (strcmp(path, "name") == 0 && type == TKB_JSON_STRING)
		page->is_list = true;
	if (strcmp(path, "tags/*") != 0 || type != TKB_JSON_STRING ||
	    !tkb_begins_with(value, page->start) ||
	    !tkb_oci_tag_read(value, &digest, &start))
		return 0;
	if (tags->count == TAGS_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "it has more than %d tags", TAGS_LIMIT);
	if (tkb_arena_copy(&tags->arena, tkb_text(value), &tag, err) < 0)
		return TKB_ERR_NOMEM;
	return tkb_append(&tags->items, &tags->count, &tags->capacity, &tag,
	                  sizeof(tag), err);
}

static int read_page(struct tkb_bytes body, const char *start,
                     struct tkb_oci_tags *tags, struct tkb_error *err)
{
	struct page page = { .start = start, .tags = tags };
	const struct tkb_json_walker walker = { take_tag_value, &page };
	struct tkb_error fault = { 0 };
	int rc;

	rc = tkb_json_walk(body, &walker, &fault);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (rc == TKB_ERR_TOO_LARGE)
		return tkb_fail_as(err, rc, &fault);
	if (rc < 0 || !page.is_list)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "its list of tags cannot be understood: is "
		                "this a registry?");
	return 0;
}

/*
 * Write the URL of the next page, from "Link: </v2/...>; rel="next"", to `url`.
 * TKB_MISS: this was the last page.
 */
static int find_next(char *link, struct tkb_arena *arena, const char **url,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf next = TKB_BUF_INIT(TKB_OCI_URL_LIMIT);
	char *end = strchr(link, '>');
	bool is_same = false;
	int rc;

	if (link[0] == '\0')
		return TKB_MISS;
	if (link[0] != '<' || end == NULL || strstr(end, "next") == NULL)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "it does not say where its list of tags "
		                "continues");
	*end = '\0';
	rc = tkb_http_url_resolve(*url, link + 1, &next, &is_same, err);
	if (rc < 0)
		return rc;
	if (!is_same)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "its list of tags continues at another server");
	if (strcmp((const char *)next.data, *url) == 0)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "its list of tags has no end");
	next.size--;
	return tkb_arena_copy_buf(arena, &next, url, err);
}

int tkb_oci_tags_read(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                      const char *start, struct tkb_oci_tags *out,
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf body = TKB_BUF_INIT(PAGE_LIMIT);
	const struct tkb_sink sink = tkb_buf_sink(&body);
	char link[TKB_OCI_HEADER_SIZE];
	struct tkb_http_header wanted = { "Link", link, sizeof(link) };
	struct tkb_http_request request = { .method = "GET",
		                            .sink = &sink,
		                            .limit = PAGE_LIMIT,
		                            .wanted = &wanted,
		                            .wanted_count = 1 };
	int rc;

	rc = tkb_oci_url(oci, &arena, "/tags/list?n=1000", "", &request.url,
	                 err);
	for (int i = 0; rc == 0; i++) {
		if (i == PAGES_LIMIT)
			return tkb_fail(err, TKB_ERR_UNAVAILABLE,
			                "its list of tags has no end");
		tkb_buf_reset(&body);
		rc = tkb_oci_ask(oci, limits, &request, err);
		if (rc == 0)
			rc = read_page(tkb_buf_bytes(&body), start, out, err);
		if (rc == 0)
			rc = find_next(link, &arena, &request.url, err);
	}
	return rc < 0 ? rc : 0;
}
