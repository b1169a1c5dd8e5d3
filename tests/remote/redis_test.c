/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fake_redis.h"

/* The Redis backend against the real redis-server. */

static void check_refused(const char *url, int status, const char *part)
{
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };

	FAILS(open_handle(url, &handle, ERR), status, part);
	CHECK(strstr(ERR->message, "s3cret") == NULL);
	CHECK(strstr(ERR->message, "somebody") == NULL);
}

TEST(redis, urls_that_make_no_sense_are_refused)
{
	static const struct {
		const char *url;
		const char *part;
	} cases[] = {
		{ "redis://", "has no host" },
		{ "redis://:s3cret@/2", "has no host" },
		{ "redis://user:a@b@host", "write '@' as %40" },
		{ "redis://host:0", "not a number from 1 to 65535" },
		{ "redis://host:65536", "not a number from 1 to 65535" },
		{ "redis://[::1", "cannot be read: Bad IPv6 address" },
		{ "redis://host/%zz", "wants two hexadecimal digits" },
		{ "redis://host?prefix=%00", "has a control character" },
		{ "redis://%ff", "has a control character, or is not UTF-8" },
		{ "redis://host/1#a", "'#' in a remote's URL is written" },
		{ "redis://host?db=1&%64b=2", "has parameter 'db' twice" },
		{ "redis://host/two", "'db' wants a database's number" },
		{ "redis://host/1/2", "'db' wants a database's number" },
		{ "redis://host?db=-1", "'db' wants a database's number" },
		{ "redis://host/1?db=1", "names a database twice" },
		{ "redis://host?ttl=soon", "'ttl' wants a time" },
		{ "redis://host?ttl=0", "'ttl' wants a time" },
		{ "redis://host?ttl=9999999d", "'ttl' wants a time" },
		{ "redis://host?prefix=", "'prefix' wants up to 64 bytes" },
		{ "redis://host?cafile=ca.pem", "'cafile' is for TLS" },
		{ "redis://host?verify=true", "'verify' is for TLS" },
		{ "redis+unix:///s?cert=c.pem", "'cert' is for TLS" },
		{ "rediss://host?verify=no", "'verify' wants 'true'" },
		{ "redis+unix://host/s", "a path and no host" },
		{ "redis+unix://", "a path and no host" },
	};
	const char *long_path = text("redis+unix:///%0120d", 0);

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++)
		check_refused(cases[i].url, TKB_ERR_INVALID, cases[i].part);
	check_refused(long_path, TKB_ERR_INVALID, "path is longer than 107");
	check_refused(text("redis://host?prefix=%065d", 0), TKB_ERR_INVALID,
	              "'prefix' wants");
}

TEST(redis, a_password_opens_and_nothing_else_does)
{
	struct server server = start_redis("requirepass s3cret\n");
	struct handle *handle =
		must_connect(text("redis://:s3cret@127.0.0.1:%u", server.port));

	(void)must_put(handle, make_bytes(10, 1));
	close_handle(handle);
	check_refused(text("redis://127.0.0.1:%u", server.port), TKB_ERR_DENIED,
	              "it wants a password");
	check_refused(text("redis://:s3cret2@127.0.0.1:%u", server.port),
	              TKB_ERR_DENIED, "does not know this user and password");
	check_refused(text("redis://somebody:s3cret@127.0.0.1:%u", server.port),
	              TKB_ERR_DENIED, "does not know this user and password");
}

TEST(redis, a_password_holds_whatever_its_url_encodes)
{
	struct server server =
		start_redis("requirepass \"a@b:c/d?e#f%41,\xc3\xa9\"\n");

	close_handle(must_connect(
		text("redis://:a%%40b:c%%2Fd%%3Fe%%23f%%2541%%2C%%C3%%A9"
	             "@127.0.0.1:%u",
	             server.port)));
}

TEST(redis, a_password_that_is_not_wanted_is_refused)
{
	struct server server = start_redis("");

	check_refused(text("redis://:s3cret@127.0.0.1:%u", server.port),
	              TKB_ERR_DENIED, "refuses the user or the password");
}

/* As redis.h documents them. */
#define PULL "+time +exists +strlen +get +getrange +hgetall "
#define PULL_ALL PULL "+hexists +hset +hdel "
#define PUSH PULL_ALL "+set +zadd +hsetnx "
#define GC PUSH "+scan +zscore +del +zrem "
#define TTL "+pexpire +psetex "

static const char *user(const char *name, const char *rights)
{
	return text("user %s on >s3cret ~tkbundle:* resetchannels -@all %s\n",
	            name, rights);
}

static struct handle *open_as(const struct server *server, const char *name,
                              const char *rest)
{
	return must_connect(text("redis://%s:s3cret@127.0.0.1:%u%s", name,
	                         server->port, rest));
}

TEST(redis, the_documented_rights_are_enough)
{
	struct server server = start_redis(text(
		"%s%s%s%s", user("puller", PULL), user("toucher", PULL_ALL),
		user("pusher", PUSH), user("cleaner", GC "+select " TTL)));
	const struct tkb_bytes large = make_bytes(3 * TKB_MIB, 1);
	struct handle *pusher = open_as(&server, "pusher", "");

	struct tkb_digest digest = must_put(pusher, large);
	(void)must_put(pusher, make_bytes(10, 2));
	(void)must_add(pusher, "ref", large);
	CHECK(is_there(pusher, &digest));
	CHECK_INT(list_records(pusher, "ref")->count, 1);
	OK(ASK(pusher, drop, "ref", &digest, ERR));
	(void)must_add(pusher, "ref", large);
	struct handle *puller = open_as(&server, "puller", "");

	check_blob(puller, &digest, 0, large);
	CHECK_INT(list_records(puller, "ref")->count, 1);
	struct handle *toucher = open_as(&server, "toucher", "");

	OK(ASK(toucher, touch, "ref", &digest, ERR));

	struct handle *cleaner = open_as(&server, "cleaner", "/0?ttl=1d");
	(void)must_put(cleaner, make_bytes(10, 2));
	CHECK_INT(list_blobs(cleaner)->count, 2);
	CHECK_INT(list_refs(cleaner)->count, 1);
	OK(ASK(cleaner, remove, &digest, ERR));
}

TEST(redis, a_right_that_is_lacking_is_named_and_the_rest_works)
{
	struct server server = start_redis(
		text("%suser blind on >s3cret ~other:* resetchannels +@all\n",
	             user("puller", PULL)));
	const struct tkb_bytes bytes = make_bytes(2 * TKB_MIB, 3);
	const struct tkb_digest digest = digest_of(bytes);
	const struct tkb_blob_visitor visitor = blob_visitor(new_notebook());
	struct handle *handle = open_as(&server, "puller", "?ttl=1d");

	FAILS(put_blob(handle, &digest, &bytes, ERR), TKB_ERR_DENIED,
	      "do not let this user use 'psetex': grant the right to write "
	      "there, or do not push (push=never)");
	CHECK(!is_there(handle, &digest));
	FAILS(ASK(handle, list, &visitor, ERR), TKB_ERR_DENIED, "'scan'");
	CHECK_INT(list_records(handle, "none")->count, 0);
	struct handle *blind = open_as(&server, "blind", "");

	FAILS(put_blob(blind, &digest, &bytes, ERR), TKB_ERR_DENIED,
	      "do not let this user use these keys");
}

TEST(redis, a_user_may_have_no_password)
{
	struct server server = start_redis("user guest on nopass ~* +@all\n"
	                                   "requirepass s3cret\n");
	struct handle *handle =
		must_connect(text("redis://guest@127.0.0.1:%u", server.port));

	(void)must_put(handle, make_bytes(10, 4));
}

TEST(redis, a_unix_socket_serves_as_well)
{
	struct server server = start_redis("requirepass s3cret\n");
	const struct tkb_bytes bytes = make_bytes(3 * TKB_MIB + 1, 5);
	struct handle *handle = must_connect(
		text("redis+unix://:s3cret@%s?db=3", server.socket));
	struct tkb_digest digest = must_put(handle, bytes);

	check_blob(handle, &digest, 0, bytes);
	close_handle(handle);
	check_refused(text("redis+unix://:s3cret@%s.none", server.socket),
	              TKB_ERR_UNAVAILABLE, "No such file");
}

TEST(redis, databases_are_apart)
{
	struct server server = start_redis("databases 3\n");
	struct handle *first = must_connect(redis_url(&server, "/1"));
	struct handle *second = must_connect(redis_url(&server, "?db=2"));
	struct handle *again = must_connect(redis_url(&server, "/2"));
	struct tkb_digest digest = must_put(second, make_bytes(10, 6));

	CHECK(!is_there(first, &digest));
	CHECK(is_there(again, &digest));
	check_refused(redis_url(&server, "/7"), TKB_ERR_INVALID,
	              "no such database");
}

/* A prefix may look like a pattern, or begin another one. */
TEST(redis, prefixes_are_apart)
{
	static const char *const prefixes[] = { "a",    "a%2A", "%5Bab%5D",
		                                "a%3F", "a%5C", "a:ref:b",
		                                "ab",   "a:ref" };
	struct handle handles[TKB_COUNT_OF(prefixes)] = { { .self = NULL } };
	struct server server = start_redis("");

	for (size_t i = 0; i < TKB_COUNT_OF(prefixes); i++) {
		must_open(redis_url(&server, text("?prefix=%s", prefixes[i])),
		          &handles[i]);
		(void)must_put(&handles[i], make_bytes(10, (uint32_t)i));
		(void)must_add(&handles[i], text("ref%zu", i),
		               make_bytes(10, (uint32_t)i));
	}
	for (size_t i = 0; i < TKB_COUNT_OF(prefixes); i++) {
		const struct tkb_digest digest =
			digest_of(make_bytes(10, (uint32_t)i));
		const struct notebook *blobs = list_blobs(&handles[i]);
		const struct notebook *refs = list_refs(&handles[i]);

		CHECK_INT(blobs->count, 1);
		CHECK_INT(count_digest(blobs, &digest), 1);
		CHECK_INT(refs->count, 1);
		CHECK_INT(count_name(refs, text("ref%zu", i)), 1);
	}
	for (size_t i = 0; i < TKB_COUNT_OF(prefixes); i++)
		close_handle(&handles[i]);
}

static long long ttl_of(const struct server *server, const char *key)
{
	return atoll(ask_redis(server, "PTTL", key, NULL));
}

static const char *blob_key(const struct tkb_digest *digest)
{
	return text("tkbundle:cas:%s", hex_of(digest));
}

TEST(redis, without_a_ttl_nothing_expires)
{
	struct server server = start_redis("");
	struct handle *handle = must_connect(redis_url(&server, ""));
	struct tkb_digest small = must_put(handle, make_bytes(10, 7));
	struct tkb_digest large = must_put(handle, make_bytes(2 * TKB_MIB, 7));

	(void)must_add(handle, "ref", make_bytes(10, 7));
	CHECK_INT(ttl_of(&server, blob_key(&small)), -1);
	CHECK_INT(ttl_of(&server, blob_key(&large)), -1);
	CHECK_INT(ttl_of(&server, "tkbundle:ref:ref"), -1);
}

TEST(redis, a_ttl_ends_what_nobody_uses)
{
	struct server server = start_redis("");
	struct handle *handle = must_connect(redis_url(&server, "?ttl=300ms"));
	struct tkb_digest small = must_put(handle, make_bytes(10, 8));
	struct tkb_digest large = must_put(handle, make_bytes(2 * TKB_MIB, 8));

	(void)must_add(handle, "ref", make_bytes(10, 8));
	nap_ms(400);
	CHECK(!is_there(handle, &small));
	CHECK(!is_there(handle, &large));
	CHECK_INT(list_blobs(handle)->count, 0);
	CHECK_INT(list_records(handle, "ref")->count, 0);
	CHECK_INT(list_refs(handle)->count, 0);
}

/* An hour is left of a day; each kind of use gives the day back. */
TEST(redis, what_is_used_lives_on)
{
	const long long hour = 3600 * 1000;
	struct server server = start_redis("");
	const struct tkb_bytes bytes = make_bytes(10, 9);
	struct handle *handle = must_connect(redis_url(&server, "?ttl=1d"));
	struct tkb_digest digest = must_put(handle, bytes);

	(void)must_add(handle, "ref", bytes);
	const char *blob = blob_key(&digest);
	CHECK(ttl_of(&server, blob) > 23 * hour);
	(void)ask_redis(&server, "EXPIRE", blob, "3600", NULL);
	check_blob(handle, &digest, 0, bytes);
	CHECK(ttl_of(&server, blob) > 23 * hour);
	(void)ask_redis(&server, "EXPIRE", blob, "3600", NULL);
	CHECK(is_there(handle, &digest));
	CHECK(ttl_of(&server, blob) > 23 * hour);
	for (int i = 0; i < 2; i++) {
		(void)ask_redis(&server, "EXPIRE", "tkbundle:ref:ref", "3600",
		                NULL);
		(void)ask_redis(&server, "EXPIRE", "tkbundle:used:ref", "3600",
		                NULL);
		if (i == 0)
			CHECK_INT(list_records(handle, "ref")->count, 1);
		else
			OK(ASK(handle, touch, "ref", &digest, ERR));
		CHECK(ttl_of(&server, "tkbundle:ref:ref") > 23 * hour);
		CHECK(ttl_of(&server, "tkbundle:used:ref") > 23 * hour);
	}
}

/* Use all that is there, in each way. */
static void use_all(struct handle *handle, const struct tkb_digest *digest,
                    struct tkb_bytes bytes)
{
	check_blob(handle, digest, 0, bytes);
	CHECK(is_there(handle, digest));
	CHECK_INT(list_records(handle, "ref")->count, 1);
	OK(ASK(handle, touch, "ref", digest, ERR));
	(void)must_add(handle, "ref", bytes);
}

TEST(redis, a_shorter_ttl_shortens_no_life)
{
	static const char *const names[] = { "tkbundle:ref:ref",
		                             "tkbundle:used:ref" };
	const long long day = 24 * 3600 * 1000;
	const struct tkb_bytes bytes = make_bytes(10, 9);

	for (int never = 0; never < 2; never++) {
		struct server server = start_redis("");
		struct handle *owner = must_connect(
			redis_url(&server, never ? "" : "?ttl=30d"));
		struct tkb_digest digest = must_put(owner, bytes);

		(void)must_add(owner, "ref", bytes);
		use_all(must_connect(redis_url(&server, "?ttl=1d")), &digest,
		        bytes);
		for (int i = 0; i < 3; i++) {
			const char *key = i < 2 ? names[i] : blob_key(&digest);
			const long long ttl = ttl_of(&server, key);

			CHECK(never ? ttl == -1 : ttl > 29 * day);
		}
		stop_server(&server, SIGTERM);
	}
}

/* The server may evict the keys that hold times, too. */
TEST(redis, times_that_were_lost_are_noted_anew)
{
	struct server server = start_redis("");
	struct handle *handle = must_connect(redis_url(&server, ""));
	struct tkb_digest digest = must_put(handle, make_bytes(10, 10));

	(void)must_add(handle, "ref", make_bytes(10, 10));
	const char *hex = hex_of(&digest);
	(void)ask_redis(&server, "ZADD", "tkbundle:times:cas", "1000", hex,
	                NULL);
	(void)ask_redis(&server, "HSET", "tkbundle:used:ref", hex, "1000",
	                NULL);
	CHECK(list_blobs(handle)->items[0].age_s > 1000000000);
	CHECK(list_records(handle, "ref")->items[0].age_s > 1000000000);

	(void)ask_redis(&server, "DEL", "tkbundle:times:cas",
	                "tkbundle:used:ref", NULL);
	CHECK(list_blobs(handle)->items[0].age_s < 60);
	CHECK(list_records(handle, "ref")->items[0].age_s < 60);
	CHECK_STR(ask_redis(&server, "ZCARD", "tkbundle:times:cas", NULL),
	          "1\n");
	CHECK_STR(ask_redis(&server, "HLEN", "tkbundle:used:ref", NULL), "1\n");
}

/* The clock of whoever noted it was fast. */
TEST(redis, a_time_that_is_yet_to_come_makes_nothing_old)
{
	struct server server = start_redis("");
	struct handle *handle = must_connect(redis_url(&server, ""));
	struct tkb_digest digest = must_put(handle, make_bytes(10, 11));

	(void)must_add(handle, "ref", make_bytes(10, 11));
	const char *hex = hex_of(&digest);
	(void)ask_redis(&server, "ZADD", "tkbundle:times:cas", "99999999999",
	                hex, NULL);
	(void)ask_redis(&server, "HSET", "tkbundle:used:ref", hex,
	                "99999999999", NULL);
	CHECK_INT(list_blobs(handle)->items[0].age_s, 0);
	CHECK_INT(list_records(handle, "ref")->items[0].age_s, 0);
}

TEST(redis, what_is_gone_leaves_no_time)
{
	struct server server = start_redis("");
	const struct tkb_digest missing = made_up(15);
	struct handle *handle = must_connect(redis_url(&server, ""));
	struct tkb_digest digest = must_put(handle, make_bytes(10, 15));

	(void)must_add(handle, "ref", make_bytes(10, 15));
	CHECK_INT(ASK(handle, touch, "ref", &missing, ERR), TKB_MISS);
	CHECK_STR(ask_redis(&server, "HLEN", "tkbundle:used:ref", NULL), "1\n");
	OK(ASK(handle, drop, "ref", &digest, ERR));
	OK(ASK(handle, remove, &digest, ERR));
	CHECK_STR(ask_redis(&server, "DBSIZE", NULL), "0\n");
}

/* What somebody else keeps under such keys is not ours. */
TEST(redis, strange_keys_are_passed_over)
{
	struct server server = start_redis("");
	struct handle *handle = must_connect(redis_url(&server, ""));

	(void)must_put(handle, make_bytes(10, 11));
	(void)must_add(handle, "ref", make_bytes(10, 11));
	(void)ask_redis(&server, "SET", "tkbundle:cas:short", "1", NULL);
	(void)ask_redis(&server, "SET",
	                text("tkbundle:cas:%s", text("%064X", 171)), "1", NULL);
	(void)ask_redis(&server, "HSET", "tkbundle:ref:../x", "a", "b", NULL);
	(void)ask_redis(&server, "HSET", "tkbundle:ref:ref", "note", "b", NULL);
	CHECK_INT(list_blobs(handle)->count, 1);
	CHECK_INT(list_refs(handle)->count, 1);
	CHECK_INT(list_records(handle, "ref")->count, 1);
}

/* A scan of many keys comes in many answers. */
TEST(redis, many_other_keys_do_not_matter)
{
	struct server server = start_redis("enable-debug-command yes\n");

	(void)ask_redis(&server, "DEBUG", "POPULATE", "50000", NULL);
	struct handle *handle = must_connect(redis_url(&server, ""));
	for (uint32_t i = 0; i < 50; i++) {
		(void)must_put(handle, make_bytes(10, i));
		(void)must_add(handle, text("ref%u", i), make_bytes(10, i));
	}
	CHECK_INT(list_blobs(handle)->count, 50);
	CHECK_INT(list_refs(handle)->count, 50);
}

/* Small ones and such as come in chunks. */
static size_t size_of_blob(uint32_t number)
{
	return number % 4 == 0 ? 3 * TKB_MIB : 300 * TKB_KIB;
}

TEST(redis, what_was_evicted_is_a_miss_and_never_damage)
{
	enum {
		COUNT = 80
	};
	struct server server = start_redis("maxmemory 30mb\n"
	                                   "maxmemory-policy allkeys-lru\n");
	struct tkb_digest *digests = test_alloc(COUNT * sizeof(*digests));
	BUF(got, BLOB_LIMIT);
	size_t there = 0;
	struct handle *handle = must_connect(redis_url(&server, ""));

	for (uint32_t i = 0; i < COUNT; i++)
		digests[i] = must_put(handle, make_bytes(size_of_blob(i), i));
	/* Answers that nobody has read yet take memory, too. */
	(void)ask_redis(&server, "CONFIG", "SET", "maxmemory", "0", NULL);
	const struct notebook *notebook = list_blobs(handle);
	for (uint32_t i = 0; i < COUNT; i++) {
		const bool is_told = count_digest(notebook, &digests[i]) == 1;
		const int rc = get(handle, &digests[i], 0, &got, ERR);

		CHECK_INT(is_there(handle, &digests[i]), is_told);
		CHECK_INT(rc, is_told ? 0 : TKB_MISS);
		if (rc == 0)
			CHECK(tkb_bytes_equal(tkb_buf_bytes(&got),
			                      make_bytes(size_of_blob(i), i)));
		there += is_told;
	}
	CHECK(there > 0 && there < COUNT);
	CHECK_INT(notebook->count, there);
}

TEST(redis, a_full_server_that_evicts_nothing_says_so)
{
	struct server server = start_redis("maxmemory 8mb\n"
	                                   "maxmemory-policy noeviction\n");
	const struct tkb_bytes large = make_bytes(20 * TKB_MIB, 12);
	const struct tkb_digest digest = digest_of(large);
	struct handle *handle = must_connect(redis_url(&server, ""));
	struct tkb_digest small = must_put(handle, make_bytes(10, 12));

	FAILS(put_blob(handle, &digest, &large, ERR), TKB_ERR_UNAVAILABLE,
	      "its memory is full (maxmemory), and it evicts nothing: give it "
	      "more");
	CHECK(is_there(handle, &small));
	CHECK(!is_there(handle, &digest));
}

TEST(redis, a_replica_can_be_read_and_says_that_it_takes_nothing)
{
	struct server server = start_redis("");
	struct server replica = start_redis(text("replicaof 127.0.0.1 %u\n"
	                                         "repl-diskless-sync-delay 0\n",
	                                         server.port));
	const struct tkb_bytes bytes = make_bytes(10, 13);
	struct handle *handle = must_connect(redis_url(&server, ""));
	struct handle *reader = must_connect(redis_url(&replica, "?ttl=1d"));
	struct tkb_digest digest = must_put(handle, bytes);

	for (int i = 0; i < 500 && !is_there(reader, &digest); i++)
		nap_ms(20);
	FAILS(put_blob(reader, &digest, &bytes, ERR), TKB_ERR_DENIED,
	      "it is a replica that takes nothing");
	check_blob(reader, &digest, 0, bytes);
}

/* One node alone serves no keys; to switch databases it forbids at once. */
TEST(redis, a_cluster_is_refused_in_one_sentence)
{
	struct server server = start_redis("cluster-enabled yes\n");
	const struct tkb_bytes bytes = make_bytes(10, 16);
	const struct tkb_digest digest = digest_of(bytes);
	struct handle *handle = must_connect(redis_url(&server, ""));

	FAILS(put_blob(handle, &digest, &bytes, ERR), TKB_ERR_INVALID,
	      "a Redis Cluster, which is not supported");
	check_refused(redis_url(&server, "/1"), TKB_ERR_INVALID,
	              "a Redis Cluster, which is not supported");
}

/* How often the server has read from its clients. */
static long long reads_of(const struct server *server)
{
	const char *info = ask_redis(server, "INFO", "stats", NULL);
	const char *found = strstr(info, "total_reads_processed:");

	CHECK(found != NULL);
	return atoll(found + strlen("total_reads_processed:"));
}

TEST(redis, questions_travel_together)
{
	enum {
		COUNT = 512
	};
	struct server server = start_redis("");
	struct tkb_digest *digests = test_alloc(COUNT * sizeof(*digests));
	bool *answers = test_alloc(COUNT * sizeof(*answers));
	long long before;
	long long asking;

	for (uint32_t i = 0; i < COUNT; i++)
		digests[i] = made_up(i);
	before = reads_of(&server);
	asking = reads_of(&server) - before;
	struct handle *handle = must_connect(redis_url(&server, "/0?ttl=1d"));
	CHECK_INT(list_records(handle, "ref")->count, 0);
	CHECK_INT(reads_of(&server) - before - 2 * asking, 2);
	OK(ASK(handle, has, digests, COUNT, answers, NULL, ERR));
	CHECK(reads_of(&server) - before - 3 * asking < 20);
}

/* A blob that is made as it is read, and checked as it is got. */
static int make_some(void *self, uint64_t offset, void *data, size_t size,
                     size_t *got_out, struct tkb_error *err)
{
	unsigned char *bytes = data;

	(void)self, (void)err;
	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)((offset + i) * 31 >> 7);
	*got_out = size;
	return 0;
}

static int check_some(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	const unsigned char *got = bytes.data;
	uint64_t *offset = self;

	for (size_t i = 0; i < bytes.size; i++) {
		if (got[i] != (unsigned char)((*offset + i) * 31 >> 7))
			return tkb_fail(err, TKB_ERR_CORRUPT, "wrong byte");
	}
	*offset += bytes.size;
	return 0;
}

/* In a process of its own: the peak is the process's. KiB, or less than 0. */
static long peak_growth(const char *url)
{
	const struct tkb_digest digest = made_up(14);
	const struct tkb_blob blob = { 64 * TKB_MIB, { make_some, NULL } };
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	uint64_t offset = 0;
	const struct tkb_sink sink = { check_some, &offset };
	struct rusage before;
	struct rusage after;

	(void)getrusage(RUSAGE_SELF, &before);
	if (open_handle(url, &handle, NULL) < 0 ||
	    ASK(&handle, put, &digest, &blob, NULL) < 0 ||
	    ASK(&handle, get, &digest, 0, &sink, NULL) < 0 ||
	    offset != blob.size)
		return -1024;
	(void)getrusage(RUSAGE_SELF, &after);
	return after.ru_maxrss - before.ru_maxrss;
}

TEST(redis, a_large_blob_takes_little_memory)
{
	if (IS_SANITIZED)
		skip(); /* it keeps what is freed */
	struct server server = start_redis("");
	const char *url = redis_url(&server, "");

	/* What earlier tests left would do. */
	(void)malloc_trim(0);
	pid_t pid = must_fork();
	if (pid == 0) {
		const long growth = peak_growth(url) / 1024;

		_exit(growth < 0 || growth > 255 ? 255 : (int)growth);
	}
	CHECK(end_of(pid) < 16);
}

/* The server would close the connection, in the middle of the blob. */
TEST(redis, a_blob_that_no_value_holds_is_refused_before_it_is_sent)
{
	const struct tkb_digest digest = made_up(15);
	const struct tkb_blob blob = { 512 * TKB_MIB + 1, { NULL, NULL } };
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct server server = start_redis("");

	OK(open_handle(redis_url(&server, ""), &handle, ERR));
	FAILS(ASK(&handle, put, &digest, &blob, ERR), TKB_ERR_TOO_LARGE,
	      "at most 512 MiB");
}

TEST(redis, verify_false_is_warned_of_and_no_name_holds_a_secret)
{
	struct tkb_remote *remote = must_open_remote(
		"rediss://somebody:s3cret@host:1/2?verify=false,"
		"redis://:s3cret@host",
		NULL);

	CHECK_STR(tkb_remote_tier_name(remote, 0), "rediss://host:1/2");
	CHECK_CONTAINS(tkb_remote_tier_warning(remote, 0),
	               "its certificate is not checked");
	CHECK_STR(tkb_remote_tier_name(remote, 1), "redis://host");
	CHECK(tkb_remote_tier_warning(remote, 1) == NULL);
}

TEST(remote, tells_which_of_its_tiers_are_folders)
{
	struct tkb_remote *remote = must_open_remote(
		"file:///a%20b/c?sync=false,redis://host,/d", NULL);

	CHECK_STR(tkb_remote_tier_folder(remote, 0), "/a b/c");
	CHECK(tkb_remote_tier_folder(remote, 1) == NULL);
	CHECK_STR(tkb_remote_tier_folder(remote, 2), "/d");
}

static int count_record(void *self, const struct tkb_digest *digest,
                        struct tkb_bytes bytes, uint64_t age_s,
                        struct tkb_error *err)
{
	(void)digest, (void)bytes, (void)age_s, (void)err;
	++*(int *)self;
	return 0;
}

TEST(remote, reads_records_past_a_tier_whose_errors_are_to_be_ignored)
{
	const char *folder = text("file://%s/shared", test_folder());
	struct tkb_remote *remote =
		must_open_remote(text("redis://127.0.0.1:%u?on-error=ignore,%s",
	                              free_port(), folder),
	                         NULL);
	int count = 0;
	const struct tkb_record_visitor visitor = { .on_record = count_record,
		                                    .self = &count };

	(void)must_add(must_connect(folder), "ref", make_bytes(10, 12));
	OK(tkb_remote_records(remote, "ref", &visitor, ERR));
	CHECK_INT(count, 1);
}
