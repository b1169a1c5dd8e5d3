/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <signal.h>
#include <stdlib.h>

#include "fake_http.h"

/* The HTTP backend and servers that lie, fail, or lead elsewhere. */

#define SECRET "s3cret"

#define CAS "GET /cas/"

static int get_from(const char *url, uint64_t offset, struct tkb_buf *got,
                    uint32_t *retry_after_ms, struct tkb_error *err)
{
	const struct tkb_digest digest = made_up(1);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	int rc = open_handle(url, &handle, err);

	handle.call.retry_after_ms = retry_after_ms;
	return rc < 0 ? rc : get(&handle, &digest, offset, got, err);
}

/* What a server says to GET of a blob, and what is made of it. */
static void check_get(const char *what, int status, const char *part)
{
	struct server server = start_answer(CAS, what);
	BUF(got, BLOB_LIMIT);

	FAILS(get_from(text("http://bob:" SECRET "@127.0.0.1:%u", server.port),
	               0, &got, NULL, ERR),
	      status, part);
	CHECK(strstr(ERR->message, SECRET) == NULL);
}

TEST(http_fault, failures_are_told_from_refusals)
{
	static const struct {
		const char *status;
		int rc;
		const char *part;
	} cases[] = {
		{ "400 Bad", TKB_ERR_DENIED,
		  "it does not do this GET: HTTP 400" },
		{ "401 Who", TKB_ERR_DENIED, "other credentials: HTTP 401" },
		{ "403 No", TKB_ERR_DENIED,
		  "it forbids this: HTTP 403: grant the right to read there" },
		{ "405 No", TKB_ERR_DENIED, "HTTP 405" },
		{ "407 Proxy", TKB_ERR_DENIED,
		  "its proxy wants other credentials: HTTP 407" },
		{ "408 Slow", TKB_ERR_UNAVAILABLE, "it failed: HTTP 408" },
		{ "425 Early", TKB_ERR_UNAVAILABLE, "it failed: HTTP 425" },
		{ "429 Often", TKB_ERR_UNAVAILABLE,
		  "asked too often: HTTP 429" },
		{ "500 Oh", TKB_ERR_UNAVAILABLE, "it failed: HTTP 500" },
		{ "507 Full", TKB_ERR_UNAVAILABLE,
		  "HTTP 507: make room there" },
		{ "503 Busy", TKB_ERR_UNAVAILABLE, "it failed: HTTP 503" },
		{ "301 Where", TKB_ERR_UNAVAILABLE, "redirects to nowhere" },
		{ "304 Same", TKB_ERR_UNAVAILABLE, "redirects to nowhere" },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++)
		check_get(text(EMPTY("%s"), cases[i].status), cases[i].rc,
		          cases[i].part);
}

TEST(http_fault, what_is_no_http_is_told)
{
	check_get("SSH-2.0-OpenSSH_9.2\r\n", TKB_ERR_UNAVAILABLE,
	          "its answer is not HTTP");
	check_get("\x15\x03\x01\x02\x02\x16\r\n\r\n", TKB_ERR_UNAVAILABLE,
	          "its answer is not HTTP");
	check_get("HTTP/1.1 banana\r\n\r\n", TKB_ERR_UNAVAILABLE,
	          "its answer is not HTTP");
	check_get("", TKB_ERR_UNAVAILABLE, "it closed the connection");
}

TEST(http_fault, an_answer_that_ends_early_is_told)
{
	check_get(OKAY(100, "0123456789"), TKB_ERR_UNAVAILABLE,
	          "its answer ended too early");
	check_get(OKAY(100, ""), TKB_ERR_UNAVAILABLE,
	          "its answer ended too early");
	check_get("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	          "5\r\nabcde\r\n5\r\nab",
	          TKB_ERR_UNAVAILABLE, "its answer ended too early");
	check_get("HTTP/1.1 200 OK\r\nServer: ng", TKB_ERR_UNAVAILABLE,
	          "its answer ended too early");
	check_get("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n",
	          TKB_ERR_UNAVAILABLE, "its answer ended too early");
}

TEST(http_fault, headers_without_end_are_refused)
{
	BUF(head, TKB_MIB);

	tkb_buf_add_text(&head, "HTTP/1.1 200 OK\r\n");
	for (int i = 0; i < 4000; i++)
		tkb_buf_add_text(&head, text("X-%060d: y\r\n", i));
	tkb_buf_add_byte(&head, '\0');
	check_get((const char *)head.data, TKB_ERR_UNAVAILABLE,
	          "its answer has no end of headers");
}

/* The digest finds what is wrong; here it is that nothing breaks. */
TEST(http_fault, bytes_behind_the_length_are_left_out)
{
	struct server server = start_answer(CAS, OKAY(4, "0123456789"));
	BUF(got, BLOB_LIMIT);

	OK(get_from(http_url(&server, ""), 0, &got, NULL, ERR));
	CHECK(tkb_bytes_equal(tkb_buf_bytes(&got), tkb_text("0123")));
}

static void check_part(const char *what, int rc, const char *part)
{
	struct server server = start_answer(CAS, what);
	BUF(got, BLOB_LIMIT);

	if (rc < 0) {
		FAILS(get_from(http_url(&server, ""), 4, &got, NULL, ERR), rc,
		      part);
	} else {
		OK(get_from(http_url(&server, ""), 4, &got, NULL, ERR));
		CHECK(tkb_bytes_equal(tkb_buf_bytes(&got), tkb_text(part)));
	}
	CHECK_CONTAINS(requests_so_far(), "Range: bytes=4-\r\n");
}

TEST(http_fault, a_part_is_had_from_servers_that_give_parts_and_others)
{
	check_part("HTTP/1.1 206 OK\r\nContent-Range: bytes 4-9/10\r\n"
	           "Content-Length: 6\r\n\r\n456789",
	           0, "456789");
	check_part(OKAY(10, "0123456789"), 0, "456789");
	check_part(OKAY(2, "01"), 0, "");
	check_part(EMPTY("416 No"), 0, "");
	check_part("HTTP/1.1 206 OK\r\nContent-Range: bytes 3-9/10\r\n"
	           "Content-Length: 7\r\n\r\n3456789",
	           TKB_ERR_UNAVAILABLE, "another part than requested");
	check_part("HTTP/1.1 206 OK\r\nContent-Length: 6\r\n\r\n456789",
	           TKB_ERR_UNAVAILABLE, "another part than requested");
}

TEST(http_fault, when_to_come_back_is_handed_on)
{
	static const struct {
		const char *says;
		uint32_t ms;
	} cases[] = {
		{ "429 Often\r\nRetry-After: 7", 7000 },
		{ "503 Busy\r\nRetry-After: 2", 2000 },
		{ "503 Busy\r\nRetry-After: 99999999", 3600000 },
		{ "503 Busy\r\nRetry-After: soon", 0 },
		{ "500 Oh", 0 },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		struct server server =
			start_answer(CAS, text(EMPTY("%s"), cases[i].says));
		BUF(got, BLOB_LIMIT);
		uint32_t ms = 0;

		CHECK_INT(get_from(http_url(&server, ""), 0, &got, &ms, ERR),
		          TKB_ERR_UNAVAILABLE);
		CHECK_INT(ms, cases[i].ms);
		stop_server(&server, SIGKILL);
	}
}

TEST(http_fault, a_redirect_on_the_same_server_is_followed)
{
	static const struct web_answer answers[] = {
		ANSWERED("GET /there", OKAY(3, "yes")),
		ANSWERED(CAS, "HTTP/1.1 302 There\r\nLocation: /there\r\n"
		              "Content-Length: 4\r\n\r\njunk"),
	};
	struct server server = start_script(answers, 2);
	BUF(got, BLOB_LIMIT);

	OK(get_from(http_url(&server, "?header=X-Key:" SECRET), 0, &got, NULL,
	            ERR));
	CHECK(tkb_bytes_equal(tkb_buf_bytes(&got), tkb_text("yes")));
	CHECK_CONTAINS(strstr(requests_so_far(), "GET /there"),
	               "X-Key:" SECRET);
}

TEST(http_fault, a_redirect_in_a_circle_ends)
{
	check_get(MOVED("302 There", "/cas/again"), TKB_ERR_UNAVAILABLE,
	          "it redirects more than 5 times");
	CHECK_INT(count_parts(requests_so_far(), "GET /cas/again"), 5);
}

TEST(http_fault, a_redirect_to_what_is_no_http_is_refused)
{
	check_get(MOVED("302 There", "file:///etc/passwd"), TKB_ERR_UNAVAILABLE,
	          "it redirects to something that is not HTTP");
	check_get(MOVED("302 There", "http://"), TKB_ERR_UNAVAILABLE,
	          "redirects to");
}

/* What was asked from `what` on; "" where it was not. */
static const char *asked_from(const char *what)
{
	const char *found = strstr(requests_so_far(), what);

	return found != NULL ? found : "";
}

/* All that may be a secret stays at home. */
TEST(http_fault, a_redirect_to_another_server_takes_no_secrets_along)
{
	static const char *const urls[] = {
		"http://bob:" SECRET "@127.0.0.1:%u",
		"http://127.0.0.1:%u?bearer=" SECRET,
		"http://127.0.0.1:%u?header=X-Key:" SECRET,
		"http://127.0.0.1:%u?netrc=netrc",
	};
	const struct web_answer there = { "GET /x", OKAY(3, "yes"), false };
	struct server other = start_script(&there, 1);
	const struct web_answer answer = {
		CAS,
		text(MOVED("302 There", "http://127.0.0.1:%u/x"), other.port),
		false
	};

	write_text("netrc",
	           "machine 127.0.0.1 login bob password " SECRET "\n");
	for (size_t i = 0; i < TKB_COUNT_OF(urls); i++) {
		struct server server = start_script(&answer, 1);
		const char *at = strstr(urls[i], "%u");
		BUF(got, BLOB_LIMIT);

		OK(get_from(text("%.*s%u%s", (int)(at - urls[i]), urls[i],
		                 server.port, at + 2),
		            0, &got, NULL, ERR));
		CHECK(tkb_bytes_equal(tkb_buf_bytes(&got), tkb_text("yes")));
		const char *asked = asked_from("GET /x");
		CHECK_CONTAINS(asked, "GET /x");
		CHECK(strstr(asked, "Authorization") == NULL);
		CHECK(strstr(asked, SECRET) == NULL);
		asked = asked_from(CAS);
		CHECK(strstr(asked, "Authorization") != NULL ||
		      strstr(asked, SECRET) != NULL);
		stop_server(&server, SIGKILL);
	}
}

/* Put a blob on a server that gives these two answers. */
static void check_put_is_denied(const struct web_answer *answers,
                                const char *sentence)
{
	struct server server = start_script(answers, 2);
	const struct tkb_bytes bytes = make_bytes(100, 1);
	const struct tkb_digest digest = digest_of(bytes);
	struct handle *handle =
		must_connect(http_url(&server, "?listing=index"));

	FAILS(put_blob(handle, &digest, &bytes, ERR), TKB_ERR_DENIED, sentence);
}

TEST(http_fault, nothing_is_put_on_another_server)
{
	static const struct web_answer answers[] = {
		ANSWERED("PUT /",
		         "HTTP/1.1 307 There\r\nLocation: "
		         "http://elsewhere.test:81/x?"
		         "token=" SECRET "\r\nContent-Length: 0\r\n\r\n"),
		ANSWERED("GET /ref/", OKAY(2, "[]")),
	};

	check_put_is_denied(answers,
	                    "it redirects to 'http://elsewhere.test:81', which "
	                    "gets no PUT of ours");
	CHECK(strstr(ERR->message, SECRET) == NULL);
}

TEST(http_fault, nothing_is_put_where_a_page_is_to_be_read)
{
	static const struct web_answer answers[] = {
		ANSWERED("PUT /login", EMPTY("201 OK")),
		ANSWERED("PUT /cas/", MOVED("303 See Other", "/login")),
	};

	check_put_is_denied(
		answers, "it answers a PUT with a page to be read: HTTP 303");
}

/* A redirected PUT is sent again, from its first byte on. */
TEST(http_fault, a_put_follows_on_the_same_server)
{
	static const struct web_answer answers[] = {
		ANSWERED("PUT /there", EMPTY("201 OK")),
		ANSWERED("PUT /cas/", MOVED("307 There", "/there")),
	};
	struct server server = start_script(answers, 2);
	struct handle *handle =
		must_connect(http_url(&server, "?listing=index"));

	(void)must_put(handle, make_bytes(100, 1));
	CHECK_CONTAINS(strstr(requests_so_far(), "PUT /there"),
	               "Content-Length: 100\r\n");
	CHECK(strstr(requests_so_far(), "Expect") == NULL);
}

/* Nobody waits for the rest of a page that says what is wrong. */
TEST(http_fault, a_long_refusal_is_not_read_to_its_end)
{
	BUF(page, TKB_MIB);
	BUF(got, BLOB_LIMIT);
	const uint64_t start = now_ms();
	struct web_answer answer = { CAS, NULL, true };

	tkb_buf_add_text(&page, "HTTP/1.1 404 No\r\n"
	                        "Content-Length: 10000000\r\n\r\n");
	for (int i = 0; i < 3000; i++)
		tkb_buf_add_text(&page, text("%0100d", i));
	tkb_buf_add_byte(&page, '\0');
	answer.what = (const char *)page.data;
	struct server server = start_script(&answer, 1);
	CHECK_INT(get_from(http_url(&server, ""), 0, &got, NULL, ERR),
	          TKB_MISS);
	CHECK_INT(got.size, 0);
	CHECK(now_ms() - start < 5000);
}

static int read_ten(void *self, uint64_t offset, void *data, size_t size,
                    size_t *got_out, struct tkb_error *err)
{
	(void)self, (void)err;
	*got_out = offset >= 10 ? 0 : 10 - (size_t)offset;
	memset(data, 1, size < 10 ? size : 10);
	return 0;
}

TEST(http_fault, a_source_that_ends_early_is_told_at_once)
{
	const struct web_answer silence = { "PUT /", NULL, true };
	struct server server = start_script(&silence, 1);
	const struct tkb_blob blob = { 1000, { read_ten, NULL } };
	const struct tkb_digest digest = made_up(1);
	const uint64_t start = now_ms();
	struct handle *handle =
		must_connect(http_url(&server, "?listing=index"));

	FAILS(ASK(handle, put, &digest, &blob, ERR), TKB_ERR_IO,
	      "the blob is cut short");
	CHECK(now_ms() - start < 5000);
}

/* What a server says to whoever asks for a listing. */
static void check_records(const char *what, int status, const char *part)
{
	struct server server = start_answer("GET /ref/", what);
	struct notebook *notebook = new_notebook();
	const struct tkb_record_visitor visitor = record_visitor(notebook);
	static const char *const ways[] = { "", "?listing=index" };

	for (size_t i = 0; i < TKB_COUNT_OF(ways); i++) {
		struct handle *handle =
			must_connect(http_url(&server, ways[i]));
		FAILS(ASK(handle, records, "ref", &visitor, ERR), status, part);
		CHECK_INT(notebook->count, 0);
	}
}

TEST(http_fault, what_is_no_listing_is_not_taken_for_an_empty_one)
{
	static const char *const bodies[] = {
		"",     "<html>Welcome</html>", "{}",    "[",        "[1]",
		"[{}]", "[{\"name\":5}]",       "[] []", "\xff\xfe",
	};

	for (size_t i = 0; i < TKB_COUNT_OF(bodies); i++)
		check_records(okay(bodies[i]), TKB_ERR_UNAVAILABLE, "list");
}

TEST(http_fault, a_listing_that_fails_is_no_empty_one)
{
	check_records(EMPTY("500 Oh"), TKB_ERR_UNAVAILABLE,
	              "it failed: HTTP 500");
	check_records(EMPTY("401 Who"), TKB_ERR_DENIED,
	              "it wants other credentials");
	check_records(OKAY(9, "["), TKB_ERR_UNAVAILABLE,
	              "its answer ended too early");
}

#define HEX16 "0123456789abcdef"

/* One was dropped since, one is no record. */
TEST(http_fault, a_record_that_is_gone_is_told)
{
	static const char listing[] =
		"[{\"name\":\"" HEX16 HEX16 HEX16 HEX16 "\",\"type\":\"file\","
		"\"size\":3},{\"name\":\"../../x\",\"type\":\"file\"},"
		"{\"name\":\"f"
		""
		"edcba9876543210" HEX16 HEX16 HEX16
		"\",\"type\":\"file\",\"more\":[{\"a\":null}]}]";
	const struct web_answer answers[] = {
		ANSWERED("GET /ref/ref/f", OKAY(3, "yes")),
		ANSWERED("GET /ref/ref/0", EMPTY("404 Gone")),
		ANSWERED("GET /ref/ref/ ", okay(listing)),
	};
	struct server server = start_script(answers, 3);
	struct handle *handle = must_connect(http_url(&server, ""));
	const struct notebook *notebook = list_records(handle, "ref");

	CHECK_INT(notebook->count, 1);
	CHECK_INT(notebook->vanished_count, 1);
	CHECK(tkb_bytes_equal(notebook->items[0].bytes, tkb_text("yes")));
	CHECK(strstr(requests_so_far(), "..") == NULL);
}

/*
 * Of three records one is larger than any may be, one is had, and the server
 * answers with `refusal` to the third, which cannot be read then.
 */
static void check_unread_record(const char *refusal, int status,
                                const char *part)
{
	static const char listing[] =
		"[{\"name\":\"" HEX16 HEX16 HEX16 HEX16 "\",\"type\":\"file\","
		"\"size\":3},{\"name\":\"1" HEX16 HEX16 HEX16
		"123456789abcdef\",\"type\":\"file\",\"size\":99999999},"
		"{\"name\":\"f" HEX16 HEX16 HEX16
		"123456789abcdef\",\"type\":\"file\",\"size\":3}]";
	const struct web_answer answers[] = {
		ANSWERED("GET /ref/ref/f", OKAY(3, "yes")),
		ANSWERED("GET /ref/ref/0", refusal),
		ANSWERED("GET /ref/ref/ ", okay(listing)),
	};
	struct server server = start_script(answers, 3);
	unsigned seen = 0;
	struct handle *handle = must_connect(http_url(&server, ""));

	handle->call.is_last_attempt = status == TKB_ERR_UNAVAILABLE;
	const struct notebook *notebook = list_records(handle, "ref");
	CHECK_INT(notebook->count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct told *told = &notebook->items[i];
		const unsigned char first = told->digest.bytes[0];

		if (first == 0xf0 && told->unread == 0)
			seen |= 1u;
		if (first == 0x01 && told->unread == status)
			seen |= 2u;
		if (first == 0x10 && told->unread == TKB_ERR_TOO_LARGE)
			seen |= 4u;
	}
	CHECK_INT(seen, 7);
	CHECK(strstr(requests_so_far(), "GET /ref/ref/1") == NULL);

	/* Before the last attempt, such a failure is worth another. */
	if (handle->call.is_last_attempt) {
		const struct tkb_record_visitor visitor =
			record_visitor(new_notebook());

		handle->call.is_last_attempt = false;
		FAILS(ASK(handle, records, "ref", &visitor, ERR),
		      TKB_ERR_UNAVAILABLE, part);
	}
}

TEST(http_fault, a_record_that_cannot_be_read_is_told_and_hinders_no_other)
{
	check_unread_record(EMPTY("403 No"), TKB_ERR_DENIED, NULL);
}

TEST(http_fault, a_record_that_fails_alone_at_last_hinders_no_other)
{
	check_unread_record(EMPTY("500 Broken"), TKB_ERR_UNAVAILABLE,
	                    "HTTP 500");
}

/* It is not damaged: that would be a reason to drop it. */
TEST(http_fault, a_record_that_is_cut_without_a_failure_hinders_no_other)
{
	check_unread_record("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nno",
	                    TKB_ERR_UNAVAILABLE, "its answer ended too early");
}

/* Some servers do so for any HEAD: what a GET brings counts. */
TEST(http_fault, a_head_that_says_nothing_of_the_size_is_no_empty_blob)
{
	static const struct {
		const char *answer;
		uint64_t size;
	} cases[] = {
		{ OKAY(3, "yes"), TKB_SIZE_UNKNOWN },
		{ EMPTY("200 OK"), 0 },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		const struct web_answer answers[] = {
			ANSWERED("HEAD /cas/", EMPTY("200 OK")),
			ANSWERED("GET /cas/", cases[i].answer),
		};
		struct server server = start_script(answers, 2);
		const struct tkb_digest digest = made_up(1);
		bool has = false;
		uint64_t size = 7;

		struct handle *handle = must_connect(http_url(&server, ""));
		OK(ASK(handle, has, &digest, 1, &has, &size, ERR));
		CHECK(has);
		CHECK(size == cases[i].size);
		stop_server(&server, SIGKILL);
	}
}

static void check_proxied(const char *variable, const char *proxy,
                          const char *url, int status, const char *part)
{
	BUF(got, BLOB_LIMIT);

	(void)setenv(variable, proxy, 1);
	FAILS(get_from(url, 0, &got, NULL, ERR), status, part);
	CHECK(strstr(ERR->message, SECRET) == NULL);
	(void)unsetenv(variable);
}

/* Of a proxy's fault no server is accused. */
TEST(http_fault, a_proxy_that_does_not_connect_is_told_from_the_server)
{
	static const struct {
		const char *answer;
		int status;
		const char *part;
	} cases[] = {
		{ EMPTY("407 Who"), TKB_ERR_DENIED,
		  "its proxy wants other credentials: HTTP 407" },
		{ EMPTY("403 No"), TKB_ERR_DENIED,
		  "its proxy does not connect to it: HTTP 403" },
		{ EMPTY("429 Often"), TKB_ERR_UNAVAILABLE,
		  "its proxy does not connect to it: HTTP 429" },
		{ EMPTY("503 Down"), TKB_ERR_UNAVAILABLE,
		  "its proxy does not connect to it: HTTP 503" },
	};
	const char *nobody =
		text("http://bob:" SECRET "@localhost:%u", free_port());

	(void)unsetenv("no_proxy");
	(void)unsetenv("NO_PROXY");
	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		struct server server = start_answer("CONNECT cache.test:443 ",
		                                    cases[i].answer);

		check_proxied(
			"https_proxy",
			text("http://bob:" SECRET "@127.0.0.1:%u", server.port),
			"https://cache.test", cases[i].status, cases[i].part);
		stop_server(&server, SIGKILL);
	}
	check_proxied("https_proxy", nobody, "https://cache.test",
	              TKB_ERR_UNAVAILABLE,
	              "cannot connect to its proxy: Connection refused");
	check_proxied("http_proxy", nobody, "http://cache.test",
	              TKB_ERR_UNAVAILABLE,
	              "cannot connect to its proxy: Connection refused");
	check_proxied(
		"http_proxy", "", text("http://LOCALHOST:%u", free_port()),
		TKB_ERR_UNAVAILABLE, "cannot connect: Connection refused");
	check_proxied("http_proxy", "", text("http://[::1]:%u", free_port()),
	              TKB_ERR_UNAVAILABLE, "cannot connect: ");
	/* In this locale, libcurl writes the name as "xn--...". */
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	check_proxied("http_proxy", "",
	              text("http://b\xc3\xbc"
	                   "cher.localhost:%u",
	                   free_port()),
	              TKB_ERR_UNAVAILABLE, "cannot connect: ");
	(void)setlocale(LC_CTYPE, "C");
}

/* What the server says before it redirects is no part of its refusal. */
TEST(http_fault, a_refusal_of_s3_after_a_redirect_is_understood)
{
	static const struct web_answer answers[] = {
		ANSWERED("GET /there", "HTTP/1.1 403 No\r\nConnection: "
		                       "close\r\n\r\n<Error><Code>"
		                       "InvalidAccessKeyId</Code></Error>"),
		ANSWERED("GET /bucket",
		         "HTTP/1.1 307 There\r\nLocation: /there\r\n"
		         "Connection: "
		         "close\r\n\r\n<Error><Code>TemporaryRedirect"
		         "</Code></Error>"),
	};
	struct server server = start_script(answers, TKB_COUNT_OF(answers));
	struct notebook *notebook = new_notebook();
	const struct tkb_ref_visitor visitor = ref_visitor(notebook);

	(void)setenv("no_proxy", "*", 1);
	struct handle *handle = must_connect(
		text("s3://bucket?anonymous=true&endpoint=http://127.0.0.1:%u",
	             server.port));
	FAILS(ASK(handle, refs, &visitor, ERR), TKB_ERR_DENIED,
	      "it does not know the access key");
}

/* A gateway may say so of any object; what a GET brings is held against all. */
TEST(http_fault, a_head_of_s3_that_tells_no_bytes_is_no_empty_blob)
{
	static const struct {
		const char *answer;
		uint64_t size;
	} cases[] = {
		{ EMPTY("200 OK"), TKB_SIZE_UNKNOWN },
		{ "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
		  TKB_SIZE_UNKNOWN },
		{ OKAY(9, ""), 9 },
	};

	(void)setenv("no_proxy", "*", 1);
	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		const struct web_answer answer = { "HEAD /bucket/",
			                           cases[i].answer, false };
		struct server server = start_script(&answer, 1);
		const struct tkb_digest digest = made_up(1);
		bool has = false;
		uint64_t size = 7;

		struct handle *handle =
			must_connect(text("s3://bucket?anonymous=true&"
		                          "endpoint=http://127.0.0.1:%u",
		                          server.port));
		OK(ASK(handle, has, &digest, 1, &has, &size, ERR));
		CHECK(has);
		CHECK(size == cases[i].size);
		stop_server(&server, SIGKILL);
	}
}

/* Longer than it is listed: the server lies, or it is none of ours. */
TEST(http_fault, a_record_longer_than_listed_is_refused)
{
	static const char listing[] =
		"[{\"name\":\"" HEX16 HEX16 HEX16 HEX16 "\",\"size\":3}]";
	const struct web_answer answers[] = {
		ANSWERED("GET /ref/ref/0", OKAY(9, "123456789")),
		ANSWERED("GET /ref/ref/ ", okay(listing)),
	};
	struct server server = start_script(answers, 2);
	struct notebook *notebook = new_notebook();
	const struct tkb_record_visitor visitor = record_visitor(notebook);
	struct handle *handle = must_connect(http_url(&server, ""));

	FAILS(ASK(handle, records, "ref", &visitor, ERR), TKB_ERR_UNAVAILABLE,
	      "it sends more than");
}
