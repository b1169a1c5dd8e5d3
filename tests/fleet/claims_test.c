/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <signal.h>
#include <unistd.h>

/*
 * A folder of a node's own before a remote of all: one of those at work here
 * fetches a blob, the others wait for it.
 */

enum {
	THREADS = 6,
	STALL_MS = 800 /* in tests of those that make no progress */
};

/* What one thread does, with a handle of its own. */
struct worker {
	struct tkb_remote *remote;
	const struct tkb_digest *digest;
	struct tkb_bytes wanted;
	int rc;
	bool is_right;
	uint64_t ms;
};

static struct tkb_remote *open_tiers(const char *urls, unsigned stall_ms)
{
	return open_spy_with(urls,
	                     CHOSEN(tkb_remote_options, .timeout_ms = 20000,
	                            .stall_timeout_ms = stall_ms));
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	BUF(got, BLOB_LIMIT);
	const struct tkb_sink sink = tkb_buf_sink(&got);
	const uint64_t start = now_ms();

	worker->rc =
		tkb_remote_get(worker->remote, worker->digest, &sink, NULL);
	worker->ms = now_ms() - start;
	worker->is_right = tkb_bytes_equal(tkb_buf_bytes(&got), worker->wanted);
	return NULL;
}

/* A blob in the remote of all. */
struct scene {
	const char *urls;
	unsigned stall_ms; /* 0: the default */
	struct tkb_bytes bytes;
	struct tkb_digest digest;
};

static struct scene arrange_scene(void)
{
	struct scene scene = {
		.urls = text("file://%s/node,%s", test_folder(),
		             spy_url("remote")),
		.bytes = make_bytes(300 * 1000, 1),
	};
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const struct tkb_blob blob = { scene.bytes.size,
		                       tkb_memory_source(&scene.bytes) };

	OK(tkb_remote_put(remote, &blob, &scene.digest, ERR));
	spy_reset();
	return scene;
}

static void run_threads(const struct scene *scene, struct worker *workers)
{
	for (size_t i = 0; i < THREADS; i++)
		workers[i] =
			(struct worker){ .remote = open_tiers(scene->urls,
			                                      scene->stall_ms),
			                 .digest = &scene->digest,
			                 .wanted = scene->bytes };
	in_threads(work, workers, THREADS, sizeof(*workers));
}

TEST(claims, of_those_who_want_a_blob_one_fetches_it)
{
	const struct scene scene = arrange_scene();
	struct worker workers[THREADS];

	spy.get_ms = 300;
	run_threads(&scene, workers);
	for (size_t i = 0; i < THREADS; i++) {
		CHECK_INT(workers[i].rc, 0);
		CHECK(workers[i].is_right);
	}
	CHECK_INT(spy_count(SPY_GET), 1);
	CHECK(exists("node/claims"));
	CHECK_INT(read_file("node/claims").size, 0);
}

static int fail_all(const struct spy_event *event, struct tkb_error *err)
{
	if (event->op != SPY_GET)
		return 0;
	nap_ms(400);
	return tkb_fail(err, TKB_ERR_DENIED, "no");
}

TEST(claims, of_one_who_fails_let_all_others_try_at_once)
{
	const struct scene scene = arrange_scene();
	struct worker workers[THREADS];

	spy.before = fail_all;
	run_threads(&scene, workers);
	for (size_t i = 0; i < THREADS; i++) {
		CHECK_INT(workers[i].rc, TKB_ERR_DENIED);
		CHECK(workers[i].ms < 400 * 4);
	}
	CHECK_INT(spy_count(SPY_GET), THREADS);
}

static int fail_first(const struct spy_event *event, struct tkb_error *err)
{
	return event->earlier == 0 ? fail_all(event, err) : 0;
}

TEST(claims, of_one_who_fails_let_others_have_it)
{
	const struct scene scene = arrange_scene();
	struct worker workers[THREADS];
	size_t failed = 0;

	spy.before = fail_first;
	run_threads(&scene, workers);
	for (size_t i = 0; i < THREADS; i++) {
		failed += workers[i].rc != 0;
		CHECK(workers[i].rc != 0 || workers[i].is_right);
	}
	CHECK_INT(failed, 1);
}

static void wait_for_claim(void)
{
	for (int i = 0; i < 1000 && !exists("node/claims"); i++)
		nap_ms(5);
	CHECK(exists("node/claims"));
	nap_ms(100);
}

TEST(claims, of_one_who_is_killed_are_nobodys)
{
	const struct scene scene = arrange_scene();
	struct worker workers[THREADS];
	const pid_t pid = must_fork();

	if (pid == 0) {
		struct worker worker = { .remote = open_tiers(scene.urls,
			                                      scene.stall_ms),
			                 .digest = &scene.digest };

		spy.get_ms = 60000;
		(void)work(&worker);
		_exit(0);
	}
	wait_for_claim();
	SYS(kill(pid, SIGKILL));
	(void)end_of(pid);
	run_threads(&scene, workers);
	for (size_t i = 0; i < THREADS; i++) {
		CHECK_INT(workers[i].rc, 0);
		CHECK(workers[i].is_right);
		CHECK(workers[i].ms < 5000);
	}
	CHECK_INT(spy_count(SPY_GET), 1);
}

TEST(claims, of_another_process_are_waited_for)
{
	const struct scene scene = arrange_scene();
	struct worker worker = { .remote =
		                         open_tiers(scene.urls, scene.stall_ms),
		                 .digest = &scene.digest,
		                 .wanted = scene.bytes };
	const pid_t pid = must_fork();

	spy.get_ms = 600;
	if (pid == 0) {
		struct worker first = worker;

		(void)work(&first);
		_exit(!first.is_right);
	}
	wait_for_claim();
	(void)work(&worker);
	CHECK_INT(worker.rc, 0);
	CHECK(worker.is_right);
	CHECK_INT(spy_count(SPY_GET), 0);
	CHECK_INT(end_of(pid), 0);
}

/* Fetch slowly in another process, which has the claim. */
static pid_t start_slow_worker(const struct scene *scene)
{
	const pid_t pid = must_fork();

	if (pid == 0) {
		struct worker worker = { .remote = open_tiers(scene->urls,
			                                      scene->stall_ms),
			                 .digest = &scene->digest,
			                 .wanted = scene->bytes };

		(void)work(&worker);
		_exit(!worker.is_right);
	}
	wait_for_claim();
	return pid;
}

TEST(claims, of_one_who_is_frozen_let_one_other_fetch)
{
	struct scene scene = arrange_scene();
	struct worker workers[THREADS];

	scene.stall_ms = STALL_MS;
	spy.get_ms = 60000;
	pid_t pid = start_slow_worker(&scene);
	SYS(kill(pid, SIGSTOP));
	spy.get_ms = 0;
	run_threads(&scene, workers);
	for (size_t i = 0; i < THREADS; i++) {
		CHECK_INT(workers[i].rc, 0);
		CHECK(workers[i].is_right);
		CHECK(workers[i].ms >= STALL_MS);
		CHECK(workers[i].ms < 5000);
	}
	CHECK_INT(spy_count(SPY_GET), 1);
	SYS(kill(pid, SIGKILL));
	(void)end_of(pid);
}

/* Ten parts, 300 ms apart: in all longer than the stall timeout. */
TEST(claims, of_one_who_is_slow_but_gets_bytes_are_waited_for)
{
	struct scene scene = arrange_scene();
	struct worker workers[THREADS];

	scene.stall_ms = STALL_MS;
	spy.get_ms = 3000;
	spy.get_parts = 10;
	pid_t pid = start_slow_worker(&scene);
	run_threads(&scene, workers);
	for (size_t i = 0; i < THREADS; i++) {
		CHECK_INT(workers[i].rc, 0);
		CHECK(workers[i].is_right);
		CHECK(workers[i].ms > 2 * STALL_MS);
	}
	CHECK_INT(spy_count(SPY_GET), 0);
	CHECK_INT(end_of(pid), 0);
}

/* The test has the claims, and does nothing. */
TEST(claims, that_were_waited_for_in_vain_are_not_waited_for_again)
{
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct scene scene = arrange_scene();
	struct tkb_digest digests[3];
	void *claims[3];
	uint64_t ms[3];

	scene.stall_ms = STALL_MS;
	must_open("node", &handle);
	struct tkb_remote *far = open_spy(spy_url("remote"));
	struct tkb_remote *remote = open_tiers(scene.urls, scene.stall_ms);
	for (size_t i = 0; i < 3; i++) {
		const struct tkb_bytes bytes = make_bytes(100, (uint32_t)i);
		const struct tkb_blob blob = { bytes.size,
			                       tkb_memory_source(&bytes) };

		OK(tkb_remote_put(far, &blob, &digests[i], ERR));
		OK(ASK(&handle, claim, &digests[i], &claims[i], ERR));
	}
	for (size_t i = 0; i < 3; i++) {
		struct worker worker = { .remote = remote,
			                 .digest = &digests[i] };

		(void)work(&worker);
		CHECK_INT(worker.rc, 0);
		ms[i] = worker.ms;
	}
	for (size_t i = 0; i < 3; i++)
		handle.backend->unclaim(claims[i]);
	CHECK(ms[0] >= STALL_MS);
	CHECK(ms[1] < STALL_MS / 2);
	CHECK(ms[2] < STALL_MS / 2);
}

TEST(claims, where_the_folder_cannot_be_written_each_fetches)
{
	struct scene scene = arrange_scene();
	struct worker workers[THREADS];

	write_text("file", "in the way");
	scene.urls = text("file://%s/file/node,%s", test_folder(),
	                  spy_url("remote"));
	run_threads(&scene, workers);
	for (size_t i = 0; i < THREADS; i++) {
		CHECK_INT(workers[i].rc, 0);
		CHECK(workers[i].is_right);
	}
	CHECK_INT(spy_count(SPY_GET), THREADS);

	scene.urls = text("file:///sys/node,%s", spy_url("remote"));
	run_threads(&scene, workers);
	for (size_t i = 0; i < THREADS; i++)
		CHECK(workers[i].rc == 0 && workers[i].is_right);
}

TEST(claims, of_what_nobody_has_are_given_back)
{
	const struct scene scene = arrange_scene();
	const struct tkb_digest absent = made_up(7);

	for (int i = 0; i < 3; i++) {
		struct worker worker = { .remote = open_tiers(scene.urls,
			                                      scene.stall_ms),
			                 .digest = &absent };

		(void)work(&worker);
		CHECK_INT(worker.rc, TKB_MISS);
		CHECK(worker.ms < 2000);
	}
}

TEST(claims, are_not_kept_by_a_child_that_was_forked_meanwhile)
{
	const struct tkb_digest digest = made_up(3);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	void *claim = NULL;

	must_open("node", &handle);
	OK(ASK(&handle, claim, &digest, &claim, ERR));
	CHECK(claim != NULL);
	pid_t child = must_fork();
	if (child == 0) {
		for (;;)
			(void)pause();
	}
	handle.backend->unclaim(claim);
	OK(ASK(&handle, claim, &digest, &claim, ERR));
	CHECK(claim != NULL);
	handle.backend->unclaim(claim);
	SYS(kill(child, SIGKILL));
	(void)end_of(child);
}
