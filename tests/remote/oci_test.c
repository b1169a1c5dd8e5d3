/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake_http.h"
#include "proxy.h"
#include "registry.h"

/* The OCI backend: names, uploads, and registries that lie. */

#define LISTED(more, body)                                                     \
	"HTTP/1.1 200 OK\r\n" more "Connection: close\r\n\r\n" body

enum {
	DATA_LIMIT = 8192 /* bytes of a record that a manifest has, too */
};

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
		{ "oci://host/a?mount=B", "mount" },
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

/* Upload 40 MB past faults of which each strikes once. */
static struct proxy upload_past(const struct fault *faults, size_t count)
{
	const struct tkb_bytes bytes = make_bytes(40 * TKB_MIB, 1);
	struct server server = start_registry("");
	struct proxy proxy = start_proxy(server.port, faults, count);
	struct handle *handle = must_connect(oci_url(proxy.port));

	set_deadline(handle, 60000);
	struct tkb_digest digest = must_put(handle, bytes);
	for (size_t i = 0; i < count; i++)
		CHECK_INT(proxy.counts->struck[i], 1);
	check_blob(handle, &digest, 0, bytes);
	return proxy;
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
	const struct proxy proxy = upload_past(faults, 1);

	CHECK(proxy.counts->up < 45 * TKB_MIB);
}

/* Then docker-registry 2.8 forgets all of it, and gets all of it again. */
TEST(oci, an_upload_that_is_forgotten_begins_anew)
{
	static const struct fault faults[] = { { .harm = CUT,
		                                 .request = "PATCH ",
		                                 .at = 10 * TKB_MIB,
		                                 .is_upload = true,
		                                 .skip = 1,
		                                 .times = 1 },
		                               { .harm = CUT,
		                                 .request = "PUT ",
		                                 .at = 2 * TKB_MIB,
		                                 .is_upload = true,
		                                 .times = 1 } };

	(void)upload_past(faults, 2);
}

/* How many bytes of blobs such a server got: the last number of each line. */
static uint64_t count_uploaded(void)
{
	uint64_t sum = 0;

	for (const char *at = read_file("uploads.log").data;
	     (at = strchr(at, '\n')) != NULL; at++) {
		const char *number = at;

		while (number[-1] != ' ')
			number--;
		sum += strtoull(number, NULL, 10);
	}
	return sum;
}

/* What came before the break, within a chunk or the last part, is not sent again. */
TEST(oci, an_upload_goes_on_within_a_chunk_where_the_registry_kept_it)
{
	static const struct {
		const char *breaks;
		size_t size;
	} cases[] = {
		{ "PATCH:5000000", 40 * TKB_MIB },
		{ "PATCH:2,PUT:3000000", 40 * TKB_MIB },
		{ "PUT:3000000", 8 * TKB_MIB },
		{ "PUT:8388608", 8 * TKB_MIB }, /* behind its last byte */
		{ "lost", 8 * TKB_MIB },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		const struct tkb_bytes bytes = make_bytes(cases[i].size, 4);
		struct server server =
			start_python(TKB_UPLOAD_SERVER,
		                     text("uploads.log %s", cases[i].breaks));
		struct handle *handle = must_connect(oci_url(server.port));
		const struct tkb_digest digest = must_put(handle, bytes);

		stop_server(&server, SIGTERM);
		(void)digest;
		/* The 2 bytes of the empty configuration, too. */
		CHECK_INT(count_uploaded(), cases[i].size + 2);
		SYS(unlink("uploads.log"));
	}
}

TEST(oci, a_blob_of_another_repository_is_mounted_and_not_sent)
{
	const struct tkb_bytes bytes = make_bytes(4 * TKB_MIB, 5);
	const struct tkb_bytes other = make_bytes(TKB_MIB, 6);
	struct server server = start_registry("");
	struct proxy proxy = start_proxy(server.port, NULL, 0);
	struct handle *handle = must_connect(text(
		"oci://127.0.0.1:%u/team/prod?mount=team/kernels", proxy.port));
	const struct tkb_digest digest =
		must_put(must_connect(oci_url(server.port)), bytes);

	(void)must_put(handle, bytes);
	CHECK(proxy.counts->up < 64 * TKB_KIB);
	check_blob(handle, &digest, 0, bytes);
	CHECK(is_there(handle, &digest));
	/* What the other one does not have is sent. */
	(void)must_put(handle, other);
	CHECK(proxy.counts->up > TKB_MIB);
	CHECK(strstr(read_file(text("registry-%u.log", server.port)).data,
	             "from=team/kernels") != NULL);
}

/* A registry that lets nobody mount is asked once, and gets the blob. */
TEST(oci, what_cannot_be_mounted_is_sent)
{
	static const char *const refusals[] = { "401 Who", "403 No", "404 No",
		                                "500 Oh" };

	for (size_t i = 0; i < TKB_COUNT_OF(refusals); i++) {
		const char *begun = "HTTP/1.1 202 Begun\r\nLocation: /v2/team/"
				    "kernels/blobs/uploads/1\r\n"
				    "Content-Length: 0\r\n"
				    "Connection: close\r\n\r\n";
		const struct web_answer answers[] = {
			ANSWERED(
				"POST "
				"/v2/team/kernels/blobs/uploads/?mount=sha256:",
				text("HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n",
			             refusals[i])),
			ANSWERED("POST ", begun),
			ANSWERED("PUT ", EMPTY("201 Created")),
		};
		struct server server = start_script(answers, 3);
		struct handle *handle = must_connect(
			text("%s?mount=team/other", oci_url(server.port)));

		write_text("requests", "");
		(void)must_put(handle, make_bytes(100, 7));
		(void)must_put(handle, make_bytes(100, 8));
		CHECK_INT(count_parts(requests_so_far(), "?mount="), 1);
		stop_server(&server, SIGKILL);
	}
}

/* A URL's query may be a signature. */
TEST(oci, an_upload_to_another_server_is_refused_without_its_secret)
{
	const struct tkb_bytes bytes = make_bytes(100, 7);
	const struct tkb_digest digest = digest_of(bytes);
	struct server server = start_answer(
		"POST ", "HTTP/1.1 202 Begun\r\n"
			 "Location: http://127.0.0.2:1/up?token=s3cret\r\n"
			 "Content-Length: 0\r\n\r\n");
	struct handle *handle = must_connect(oci_url(server.port));

	FAILS(put_blob(handle, &digest, &bytes, ERR), TKB_ERR_DENIED,
	      "it sends uploads to another server, 'http://127.0.0.2:1/up', "
	      "which tkbundle does not trust");
}

/* How many manifests the registry sent whole, and how many it did not. */
static void count_manifests(const struct server *server, size_t *whole,
                            size_t *same)
{
	const char *log = read_file(text("registry-%u.log", server->port)).data;

	*whole = 0;
	*same = 0;
	while ((log = strstr(log, "\"GET /v2/team/kernels/manifests/")) !=
	       NULL) {
		const char *end = strstr(log, "HTTP/1.1\" ");

		if (end == NULL)
			return;
		*whole += strncmp(end, "HTTP/1.1\" 200", 13) == 0;
		*same += strncmp(end, "HTTP/1.1\" 304", 13) == 0;
		log = end;
	}
}

TEST(oci, a_manifest_that_is_unchanged_is_not_sent_again)
{
	struct server server = start_registry("");
	struct handle *handle = must_connect(oci_url(server.port));
	struct handle *other = must_connect(oci_url(server.port));
	struct tkb_digest digests[3];
	size_t whole;
	size_t same;

	for (unsigned i = 0; i < 3; i++)
		digests[i] = must_add(handle, "ref", make_bytes(100 + i, i));
	const struct notebook *first = list_records(handle, "ref");
	nap_ms(2100); /* the registry's clock tells whole seconds; one may end below */
	OK(ASK(other, touch, "ref", &digests[0], ERR));
	OK(ASK(other, drop, "ref", &digests[1], ERR));
	const struct notebook *second = list_records(handle, "ref");
	CHECK_INT(first->count, 3);
	CHECK_INT(second->count, 2);
	CHECK_INT(count_digest(second, &digests[1]), 0);
	for (size_t i = 0; i < second->count; i++) {
		const struct told *told = &second->items[i];

		CHECK_INT(told->age_s < 2,
		          tkb_digest_equal(&told->digest, &digests[0]));
	}
	/* Three, one that was touched, and two that the other handle asked for. */
	for (int i = 0; i < 200; i++) {
		count_manifests(&server, &whole, &same);
		if (whole + same >= 7)
			break;
		nap_ms(10); /* it logs when it has answered */
	}
	CHECK_INT(whole, 6);
	CHECK_INT(same, 1);
}

TEST(oci, a_small_record_comes_with_its_manifest)
{
	static const struct fault blobs = { .harm = PASS,
		                            .request = "GET /v2/team/kernels/"
		                                       "blobs/" };
	struct server server = start_registry("");
	struct proxy proxy = start_proxy(server.port, &blobs, 1);
	struct handle *handle = must_connect(oci_url(proxy.port));
	const struct tkb_bytes small = make_bytes(DATA_LIMIT, 1);
	const struct tkb_bytes large = make_bytes(DATA_LIMIT + 1, 2);
	const struct tkb_digest digest = must_add(handle, "ref", small);
	const struct notebook *notebook;

	(void)must_add(handle, "ref", large);
	OK(ASK(handle, touch, "ref", &digest, ERR));
	for (int i = 0; i < 2; i++) {
		notebook = list_records(handle, "ref");
		CHECK_INT(notebook->count, 2);
		CHECK_INT(count_digest(notebook, &digest), 1);
	}
	CHECK_INT(proxy.counts->met[0], 2);
}

/* A manifest that has the bytes of another record, or none, is one without. */
TEST(oci, a_manifest_with_other_bytes_is_not_believed)
{
	static const char *const datas[] = { "YmFk", "no base64!", "" };
	const struct tkb_bytes record = tkb_text("good");
	const struct tkb_digest digest = digest_of(record);

	const char *hex = hex_of(&digest);
	for (size_t i = 0; i < TKB_COUNT_OF(datas); i++) {
		const char *manifest =
			text("{\"schemaVersion\":2,\"layers\":[{\"size\":4,"
		             "\"data\":\"%s\"}]}",
		             datas[i]);
		const struct web_answer answers[] = {
			ANSWERED("/tags/list",
			         text(LISTED("",
			                     "{\"name\":\"a\",\"tags\":[\"r.a."
			                     "%s\"]}"),
			              hex)),
			ANSWERED("/manifests/",
			         text(LISTED("", "%s"), manifest)),
			ANSWERED("/blobs/", OKAY(4, "good")),
		};
		struct server server = start_script(answers, 3);
		struct handle *handle = must_connect(oci_url(server.port));
		const struct notebook *notebook = list_records(handle, "a");

		CHECK_INT(notebook->count, 1);
		CHECK(tkb_bytes_equal(notebook->items[0].bytes, record));
		CHECK(strstr(requests_so_far(), "/blobs/") != NULL);
		stop_server(&server, SIGKILL);
	}
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
}

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
	           TKB_ERR_UNAVAILABLE, "continues at another server");
	check_list(text(LISTED("Link: </v2/team/kernels/tags/list?last=%05000d"
	                       ">; rel=\"next\"\r\n",
	                       "{\"name\":\"a\",\"tags\":[]}"),
	                0),
	           TKB_ERR_UNAVAILABLE, "its header 'Link' has more than 4093");
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
			ANSWERED("/tags/list",
			         text(LISTED("", "{\"name\":\"a\",\"tags\":[\"%"
			                         "s\"]}"),
			              tag)),
			ANSWERED("/manifests/", whats[i]),
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
	BUF(out, 2000);
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
	FAILS(get_behind(&shorter, "60s", ERR), TKB_ERR_UNAVAILABLE,
	      "its answer ended too early");
	FAILS(get_behind(&other, "60s", ERR), TKB_ERR_CORRUPT,
	      "has another digest");
}

/* A blob's link as it is while docker-registry writes it a second time. */
static const char *tear_link(const struct server *server,
                             const struct tkb_digest *digest)
{
	const char *link =
		text("registry-%u/docker/registry/v2/repositories/team/kernels/"
	             "_layers/sha256/%s/link",
	             server->port, hex_of(digest));
	SYS(rename(link, "whole"));
	write_text(link, "");
	return link;
}

static void *mend_soon(void *link)
{
	nap_ms(50);
	SYS(rename("whole", link));
	return NULL;
}

TEST(oci, a_blob_that_another_client_puts_again_is_there_throughout)
{
	struct server server = start_registry("");
	struct handle *handle = must_connect(oci_url(server.port));
	const struct tkb_bytes bytes = make_bytes(1000, 8);
	const struct tkb_digest digest = must_put(handle, bytes);
	BUF(out, 2000);
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
	BUF(out, 2000);

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
TEST(oci, a_record_that_goes_while_records_are_read_is_told)
{
	const struct web_answer answers[] = {
		ANSWERED("/tags/list",
		         text(LISTED("", "{\"name\":\"a\",\"tags\":[\"r.a.%"
		                         "064d\"]}"),
		              7)),
		ANSWERED("/manifests/", EMPTY("404 Not Found")),
	};
	struct server server = start_script(answers, 2);
	struct handle *handle = must_connect(oci_url(server.port));

	const struct notebook *notebook = list_records(handle, "a");
	CHECK_INT(notebook->count, 0);
	CHECK_INT(notebook->vanished_count, 1);
	CHECK(strstr(requests_so_far(), "/manifests/r.a.") != NULL);
}

/* A registry that heeds If-Match says so where the record was dropped or put. */
TEST(oci, a_touch_names_the_manifest_that_it_read)
{
	static const struct fault faults[] = {
		{ .harm = PASS, .request = "\r\nIf-Match: \"sha256:" },
		{ .harm = ANSWER,
		  .request = "PUT /v2/team/kernels/manifests/r.ref.",
		  .answer = EMPTY("412 Precondition Failed"),
		  .times = 1 },
	};
	struct server server = start_registry("");
	struct proxy proxy = start_proxy(server.port, faults, 2);
	struct tkb_digest digest = must_add(must_connect(oci_url(server.port)),
	                                    "ref", make_bytes(10, 1));
	struct handle *handle = must_connect(oci_url(proxy.port));

	OK(ASK(handle, touch, "ref", &digest, ERR));
	CHECK_INT(proxy.counts->struck[1], 1);
	CHECK_INT(proxy.counts->met[0], 1);
	OK(ASK(handle, drop, "ref", &digest, ERR));
	CHECK_INT(ASK(handle, touch, "ref", &digest, ERR), TKB_MISS);
}
