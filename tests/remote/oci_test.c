/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "fake_http.h"
#include "proxy.h"
#include "registry.h"

/* The OCI backend: names, uploads, and registries that lie. */

static const char *oci_url(unsigned port)
{
	return text("oci://127.0.0.1:%u/team/kernels", port);
}

TEST(oci, names_what_cannot_be_a_repository)
{
	static const struct {
		const char *url;
		const char *part;
	} cases[] = {
		{ "oci://host/", "cannot be a repository's name" },
		{ "oci://host/Team/x", "cannot be a repository's name" },
		{ "oci://host/a//b", "cannot be a repository's name" },
		{ "oci://host/a_-b", "cannot be a repository's name" },
		{ "oci://host/a/", "cannot be a repository's name" },
		{ "oci://host/a:tag", "names a tag" },
		{ "oci:///a", "the URL has no host" },
		{ "oci+http://host/a?verify=false", "oci" },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		struct handle handle = { .self = NULL };

		FAILS(open_handle(cases[i].url, &handle, ERR), TKB_ERR_INVALID,
		      cases[i].part);
		close_handle(&handle);
	}
}

TEST(oci, takes_every_name_of_a_repository)
{
	static const char *const names[] = { "a", "a0/b-c/d.e", "a__b/c--d",
		                             "x_y" };

	for (size_t i = 0; i < TKB_COUNT_OF(names); i++) {
		struct handle handle = { .self = NULL };

		OK(open_handle(text("oci://host/%s", names[i]), &handle, ERR));
		close_handle(&handle);
	}
}

/*
 * 40 MB are three chunks; the second one does not get there. (What breaks inside a
 * chunk, docker-registry 2.8 forgets.)
 */
TEST(oci, an_upload_that_breaks_goes_on_where_it_broke)
{
	static const struct fault faults[] = { { .harm = CUT,
		                                 .request = "PATCH ",
		                                 .at = 10,
		                                 .is_upload = true,
		                                 .skip = 1,
		                                 .times = 1 } };
	const struct tkb_bytes bytes = make_bytes(40 * TKB_MIB, 1);
	struct server server = start_registry("");
	struct proxy proxy = start_proxy(server.port, faults, 1);
	struct handle *handle = must_connect(oci_url(proxy.port));
	struct tkb_digest digest;

	set_deadline(handle, 60000);
	digest = must_put(handle, bytes);
	CHECK_INT(proxy.counts->struck[0], 1);
	CHECK(proxy.counts->up < 45 * TKB_MIB);
	check_blob(handle, &digest, 0, bytes);
}

TEST(oci, a_blob_that_is_there_is_not_sent_again)
{
	const struct tkb_bytes bytes = make_bytes(4 * TKB_MIB, 2);
	struct server server = start_registry("");
	struct proxy proxy = start_proxy(server.port, NULL, 0);
	struct handle *handle = must_connect(oci_url(proxy.port));

	(void)must_put(handle, bytes);
	(void)must_put(handle, bytes);
	CHECK(proxy.counts->up < 5 * TKB_MIB);
}

/* What the list of tags is, and what is made of it. */
static void check_list(const char *what, int status, const char *part)
{
	struct server server = start_answer("/tags/list", what);
	struct handle *handle = must_connect(oci_url(server.port));
	struct notebook *notebook = new_notebook();
	const struct tkb_ref_visitor visitor = ref_visitor(notebook);

	FAILS(ASK(handle, refs, &visitor, ERR), status, part);
	CHECK_INT(notebook->count, 0);
	stop_server(&server, SIGKILL);
}

#define LISTED(more, body)                                                     \
	"HTTP/1.1 200 OK\r\n" more "Connection: close\r\n\r\n" body

TEST(oci, a_list_of_tags_that_is_none_is_one_sentence)
{
	check_list(LISTED("", "<html>Sign in</html>"), TKB_ERR_UNAVAILABLE,
	           "is this a registry?");
	check_list(LISTED("", "{}"), TKB_ERR_UNAVAILABLE,
	           "is this a registry?");
	check_list(LISTED("", "{\"name\":\"a\",\"tags\":[\"b\""),
	           TKB_ERR_UNAVAILABLE, "is this a registry?");
	check_list(LISTED("Link: </v2/team/kernels/tags/list?n=1000>; "
	                  "rel=\"next\"\r\n",
	                  "{\"name\":\"a\",\"tags\":[]}"),
	           TKB_ERR_UNAVAILABLE, "has no end");
	check_list(LISTED("Link: <http://127.0.0.2:1/x>; rel=\"next\"\r\n",
	                  "{\"name\":\"a\",\"tags\":[]}"),
	           TKB_ERR_UNAVAILABLE, "goes on at another server");
	check_list(MOVED("302 Found", "/v2/team/kernels/tags/list?n=1000"),
	           TKB_ERR_UNAVAILABLE, "redirects more than");
	check_list(EMPTY("500 Oh"), TKB_ERR_UNAVAILABLE, "HTTP 500");
}

TEST(oci, tags_of_others_are_passed_over)
{
	struct server server = start_answer(
		"/tags/list",
		LISTED("", "{\"name\":\"a\",\"tags\":[\"latest\",\"r.x.0\","
	                   "\"r.a__b_40c.0123456789012345678901234567890123456"
	                   "789012345678901234567890123\",\"r.a_2fb."
	                   "0123456789012345678901234567890123456"
	                   "789012345678901234567890123\"]}"));
	struct handle *handle = must_connect(oci_url(server.port));
	const struct notebook *notebook = list_refs(handle);

	CHECK_INT(notebook->count, 1);
	CHECK_STR(notebook->items[0].name, "a/b@c");
}

static const char *big_manifest(void)
{
	char *body = test_alloc(5 * TKB_MIB);

	memset(body, ' ', 5 * TKB_MIB - 1);
	return text("HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
	            5 * TKB_MIB - 1, body);
}

/* One record cannot be read; that is said of it, and its ref stays. */
TEST(oci, a_manifest_that_is_none_or_too_large_is_told_of_its_record)
{
	const char *tag = text("r.a.%064d", 7);
	const char *const whats[] = { OKAY(6, "<html>"), OKAY(2, "{}"),
		                      big_manifest() };

	for (size_t i = 0; i < TKB_COUNT_OF(whats); i++) {
		const struct web_answer answers[] = {
			{ "/tags/list",
			  text(LISTED("", "{\"name\":\"a\",\"tags\":[\"%s\"]}"),
			       tag),
			  false },
			{ "/manifests/", whats[i], false },
		};
		struct server server = start_script(answers, 2);
		struct handle *handle = must_connect(oci_url(server.port));
		const struct notebook *notebook = list_records(handle, "a");

		CHECK_INT(notebook->count, 1);
		CHECK(notebook->items[0].unread < 0);
		stop_server(&server, SIGKILL);
	}
}

TEST(oci, a_registry_that_deletes_nothing_says_so)
{
	const char *storage = text("storage:\n  filesystem:\n    "
	                           "rootdirectory: %s/data\n",
	                           test_folder());
	struct server server = start_registry(storage);
	struct handle *handle = must_connect(oci_url(server.port));
	const struct tkb_digest blob = must_put(handle, make_bytes(100, 3));
	const struct tkb_digest record =
		must_add(handle, "ref", make_bytes(10, 4));

	FAILS(ASK(handle, remove, &blob, ERR), TKB_ERR_DENIED,
	      "it refuses to delete (HTTP 405)");
	FAILS(ASK(handle, drop, "ref", &record, ERR), TKB_ERR_DENIED,
	      "it refuses to delete (HTTP 405)");
	CHECK(is_there(handle, &blob));
}

/* The registry's own collection removes what no manifest names. */
TEST(oci, the_registrys_own_collection_takes_nothing_in_use)
{
	struct server server = start_registry("");
	struct handle *handle = must_connect(oci_url(server.port));
	const struct tkb_bytes bytes = make_bytes(3 * TKB_MIB, 5);
	const struct tkb_digest kept = must_put(handle, bytes);
	const struct tkb_digest gone = must_put(handle, make_bytes(100, 6));
	const struct tkb_digest record =
		must_add(handle, "ref", make_bytes(10, 7));

	OK(ASK(handle, touch, "ref", &record, ERR));
	OK(ASK(handle, remove, &gone, ERR));
	CHECK_INT(run("docker-registry", "garbage-collect", "--delete-untagged",
	              text("registry-%u.yml", server.port), NULL)
	                  .status,
	          0);
	check_blob(handle, &kept, 0, bytes);
	CHECK(is_there(handle, &kept));
	CHECK(!is_there(handle, &gone));
	CHECK_INT(list_records(handle, "ref")->count, 1);
}

/* What comes of a blob of 1000 bytes behind this fault. */
static int get_behind(const struct fault *fault, const char *timeout,
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf out = TKB_BUF_INIT(2000);
	const struct tkb_sink sink = tkb_buf_sink(&out);
	struct server server = start_registry("");
	struct proxy proxy = start_proxy(server.port, fault, 1);
	const struct tkb_digest digest = must_put(
		must_connect(oci_url(server.port)), make_bytes(1000, 8));
	const int rc = tkb_remote_get(
		must_open_remote(
			text("%s?timeout=%s", oci_url(proxy.port), timeout),
			NULL),
		&digest, &sink, err);

	CHECK(proxy.counts->struck[0] > 0);
	return rc;
}

TEST(oci, a_registry_that_lies_about_lengths_and_bytes_is_found_out)
{
	const struct fault longer = { .harm = LIE,
		                      .request = "GET /v2/team/kernels/blobs/",
		                      .behind = "Content-Length: ",
		                      .by = 1 };
	const struct fault shorter = { .harm = LIE,
		                       .request = "GET /v2/team/kernels/blobs/",
		                       .behind = "Content-Length: ",
		                       .by = -1 };
	const struct fault other = { .harm = FLIP,
		                     .request = "GET /v2/team/kernels/blobs/",
		                     .behind = "\r\n\r\n",
		                     .at = 500 };

	FAILS(get_behind(&longer, "1s", ERR), TKB_ERR_UNAVAILABLE,
	      "it was not done in time");
	FAILS(get_behind(&shorter, "60s", ERR), TKB_ERR_CORRUPT,
	      "has another digest");
	FAILS(get_behind(&other, "60s", ERR), TKB_ERR_CORRUPT,
	      "has another digest");
}

/* A blob's link as it is while docker-registry writes it a second time. */
static const char *tear_link(const struct server *server,
                             const struct tkb_digest *digest)
{
	char hex[TKB_DIGEST_HEX_SIZE];
	const char *link;

	tkb_digest_to_hex(digest, hex);
	link = text("registry-%u/docker/registry/v2/repositories/team/kernels/"
	            "_layers/sha256/%s/link",
	            server->port, hex);
	SYS(rename(link, "whole"));
	write_text(link, "");
	return link;
}

static void *mend_soon(void *link)
{
	const struct timespec nap = { .tv_nsec = 50000000 };

	(void)nanosleep(&nap, NULL);
	SYS(rename("whole", link));
	return NULL;
}

TEST(oci, a_blob_that_another_client_puts_again_is_there_throughout)
{
	struct server server = start_registry("");
	struct handle *handle = must_connect(oci_url(server.port));
	const struct tkb_bytes bytes = make_bytes(1000, 8);
	const struct tkb_digest digest = must_put(handle, bytes);
	TKB_AUTO(tkb_buf_release) struct tkb_buf out = TKB_BUF_INIT(2000);
	const char *link = tear_link(&server, &digest);
	pthread_t mender;

	FAILS(get(handle, &digest, 0, &out, ERR), TKB_ERR_UNAVAILABLE,
	      "HTTP 500");
	SYS(pthread_create(&mender, NULL, mend_soon, (void *)link));
	check_blob(handle, &digest, 0, bytes);
	SYS(pthread_join(mender, NULL));
	(void)tear_link(&server, &digest);
	SYS(pthread_create(&mender, NULL, mend_soon, (void *)link));
	(void)must_put(handle, bytes);
	SYS(pthread_join(mender, NULL));
}

static void collect_garbage(const struct server *server)
{
	CHECK_INT(run("docker-registry", "garbage-collect", "--delete-untagged",
	              text("registry-%u.yml", server->port), NULL)
	                  .status,
	          0);
}

/* All is deleted, and collected, between two operations of one handle. */
TEST(oci, what_is_deleted_under_our_feet_is_stored_again)
{
	struct server server = start_registry("");
	struct handle *handle = must_connect(oci_url(server.port));
	struct handle *other = must_connect(oci_url(server.port));
	const struct tkb_bytes bytes = make_bytes(1000, 8);
	const struct tkb_digest blob = must_put(handle, bytes);
	const struct tkb_digest record =
		must_add(handle, "ref", make_bytes(10, 9));
	TKB_AUTO(tkb_buf_release) struct tkb_buf out = TKB_BUF_INIT(2000);

	OK(ASK(other, remove, &blob, ERR));
	OK(ASK(other, drop, "ref", &record, ERR));
	collect_garbage(&server);
	CHECK(!is_there(handle, &blob));
	CHECK_INT(get(handle, &blob, 0, &out, ERR), TKB_MISS);
	CHECK_INT(list_records(handle, "ref")->count, 0);
	CHECK_INT(ASK(handle, touch, "ref", &record, ERR), TKB_MISS);
	CHECK_INT(ASK(handle, drop, "ref", &record, ERR), TKB_MISS);
	CHECK_INT(ASK(handle, remove, &blob, ERR), TKB_MISS);
	(void)must_put(handle, bytes);
	(void)must_add(handle, "ref", make_bytes(10, 9));
	check_blob(handle, &blob, 0, bytes);
	CHECK_INT(list_records(handle, "ref")->count, 1);
}

/* A tag is listed, and its manifest is gone when it is asked for. */
TEST(oci, a_record_that_goes_while_records_are_read_is_none)
{
	const struct web_answer answers[] = {
		{ "/tags/list",
		  text(LISTED("", "{\"name\":\"a\",\"tags\":[\"r.a.%064d\"]}"),
		       7),
		  false },
		{ "/manifests/", EMPTY("404 Not Found"), false },
	};
	struct server server = start_script(answers, 2);
	struct handle *handle = must_connect(oci_url(server.port));

	CHECK_INT(list_records(handle, "a")->count, 0);
	CHECK(strstr(requests_so_far(), "/manifests/r.a.") != NULL);
}
