/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "s3_fixture.h"

/* Listings of s3://, and what is done by many requests at once. */

struct count {
	size_t blobs;
	uint64_t size;
	struct tkb_digest sum; /* of all digests, by exclusive or */
	size_t refs;
};

static void add_digest(struct tkb_digest *sum, const struct tkb_digest *digest)
{
	for (size_t i = 0; i < sizeof(sum->bytes); i++)
		sum->bytes[i] ^= digest->bytes[i];
}

static int count_blob(void *self, const struct tkb_digest *digest,
                      uint64_t size, uint64_t age_s, struct tkb_error *err)
{
	struct count *count = self;

	(void)age_s, (void)err;
	count->blobs++;
	count->size += size;
	add_digest(&count->sum, digest);
	return 0;
}

static struct count count_blobs(const struct handle *handle)
{
	struct count count = { .blobs = 0 };
	const struct tkb_blob_visitor visitor = { count_blob, &count };

	OK(ASK(handle, list, &visitor, ERR));
	return count;
}

/* The digest of "0", "1", "2", as the guard's "fill" makes them. */
static struct tkb_digest numbered(unsigned number)
{
	return digest_of(tkb_text(text("%u", number)));
}

TEST(s3_list, pages_follow_one_another)
{
	enum {
		COUNT = 2345
	};
	struct tkb_digest sum = { { 0 } };
	struct count count;
	uint64_t size = 0;

	start_s3();
	const char *bucket = new_bucket("pages");
	(void)ask_s3(text("fill/%s?count=%d&key=x/cas/*", bucket, COUNT));
	for (unsigned i = 0; i < COUNT; i++) {
		const struct tkb_digest digest = numbered(i);

		add_digest(&sum, &digest);
		size += i % 7;
	}
	struct handle *handle = must_connect(s3_url(text("%s/x", bucket), ""));
	(void)ask_s3("log");
	count = count_blobs(handle);
	CHECK_INT(count.blobs, COUNT);
	CHECK_INT(count.size, size);
	CHECK(tkb_digest_equal(&count.sum, &sum));
	CHECK_STR(ask_s3("log"),
	          text("GET /%s\nGET /%s\nGET /%s\n", bucket, bucket, bucket));
}

TEST(s3_list, a_thousand_keys_are_one_page)
{
	start_s3();
	const char *bucket = new_bucket("page");
	(void)ask_s3(text("fill/%s?count=1000&key=cas/*", bucket));
	struct handle *handle = must_connect(s3_url(bucket, ""));
	(void)ask_s3("log");
	CHECK_INT(count_blobs(handle).blobs, 1000);
	CHECK_STR(ask_s3("log"), text("GET /%s\n", bucket));
}

TEST(s3_list, refs_and_records_have_pages_too)
{
	start_s3();
	const char *bucket = new_bucket("refs");
	(void)ask_s3(text("fill/%s?count=1100&key=ref/r,*/*", bucket));
	(void)ask_s3(text("fill/%s?count=1050&key=ref/many/*", bucket));
	struct handle *handle = must_connect(s3_url(bucket, ""));
	const struct notebook *notebook = list_refs(handle);
	CHECK_INT(notebook->count, 1101);
	CHECK_INT(count_name(notebook, "many"), 1);
	for (size_t i = 0; i < notebook->count; i++)
		CHECK(strncmp(notebook->items[i].name, "r/", 2) == 0 ||
		      strcmp(notebook->items[i].name, "many") == 0);
	notebook = list_records(handle, "many");
	CHECK_INT(notebook->count, 1050);
	for (unsigned i = 0; i < 1050; i += 50) {
		const struct tkb_digest digest = numbered(i);

		CHECK_INT(count_digest(notebook, &digest), 1);
	}
}

TEST(s3_list, what_is_not_ours_is_passed_over)
{
	static const char *const keys[] = {
		"x/cas/readme",       "x/cas/sub/%s",
		"x/cas/%sz",          "x/casper/%s",
		"xy/cas/%s",          "cas/%s",
		"x/ref/%s",           "x/ref/r/note",
		"x/ref/r/%s/%s",      "x/cas/",
		"x/ref/r/",           "x/refs/r/%s",
		"x/cas/%%01%%26%%3C",
	};
	const struct tkb_bytes bytes = make_bytes(10, 1);
	const struct tkb_digest junk = made_up(1);

	start_s3();
	const char *bucket = new_bucket("foreign");
	const char *hex = hex_of(&junk);
	for (size_t i = 0; i < TKB_COUNT_OF(keys); i++)
		(void)ask_s3(text("put/%s?value=v&key=%s", bucket,
		                  text(keys[i], hex, hex)));
	struct handle *handle = must_connect(s3_url(text("%s/x", bucket), ""));
	CHECK_INT(list_blobs(handle)->count, 0);
	CHECK_INT(list_records(handle, "r")->count, 0);
	(void)must_put(handle, bytes);
	(void)must_add(handle, "r", bytes);
	CHECK_INT(list_blobs(handle)->count, 1);
	CHECK_INT(list_records(handle, "r")->count, 1);
	CHECK_INT(count_name(list_refs(handle), "r"), 1);
}

TEST(s3_list, an_answer_that_is_no_listing_is_no_empty_one)
{
	static const char *const words[] = { "bomb", "empty",   "html", "cut",
		                             "wide", "endless", "lost" };

	start_s3();
	for (size_t i = 0; i < TKB_COUNT_OF(words); i++)
		check_refusal(s3_url(new_bucket(words[i]), ""),
		              TKB_ERR_UNAVAILABLE,
		              strcmp(words[i], "wide") == 0
		                      ? "it sends more than 16777216 bytes"
		                      : "its listing is not one that S3 gives");
}

TEST(s3_list, servers_that_write_it_otherwise_are_understood)
{
	start_s3();
	struct handle *handle = must_connect(
		s3_url(text("%s/a%%20b", new_bucket("other")), ""));
	struct notebook *notebook = list_blobs(handle);
	CHECK_INT(notebook->count, 1);
	CHECK_INT(notebook->items[0].size, 5);
	CHECK_INT(notebook->items[0].age_s, 0);
	/* What a visitor says is no fault of the listing. */
	notebook = new_notebook();
	notebook->rc = TKB_ERR_CORRUPT;
	struct tkb_blob_visitor visitor = blob_visitor(notebook);
	FAILS(ASK(handle, list, &visitor, ERR), TKB_ERR_CORRUPT, "enough");
}

TEST(s3_list, failures_that_pass_are_told_from_those_that_do_not)
{
	const struct tkb_ref_visitor visitor = ref_visitor(new_notebook());
	uint32_t retry_after_ms = 0;

	start_s3();
	check_refusal(s3_url(new_bucket("late"), ""), TKB_ERR_UNAVAILABLE,
	              "it waited too long for the bytes");
	check_refusal(s3_url(new_bucket("failing"), ""), TKB_ERR_UNAVAILABLE,
	              "it answers 500, InternalError: We failed.");
	check_refusal(s3_url(new_bucket("bare"), ""), TKB_ERR_DENIED,
	              "it forbids this: HTTP 403");
	struct handle *handle = must_connect(s3_url(new_bucket("slow"), ""));
	handle->call.retry_after_ms = &retry_after_ms;
	FAILS(ASK(handle, refs, &visitor, ERR), TKB_ERR_UNAVAILABLE,
	      "it is asked too often");
	CHECK_INT(retry_after_ms, 7000);
}

TEST(s3_list, what_is_refused_by_head_is_explained_by_a_listing)
{
	const struct tkb_digest digest = made_up(2);
	bool answer = false;

	start_s3();
	const char *url = s3_url(new_bucket("head"), "");
	set_keys("AKIDTEST", "s3cret/Wrong", NULL);
	struct handle *handle = must_connect(url);
	FAILS(ASK(handle, has, &digest, 1, &answer, NULL, ERR), TKB_ERR_DENIED,
	      "not the one that belongs to the access key");
	FAILS(ASK(handle, remove, &digest, ERR), TKB_ERR_DENIED,
	      "not the one that belongs to the access key");
	set_keys("AKIDTEST", "s3cret/With+Signs", NULL);
	struct handle *bare = must_connect(s3_url(new_bucket("headless"), ""));
	FAILS(ASK(bare, has, &digest, 1, &answer, NULL, ERR), TKB_ERR_DENIED,
	      "it answers 403: are s3:GetObject and s3:ListBucket "
	      "allowed?");
}

TEST(s3_list, a_put_without_a_bucket_is_no_miss)
{
	const struct tkb_bytes bytes = make_bytes(10, 3);
	const struct tkb_digest digest = digest_of(bytes);

	start_s3();
	struct handle *handle = must_connect(s3_url(new_bucket("nowhere"), ""));
	FAILS(put_blob(handle, &digest, &bytes, ERR), TKB_ERR_INVALID,
	      "or no S3");
}

TEST(s3_list, a_copy_that_failed_after_all_is_a_failure)
{
	start_s3();
	struct handle *handle =
		must_connect(s3_url(new_bucket("uncopied"), ""));
	struct tkb_digest digest = must_add(handle, "ref", make_bytes(10, 4));
	FAILS(ASK(handle, touch, "ref", &digest, ERR), TKB_ERR_UNAVAILABLE,
	      "did not copy the record");
}

TEST(s3_list, a_record_that_goes_while_it_is_read_is_told)
{
	start_s3();
	struct handle *handle = must_connect(s3_url(new_bucket("gone"), ""));
	(void)must_add(handle, "ref", make_bytes(10, 5));
	CHECK_INT(list_refs(handle)->count, 1);
	const struct notebook *notebook = list_records(handle, "ref");
	CHECK_INT(notebook->count, 0);
	CHECK_INT(notebook->vanished_count, 1);
}

TEST(s3_list, a_record_that_none_of_ours_can_be_is_told_and_left_alone)
{
	start_s3();
	const char *bucket = new_bucket("huge");
	struct handle *handle = must_connect(s3_url(bucket, ""));
	(void)ask_s3("log");
	const struct notebook *notebook = list_records(handle, "r");
	CHECK_INT(notebook->count, 1);
	CHECK_INT(notebook->items[0].unread, TKB_ERR_TOO_LARGE);
	CHECK_STR(ask_s3("log"), text("GET /%s\n", bucket));
}

static size_t count_lines(const char *lines, const char *start)
{
	size_t count = 0;

	for (const char *at = lines; at != NULL && *at != '\0';) {
		count += strncmp(at, start, strlen(start)) == 0;
		at = strchr(at, '\n');
		at = at == NULL ? NULL : at + 1;
	}
	return count;
}

TEST(s3_list, many_are_asked_for_at_once)
{
	enum {
		COUNT = 300
	};
	struct tkb_digest digests[COUNT];
	bool answers[COUNT];
	const char *log;

	start_s3();
	struct handle *handle = must_connect(s3_url(new_bucket("many"), ""));
	for (unsigned i = 0; i < COUNT; i++)
		digests[i] = i == 257 ? must_put(handle, make_bytes(10, i))
		                      : made_up(i);
	(void)ask_s3("log");
	OK(ASK(handle, has, digests, COUNT, answers, NULL, ERR));
	for (unsigned i = 0; i < COUNT; i++)
		CHECK_INT(answers[i], i == 257);
	CHECK(strtoul(ask_s3("most"), NULL, 10) > 1);
	/* Two of them are of these questions. */
	CHECK(strtoul(ask_s3("connections"), NULL, 10) <= 16 + 2);
	log = ask_s3("log");
	CHECK_INT(count_lines(log, "HEAD "), COUNT);
	CHECK_INT(count_lines(log, ""), COUNT);
}

TEST(s3_list, records_are_a_listing_and_one_round_of_gets)
{
	const char *log;

	start_s3();
	struct handle *handle = must_connect(s3_url(new_bucket("rounds"), ""));
	for (unsigned i = 0; i < 20; i++)
		(void)must_add(handle, "ref", make_bytes(100, i));
	(void)ask_s3("log");
	CHECK_INT(list_records(handle, "ref")->count, 20);
	CHECK(strtoul(ask_s3("most"), NULL, 10) > 1);
	log = ask_s3("log");
	CHECK_INT(count_lines(log, "GET "), 21);
	CHECK_INT(count_lines(log, ""), 21);
}
