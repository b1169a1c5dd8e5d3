/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/signatures.h>

#include "fleet_fixture.h"
#include "recording.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Who follows a push, a pull or a clean-up ends its waits for the network. */

enum {
	PATIENCE_MS = 300,
	LIMIT_MS = 500, /* from the end of patience to the return */
	/* The same with ThreadSanitizer, where OpenSSL takes 250 ms to begin. */
	HANDSHAKE_LIMIT_MS = 2500,
	ATTEMPTS = 4 /* of which one is in time, on a busy machine */
};

/* A server that takes connections and says nothing, ever. */
struct mute {
	int fd;
	unsigned port;
};

static void close_mute(struct mute *mute)
{
	(void)close(mute->fd);
}

static struct mute start_mute(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct mute mute = { .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC,
		                          0) };
	socklen_t size = sizeof(address);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	SYS(bind(mute.fd, (const struct sockaddr *)&address, sizeof(address)));
	SYS(listen(mute.fd, 64));
	CHECK_INT(getsockname(mute.fd, (struct sockaddr *)&address, &size), 0);
	mute.port = ntohs(address.sin_port);
	return mute;
}

/* Waits of minutes, so that nothing but the watch can end them. */
static const struct tkb_remote_options patient = {
	SIZED(patient),
	.timeout_ms = 60000,
	.connect_timeout_ms = 60000,
	.stall_timeout_ms = 60000,
};

/* How it ends. */
struct end {
	const struct tkb_watch *watch;
	uint32_t deadline_ms;
};

/* What works with a remote. */
typedef int (*work)(struct tkb_remote *remote, const struct end *end,
                    struct tkb_error *err);

static int pull(struct tkb_remote *remote, const struct end *end,
                struct tkb_error *err)
{
	const struct tkb_emit_options emit = { SIZED(emit), .watch = end->watch,
		                               .deadline_ms =
		                                       end->deadline_ms };
	const struct tkb_pull_options options = { SIZED(options), .emit = &emit,
		                                  .connections = 3 };

	return tkb_pull(remote, REF, "pulled", &options, NULL, err);
}

static int drop(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)self;
	(void)bytes;
	(void)err;
	return 0;
}

static int pull_bundle(struct tkb_remote *remote, const struct end *end,
                       struct tkb_error *err)
{
	const struct tkb_sink sink = { drop, NULL };
	const struct tkb_emit_options emit = { SIZED(emit), .watch = end->watch,
		                               .deadline_ms =
		                                       end->deadline_ms };
	const struct tkb_pull_options options = { SIZED(options), .emit = &emit,
		                                  .connections = 3 };

	return tkb_pull_bundle(remote, REF, &options, &sink, NULL, err);
}

static int push(struct tkb_remote *remote, const struct end *end,
                struct tkb_error *err)
{
	const struct tkb_push_options options = {
		SIZED(options),
		.collect = &CHOSEN(tkb_collect_options, .watch = end->watch,
		                   .deadline_ms = end->deadline_ms),
	};

	return tkb_push(remote, REF, "pool", &options, NULL, err);
}

static int push_bundle(struct tkb_remote *remote, const struct end *end,
                       struct tkb_error *err)
{
	const struct tkb_push_options options = {
		SIZED(options),
		.collect = &CHOSEN(tkb_collect_options, .watch = end->watch,
		                   .deadline_ms = end->deadline_ms),
	};

	if (!exists("pool.tkb"))
		CHECK_OK(tkb_collect_to_file("pool", NULL, "pool.tkb", NULL,
		                             err),
		         err);
	struct tkb_bytes bytes = read_file("pool.tkb");
	struct tkb_source source = tkb_memory_source(&bytes);
	return tkb_push_bundle(remote, REF, &source, &options, NULL, err);
}

static int clean_up(struct tkb_remote *remote, const struct end *end,
                    struct tkb_error *err)
{
	return tkb_remote_gc(remote,
	                     &CHOSEN(tkb_remote_gc_options, .watch = end->watch,
	                             .deadline_ms = end->deadline_ms),
	                     NULL, err);
}

static int verify(struct tkb_remote *remote, const struct end *end,
                  struct tkb_error *err)
{
	const struct tkb_remote_verify_options options = {
		SIZED(options), .watch = end->watch,
		.deadline_ms = end->deadline_ms
	};

	return tkb_remote_verify(remote, &options, NULL, err);
}

static int vouch(void *self, const struct tkb_digest *record,
                 const struct tkb_source *blob, struct tkb_error *err)
{
	(void)self;
	(void)record;
	(void)blob;
	(void)err;
	return 0;
}

static int sign(struct tkb_remote *remote, const struct end *end,
                struct tkb_error *err)
{
	const struct tkb_sign_options options = {
		SIZED(options), .is_dry_run = true, .vouch = vouch,
		.deadline_ms = end->deadline_ms, .watch = end->watch
	};

	return tkb_ref_sign(remote, REF, &options, NULL, err);
}

static const work works[] = { pull,     pull_bundle, push, push_bundle,
	                      clean_up, verify,      sign };

static void check_ends(struct tkb_remote *remote, work do_it, bool is_late,
                       uint64_t limit_ms)
{
	const char *why =
		is_late ? "the deadline of 300 ms ended it" : "cancelled";
	uint64_t late_ms = UINT64_MAX;

	for (int i = 0; i < ATTEMPTS && late_ms >= limit_ms; i++) {
		struct patience patience;
		const struct tkb_watch *watch =
			end_in_ms(&patience, PATIENCE_MS);
		struct end end = { .deadline_ms = is_late ? PATIENCE_MS : 0 };
		struct tkb_error err = { 0 };

		if (!is_late)
			end.watch = watch;
		CHECK_INT(do_it(remote, &end, &err), TKB_ERR_CANCELLED);
		CHECK_CONTAINS(err.message, why);
		late_ms = now_ms() - patience.end_ms;
	}
	CHECK(late_ms < limit_ms);
}

/* Wherever they wait for a server: its greeting, a handshake, an answer. */
static void check_all_end(const char *format, uint64_t limit_ms)
{
	TKB_AUTO(close_mute) struct mute mute = start_mute();
	char url[256];

	SYS(mkdir("pool", 0777));
	(void)snprintf(url, sizeof(url), format, mute.port);
	for (size_t i = 0; i < TKB_COUNT_OF(works); i++) {
		struct tkb_remote *remote = must_open_remote(url, &patient);

		check_ends(remote, works[i], false, limit_ms);
		check_ends(remote, works[i], true, limit_ms);
	}
}

enum {
	TREE_FILES = 10000
};

/* A watch that counts how often it is asked, and ends at its patience's end. */
struct asked {
	struct tkb_watch watch;
	size_t count;
	size_t limit; /* then it says so */
};

static bool is_asked_enough(void *self)
{
	struct asked *asked = self;

	return ++asked->count >= asked->limit;
}

static int look_at_tree(struct asked *asked, uint32_t deadline_ms)
{
	const struct tkb_tree tree = { .name = "t", .path = "tree" };
	const struct tkb_cache_options options = {
		SIZED(options),
		.threads = 1,
		.watch = &asked->watch,
		.trees = &tree,
		.deadline_ms = deadline_ms,
		.tree_count = 1,
	};
	struct tkb_cache *cache = NULL;

	asked->watch = CHOSEN(tkb_watch, .self = asked,
	                      .is_cancelled = is_asked_enough);
	int rc = tkb_cache_open(NULL, &options, &cache, ERR);
	tkb_cache_close(cache);
	return rc;
}

TEST(cancel, ends_the_listing_of_a_tree_of_10000_files_at_any_of_them)
{
	struct asked patient_one = { .limit = SIZE_MAX };

	CHECK_INT(mkdir("tree", 0755), 0);
	for (int i = 0; i < TREE_FILES; i++)
		write_text(text("tree/%d", i), "x");

	/* Once for each file that is listed, and once for each loaded. */
	CHECK_INT(look_at_tree(&patient_one, 0), 0);
	CHECK(patient_one.count >= 2 * TREE_FILES);
	for (size_t limit = 1; limit < 2 * TREE_FILES; limit += 1999) {
		struct asked asked = { .limit = limit };
		const uint64_t begin_ms = now_ms();

		CHECK_INT(look_at_tree(&asked, 0), TKB_ERR_CANCELLED);
		CHECK_INT(asked.count, limit);
		CHECK(now_ms() - begin_ms < 10 * LIMIT_MS);
	}
}

TEST(cancel, of_the_listing_of_a_tree_comes_by_its_deadline)
{
	struct asked asked = { .limit = SIZE_MAX };

	CHECK_INT(mkdir("tree", 0755), 0);
	for (int i = 0; i < TREE_FILES; i++)
		write_text(text("tree/%d", i), "x");

	CHECK_INT(look_at_tree(&asked, 1), TKB_ERR_CANCELLED);
	CHECK(asked.count < 2 * TREE_FILES);
}

TEST(cancel, ends_what_waits_for_redis)
{
	check_all_end("redis://127.0.0.1:%u", LIMIT_MS);
}

TEST(cancel, ends_what_waits_for_http)
{
	check_all_end("http://127.0.0.1:%u/x", LIMIT_MS);
}

TEST(cancel, ends_what_waits_for_s3)
{
	check_all_end("s3://bucket/x?anonymous=true&path-style=true&"
	              "endpoint=http://127.0.0.1:%u",
	              LIMIT_MS);
}

static uint64_t handshake_limit_ms(void)
{
	return has_thread_sanitizer() ? HANDSHAKE_LIMIT_MS : LIMIT_MS;
}

TEST(cancel, ends_what_waits_for_a_handshake)
{
	check_all_end("rediss://127.0.0.1:%u", handshake_limit_ms());
}

TEST(cancel, ends_what_waits_for_a_handshake_of_https)
{
	check_all_end("https://127.0.0.1:%u/x", handshake_limit_ms());
}

/* A remote of three records, each of one entry. */
static struct tkb_remote *arrange_three(void)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	CHECK(pool() != NULL);
	push_singly(remote, 3);
	spy_reset();
	return open_spy_with(spy_url("remote"), patient);
}

TEST(cancel, ends_a_transfer_that_trickles_from_who_does_not_ask)
{
	struct tkb_remote *remote = arrange_three();

	spy.is_deaf = true;
	spy.get_ms = 20000;
	spy.get_parts = 200;
	check_ends(remote, pull, false, LIMIT_MS);
	check_ends(remote, pull_bundle, true, LIMIT_MS);
	CHECK_INT(spy.flying, 0);
}

TEST(cancel, leaves_a_remote_that_works)
{
	struct tkb_remote *remote = arrange_three();

	spy.get_ms = 20000;
	spy.get_parts = 200;
	check_ends(remote, pull, false, LIMIT_MS);
	spy_reset();
	CHECK_INT(pull_all(remote, "after").fetched_count, 3);
}
