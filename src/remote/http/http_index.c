/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "text/json.h"
#include "remote/http/http.h"

/*
 * Reads a folder listing in the format of nginx's autoindex_format json:
 *
 *     [{ "name": "x", "type": "file",
 *        "mtime": "Sat, 21 Nov 2026 05:39:39 GMT", "size": 5 }, ...]
 */

enum {
	TEXT_LIMIT = 4096
};

struct reading {
	struct tkb_json json;
	struct tkb_buf name;
	struct tkb_buf text; /* text of a string that is not needed */
	struct tkb_http_file file;
};

static void reading_release(struct reading *reading)
{
	tkb_buf_release(&reading->name);
	tkb_buf_release(&reading->text);
}

/* The value of a string, terminated by NUL. */
static int read_index_text(struct reading *reading,
                           const struct tkb_json_token *token,
                           struct tkb_buf *out, struct tkb_error *err)
{
	tkb_buf_reset(out);
	tkb_json_decode(tkb_json_raw(&reading->json, token), out);
	tkb_buf_add_byte(out, '\0');
	if (out->failure == TKB_ERR_TOO_LARGE)
		return tkb_fail(err, TKB_ERR_CORRUPT, "a text is too long");
	return tkb_buf_check(out, err);
}

static int read_index_member(struct reading *reading, struct tkb_bytes key,
                             const struct tkb_json_token *value,
                             struct tkb_error *err)
{
	struct tkb_http_file *file = &reading->file;
	int rc;

	if (value->type == TKB_JSON_NUMBER &&
	    tkb_json_equals(key, tkb_text("size"))) {
		if (!tkb_json_number(&reading->json, value, &file->size))
			file->size = UINT64_MAX;
		return 0;
	}
	if (value->type != TKB_JSON_STRING)
		return tkb_json_skip(&reading->json, value, err);
	if (tkb_json_equals(key, tkb_text("name")))
		return read_index_text(reading, value, &reading->name, err);
	rc = read_index_text(reading, value, &reading->text, err);
	if (rc < 0)
		return rc;
	if (tkb_json_equals(key, tkb_text("type")))
		file->is_folder =
			strcmp((char *)reading->text.data, "directory") == 0;
	else if (tkb_json_equals(key, tkb_text("mtime")))
		file->modified_s =
			tkb_http_date_parse((char *)reading->text.data);
	return 0;
}

static int read_index_file(struct reading *reading,
                           struct tkb_http_listing *listing,
                           struct tkb_error *err)
{
	struct tkb_json_token key;
	struct tkb_json_token value;
	int rc = 0;

	reading->file = (struct tkb_http_file){ .size = UINT64_MAX };
	tkb_buf_reset(&reading->name);
	for (;;) {
		rc = tkb_json_next(&reading->json, &key, err);
		if (rc < 0 || key.type == TKB_JSON_OBJECT_END)
			break;
		rc = tkb_json_next(&reading->json, &value, err);
		if (rc == 0)
			rc = read_index_member(
				reading, tkb_json_raw(&reading->json, &key),
				&value, err);
		if (rc < 0)
			break;
	}
	if (rc < 0)
		return rc;
	if (reading->name.size == 0)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "a file without a name is listed");
	return tkb_http_listing_add(
		listing,
		(struct tkb_bytes){ reading->name.data,
	                            reading->name.size - 1 },
		&reading->file, err);
}

int tkb_http_read_index(struct tkb_bytes body, struct tkb_http_listing *listing,
                        struct tkb_error *err)
{
	TKB_AUTO(reading_release)
	struct reading reading = { .json = tkb_json_of(body, 0),
		                   .name = TKB_BUF_INIT(TEXT_LIMIT),
		                   .text = TKB_BUF_INIT(TEXT_LIMIT) };
	struct tkb_json_token token;
	int rc;

	rc = tkb_json_next(&reading.json, &token, err);
	if (rc == 0 && token.type != TKB_JSON_ARRAY)
		rc = tkb_fail(err, TKB_ERR_CORRUPT, "not a list");
	while (rc == 0) {
		rc = tkb_json_next(&reading.json, &token, err);
		if (rc < 0 || token.type == TKB_JSON_ARRAY_END)
			break;
		if (token.type != TKB_JSON_OBJECT)
			return tkb_fail(err, TKB_ERR_CORRUPT, "not a file");
		rc = read_index_file(&reading, listing, err);
	}
	return rc == 0 ? tkb_json_next(&reading.json, &token, err) : rc;
}
