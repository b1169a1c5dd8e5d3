/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "s3_fixture.h"

/* s3:// and servers that take their time, or lie. */

/* Reads the request, and says what `self` is, if anything; then nothing. */
static void say(int fd, void *self)
{
	const char *answer = self;
	char request[8192];

	if (read(fd, request, sizeof(request)) <= 0)
		return;
	if (answer != NULL &&
	    write(fd, answer, strlen(answer)) != (ssize_t)strlen(answer))
		return;
	while (answer == NULL && read(fd, request, sizeof(request)) > 0)
		continue;
}

static struct server start_saying(const char *answer)
{
	forget_aws();
	set_keys("AKIDTEST", "s3cret/With+Signs", NULL);
	return start_fake(say, (void *)(uintptr_t)answer);
}

static const char *url_of(const struct server *server)
{
	return text("s3://bucket?endpoint=http://127.0.0.1:%u", server->port);
}

/* Each operation against a server that fails. */
static void check_all_fail(const struct handle *handle, const char *part)
{
	const struct tkb_remote_backend *backend = handle->backend;
	const struct tkb_bytes bytes = make_bytes(10, 1);
	const struct tkb_digest digest = digest_of(bytes);
	struct notebook *notebook = new_notebook();
	const struct tkb_blob_visitor blobs = blob_visitor(notebook);
	const struct tkb_record_visitor records = record_visitor(notebook);
	const struct tkb_ref_visitor refs = ref_visitor(notebook);
	BUF(got, 1000);
	bool answer = false;

#define CHECK_ONE(call) CHECK_FAILS(call, TKB_ERR_UNAVAILABLE, ERR, part)
	CHECK_ONE(get(handle, &digest, 0, &got, ERR));
	CHECK_ONE(put_blob(handle, &digest, &bytes, ERR));
	CHECK_ONE(backend->has(handle->self, &handle->call, &digest, 1, &answer,
	                       NULL, ERR));
	CHECK_ONE(backend->remove(handle->self, &handle->call, &digest, ERR));
	CHECK_ONE(backend->list(handle->self, &handle->call, &blobs, ERR));
	CHECK_ONE(backend->add(handle->self, &handle->call, "ref", &digest,
	                       bytes, ERR));
	CHECK_ONE(backend->records(handle->self, &handle->call, "ref", &records,
	                           ERR));
	CHECK_ONE(backend->drop(handle->self, &handle->call, "ref", &digest,
	                        ERR));
	CHECK_ONE(backend->touch(handle->self, &handle->call, "ref", &digest,
	                         ERR));
	CHECK_ONE(backend->refs(handle->self, &handle->call, &refs, ERR));
#undef CHECK_ONE
	CHECK_INT(notebook->count, 0);
}

TEST(s3_time, a_server_that_is_not_there_is_unavailable)
{
	forget_aws();
	set_keys("AKIDTEST", "s3cret/With+Signs", NULL);
	struct handle *handle = must_connect(
		text("s3://bucket?endpoint=http://127.0.0.1:%u", free_port()));
	check_all_fail(handle, "cannot connect: Connection refused");
}

TEST(s3_time, a_server_that_fails_is_unavailable)
{
	struct server server =
		start_saying("HTTP/1.1 500 No\r\nContent-Length: 3\r\n"
	                     "Connection: close\r\n\r\nno\n");
	struct handle *handle = must_connect(url_of(&server));

	check_all_fail(handle, "it failed: HTTP 500");
}

static uint64_t wait_for_deadline(void *self)
{
	const struct tkb_digest digest = made_up(1);
	const uint64_t start_ms = now_ms();
	bool answer = false;
	struct handle *handle = must_connect(self);

	set_deadline(handle, 500);
	FAILS(ASK(handle, has, &digest, 1, &answer, NULL, ERR),
	      TKB_ERR_UNAVAILABLE, "it was not done in time (timeout)");
	return now_ms() - start_ms;
}

static uint64_t wait_for_stall(void *self)
{
	TKB_AUTO(close_handle)
	struct handle handle = { .call = { .stall_ms = 400 } };
	BUF(got, 1000);
	const struct tkb_digest digest = made_up(1);
	const uint64_t start_ms = now_ms();

	must_open(self, &handle);
	FAILS(get(&handle, &digest, 0, &got, ERR), TKB_ERR_UNAVAILABLE,
	      "no byte moved for 400 ms");
	return now_ms() - start_ms;
}

TEST(s3_time, a_server_that_says_nothing_is_left_in_time)
{
	struct server server = start_saying(NULL);
	const char *url = url_of(&server);

	check_in_time(wait_for_deadline, (void *)(uintptr_t)url, 500);
	check_in_time(wait_for_stall, (void *)(uintptr_t)url, 400);
}

static bool is_cancelled(void *self)
{
	const uint64_t *end_ms = self;

	return now_ms() >= *end_ms;
}

TEST(s3_time, a_cancelled_call_ends_soon)
{
	struct server server = start_saying(NULL);
	uint64_t end_ms = now_ms() + 300;
	TKB_AUTO(close_handle)
	struct handle handle = { .watch = { SIZED(struct tkb_watch),
		                            .is_cancelled = is_cancelled,
		                            .self = &end_ms } };
	const struct tkb_ref_visitor visitor = ref_visitor(new_notebook());

	must_open(url_of(&server), &handle);
	FAILS(ASK(&handle, refs, &visitor, ERR), TKB_ERR_CANCELLED,
	      "cancelled");
	CHECK(now_ms() >= end_ms);
	CHECK(now_ms() < end_ms + 500);
}

#define PAGE                                                                   \
	"<ListBucketResult><IsTruncated>true</IsTruncated>"                    \
	"<NextContinuationToken>again</NextContinuationToken>"                 \
	"</ListBucketResult>"

TEST(s3_time, pages_without_end_are_read_until_the_deadline)
{
	struct server server =
		start_saying(text("HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n"
	                          "Connection: close\r\n\r\n%s",
	                          strlen(PAGE), PAGE));
	const struct tkb_ref_visitor visitor = ref_visitor(new_notebook());
	struct handle *handle = must_connect(url_of(&server));

	set_deadline(handle, 500);
	FAILS(ASK(handle, refs, &visitor, ERR), TKB_ERR_UNAVAILABLE,
	      "it was not done in time (timeout)");
}
