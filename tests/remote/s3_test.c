/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "s3_fixture.h"

/* s3:// against moto, behind a guard that checks each signature. */

/* All that there is to do, once. */
static void use_all(const char *url)
{
	const struct tkb_bytes bytes = make_bytes(100000, 1);
	const struct tkb_bytes record = make_bytes(500, 2);
	struct tkb_digest digests[2];
	struct handle *handle = must_connect(url);

	digests[0] = must_put(handle, bytes);
	check_blob(handle, &digests[0], 0, bytes);
	check_blob(handle, &digests[0], 70000,
	           tkb_bytes_slice(bytes, 70000, 100000));
	CHECK(is_there(handle, &digests[0]));
	CHECK_INT(list_blobs(handle)->count, 1);
	CHECK_INT(list_blobs(handle)->items[0].size, 100000);
	digests[1] = must_add(handle, "team/a.b_c-d@e=f+g", record);
	CHECK_INT(count_name(list_refs(handle), "team/a.b_c-d@e=f+g"), 1);
	CHECK_INT(list_records(handle, "team/a.b_c-d@e=f+g")->count, 1);
	OK(ASK(handle, touch, "team/a.b_c-d@e=f+g", &digests[1], ERR));
	CHECK(tkb_bytes_equal(
		list_records(handle, "team/a.b_c-d@e=f+g")->items[0].bytes,
		record));
	OK(ASK(handle, drop, "team/a.b_c-d@e=f+g", &digests[1], ERR));
	CHECK_INT(list_refs(handle)->count, 0);
	OK(ASK(handle, remove, &digests[0], ERR));
	CHECK_INT(list_blobs(handle)->count, 0);
}

TEST(s3, objects_have_the_documented_names)
{
	const struct tkb_bytes bytes = make_bytes(10, 1);

	start_s3();
	const char *bucket = new_bucket("names");
	struct handle *handle =
		must_connect(s3_url(text("%s/a%%20b+c/%%C3%%A9/", bucket), ""));
	struct tkb_digest digest = must_put(handle, bytes);
	(void)must_add(handle, "x/y/z@1=2+3", bytes);
	const char *hex = hex_of(&digest);
	CHECK_STR(
		ask_s3(text("keys/%s", bucket)),
		text("a b+c/é/cas/%s\na b+c/é/ref/x,y,z@1=2+3/%s\n", hex, hex));
}

TEST(s3, any_path_below_the_bucket_does)
{
	static const char *const paths[] = {
		"",
		"/x",
		"/a%20b+c%25d",
		"/%C3%A9/%E1%88%B4",
		"/!$&'()*,;=:@~/%5B%5D%7C%22%3C%3E%5E%60%7B%7D",
	};

	start_s3();
	for (size_t i = 0; i < TKB_COUNT_OF(paths); i++)
		use_all(s3_url(text("%s%s", new_bucket("paths"), paths[i]),
		               ""));
}

TEST(s3, the_bucket_may_be_a_host)
{
	start_s3();
	const char *bucket = new_bucket("host");
	use_all(text("s3://%s/x?endpoint=http://localhost:%u&path-style=false",
	             bucket, s3_port()));
	(void)ask_s3("log");
	check_refusal(text("s3://none-%s?endpoint=http://localhost:%u&"
	                   "path-style=false",
	                   bucket, s3_port()),
	              TKB_ERR_INVALID, text("no bucket 'none-%s'", bucket));
	CHECK_STR(ask_s3("log"), text("GET /none-%s/\n", bucket));
}

TEST(s3, a_session_is_signed_for)
{
	start_s3();
	const char *url = s3_url(new_bucket("session"), "");
	set_keys("ASIATEST", "s3cret/Of+Session", "token/With+Signs==");
	use_all(url);
	set_keys("ASIATEST", "s3cret/Of+Session", "token/Of+Somebody");
	check_refusal(url, TKB_ERR_DENIED, "does not know the session token");
	set_keys("ASIATEST", "s3cret/Of+Session", NULL);
	check_refusal(url, TKB_ERR_DENIED, "does not know the session token");
	set_keys("ASIAGONE", "s3cret/Of+Session", "token/Of+Yesterday");
	check_refusal(url, TKB_ERR_DENIED, "the session token has expired");
}

TEST(s3, wrong_keys_are_denied)
{
	start_s3();
	const char *url = s3_url(new_bucket("wrong"), "");
	set_keys("AKIDNONE", "s3cret/With+Signs", NULL);
	check_refusal(url, TKB_ERR_DENIED, "does not know the access key");
	set_keys("AKIDTEST", "s3cret/Wrong", NULL);
	check_refusal(url, TKB_ERR_DENIED,
	              "not the one that belongs to the access key");
}

TEST(s3, a_reader_reads_and_is_told_what_he_may_not)
{
	const struct tkb_bytes bytes = make_bytes(1000, 3);

	start_s3();
	const char *url = s3_url(new_bucket("reader"), "");
	struct handle *writer = must_connect(url);
	struct tkb_digest digest = must_put(writer, bytes);
	set_keys("AKIDREAD", "s3cret/Of+Reader", NULL);
	struct handle *reader = must_connect(url);
	check_blob(reader, &digest, 0, bytes);
	FAILS(put_blob(reader, &digest, &bytes, ERR), TKB_ERR_DENIED,
	      "it answers 403, AccessDenied: User: reader is not "
	      "authorized to s3:PutObject");
	CHECK_CONTAINS(ERR->message, ": grant the right to write there, or do "
	                             "not push (push=never)");
	FAILS(ASK(reader, remove, &digest, ERR), TKB_ERR_DENIED,
	      "AccessDenied");
	check_blob(reader, &digest, 0, bytes);
}

TEST(s3, a_public_bucket_needs_no_keys)
{
	const struct tkb_bytes bytes = make_bytes(10, 4);
	const struct tkb_digest digest = digest_of(bytes);

	start_s3();
	const char *bucket = new_bucket("public");
	(void)ask_s3(text("put/%s?key=x/cas/%s&value=anything", bucket,
	                  hex_of(&digest)));
	set_keys(NULL, NULL, NULL);
	check_refusal(s3_url(bucket, ""), TKB_ERR_DENIED, "no credentials");
	struct handle *handle =
		must_connect(s3_url(text("%s/x", bucket), "&anonymous=true"));
	CHECK(is_there(handle, &digest));
	check_blob(handle, &digest, 0, tkb_text("anything"));
	FAILS(put_blob(handle, &digest, &bytes, ERR), TKB_ERR_DENIED,
	      "AccessDenied");
	check_refusal(s3_url(new_bucket("closed"), "&anonymous=true"),
	              TKB_ERR_DENIED, "AccessDenied");
}

TEST(s3, a_bucket_that_is_not_there_is_named)
{
	BUF(got, 1000);
	const struct tkb_bytes bytes = make_bytes(10, 5);
	const struct tkb_digest digest = digest_of(bytes);

	start_s3();
	check_refusal(s3_url("not-there", ""), TKB_ERR_INVALID,
	              "there is no bucket 'not-there'");
	struct handle *handle = must_connect(s3_url("not-there", ""));
	FAILS(put_blob(handle, &digest, &bytes, ERR), TKB_ERR_INVALID,
	      "there is no bucket 'not-there'");
	FAILS(get(handle, &digest, 0, &got, ERR), TKB_ERR_INVALID,
	      "there is no bucket 'not-there'");
}

TEST(s3, the_right_region_is_named)
{
	const struct tkb_bytes bytes = make_bytes(10, 6);
	const struct tkb_digest digest = digest_of(bytes);
	bool answer = false;

	start_s3();
	(void)ask_s3("bucket/far-away?region=eu-west-9");
	check_refusal(s3_url("far-away", ""), TKB_ERR_INVALID,
	              "the bucket 'far-away' is in region 'eu-west-9', not in "
	              "'us-east-1': region=eu-west-9");
	use_all(s3_url("far-away", "&region=eu-west-9"));
	check_refusal(s3_url(new_bucket("moved"), ""), TKB_ERR_INVALID,
	              "region=eu-west-7");
	check_refusal(s3_url(new_bucket("away"), ""), TKB_ERR_INVALID,
	              "is in another region than 'us-east-1', or at another "
	              "endpoint");
	check_refusal(s3_url(new_bucket("here"), ""), TKB_ERR_INVALID,
	              "is in another region than 'us-east-1', or at another "
	              "endpoint");
	struct handle *moved = must_connect(s3_url(new_bucket("moved"), ""));
	FAILS(ASK(moved, has, &digest, 1, &answer, NULL, ERR), TKB_ERR_INVALID,
	      "region=eu-west-7");
	struct handle *handle = must_connect(s3_url("far-away", ""));
	FAILS(ASK(handle, has, &digest, 1, &answer, NULL, ERR), TKB_ERR_INVALID,
	      "region=eu-west-9");
	FAILS(put_blob(handle, &digest, &bytes, ERR), TKB_ERR_INVALID,
	      "region=eu-west-9");
}

/* What is signed for one host is refused by any other. */
TEST(s3, a_redirect_is_understood)
{
	static const char *const words[] = { "fresh", "lured" };
	const struct tkb_bytes bytes = make_bytes(10, 6);
	const struct tkb_digest digest = digest_of(bytes);

	start_s3();
	for (size_t i = 0; i < TKB_COUNT_OF(words); i++) {
		const char *url = s3_url(new_bucket(words[i]), "");

		check_refusal(url, TKB_ERR_INVALID, "region=eu-west-8");
		struct handle *handle = must_connect(url);
		FAILS(put_blob(handle, &digest, &bytes, ERR), TKB_ERR_INVALID,
		      "region=eu-west-8");
	}
}

/* 4000 to 4009: seconds may end between the server's answer and the look here. */
TEST(s3, a_clock_that_is_wrong_is_named)
{
	start_s3();
	(void)ask_s3("clock/4005");
	check_refusal(s3_url(new_bucket("clock"), ""), TKB_ERR_DENIED,
	              "the clock here and the server's are 400");
	(void)ask_s3("clock/-4005");
	check_refusal(s3_url(new_bucket("clock"), ""), TKB_ERR_DENIED,
	              "the clock here and the server's are 400");
}

TEST(s3, no_secret_is_echoed)
{
	start_s3();
	set_keys("ASIATEST", "s3cret/Of+Session", "token/With+Signs==");
	const char *url = s3_url(new_bucket("echo"), "");
	check_refusal(url, TKB_ERR_DENIED, "it forbids this: HTTP 403");
}

TEST(s3, bytes_that_changed_on_their_way_are_not_stored)
{
	const struct tkb_bytes bytes = make_bytes(1000, 7);
	const struct tkb_digest digest = made_up(7);

	start_s3();
	struct handle *handle = must_connect(s3_url(new_bucket("changed"), ""));
	FAILS(put_blob(handle, &digest, &bytes, ERR), TKB_ERR_UNAVAILABLE,
	      "the bytes changed on their way");
	CHECK(!is_there(handle, &digest));
}

/* HTTP/1.1 over TLS, with more requests than connections. */
static void ask_for_many(const char *url)
{
	enum {
		COUNT = 500
	};
	struct tkb_digest digests[COUNT];
	bool answers[COUNT];

	for (uint32_t i = 0; i < COUNT; i++)
		digests[i] = made_up(i);
	struct handle *handle = must_connect(url);
	OK(ASK(handle, has, digests, COUNT, answers, NULL, ERR));
	for (uint32_t i = 0; i < COUNT; i++)
		CHECK(!answers[i]);
}

TEST(s3, trust_is_in_certificates)
{
	struct server server;
	const char *python = getenv("TKB_MOTO_PYTHON");

	start_s3();
	make_authority("right");
	make_authority("wrong");
	make_certificate("server", "right", "IP:127.0.0.1", 2);
	unsigned port = free_port();
	CHECK(start_server(&server, port, "tls.log",
	                   python != NULL ? python : TKB_MOTO_PYTHON, "-B",
	                   TKB_S3_SERVER, text("%u", port), "server.pem",
	                   "server.key", NULL));
	const char *start = text("s3://b?endpoint=https://127.0.0.1:%u", port);
	/* Who is asked for a bucket was trusted. */
	check_refusal(text("%s&cafile=right.pem", start), TKB_ERR_INVALID,
	              "there is no bucket 'b'");
	check_refusal(text("%s&verify=false", start), TKB_ERR_INVALID,
	              "there is no bucket 'b'");
	check_refusal(text("%s&cafile=wrong.pem", start), TKB_ERR_DENIED,
	              "its certificate is not accepted");
	check_refusal(start, TKB_ERR_DENIED, "its certificate is not accepted");
	check_refusal(text("%s&cafile=none.pem", start), TKB_ERR_INVALID,
	              "cannot use the CA certificates in 'none.pem'");
	SYS(setenv("SSL_CERT_FILE", "right.pem", 1));
	check_refusal(start, TKB_ERR_INVALID, "there is no bucket 'b'");
	SYS(unsetenv("SSL_CERT_FILE"));
	ask_for_many(text("%s&cafile=right.pem", start));
}
