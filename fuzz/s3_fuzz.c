/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"
#include "fuzz.h"
#include "remote/backends.h"
#include "remote/net/url.h"
#include "remote/net/http_client.h"

/*
 * S3 against any server: the input is a status, a line break, and the body of
 * each answer. There is no real network.
 */

enum {
	REQUESTS_LIMIT = 50 /* of one call: pages may have no end */
};

/* The server's answer, for one server at a time. */
static struct tkb_bytes answer;
static long status;
static size_t request_count;

int __wrap_tkb_http_client_do(struct tkb_http_client *client,
                              const struct tkb_op_limits *call,
                              struct tkb_http_request *requests, size_t count,
                              struct tkb_error *err);

/* In two pieces. */
static int send(struct tkb_http_request *request)
{
	const size_t middle = answer.size / 2;
	const struct tkb_sink *sink = request->sink;
	int rc;

	if (request->limit != 0 && answer.size > request->limit)
		return tkb_fail(&request->error, TKB_ERR_UNAVAILABLE,
		                "too long");
	rc = sink->write(sink->self, tkb_bytes_slice(answer, 0, middle),
	                 &request->error);
	if (rc == 0)
		rc = sink->write(sink->self,
		                 tkb_bytes_slice(answer, middle, answer.size),
		                 &request->error);
	return rc;
}

int __wrap_tkb_http_client_do(struct tkb_http_client *client,
                              const struct tkb_op_limits *call,
                              struct tkb_http_request *requests, size_t count,
                              struct tkb_error *err)
{
	(void)client, (void)call, (void)err;
	for (size_t i = 0; i < count; i++) {
		struct tkb_http_request *request = &requests[i];
		struct tkb_buf *refusal = request->refusal;
		size_t size = answer.size;

		MUST(request->url != NULL && request->method != NULL);
		request->status = status;
		request->date_s = 1369353600;
		if (++request_count > REQUESTS_LIMIT)
			request->rc = tkb_fail(&request->error,
			                       TKB_ERR_UNAVAILABLE, "enough");
		else if (status / 100 == 2 && request->sink != NULL)
			request->rc = send(request);
		if (status / 100 == 2 || refusal == NULL)
			continue;
		if (size > refusal->limit)
			size = refusal->limit;
		tkb_buf_add(refusal, tkb_bytes_slice(answer, 0, size));
		MUST(refusal->failure == 0);
	}
	return 0;
}

static void check_told(size_t *told)
{
	(*told)++;
	MUST(*told <= (size_t)REQUESTS_LIMIT * (answer.size + 1));
}

static int take_blob(void *self, const struct tkb_digest *digest, uint64_t size,
                     uint64_t age_s, struct tkb_error *err)
{
	(void)digest, (void)size, (void)age_s, (void)err;
	check_told(self);
	return 0;
}

static int take_record(void *self, const struct tkb_digest *digest,
                       struct tkb_bytes record, uint64_t age_s,
                       struct tkb_error *err)
{
	(void)digest, (void)age_s, (void)err;
	MUST(tkb_bytes_equal(record, answer));
	check_told(self);
	return 0;
}

static int take_unread(void *self, const struct tkb_digest *digest,
                       const struct tkb_error *why, struct tkb_error *err)
{
	(void)digest, (void)err;
	MUST(why->message[0] != '\0');
	MUST(why->status == TKB_ERR_DENIED || why->status == TKB_ERR_TOO_LARGE);
	check_told(self);
	return 0;
}

static int take_ref(void *self, const char *ref, struct tkb_error *err)
{
	(void)err;
	MUST(strlen(ref) < 256 && strchr(ref, ',') == NULL);
	check_told(self);
	return 0;
}

/* A failure has a message; only requests for single objects can miss. */
static void check(int rc, bool may_miss, struct tkb_error *err)
{
	MUST(rc <= 0 || (rc == TKB_MISS && may_miss));
	MUST((rc < 0) == (err->message[0] != '\0'));
	MUST(rc >= 0 || err->status == rc);
	*err = (struct tkb_error){ 0 };
	request_count = 0;
}

static void use(void *self, const struct tkb_op_limits *call)
{
	const struct tkb_remote_backend *s3 = &tkb_backend_s3;
	struct tkb_digest digest = { { 1 } };
	size_t told = 0;
	const struct tkb_blob_visitor blobs = { take_blob, &told };
	const struct tkb_record_visitor records = { .on_record = take_record,
		                                    .self = &told,
		                                    .on_unread = take_unread };
	const struct tkb_ref_visitor refs = { take_ref, &told };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf got = TKB_BUF_INIT(answer.size + 1);
	const struct tkb_sink sink = tkb_buf_sink(&got);
	struct tkb_error err = { 0 };
	bool is_there = false;
	uint64_t size = 0;

	check(s3->list(self, call, &blobs, &err), false, &err);
	told = 0;
	check(s3->records(self, call, "r", &records, &err), false, &err);
	told = 0;
	check(s3->refs(self, call, &refs, &err), false, &err);
	check(s3->has(self, call, &digest, 1, &is_there, &size, &err), false,
	      &err);
	check(s3->get(self, call, &digest, 0, &sink, &err), true, &err);
	check(s3->touch(self, call, "r", &digest, &err), true, &err);
	check(s3->drop(self, call, "r", &digest, &err), true, &err);
	check(s3->add(self, call, "r", &digest, answer, &err), false, &err);
}

static void set_status(struct tkb_bytes text)
{
	const char *digits = text.data;

	status = 0;
	for (size_t i = 0; i < text.size && i < 3; i++) {
		if (digits[i] >= '0' && digits[i] <= '9')
			status = status * 10 + (digits[i] - '0');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	TKB_AUTO(tkb_url_free_at) struct tkb_remote_url *url = NULL;
	const struct tkb_watch watch = { .struct_size = sizeof(watch) };
	const struct tkb_op_limits call = { .deadline_ns = UINT64_MAX,
		                            .connect_ms = 1000,
		                            .stall_ms = 1000,
		                            .watch = &watch };
	struct tkb_error err = { 0 };
	void *self = NULL;

	answer = (struct tkb_bytes){ data, size };
	set_status(fuzz_take(&answer, "\n"));
	request_count = 0;
	MUST_OK(tkb_remote_url_parse(
			"s3://bucket/a%20b?anonymous=true&region=r&"
			"endpoint=http://127.0.0.1:1",
			&url, &err),
	        &err);
	MUST_OK(tkb_backend_s3.open(url, &call, &self, &err), &err);
	use(self, &call);
	tkb_backend_s3.close(self);
	return 0;
}
