/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake_http.h"
#include "nginx.h"
#include "proxy.h"

/* The HTTP backend: who may come in, and how a remote is laid out and listed. */

#define SECRET "s3cret"

static void check_works(const char *url)
{
	const struct tkb_bytes bytes = make_bytes(TKB_MIB + 7, 1);
	struct handle *handle = must_connect(url);

	struct tkb_digest digest = must_put(handle, bytes);
	check_blob(handle, &digest, 0, bytes);
	(void)must_add(handle, "team/model", bytes);
	CHECK_INT(list_records(handle, "team/model")->count, 1);
}

static void check_open_refused(const char *url, const char *part)
{
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };

	FAILS(open_handle(url, &handle, ERR), TKB_ERR_INVALID, part);
	CHECK(strstr(ERR->message, SECRET) == NULL);
}

static void check_get_refused(const char *url, int status, const char *part)
{
	const struct tkb_digest digest = made_up(1);
	BUF(got, BLOB_LIMIT);
	struct handle *handle = must_connect(url);

	FAILS(get(handle, &digest, 0, &got, ERR), status, part);
	CHECK(strstr(ERR->message, SECRET) == NULL);
}

static void check_add_refused(const char *url, const char *part)
{
	const struct tkb_bytes record = make_bytes(10, 1);
	const struct tkb_digest digest = digest_of(record);
	struct handle *handle = must_connect(url);

	FAILS(ASK(handle, add, "ref", &digest, record, ERR), TKB_ERR_DENIED,
	      part);
}

TEST(http, urls_that_make_no_sense_are_refused)
{
	static const struct {
		const char *url;
		const char *part;
	} cases[] = {
		{ "http://", "has no host" },
		{ "http:///path", "has no host" },
		{ "http://a%2fb/", "host is not a valid name" },
		{ "http://a%20b/", "host is not a valid name" },
		{ "http://h?cafile=ca.pem", "'cafile' is for TLS: https://" },
		{ "http://h?verify=false", "'verify' is for TLS" },
		{ "http://h?server-name=x", "'server-name' is for TLS" },
		{ "https://h?verify=no", "'verify' wants 'true' or 'false'" },
		{ "https://h?key=k.pem", "a key without a certificate" },
		{ "http://h?listing=html", "'listing' wants 'auto', 'index'" },
		{ "http://h?single-writer=0", "'single-writer' wants" },
		{ "http://h?header=" SECRET, "'header' wants a name, a colon" },
		{ "http://h?header=:" SECRET, "'header' wants a name" },
		{ "http://h?header=X-Key:", "'header' wants a name" },
		{ "http://h?bearer=", "'bearer' wants a token" },
		{ "http://h?bearer=" SECRET "%20b", "'bearer' wants a token" },
		{ "http://h?bearer=" SECRET "&bearer-file=x",
		  "exclude each other" },
		{ "http://u:" SECRET "@h?bearer=" SECRET,
		  "a bearer token and a user exclude each other" },
		{ "http://h?bearer-file=none",
		  "cannot read the bearer token in 'none'" },
		{ "http://h?netrc=none", "cannot read the netrc file 'none'" },
		{ "http://h?connections=0", "'connections' wants a number" },
		{ "http://h?connections=65", "'connections' wants a number" },
		{ "http://h?connections=x", "'connections' wants a number" },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++)
		check_open_refused(cases[i].url, cases[i].part);
}

static const char *guarded(const char *guard)
{
	return text("%s%s", guard, nginx_dav());
}

TEST(http, a_user_and_a_password_open_and_nothing_else_does)
{
	write_text("users", "bob:{PLAIN}" SECRET "@1\n");
	struct server server = start_nginx(
		guarded(text("auth_basic x;\nauth_basic_user_file %s/users;\n",
	                     test_folder())));
	check_works(
		text("http://bob:" SECRET "%%401@127.0.0.1:%u", server.port));
	check_get_refused(
		text("http://bob:" SECRET "@127.0.0.1:%u", server.port),
		TKB_ERR_DENIED, "it wants other credentials: HTTP 401");
	check_get_refused(http_url(&server, ""), TKB_ERR_DENIED,
	                  "it wants other credentials");
	check_add_refused(http_url(&server, ""), "it wants other credentials");
}

/* Some servers take a token as the password of any user. */
TEST(http, a_password_without_a_user_is_sent)
{
	struct server server = start_answer("GET /cas/", EMPTY("401 Who"));

	check_get_refused(text("http://:" SECRET "@127.0.0.1:%u", server.port),
	                  TKB_ERR_DENIED, "it wants other credentials");
	CHECK_CONTAINS(requests_so_far(),
	               "Authorization: Basic OnMzY3JldA==\r\n");
}

static struct server start_bearer(void)
{
	return start_nginx(guarded("if ($http_authorization != \"Bearer " SECRET
	                           "\") { return 401; }\n"));
}

TEST(http, a_bearer_token_opens_and_nothing_else_does)
{
	struct server server = start_bearer();

	check_works(http_url(&server, "?bearer=" SECRET));
	check_get_refused(http_url(&server, "?bearer=" SECRET "x"),
	                  TKB_ERR_DENIED, "it wants other credentials");
	check_get_refused(http_url(&server, ""), TKB_ERR_DENIED,
	                  "it wants other credentials");
}

/* Kubernetes' are links. */
TEST(http, a_token_that_is_refused_is_read_again)
{
	struct server server = start_bearer();
	const struct tkb_digest digest = made_up(1);
	bool is_there = true;

	write_text("token", SECRET "x\n");
	struct tkb_remote *remote =
		must_open_remote(http_url(&server, "?bearer-file=token"), NULL);
	FAILS(tkb_remote_has(remote, &digest, 1, &is_there, ERR),
	      TKB_ERR_DENIED, "HTTP 401");
	write_text("token", SECRET "\n");
	(void)sleep(6);
	OK(tkb_remote_has(remote, &digest, 1, &is_there, ERR));
	CHECK(!is_there);
}

/* Gives a connection an answer each, in turn. */
static void serve_in_turn(int listener, void *self)
{
	const char *const *answers = self;
	char head[8192];

	for (size_t i = 0; answers[i] != NULL; i++) {
		const int fd = accept(listener, NULL, NULL);

		if (read(fd, head, sizeof(head)) < 0 ||
		    write(fd, answers[i], strlen(answers[i])) < 0)
			return;
		(void)close(fd);
	}
}

TEST(http, a_server_that_fails_once_with_new_credentials_is_asked_again)
{
	static const char *const answers[] = { EMPTY("401 No"), EMPTY("401 No"),
		                               EMPTY("503 Busy"),
		                               EMPTY("404 None"), NULL };
	struct server server =
		start_listener(serve_in_turn, (void *)(uintptr_t)answers);
	const struct tkb_digest digest = made_up(1);
	struct tkb_remote *remote =
		must_open_remote(http_url(&server, ""), NULL);
	bool is_there = true;

	FAILS(tkb_remote_has(remote, &digest, 1, &is_there, ERR),
	      TKB_ERR_DENIED, "HTTP 401");
	(void)sleep(6);
	OK(tkb_remote_has(remote, &digest, 1, &is_there, ERR));
	CHECK(!is_there);
}

TEST(http, a_bearer_token_may_stand_in_a_file)
{
	struct server server = start_bearer();

	write_text("token-1", SECRET "\n");
	SYS(symlink("token-1", "token"));
	write_text("empty", "\n");
	write_text("two", SECRET "\n" SECRET "\n");
	write_file("nul", (struct tkb_bytes){ SECRET "\0x", 8 });
	check_works(http_url(&server, "?bearer-file=token"));
	check_open_refused(http_url(&server, "?bearer-file=nul"),
	                   "'nul' holds no bearer token");
	check_open_refused(http_url(&server, "?bearer-file=empty"),
	                   "'empty' holds no bearer token");
	check_open_refused(http_url(&server, "?bearer-file=two"),
	                   "'two' holds no bearer token");
	check_open_refused(http_url(&server, "?bearer-file=nginx"),
	                   "cannot read the bearer token in 'nginx'");
}

TEST(http, user_and_password_may_stand_in_a_netrc_file)
{
	write_text("users", "bob:{PLAIN}" SECRET "\n");
	write_text("mine", "machine 127.0.0.1 login bob password " SECRET "\n");
	write_text("wrong", "machine 127.0.0.1 login bob password x\n");
	write_text(".netrc",
	           "machine 127.0.0.1 login bob password " SECRET "\n");
	(void)setenv("HOME", test_folder(), 1);
	struct server server = start_nginx(
		guarded(text("auth_basic x;\nauth_basic_user_file %s/users;\n",
	                     test_folder())));
	check_works(http_url(&server, "?netrc=mine"));
	check_works(http_url(&server, "?netrc=true"));
	check_get_refused(http_url(&server, "?netrc=wrong"), TKB_ERR_DENIED,
	                  "it wants other credentials");
}

/* Newer libcurls pass over such a file, and the server refuses. */
TEST(http, a_netrc_file_that_makes_no_sense_is_named)
{
	const struct tkb_digest digest = made_up(1);
	BUF(got, BLOB_LIMIT);
	struct server server = start_answer("GET /cas/", EMPTY("401 Who"));

	write_text("torn", "machine 127.0.0.1 login bob password \"" SECRET);
	struct handle *handle = must_connect(http_url(&server, "?netrc=torn"));
	int rc = get(handle, &digest, 0, &got, ERR);
	CHECK(rc == TKB_ERR_DENIED || rc == TKB_ERR_INVALID);
	CHECK_CONTAINS(ERR->message,
	               rc == TKB_ERR_DENIED
	                       ? "HTTP 401"
	                       : "the netrc file 'torn' cannot be understood");
}

TEST(http, headers_of_ones_own_are_sent_with_every_request)
{
	struct server server = start_nginx(
		guarded("if ($http_x_key != \"" SECRET "\") { return 403; }\n"
	                "if ($http_x_team != \"a b\") { return 403; }\n"));

	check_works(http_url(&server, "?header=X-Key:%20" SECRET
	                              "&header=X-Team:%20a%20b"));
	check_get_refused(http_url(&server, "?header=X-Key:%20" SECRET),
	                  TKB_ERR_DENIED, "it forbids this: HTTP 403");
}

TEST(http, no_secret_stands_in_a_name_or_a_message)
{
	static const char *const urls[] = {
		"http://bob:" SECRET "@127.0.0.1:%u/base",
		"http://127.0.0.1:%u/base?bearer=" SECRET,
		"http://127.0.0.1:%u/base?header=X-Key:" SECRET,
	};

	for (size_t i = 0; i < TKB_COUNT_OF(urls); i++) {
		const char *at = strstr(urls[i], "%u");
		const char *url =
			text("%.*s%u%s&retries=0", (int)(at - urls[i]), urls[i],
		             free_port(), at + 2);
		struct tkb_error err = { 0 };
		bool answer = false;

		if (strchr(url, '?') == NULL)
			url = text("%.*s?retries=0",
			           (int)(strchr(url, '&') - url), url);
		struct tkb_remote *remote = must_open_remote(url, NULL);
		CHECK(strstr(tkb_remote_tier_name(remote, 0), SECRET) == NULL);
		CHECK_INT(tkb_remote_has(remote, &(struct tkb_digest){ { 1 } },
		                         1, &answer, &err),
		          TKB_ERR_UNAVAILABLE);
		CHECK_CONTAINS(err.message, "/base': cannot connect");
		CHECK(strstr(err.message, SECRET) == NULL);
		CHECK(strstr(err.message, "bob") == NULL);
	}
}

TEST(http, one_connection_serves_many_requests)
{
	struct server server = start_nginx(nginx_dav());
	struct handle *handle =
		must_connect(http_url(&server, "?listing=index"));

	for (uint32_t i = 0; i < 50; i++) {
		const struct tkb_bytes bytes = make_bytes(100 + i, i);
		const struct tkb_digest digest = must_put(handle, bytes);

		check_blob(handle, &digest, 0, bytes);
		CHECK(is_there(handle, &digest));
	}
	CHECK_INT(count_requests(" HTTP/1.1 ", 150), 150);
	CHECK_INT(count_connections(), 1);
}

TEST(http, many_questions_use_no_more_connections_than_allowed)
{
	enum {
		COUNT = 600
	};
	struct server server = start_nginx(nginx_dav());
	struct tkb_digest *digests = test_alloc(COUNT * sizeof(*digests));
	bool *answers = test_alloc(COUNT * sizeof(*answers));
	struct handle *handle =
		must_connect(http_url(&server, "?connections=3"));

	for (uint32_t i = 0; i < COUNT; i++)
		digests[i] = made_up(i);
	OK(ASK(handle, has, digests, COUNT, answers, NULL, ERR));
	CHECK_INT(count_requests(" HEAD /cas/", COUNT), COUNT);
	CHECK_INT(count_connections(), 3);
}

/* Takes one connection for ever, and refuses all others. `self`: ms of an answer. */
static void serve_one_connection(int listener, void *self)
{
	static const char answer[] = EMPTY("404 Not Found");
	const int fd = accept(listener, NULL, NULL);
	char head[8192];
	size_t size = 0;
	ssize_t got;

	(void)close(listener);
	while ((got = read(fd, head + size, sizeof(head) - 1 - size)) > 0) {
		size += (size_t)got;
		head[size] = '\0';
		if (strstr(head, "\r\n\r\n") == NULL)
			continue;
		size = 0;
		nap_ms(*(const unsigned *)self);
		if (write(fd, answer, strlen(answer)) < 0)
			break;
	}
}

static void check_first_serves(unsigned answer_ms)
{
	struct server server = start_listener(serve_one_connection, &answer_ms);
	struct tkb_digest digests[16];
	bool answers[16];
	struct handle *handle =
		must_connect(http_url(&server, "?connections=4"));

	for (uint32_t i = 0; i < 16; i++)
		digests[i] = made_up(i);
	OK(ASK(handle, has, digests, 1, answers, NULL, ERR));
	OK(ASK(handle, has, digests, 16, answers, NULL, ERR));
	stop_server(&server, SIGKILL);
	FAILS(ASK(handle, has, digests, 16, answers, NULL, ERR),
	      TKB_ERR_UNAVAILABLE, "cannot connect");
}

TEST(http, where_further_connections_are_refused_the_first_serves)
{
	check_first_serves(20);
	/* Its first answer may come before the refusals. */
	for (int i = 0; i < 20; i++)
		check_first_serves(0);
}

/* Sixteen answers of 50 ms each, eight at once. */
TEST(http, many_questions_are_asked_at_once)
{
	struct server server = start_web(WEB_SLOW);
	struct tkb_digest digests[16];
	bool answers[16];
	struct handle *handle = must_connect(http_url(&server, ""));

	for (uint32_t i = 0; i < 16; i++)
		digests[i] = made_up(i);
	uint64_t start = now_ms();
	OK(ASK(handle, has, digests, 16, answers, NULL, ERR));
	CHECK(now_ms() - start >= 100);
	CHECK(now_ms() - start < 500);
}

/* A pull with nothing to do. */
TEST(http, records_of_a_known_way_cost_a_listing_and_a_request_each)
{
	struct server server = start_nginx(nginx_dav());

	check_works(http_url(&server, ""));
	stop_server(&server, SIGKILL);
	server = start_nginx(nginx_dav()); /* with an empty log */
	struct handle *handle =
		must_connect(http_url(&server, "?listing=index"));
	CHECK_INT(list_records(handle, "team/model")->count, 1);
	CHECK_INT(count_requests("", 2), 2);
}

TEST(http, a_remote_lies_where_the_documents_say)
{
	const struct tkb_bytes bytes = make_bytes(10, 1);
	struct server server = start_nginx(nginx_dav());
	struct handle *handle = must_connect(http_url(&server, "/a/b/"));
	struct tkb_digest digest = must_put(handle, bytes);

	(void)must_add(handle, "team/x@1", bytes);
	const char *hex = hex_of(&digest);
	CHECK(exists(text("nginx/www/a/b/cas/%s", hex)));
	CHECK(exists(text("nginx/www/a/b/ref/team,x@1/%s", hex)));
	CHECK_INT(count_names("nginx/www/a/b/cas"), 1);
}

static const char only_listed[] = "location / {\nautoindex on;\n"
				  "autoindex_format json;\n}\n";

static void fill_www(void)
{
	struct server server = start_nginx(nginx_dav());

	check_works(http_url(&server, ""));
}

TEST(http, a_server_that_takes_no_put_can_be_read)
{
	const struct tkb_bytes bytes = make_bytes(TKB_MIB + 7, 1);
	const struct tkb_digest digest = digest_of(bytes);

	fill_www();
	struct server server = start_nginx(only_listed);
	struct handle *handle = must_connect(http_url(&server, ""));
	CHECK_INT(list_records(handle, "team/model")->count, 1);
	CHECK_INT(list_refs(handle)->count, 1);
	CHECK_INT(list_records(handle, "none")->count, 0);
	check_blob(handle, &digest, 0, bytes);
	check_add_refused(http_url(&server, ""),
	                  "it can only be read: it takes no PUT");
	check_add_refused(http_url(&server, "/elsewhere"),
	                  "it can only be read: it takes no PUT");
}

TEST(http, a_server_that_lists_nothing_says_what_it_lacks)
{
	struct notebook *notebook = new_notebook();
	const struct tkb_record_visitor visitor = record_visitor(notebook);

	fill_www();
	struct server server = start_nginx("location / { }\n");
	struct handle *handle = must_connect(http_url(&server, ""));
	FAILS(ASK(handle, records, "team/model", &visitor, ERR), TKB_ERR_DENIED,
	      "it does not list its files: give it a JSON index");
	CHECK_INT(notebook->count, 0);
}

/* nginx without an index: it overwrites, whatever If-Match says. */
TEST(http, a_server_that_neither_lists_nor_compares_takes_no_records)
{
	struct server server = start_nginx(
		"location / {\ndav_methods PUT DELETE;\n"
		"create_full_put_path on;\nclient_max_body_size 0;\n}\n");
	const char *const sentence =
		"it can only be read: it neither lists its files nor honours "
		"If-Match";

	check_add_refused(http_url(&server, ""), sentence);
	CHECK_INT(count_names("nginx/www/cas"), 0);
	check_works(http_url(&server, "?single-writer=1"));
	check_add_refused(http_url(&server, ""), sentence);
	CHECK_INT(count_names("nginx/www/cas"), 1);
}

static int count_records(const char *url)
{
	struct handle *handle = must_connect(url);
	return (int)list_records(handle, "ref")->count;
}

TEST(http, etags_that_cannot_be_trusted_are_not)
{
	static const unsigned flags[] = { WEB_BLIND, WEB_WEAK,
		                          WEB_WEAK | WEB_LAX, WEB_STALE };

	for (size_t i = 0; i < TKB_COUNT_OF(flags); i++) {
		struct server server = start_web(flags[i]);

		check_add_refused(http_url(&server, ""),
		                  "add 'single-writer=1'");
		CHECK_INT(count_records(http_url(&server, "")), 0);
		check_works(http_url(&server, "?single-writer=1"));
		stop_server(&server, SIGKILL);
	}
}

/* The ETag may be a digest of the bytes. */
TEST(http, etags_that_are_the_same_for_the_same_bytes_can_be_trusted)
{
	struct server server = start_web(WEB_DIGEST);

	check_works(http_url(&server, ""));
}

/* What one writer alone began is readable, and safe from others. */
TEST(http, documents_are_found_by_those_who_may_not_write_them)
{
	struct server server = start_web(WEB_BLIND);

	check_works(http_url(&server, "?single-writer=1"));
	check_add_refused(http_url(&server, ""), "add 'single-writer=1'");
	struct handle *handle = must_connect(http_url(&server, ""));
	CHECK_INT(list_records(handle, "team/model")->count, 1);
}

TEST(http, a_server_that_hides_its_folders_may_be_told_to_have_documents)
{
	struct server server = start_web(WEB_SECRET);

	check_works(http_url(&server, "?listing=document"));
	check_works(http_url(&server, ""));
	check_add_refused(http_url(&server, "?listing=none"),
	                  "it can only be read");
}

TEST(http, folders_are_made_where_a_server_wants_them)
{
	struct server server = start_web(WEB_STRICT);

	check_works(http_url(&server, "/a/b%20c/d"));
	check_works(http_url(&server, ""));
}

struct writer {
	const char *url;
	uint32_t number;
	int rc;
	struct tkb_error err;
};

enum {
	WRITERS = 4,
	EACH = 12
};

static void *write_some(void *self)
{
	struct writer *writer = self;
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };

	writer->rc = open_handle(writer->url, &handle, &writer->err);
	for (uint32_t i = 0; i < EACH && writer->rc == 0; i++) {
		const uint32_t number = writer->number * EACH + i;
		const struct tkb_bytes record = { &number, sizeof(number) };
		struct tkb_digest digest;

		writer->rc = tkb_digest_of(record, &digest, &writer->err);
		if (writer->rc == 0)
			writer->rc = ASK(&handle, add, "ref", &digest, record,
			                 &writer->err);
	}
	return NULL;
}

TEST(http, writers_of_one_document_lose_nothing)
{
	struct server server = start_web(0);
	struct writer writers[WRITERS];

	(void)setenv("no_proxy", "*", 1);
	for (uint32_t i = 0; i < WRITERS; i++)
		writers[i] = (struct writer){ .url = http_url(&server, ""),
			                      .number = i };
	IN_THREADS(write_some, writers);
	for (size_t i = 0; i < WRITERS; i++)
		CHECK_OK(writers[i].rc, &writers[i].err);
	CHECK_INT(count_records(http_url(&server, "")), WRITERS * EACH);
}

TEST(http, a_record_that_is_touched_is_young_again)
{
	const struct tkb_bytes record = make_bytes(10, 1);
	struct server server = start_nginx(nginx_dav());
	struct handle *handle = must_connect(http_url(&server, ""));
	struct tkb_digest digest = must_add(handle, "ref", record);

	(void)must_put(handle, record);
	const char *hex = hex_of(&digest);
	CHECK_INT(run("touch", "-d", "2 days ago",
	              text("nginx/www/ref/ref/%s", hex),
	              text("nginx/www/cas/%s", hex), NULL)
	                  .status,
	          0);
	CHECK(list_records(handle, "ref")->items[0].age_s / 3600 == 48);
	CHECK(list_blobs(handle)->items[0].age_s / 3600 == 48);
	OK(ASK(handle, touch, "ref", &digest, ERR));
	CHECK(list_records(handle, "ref")->items[0].age_s < 60);
	/* Damage must not look young. */
	write_text(text("nginx/www/ref/ref/%s", hex), "damaged");
	CHECK_INT(ASK(handle, touch, "ref", &digest, ERR), TKB_MISS);
}

/* Touches a record in a thread of its own. */
struct toucher {
	const char *url;
	const struct tkb_digest *digest;
	int rc;
};

static void *touch_one(void *self)
{
	struct toucher *toucher = self;
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };

	toucher->rc = open_handle(toucher->url, &handle, NULL);
	if (toucher->rc == 0)
		toucher->rc = ASK(&handle, touch, "ref", toucher->digest, NULL);
	return NULL;
}

/*
 * Another client does something to the record that is touched, after it was read
 * and before it is put again. Returns what the touch did.
 */
static int touch_while(const struct server *server,
                       const struct tkb_digest *digest,
                       void (*act)(struct handle *handle,
                                   const struct tkb_digest *digest))
{
	static const struct fault late = { .harm = DELAY,
		                           .request = "PUT /ref/ref/",
		                           .at = 1,
		                           .is_upload = true,
		                           .ms = 1000,
		                           .times = 1 };
	struct handle *handle = must_connect(http_url(server, ""));
	struct proxy proxy = start_proxy(server->port, &late, 1);
	struct toucher toucher = {
		.url = text("http://127.0.0.1:%u", proxy.port),
		.digest = digest,
	};
	pthread_t thread;

	SYS(pthread_create(&thread, NULL, touch_one, &toucher));
	while (proxy.counts->struck[0] == 0)
		nap_ms(5);
	act(handle, digest);
	SYS(pthread_join(thread, NULL));
	stop_proxy(&proxy);
	return toucher.rc;
}

static void drop_it(struct handle *handle, const struct tkb_digest *digest)
{
	OK(ASK(handle, drop, "ref", digest, ERR));
}

static void touch_it(struct handle *handle, const struct tkb_digest *digest)
{
	OK(ASK(handle, touch, "ref", digest, ERR));
}

TEST(http, a_touch_does_not_bring_back_what_is_dropped_meanwhile)
{
	struct server server = start_web(0);

	(void)setenv("no_proxy", "*", 1);
	struct handle *handle = must_connect(http_url(&server, ""));
	struct tkb_digest digest = must_add(handle, "ref", make_bytes(10, 1));
	CHECK_INT(touch_while(&server, &digest, touch_it), 0);
	CHECK_INT(list_records(handle, "ref")->count, 1);
	CHECK_INT(touch_while(&server, &digest, drop_it), TKB_MISS);
	CHECK_INT(list_records(handle, "ref")->count, 0);
}
