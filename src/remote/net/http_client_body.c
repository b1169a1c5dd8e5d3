/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "remote/net/http_slot.h"

/* Callbacks of libcurl for received and sent bytes. */

enum {
	BUFFER = 128 * 1024,
	HEADER_LIMIT = 128 * 1024
};

/* Called once connected, before the request is sent. */
static int note_connection(void *self, const char *to, const char *from,
                           int to_port, int from_port)
{
	struct tkb_http_slot *slot = self;

	(void)to, (void)from, (void)to_port, (void)from_port;
	slot->is_moving = true;
	slot->moved_ns = tkb_now_ns();
	return CURL_PREREQFUNC_OK;
}

/*
 * Note where the header ends: libcurl accepts an answer whose header is
 * truncated.
 */
static size_t take_header(const char *data, size_t size, size_t count,
                          void *self)
{
	struct tkb_http_slot *slot = self;
	const size_t length = size * count;

	slot->moved_ns = tkb_now_ns();
	if (length >= 5 && memcmp(data, "HTTP/", 5) == 0)
		slot->is_answered = false;
	else if (length <= 2)
		slot->is_answered = true; /* the empty line */
	slot->header_size += length;
	if (slot->header_size <= HEADER_LIMIT)
		return length;
	slot->rc = tkb_fail(&slot->request->error, TKB_ERR_UNAVAILABLE,
	                    "its answer has no end of headers");
	return 0;
}

static size_t give_body(char *data, size_t size, size_t count, void *self)
{
	struct tkb_http_slot *slot = self;
	const struct tkb_blob *body = slot->request->body;
	size_t wanted = size * count;
	size_t got = 0;

	slot->moved_ns = tkb_now_ns();
	if (wanted > body->size - slot->sent)
		wanted = (size_t)(body->size - slot->sent);
	if (wanted == 0)
		return 0;
	slot->rc = body->source.read_at(body->source.self, slot->sent, data,
	                                wanted, &got, &slot->request->error);
	if (slot->rc == 0 && got == 0)
		slot->rc = tkb_fail(&slot->request->error, TKB_ERR_IO,
		                    "the blob is cut short");
	if (slot->rc < 0)
		return CURL_READFUNC_ABORT;
	slot->sent += got;
	return got;
}

/*
 * Called when libcurl sends a request again because the connection it reused
 * was closed.
 */
static int rewind_body(void *self, curl_off_t offset, int origin)
{
	struct tkb_http_slot *slot = self;

	if (origin != SEEK_SET || offset < 0 ||
	    (slot->request->is_body_sent_once && slot->sent != 0))
		return CURL_SEEKFUNC_FAIL;
	slot->sent = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

/* Skip bytes of an unwanted body. Returns false if there are too many. */
static bool skip_body_bytes(struct tkb_http_slot *slot, size_t size)
{
	slot->got += size;
	slot->is_enough = slot->got > TKB_HTTP_DRAIN;
	return !slot->is_enough;
}

static bool keep_refusal(struct tkb_http_slot *slot, struct tkb_bytes bytes)
{
	struct tkb_buf *refusal = slot->request->refusal;

	if (refusal != NULL && refusal->size < refusal->limit) {
		const size_t room = refusal->limit - refusal->size;

		tkb_buf_add(
			refusal,
			tkb_bytes_slice(bytes, 0,
		                        bytes.size < room ? bytes.size : room));
	}
	return skip_body_bytes(slot, bytes.size);
}

/* Check that the answer begins at `offset`. */
static int check_part(struct tkb_http_slot *slot)
{
	struct tkb_http_request *request = slot->request;
	struct curl_header *header = NULL;
	char wanted[64];

	(void)snprintf(wanted, sizeof(wanted), "bytes %llu-",
	               (unsigned long long)request->offset);
	if (curl_easy_header(slot->curl, "Content-Range", 0, CURLH_HEADER, -1,
	                     &header) == CURLHE_OK &&
	    tkb_begins_with(header->value, wanted))
		return 0;
	return tkb_fail(&request->error, TKB_ERR_UNAVAILABLE,
	                "it sends another part than requested");
}

/* Hand the bytes of a 2xx answer to the sink. */
static int write_to_sink(struct tkb_http_slot *slot, struct tkb_bytes bytes,
                         bool is_part)
{
	struct tkb_http_request *request = slot->request;
	const uint64_t skip = is_part ? 0 : request->offset;
	const uint64_t at = slot->got;

	slot->got += bytes.size;
	if (slot->got <= skip)
		return 0;
	if (at < skip)
		bytes = tkb_bytes_slice(bytes, (size_t)(skip - at), bytes.size);
	if (request->limit != 0 && slot->got - skip > request->limit)
		return tkb_fail(&request->error, TKB_ERR_UNAVAILABLE,
		                "it sends more than %llu bytes",
		                (unsigned long long)request->limit);
	return request->sink->write(request->sink->self, bytes,
	                            &request->error);
}

static size_t take_body(const char *data, size_t size, size_t count, void *self)
{
	struct tkb_http_slot *slot = self;
	const struct tkb_http_request *request = slot->request;
	const struct tkb_bytes bytes = { data, size * count };
	long status = 0;
	bool is_part;

	slot->moved_ns = tkb_now_ns();
	(void)curl_easy_getinfo(slot->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status / 100 != 2)
		return keep_refusal(slot, bytes) ? bytes.size : 0;
	if (request->sink == NULL)
		return skip_body_bytes(slot, bytes.size) ? bytes.size : 0;
	is_part = status == 206;
	if (is_part && slot->got == 0)
		slot->rc = check_part(slot);
	if (slot->rc == 0)
		slot->rc = write_to_sink(slot, bytes, is_part);
	return slot->rc == 0 ? bytes.size : 0;
}

void tkb_http_slot_set_callbacks(struct tkb_http_slot *slot, CURLcode *code)
{
	CURL *curl = slot->curl;

	tkb_curl_set(*code, curl, CURLOPT_NOSIGNAL, 1L);
	tkb_curl_set(*code, curl, CURLOPT_QUICK_EXIT, 1L);
	tkb_curl_set(*code, curl, CURLOPT_ERRORBUFFER, slot->fault);
	tkb_curl_set(*code, curl, CURLOPT_PREREQFUNCTION, note_connection);
	tkb_curl_set(*code, curl, CURLOPT_PREREQDATA, slot);
	tkb_curl_set(*code, curl, CURLOPT_HEADERFUNCTION, take_header);
	tkb_curl_set(*code, curl, CURLOPT_HEADERDATA, slot);
	tkb_curl_set(*code, curl, CURLOPT_WRITEFUNCTION, take_body);
	tkb_curl_set(*code, curl, CURLOPT_WRITEDATA, slot);
	tkb_curl_set(*code, curl, CURLOPT_READFUNCTION, give_body);
	tkb_curl_set(*code, curl, CURLOPT_READDATA, slot);
	tkb_curl_set(*code, curl, CURLOPT_SEEKFUNCTION, rewind_body);
	tkb_curl_set(*code, curl, CURLOPT_SEEKDATA, slot);
	tkb_curl_set(*code, curl, CURLOPT_BUFFERSIZE, (long)BUFFER);
	tkb_curl_set(*code, curl, CURLOPT_UPLOAD_BUFFERSIZE, (long)BUFFER);
}
