/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/http/http.h"
#include "remote_fixture.h"

/* What servers say of their folders, by people who mean no good, too. */

static void check_file(const struct tkb_http_listing *listing, size_t i,
                       const char *name, bool is_folder, uint64_t size)
{
	CHECK(i < listing->count);
	CHECK_STR(listing->files[i].name, name);
	CHECK_INT(listing->files[i].is_folder, is_folder);
	CHECK_INT(listing->files[i].size, size);
}

TEST(http_listing, nginxs_index_is_read)
{
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };

	OK(tkb_http_read_index(
		tkb_text("[\n{ \"name\":\"a,b\", \"type\":\"directory\","
	                 " \"mtime\":\"Sat, 21 Nov 2026 05:39:39 GMT\" "
	                 "},\n{ \"name\":\"x\\u00e9\\\"\", "
	                 "\"type\":\"file\", \"mtime\":\"Thu, 01 Jan "
	                 "1970 00:01:40 GMT\", \"size\":123 }\n]\n"),
		&listing, ERR));
	CHECK_INT(listing.count, 2);
	check_file(&listing, 0, "a,b", true, UINT64_MAX);
	CHECK_INT(listing.files[0].modified_s, 1795239579);
	check_file(&listing, 1, "x\xc3\xa9\"", false, 123);
	CHECK_INT(listing.files[1].modified_s, 100);
}

TEST(http_listing, an_index_with_odd_values_is_read_as_far_as_they_go)
{
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };

	OK(tkb_http_read_index(
		tkb_text("[{\"name\":\"a\",\"size\":-1,\"mtime\":"
	                 "\"yesterday\",\"type\":null,\"x\":[{}]},"
	                 "{\"name\":\"b\",\"size\":99999999999999999"
	                 "999999,\"type\":[\"directory\"]}]"),
		&listing, ERR));
	CHECK_INT(listing.count, 2);
	check_file(&listing, 0, "a", false, UINT64_MAX);
	CHECK_INT(listing.files[0].modified_s, 0);
	check_file(&listing, 1, "b", false, UINT64_MAX);
}

static void check_no_index(struct tkb_bytes body)
{
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };

	CHECK_INT(tkb_http_read_index(body, &listing, ERR), TKB_ERR_CORRUPT);
}

TEST(http_listing, what_is_no_index_is_refused)
{
	static const char *const bodies[] = {
		"",        " ",      "null",          "{}",
		"[",       "[[]]",   "[{\"name\"",    "[{\"name\":1}]",
		"[{}]",    "[]x",    "[{\"name\":}]", "[{\"name\":\"a\"},]",
		"<html/>", "\"[]\"", "[{\"a\":[}]",   "[{\"name\":\"\xff\"}]",
	};
	BUF(deep, TKB_MIB);

	for (size_t i = 0; i < TKB_COUNT_OF(bodies); i++)
		check_no_index(tkb_text(bodies[i]));
	tkb_buf_add_text(&deep, "[{\"name\":");
	for (int i = 0; i < 10000; i++)
		tkb_buf_add_byte(&deep, '[');
	check_no_index(tkb_buf_bytes(&deep));
}

TEST(http_listing, names_without_measure_are_refused)
{
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };

	CHECK(tkb_http_read_index(
		      tkb_text(text("[{\"name\":\"%010000d\"}]", 0)), &listing,
		      ERR) < 0);
	CHECK_INT(listing.count, 0);
}

#define DAV(responses)                                                         \
	"<?xml version=\"1.0\"?>\n<D:multistatus xmlns:D=\"DAV:\">" responses  \
	"</D:multistatus>"
#define RESPONSE(href, more)                                                   \
	"<D:response><D:href>" href "</D:href><D:propstat><D:prop>" more       \
	"</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>"           \
	"</D:response>"

#define FOLDER "<D:resourcetype><D:collection/></D:resourcetype>"
#define SIZE "<D:getcontentlength>12</D:getcontentlength>"
#define TIME                                                                   \
	"<D:getlastmodified>Thu, 01 Jan 1970 00:01:40 GMT</D:getlastmodified>"

TEST(http_listing, webdavs_answer_is_read)
{
	static const char itself[] = RESPONSE("/a%20b/ref/", FOLDER);
	static const char slash[] = RESPONSE("http://h:1/a%20b/ref/x%2Cy/", "");
	static const char file[] = RESPONSE("\n /a%20b/ref/z \n", SIZE TIME);
	static const char folder[] = RESPONSE("/a%20b/ref/folder", FOLDER);
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };

	OK(tkb_http_read_dav(
		tkb_text(text(DAV("%s%s%s%s"), itself, slash, file, folder)),
		"/a b/ref", &listing, ERR));
	CHECK_INT(listing.count, 3);
	check_file(&listing, 0, "x,y", true, UINT64_MAX);
	check_file(&listing, 1, "z", false, 12);
	CHECK_INT(listing.files[1].modified_s, 100);
	check_file(&listing, 2, "folder", true, UINT64_MAX);
}

static void check_no_dav(const char *body)
{
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };

	CHECK_INT(tkb_http_read_dav(tkb_text(body), "/ref", &listing, ERR),
	          TKB_ERR_CORRUPT);
}

TEST(http_listing, what_is_no_answer_of_webdavs_is_refused)
{
	check_no_dav("");
	check_no_dav("[]");
	check_no_dav("<html><response><href>/x</href></response></html>");
	check_no_dav(DAV("<D:response>"));
	check_no_dav("<!DOCTYPE x [<!ENTITY a \"b\">]>" DAV(""));
	check_no_dav("<!DOCTYPE x SYSTEM \"file:///etc/passwd\">" DAV(""));
}

TEST(http_listing, hrefs_that_say_nothing_are_passed_over)
{
	static const char *const hrefs[] = {
		RESPONSE("", ""),
		RESPONSE("/", ""),
		RESPONSE("http://host", ""),
		RESPONSE("/ref", ""),
	};
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };

	for (size_t i = 0; i < TKB_COUNT_OF(hrefs); i++) {
		OK(tkb_http_read_dav(tkb_text(text(DAV("%s"), hrefs[i])),
		                     "/ref", &listing, ERR));
		CHECK_INT(listing.count, 0);
	}
	OK(tkb_http_read_dav(
		tkb_text(text(DAV("%s"), RESPONSE("/ref/%4%zz", ""))), "/ref",
		&listing, ERR));
	check_file(&listing, 0, "%4%zz", false, UINT64_MAX);
}

TEST(http_listing, a_document_is_read_to_its_last_line)
{
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };

	OK(tkb_http_read_document(tkb_text("tkbundle index 1\n"), &listing,
	                          ERR));
	CHECK_INT(listing.count, 0);
	OK(tkb_http_read_document(tkb_text("tkbundle index 1\na,b\nc\n"),
	                          &listing, ERR));
	CHECK_INT(listing.count, 2);
	check_file(&listing, 0, "a,b", false, UINT64_MAX);
	check_file(&listing, 1, "c", false, UINT64_MAX);
}

TEST(http_listing, what_is_no_document_is_refused)
{
	const char *const bodies[] = {
		"",
		"tkbundle index 1",
		"tkbundle index 2\n",
		"tkbundle index 1\na",
		"tkbundle index 1\n\n",
		"tkbundle index 1\na\n\nb\n",
		"<html>\n",
		text("tkbundle index 1\n%0300d\n", 0),
	};

	for (size_t i = 0; i < TKB_COUNT_OF(bodies); i++) {
		TKB_AUTO(tkb_http_listing_release)
		struct tkb_http_listing listing = { 0 };

		CHECK_INT(tkb_http_read_document(tkb_text(bodies[i]), &listing,
		                                 ERR),
		          TKB_ERR_CORRUPT);
	}
}

TEST(http_listing, an_age_is_told_only_where_both_times_are)
{
	CHECK_INT(tkb_http_age(100, 40), 60);
	CHECK_INT(tkb_http_age(40, 100), 0);
	CHECK_INT(tkb_http_age(0, 40), 0);
	CHECK_INT(tkb_http_age(100, 0), 0);
}

TEST(http_listing, documents_are_named_after_their_folders)
{
	char name[TKB_HTTP_FOLDER_SIZE];
	char folder[TKB_HTTP_FOLDER_SIZE];

	tkb_http_document("ref", NULL, name);
	CHECK_STR(name, "ref");
	tkb_http_ref_folder("team/x/y", folder);
	CHECK_STR(folder, "ref/team,x,y");
	tkb_http_document(folder, NULL, name);
	CHECK_STR(name, "ref,team,x,y");
	tkb_http_document("cas", "7f00", name);
	CHECK_STR(name, "cas,7");
}
