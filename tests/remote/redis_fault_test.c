/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <sys/socket.h>

#include "fake_redis.h"

/* The Redis backend against servers that refuse, lie, or die. */

/* What an operation comes to where the server answers so. */
static void check_answer(const char *text, int status, const char *part)
{
	const char *const answers[] = { TIME_ANSWER, text, NULL };
	struct script script = { answers, false };
	struct server server = start_fake(play, &script);
	const struct tkb_digest digest = made_up(4);
	bool answered = false;
	struct handle *handle = must_connect(redis_url(&server, ""));

	FAILS(ASK(handle, has, &digest, 1, &answered, NULL, ERR), status, part);
}

static const struct {
	const char *answer;
	int status;
	const char *part;
} refusals[] = {
	{ "-MOVED 3999 10.0.0.1:6381\r\n", TKB_ERR_INVALID,
	  "a Redis Cluster, which is not supported" },
	{ "-ASK 3999 10.0.0.1:6381\r\n", TKB_ERR_INVALID, "a Redis Cluster" },
	{ "-CROSSSLOT Keys in request don't hash to the same slot\r\n",
	  TKB_ERR_INVALID, "a Redis Cluster" },
	{ "-CLUSTERDOWN The cluster is down\r\n", TKB_ERR_INVALID,
	  "a Redis Cluster" },
	{ "-LOADING Redis is loading the dataset in memory\r\n",
	  TKB_ERR_UNAVAILABLE, "still loading" },
	{ "-BUSY Redis is busy running a script.\r\n", TKB_ERR_UNAVAILABLE,
	  "busy with a script" },
	{ "-READONLY You can't write against a read only replica.\r\n",
	  TKB_ERR_DENIED, "a replica that takes nothing" },
	{ "-MASTERDOWN Link with MASTER is down\r\n", TKB_ERR_UNAVAILABLE,
	  "lost its primary" },
	{ "-MISCONF Redis is configured to save RDB snapshots\r\n",
	  TKB_ERR_UNAVAILABLE, "cannot save to its disk" },
	{ "-NOAUTH Authentication required.\r\n", TKB_ERR_DENIED,
	  "wants a password" },
	{ "-NOPERM this user has no permissions to run the 'get' "
	  "command\r\n",
	  TKB_ERR_DENIED, "do not let this user use 'get'" },
	{ "-NOPERM User bob has no permissions to run the 'get' "
	  "command\r\n",
	  TKB_ERR_DENIED, "do not let this user use 'get'" },
	{ "-NOPERM No permissions to access a key\r\n", TKB_ERR_DENIED,
	  "use these keys" },
	{ "-NOPERM '\r\n", TKB_ERR_DENIED, "use these keys" },
	{ "-DENIED Redis is running in protected mode\r\n", TKB_ERR_DENIED,
	  "in protected mode" },
	{ "-ERR max number of clients reached\r\n", TKB_ERR_UNAVAILABLE,
	  "too many clients" },
	{ "-ERR something \x07 else\r\n", TKB_ERR_UNAVAILABLE,
	  "it answers 'ERR something \\x07 else'" },
	{ "-\r\n", TKB_ERR_UNAVAILABLE, "it answers ''" },
	{ "+OK\r\n", TKB_ERR_UNAVAILABLE, "not one that Redis gives" },
	{ "$-1\r\n", TKB_ERR_UNAVAILABLE, "not one that Redis gives" },
	{ "HTTP/1.1 400 Bad Request\r\n\r\n", TKB_ERR_UNAVAILABLE,
	  "not Redis' protocol" },
	{ "*9999999\r\n", TKB_ERR_UNAVAILABLE, "more than 1048576 items" },
	{ "*2\r\n*1048575\r\n", TKB_ERR_UNAVAILABLE,
	  "more than 1048576 items" },
	{ "*99999999999999999999\r\n", TKB_ERR_UNAVAILABLE,
	  "not Redis' protocol" },
	{ "*-7\r\n", TKB_ERR_UNAVAILABLE, "not Redis' protocol" },
	{ ":9999999999999999999999\r\n", TKB_ERR_UNAVAILABLE,
	  "not Redis' protocol" },
	{ "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
	  TKB_ERR_UNAVAILABLE, "not Redis' protocol" },
	{ ",1.5\r\n", TKB_ERR_UNAVAILABLE, "not Redis' protocol" },
	{ "*1\r\n,nan\r\n", TKB_ERR_UNAVAILABLE, "not Redis' protocol" },
	{ "#t\r\n", TKB_ERR_UNAVAILABLE, "not Redis' protocol" },
	{ "*2\r\n#f\r\n:1\r\n", TKB_ERR_UNAVAILABLE, "not Redis' protocol" },
	{ "_\r\n", TKB_ERR_UNAVAILABLE, "not Redis' protocol" },
	{ "(12345678901234567890\r\n", TKB_ERR_UNAVAILABLE,
	  "not Redis' protocol" },
	{ "=7\r\ntxt:abc\r\n", TKB_ERR_UNAVAILABLE, "not Redis' protocol" },
	{ "%1\r\n+a\r\n:1\r\n", TKB_ERR_UNAVAILABLE, "not Redis' protocol" },
	{ "~1\r\n+a\r\n", TKB_ERR_UNAVAILABLE, "not Redis' protocol" },
	{ ">2\r\n+message\r\n:1\r\n", TKB_ERR_UNAVAILABLE,
	  "not Redis' protocol" },
	{ "|1\r\n+a\r\n:1\r\n:2\r\n", TKB_ERR_UNAVAILABLE,
	  "not Redis' protocol" },
	{ "$5\r\nab", TKB_ERR_UNAVAILABLE, "closed the connection" },
	{ "", TKB_ERR_UNAVAILABLE, "closed the connection" },
};

TEST(redis_fault, each_refusal_has_a_sentence)
{
	EACH(i, refusals)
		check_answer(refusals[i].answer, refusals[i].status,
		             refusals[i].part);
}

/* What Redis 6 says of GT, after the answer to TIME. */
#define NO_GT TIME_ANSWER "-ERR wrong number of arguments for 'pexpire'\r\n"

/* A day is asked for, and so much is left: is it renewed? */
static void check_renewal(const char *left, bool is_renewed)
{
	const char *const renewed[] = { NO_GT, left, ":1\r\n", ":1\r\n:10\r\n",
		                        NULL };
	const char *const left_alone[] = { NO_GT, left, ":1\r\n:10\r\n", NULL };
	struct script script = { is_renewed ? renewed : left_alone, false };
	struct server server = start_fake(play, &script);
	const struct tkb_digest digest = made_up(4);
	struct handle *handle = must_connect(redis_url(&server, "?ttl=1d"));
	bool is_there = false;
	uint64_t size = 0;

	OK(ASK(handle, has, &digest, 1, &is_there, &size, ERR));
	CHECK(is_there);
	CHECK_INT(size, 10);
}

TEST(redis_fault, an_old_server_is_asked_how_long_a_key_lives)
{
	check_renewal(":3600000\r\n", true);
	check_renewal(":64799999\r\n", true);
	check_renewal(":64800000\r\n", false);
	check_renewal(":2592000000\r\n", false);
	check_renewal(":-1\r\n", false);
	check_renewal(":-2\r\n", false);
	check_renewal("-NOPERM User bob has no permissions\r\n", true);
}

/* So much is never stored, whatever the server says of its size. */
static void send_forever(int fd, void *self)
{
	static char zeros[65536];
	const char *start = self;

	if (!wait_for_bytes(fd))
		return;
	answer(fd, TIME_ANSWER);
	if (!wait_for_bytes(fd))
		return;
	answer(fd, start);
	memset(zeros, '0', sizeof(zeros));
	while (send(fd, zeros, sizeof(zeros), 0) > 0)
		continue;
}

TEST(redis_fault, an_endless_answer_is_cut_off)
{
	static const char *const starts[] = { "$900000000\r\n", "+", "-", ":",
		                              "*1000000\r\n$900000\r\n" };
	const struct tkb_digest digest = made_up(5);

	for (size_t i = 0; i < TKB_COUNT_OF(starts); i++) {
		struct server server =
			start_fake(send_forever, (void *)(uintptr_t)starts[i]);
		bool answered = false;
		struct handle *handle = must_connect(redis_url(&server, ""));

		FAILS(ASK(handle, has, &digest, 1, &answered, NULL, ERR),
		      TKB_ERR_UNAVAILABLE,
		      "its answer has more than 65536 bytes");
		stop_server(&server, SIGKILL);
	}
}

/* A get asks for size, existence and the first bytes at once. */
TEST(redis_fault, a_blob_of_another_size_than_told_is_unavailable)
{
	static const struct {
		const char *answers;
		const char *part;
	} cases[] = {
		{ ":5\r\n:1\r\n$4\r\nabcd\r\n", "changed while it was read" },
		{ ":5\r\n:1\r\n$6\r\nabcdef\r\n", "changed while it was read" },
		{ ":5\r\n:0\r\n$0\r\n\r\n", "changed while it was read" },
		{ ":5\r\n:1\r\n:5\r\n", "not one that Redis gives" },
		{ ":5\r\n:1\r\n$5\r\nab", "closed the connection" },
	};
	const struct tkb_digest digest = made_up(6);
	BUF(got, BLOB_LIMIT);

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		const char *const answers[] = { TIME_ANSWER, cases[i].answers,
			                        NULL };
		struct script script = { answers, false };
		struct server server = start_fake(play, &script);
		struct handle *handle = must_connect(redis_url(&server, ""));

		FAILS(get(handle, &digest, 0, &got, ERR), TKB_ERR_UNAVAILABLE,
		      cases[i].part);
		CHECK_INT(got.size, 0);
		stop_server(&server, SIGKILL);
	}
}

/* It came or went between two questions: asked once more, the server knows. */
TEST(redis_fault, an_empty_answer_is_an_empty_blob_only_if_it_is_there)
{
	static const struct {
		const char *answer;
		int status;
	} cases[] = {
		{ "$-1\r\n", TKB_MISS },
		{ "$0\r\n\r\n", TKB_OK },
		{ "$3\r\nabc\r\n", TKB_ERR_UNAVAILABLE },
	};
	const struct tkb_digest digest = made_up(7);
	BUF(got, BLOB_LIMIT);

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		const char *const answers[] = { TIME_ANSWER,
			                        ":0\r\n:1\r\n$0\r\n\r\n",
			                        cases[i].answer, NULL };
		struct script script = { answers, false };
		struct server server = start_fake(play, &script);
		struct handle *handle = must_connect(redis_url(&server, ""));

		CHECK_INT(get(handle, &digest, 0, &got, ERR), cases[i].status);
		CHECK_INT(got.size, 0);
		stop_server(&server, SIGKILL);
	}
}

static const char *bulk(const char *value)
{
	return text("$%zu\r\n%s\r\n", strlen(value), value);
}

/* Two keys in two answers, one in both, the other gone meanwhile. */
TEST(redis_fault, a_scan_that_tells_a_key_twice_is_told_once)
{
	const char *one = text("%064d", 1);
	const char *two = text("%064d", 2);
	const char *key = bulk(text("tkbundle:cas:%s", one));
	const char *gone = bulk(text("tkbundle:cas:%s", two));
	const char *const answers[] = {
		TIME_ANSWER,
		text("*2\r\n$1\r\n7\r\n*3\r\n%s%s%s", key, gone, key),
		text("*2\r\n$1\r\n0\r\n*1\r\n%s", key),
		text(":5\r\n:1\r\n%s:0\r\n:0\r\n$-1\r\n", bulk("1699999000")),
		NULL
	};
	struct script script = { answers, false };
	struct server server = start_fake(play, &script);
	struct handle *handle = must_connect(redis_url(&server, ""));
	const struct notebook *notebook = list_blobs(handle);

	CHECK_INT(notebook->count, 1);
	CHECK_INT(notebook->items[0].size, 5);
	CHECK(notebook->items[0].age_s >= 1000 &&
	      notebook->items[0].age_s < 1060);
}

TEST(redis_fault, a_ref_that_is_found_twice_is_told_once)
{
	const char *key = bulk("tkbundle:ref:team/model");
	const char *const answers[] = {
		TIME_ANSWER, text("*2\r\n$1\r\n7\r\n*2\r\n%s%s", key, key),
		text("*2\r\n$1\r\n0\r\n*1\r\n%s", key), NULL
	};
	struct script script = { answers, false };
	struct server server = start_fake(play, &script);
	struct notebook *notebook = new_notebook();
	const struct tkb_ref_visitor visitor = ref_visitor(notebook);
	struct tkb_remote *remote =
		must_open_remote(redis_url(&server, ""), NULL);

	OK(tkb_remote_refs(remote, &visitor, ERR));
	CHECK_INT(notebook->count, 1);
	CHECK_STR(notebook->items[0].name, "team/model");
}

/* Does something to the server once, in the middle of a transfer. */
struct prank {
	struct server *server;
	void (*play)(struct prank *prank);
	const char *key;
	uint64_t at;
	uint64_t moved;
	bool is_done;
};

static void try_prank(struct prank *prank, uint64_t moved)
{
	if (prank->is_done || moved < prank->at)
		return;
	prank->is_done = true;
	prank->play(prank);
}

static int read_and_prank(void *self, uint64_t offset, void *data, size_t size,
                          size_t *got_out, struct tkb_error *err)
{
	(void)err;
	try_prank(self, offset);
	memset(data, 7, size);
	*got_out = size;
	return 0;
}

static int take_and_prank(void *self, struct tkb_bytes bytes,
                          struct tkb_error *err)
{
	struct prank *prank = self;

	(void)err;
	prank->moved += bytes.size;
	try_prank(prank, prank->moved);
	return 0;
}

static void kill_it(struct prank *prank)
{
	stop_server(prank->server, SIGKILL);
}

static void stop_it(struct prank *prank)
{
	(void)kill(prank->server->pid, SIGSTOP);
}

static void delete_it(struct prank *prank)
{
	(void)ask_redis(prank->server, "DEL", prank->key, NULL);
}

static void shorten_it(struct prank *prank)
{
	(void)ask_redis(prank->server, "SET", prank->key, "short", NULL);
}

/* A get of 32 MiB, in whose middle that happens. */
static void check_pranked_get(void (*play_it)(struct prank *prank),
                              const char *part)
{
	struct server server = start_redis("");
	struct prank prank = { .server = &server,
		               .play = play_it,
		               .at = 8 * TKB_MIB };
	const struct tkb_sink sink = { take_and_prank, &prank };
	struct handle *handle = must_connect(redis_url(&server, ""));

	handle->call.stall_ms = 500;
	struct tkb_digest digest =
		must_put(handle, make_bytes(32 * TKB_MIB, 8));
	prank.key = text("tkbundle:cas:%s", hex_of(&digest));
	uint64_t start = now_ms();
	FAILS(ASK(handle, get, &digest, 0, &sink, ERR), TKB_ERR_UNAVAILABLE,
	      part);
	CHECK(now_ms() - start < 2000);
	CHECK(prank.moved < 32 * TKB_MIB);
}

TEST(redis_fault, a_server_that_is_killed_in_mid_get_is_unavailable)
{
	check_pranked_get(kill_it, "closed the connection");
}

TEST(redis_fault, a_server_that_stands_still_in_mid_get_is_unavailable)
{
	check_pranked_get(stop_it, "no byte moved for 500 ms");
}

TEST(redis_fault, a_blob_that_is_evicted_in_mid_get_is_unavailable)
{
	check_pranked_get(delete_it, "changed while it was read");
}

TEST(redis_fault, a_blob_that_is_replaced_in_mid_get_is_unavailable)
{
	check_pranked_get(shorten_it, "changed while it was read");
}

/* A put of 64 MiB, in whose middle that happens. */
static void check_pranked_put(void (*play_it)(struct prank *prank),
                              const char *part)
{
	struct server server = start_redis("");
	struct prank prank = { .server = &server,
		               .play = play_it,
		               .at = 20 * TKB_MIB };
	const struct tkb_blob blob = { 64 * TKB_MIB,
		                       { read_and_prank, &prank } };
	const struct tkb_digest digest = made_up(9);
	struct handle *handle = must_connect(redis_url(&server, ""));

	handle->call.stall_ms = 500;
	uint64_t start = now_ms();
	FAILS(ASK(handle, put, &digest, &blob, ERR), TKB_ERR_UNAVAILABLE, part);
	CHECK(now_ms() - start < 2000);
}

TEST(redis_fault, a_server_that_is_killed_in_mid_put_is_unavailable)
{
	check_pranked_put(kill_it, "closed the connection");
}

TEST(redis_fault, a_server_that_stands_still_in_mid_put_is_unavailable)
{
	check_pranked_put(stop_it, "no byte moved for 500 ms");
}

TEST(redis_fault, a_writer_that_breaks_off_leaves_nothing)
{
	struct server server = start_redis("");
	struct prank prank = { .server = &server,
		               .play = stop_it,
		               .at = 20 * TKB_MIB };
	const struct tkb_blob blob = { 64 * TKB_MIB,
		                       { read_and_prank, &prank } };
	const struct tkb_digest digest = made_up(10);
	struct handle *handle = must_connect(redis_url(&server, ""));

	handle->call.stall_ms = 200;
	CHECK_INT(ASK(handle, put, &digest, &blob, ERR), TKB_ERR_UNAVAILABLE);
	close_handle(handle);
	(void)kill(server.pid, SIGCONT);
	CHECK_STR(ask_redis(&server, "DBSIZE", NULL), "0\n");
}

static int end_at_half(void *self, uint64_t offset, void *data, size_t size,
                       size_t *got_out, struct tkb_error *err)
{
	(void)self;
	if (offset >= 4 * TKB_MIB)
		return tkb_fail(err, TKB_ERR_INVALID, "enough");
	memset(data, 1, size);
	*got_out = size;
	return 0;
}

/* What was begun cannot be taken back: the core connects again. */
TEST(redis_fault, a_put_that_its_source_ends_ends_the_connection)
{
	struct server server = start_redis("");
	const struct tkb_digest digest = made_up(13);
	const struct tkb_blob blob = { 8 * TKB_MIB, { end_at_half, NULL } };
	bool answered = false;
	struct handle *handle = must_connect(redis_url(&server, ""));

	handle->call.stall_ms = 500;
	FAILS(ASK(handle, put, &digest, &blob, ERR), TKB_ERR_INVALID, "enough");
	FAILS(ASK(handle, has, &digest, 1, &answered, NULL, ERR),
	      TKB_ERR_UNAVAILABLE, "connection was broken off");
	close_handle(handle);
	CHECK_STR(ask_redis(&server, "DBSIZE", NULL), "0\n");
}

/* What the peer said before it hung up is found, though we were writing. */
TEST(redis_fault, the_last_words_of_a_server_are_heard)
{
	static const char *const answers[] = {
		TIME_ANSWER, "-ERR max number of clients reached\r\n", NULL
	};
	struct script script = { answers, false };
	struct server server = start_fake(play, &script);
	const struct tkb_bytes bytes = make_bytes(TKB_MIB, 11);
	const struct tkb_digest digest = digest_of(bytes);
	struct handle *handle = must_connect(redis_url(&server, ""));

	FAILS(put_blob(handle, &digest, &bytes, ERR), TKB_ERR_UNAVAILABLE,
	      "too many clients");
}

static void hang_up(int fd, void *self)
{
	(void)self;
	if (wait_for_bytes(fd))
		answer(fd, "+OK\r\n" TIME_ANSWER);
}

TEST(redis_fault, no_signal_is_raised_and_the_reason_names_the_remote)
{
	struct server server = start_fake(hang_up, NULL);
	const struct tkb_bytes bytes = make_bytes(8 * TKB_MIB, 12);
	const struct tkb_blob blob = { bytes.size, tkb_memory_source(&bytes) };
	struct tkb_remote *remote = must_open_remote(
		text("redis://bob:s3cret@127.0.0.1:%u", server.port), NULL);

	FAILS(tkb_remote_put(remote, &blob, NULL, ERR), TKB_ERR_UNAVAILABLE,
	      text("remote 'redis://127.0.0.1:%u': it closed", server.port));
}
