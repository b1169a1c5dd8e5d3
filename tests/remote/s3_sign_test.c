/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "harness.h"

#include "remote/net/escape.h"
#include "remote/s3/sigv4.h"

/*
 * Signatures against what AWS has published: its test suite for version 4
 * (aws-sig-v4-test-suite; aws-c-auth's for what S3 does not normalize), and
 * "Authenticating Requests: Using the Authorization Header" of the S3 API.
 */

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* A request whose parts are not encoded. Lists end with NULL. */
struct sample {
	const char *name;
	const char *method;
	const char *path;
	struct tkb_sigv4_pair query[4];
	struct tkb_sigv4_pair headers[6]; /* besides those of all */
	const char *payload;              /* NULL: nothing */
	const char *signature;
};

static size_t count_pairs(const struct tkb_sigv4_pair *pairs)
{
	size_t count = 0;

	while (pairs[count].name != NULL)
		count++;
	return count;
}

static const char *as_text(struct tkb_buf *buf)
{
	tkb_buf_add_byte(buf, '\0');
	return (const char *)buf->data;
}

static int compare_names(const void *a, const void *b)
{
	const struct tkb_sigv4_pair *left = a;
	const struct tkb_sigv4_pair *right = b;

	return strcmp(left->name, right->name);
}

static void check_sample(const struct tkb_sigv4_keys *keys,
                         struct sample sample,
                         const struct tkb_sigv4_pair *more, const char *date)
{
	BUF(path, 4096);
	BUF(query, 4096);
	BUF(out, 4096);
	size_t count = count_pairs(sample.headers);
	struct tkb_sigv4_request request = {
		.method = sample.method,
		.headers = sample.headers,
		.payload = sample.payload == NULL ? EMPTY : sample.payload,
		.date = date,
	};

	for (; more->name != NULL; more++)
		sample.headers[count++] = *more;
	qsort(sample.headers, count, sizeof(*sample.headers), compare_names);
	request.header_count = count;
	tkb_escape(&path, sample.path, "/");
	OK(tkb_sigv4_query(sample.query, count_pairs(sample.query), &query,
	                   ERR));
	request.path = as_text(&path);
	request.query = as_text(&query);
	OK(tkb_sigv4_sign(keys, &request, &out, ERR));
	if (strstr(as_text(&out), text("Signature=%s", sample.signature)) ==
	    NULL)
		fail_msg("%s: %s", sample.name, (const char *)out.data);
}

static const struct tkb_sigv4_keys suite_keys = {
	"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "us-east-1",
	"service"
};

#define SUITE_DATE "20150830T123600Z"
#define UNRESERVED                                                             \
	"-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define TOKEN                                                                  \
	"AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWL" \
	"WsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQr" \
	"mGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HF" \
	"vlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scq" \
	"Kmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="

static const struct tkb_sigv4_pair suite_headers[] = {
	{ "host", "example.amazonaws.com" },
	{ "x-amz-date", SUITE_DATE },
	{ NULL, NULL },
};

static const struct sample suite[] = {
	{ "get-vanilla", "GET", "/",
	  .signature = "5fa00fa31553b73ebf1942676e86291e"
	               "8372ff2a2260956d9b8aae1d763fbf31" },
	{ "get-vanilla-query-order-key-case", "GET", "/",
	  .query = { { "Param2", "value2" }, { "Param1", "value1" } },
	  .signature = "b97d918cfa904a5beff61c982a1b6f45"
	               "8b799221646efd99d3219ec94cdf2500" },
	{ "get-vanilla-query-order-encoded", "GET", "/",
	  .query = { { "Param-3", "Value3" },
	             { "Param", "Value2" },
	             { "ሴ", "Value1" } },
	  .signature = "371d3713e185cc334048618a97f809c9"
	               "ffe339c62934c032af5a0e595648fcac" },
	{ "get-vanilla-empty-query-key", "GET", "/",
	  .query = { { "Param1", "value1" } },
	  .signature = "a67d582fa61cc504c4bae71f336f98b9"
	               "7f1ea3c7a6bfe1b6e45aec72011b9aeb" },
	{ "get-vanilla-query-unreserved", "GET", "/",
	  .query = { { UNRESERVED, UNRESERVED } },
	  .signature = "9c3e54bfcdf0b19771a7f523ee5669cd"
	               "f59bc7cc0884027167c21bb143a40197" },
	{ "get-vanilla-utf8-query", "GET", "/", .query = { { "ሴ", "bar" } },
	  .signature = "2cdec8eed098649ff3a119c94853b13c"
	               "643bcf08f8b0a1d91e12c9027818dd04" },
	{ "get-unreserved", "GET", "/" UNRESERVED,
	  .signature = "07ef7494c76fa4850883e2b006601f94"
	               "0f8a34d404d0cfa977f52a65bbf5f24f" },
	{ "get-utf8", "GET", "/ሴ",
	  .signature = "8318018e0b0f223aa2bbf98705b62bb7"
	               "87dc9c0e678f255a891fd03141be5d85" },
	{ "get-space", "GET", "/example space/",
	  .signature = "652487583200325589f1fba4c7e578f7"
	               "2c47cb61beeca81406b39ddec1366741" },
	{ "get-slashes-unnormalized", "GET", "//example//",
	  .signature = "87cca117541a147f6df867677d98a7d8"
	               "0dff226d2bfca9e4ffa899665623c7e5" },
	{ "post-vanilla", "POST", "/",
	  .signature = "5da7c1a2acd57cee7505fc6676e4e544"
	               "621c30862966e37dddb68e92efbe5d6b" },
	{ "post-vanilla-query", "POST", "/",
	  .query = { { "Param1", "value1" } },
	  .signature = "28038455d6de14eafc1f9222cf5aa6f1"
	               "a96197d7deb8263271d420d138af7f11" },
	{ "post-sts-header-before", "POST", "/",
	  .headers = { { "x-amz-security-token", TOKEN } },
	  .signature = "85d96828115b5dc0cfc3bd16ad9e210d"
	               "d772bbebba041836c64533a82be05ead" },
};

TEST(sign, is_right_for_the_test_suite_of_aws)
{
	for (size_t i = 0; i < TKB_COUNT_OF(suite); i++)
		check_sample(&suite_keys, suite[i], suite_headers, SUITE_DATE);
}

static const struct tkb_sigv4_keys s3_keys = {
	"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
	"us-east-1", "s3"
};

#define S3_DATE "20130524T000000Z"
#define WELCOME                                                                \
	"44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"

static const struct sample documented[] = {
	{ "GET Object", "GET", "/test.txt",
	  .headers = { { "range", "bytes=0-9" } },
	  .signature = "f0e8bdb87c964420e857bd35b5d6ed31"
	               "0bd44f0170aba48dd91039c6036bdb41" },
	{ "PUT Object", "PUT", "/test$file.text",
	  .headers = { { "date", "Fri, 24 May 2013 00:00:00 GMT" },
	               { "x-amz-storage-class", "REDUCED_REDUNDANCY" } },
	  .payload = WELCOME,
	  .signature = "98ad721746da40c64f1a55b78f14c238"
	               "d841ea1380cd77a1b5971af0ece108bd" },
	{ "GET Bucket Lifecycle", "GET", "/", .query = { { "lifecycle", "" } },
	  .signature = "fea454ca298b7da1c68078a5d1bdbfbb"
	               "e0d65c699e0f91ac7a200a0136783543" },
	{ "Get Bucket (List Objects)", "GET", "/",
	  .query = { { "prefix", "J" }, { "max-keys", "2" } },
	  .signature = "34b48302e7b5fa45bde8084f4b7868a8"
	               "6f0a534bc59db6670ed5711ef69dc6f7" },
};

TEST(sign, is_right_for_the_examples_of_the_s3_api)
{
	for (size_t i = 0; i < TKB_COUNT_OF(documented); i++) {
		const char *payload = documented[i].payload;
		const struct tkb_sigv4_pair headers[] = {
			{ "host", "examplebucket.s3.amazonaws.com" },
			{ "x-amz-content-sha256",
			  payload == NULL ? EMPTY : payload },
			{ "x-amz-date", S3_DATE },
			{ NULL, NULL },
		};

		check_sample(&s3_keys, documented[i], headers, S3_DATE);
	}
}

/* Neither suite asks for what S3's keys hold: slashes, spaces and signs. */
TEST(sign, escapes_and_sorts_all_of_a_query)
{
	static const struct tkb_sigv4_pair pairs[] = {
		{ "prefix", "a/b c+d=e&f%2F~" },
		{ "b/c", "" },
		{ "a", "2" },
		{ "a", "1" },
	};
	BUF(query, 4096);

	OK(tkb_sigv4_query(pairs, TKB_COUNT_OF(pairs), &query, ERR));
	CHECK_STR(as_text(&query), "a=1&a=2&b%2Fc=&"
	                           "prefix=a%2Fb%20c%2Bd%3De%26f%252F~");
}

TEST(sign, tells_who_signed_and_what)
{
	BUF(out, 4096);
	const struct tkb_sigv4_request request = {
		.method = "GET",
		.path = "/",
		.query = "",
		.headers = suite_headers,
		.header_count = 2,
		.payload = EMPTY,
		.date = SUITE_DATE,
	};

	OK(tkb_sigv4_sign(&suite_keys, &request, &out, ERR));
	CHECK_STR(as_text(&out),
	          "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/"
	          "service/aws4_request,SignedHeaders=host;x-amz-date,"
	          "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9"
	          "b8aae1d763fbf31");
}

TEST(sign, writes_dates_as_aws_does)
{
	static const struct {
		int64_t now_s;
		const char *text;
	} cases[] = {
		{ 1369353600, "20130524T000000Z" },
		{ 1440938160, SUITE_DATE },
		{ 0, "19700101T000000Z" },
		{ 951827696, "20000229T123456Z" },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		char date[TKB_SIGV4_DATE_SIZE];

		tkb_sigv4_date(cases[i].now_s, date);
		CHECK_STR(date, cases[i].text);
	}
}

TEST(sign, refuses_a_secret_that_is_too_long_without_telling_it)
{
	BUF(out, 4096);
	struct tkb_sigv4_keys keys = suite_keys;
	const struct tkb_sigv4_request request = { .method = "GET",
		                                   .path = "/",
		                                   .query = "",
		                                   .payload = EMPTY,
		                                   .date = SUITE_DATE };
	char secret[2000];

	memset(secret, 'k', sizeof(secret));
	secret[sizeof(secret) - 1] = '\0';
	keys.secret = secret;
	FAILS(tkb_sigv4_sign(&keys, &request, &out, ERR), TKB_ERR_INVALID,
	      "longer than such keys");
	CHECK(strstr(ERR->message, "kkkk") == NULL);
	CHECK_INT(out.size, 0);
}
