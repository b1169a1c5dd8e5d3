/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

/* Recorders in several threads. What threads do, they check at their end. */

#define ADD "5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA"
#define SOFTMAX "QTEEPGZB42VR33O465X32KCCTRBLNCACUOLQ4Q5DBQICNJLN64DA"
#define GELU "W4JUUVDO5DSKFOXADDK5ILUF2SYPNDSCEEQS53PYLRFOYAKSEHNA"

enum {
	THREADS = 8,
	SHARE = 1024 / THREADS /* devices of each thread */
};

static const char *const keys[] = { ADD, SOFTMAX, GELU };

static const struct tkb_collect_options lean = { SIZED(lean),
	                                         .profile = TKB_PROFILE_LEAN };

static const char *cpu(void)
{
	unpack("triton-3.6.0-cpu", "cpu");
	return text("%s/cpu/.triton/cache", test_folder());
}

/* What a thread works on, and what came of it. */
struct worker {
	pthread_t thread;
	unsigned number;
	struct tkb_recorder *recorder;
	const char *root;
	struct tkb_bundle *bundle;
	pthread_barrier_t *start;
	atomic_bool *is_over;
	bool was_put[TKB_COUNT_OF(keys)][SHARE];
	unsigned done;
	int failure; /* the first status that should not be */
	struct tkb_error err;
	struct tkb_buf got;
};

static void start(struct worker *workers, size_t count, void *(*work)(void *))
{
	for (size_t i = 0; i < count; i++)
		SYS(pthread_create(&workers[i].thread, NULL, work,
		                   &workers[i]));
}

static void finish(struct worker *workers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		SYS(pthread_join(workers[i].thread, NULL));
	for (size_t i = 0; i < count; i++) {
		if (workers[i].failure != 0)
			fail_msg("thread %zu: %d, %s", i, workers[i].failure,
			         workers[i].err.message);
	}
}

/* Note a status; wrong order may be met where others end and collect. */
static bool note(struct worker *worker, int rc)
{
	if (rc != 0 && rc != TKB_ERR_INVALID && worker->failure == 0)
		worker->failure = rc;
	worker->done++;
	return rc == 0;
}

static void note_success(struct worker *worker, int rc)
{
	if (rc != 0 && worker->failure == 0)
		worker->failure = rc;
}

/*
 * Put at once
 */

/* Pairs from the worker's own place on, so that no two go alike. */
static void *put_all_pairs(void *self)
{
	enum {
		PAIRS = 4096
	};
	struct worker *worker = self;
	char key[65];

	(void)pthread_barrier_wait(worker->start);
	for (unsigned i = 0; i < PAIRS; i++) {
		const unsigned pair =
			(worker->number * (PAIRS / THREADS) + i) % PAIRS;

		(void)snprintf(key, sizeof(key), "%064x", pair / 4);
		note_success(worker, tkb_recorder_put(worker->recorder, key,
		                                      pair % 4, &worker->err));
		note_success(worker,
		             tkb_recorder_put(worker->recorder, keys[pair % 3],
		                              pair % 16, &worker->err));
	}
	return NULL;
}

TEST(recorder, counts_each_pair_once_that_eight_threads_put)
{
	RECORDER(recorder) = recording();
	const char *root = cpu();
	struct worker workers[THREADS];
	struct tkb_collect_report report = { SIZED(report) };
	pthread_barrier_t barrier;

	SYS(pthread_barrier_init(&barrier, NULL, THREADS));
	for (unsigned i = 0; i < THREADS; i++)
		workers[i] = (struct worker){ .number = i,
			                      .recorder = recorder,
			                      .start = &barrier };
	start(workers, THREADS, put_all_pairs);
	finish(workers, THREADS);
	(void)pthread_barrier_destroy(&barrier);
	BUNDLE(bundle) =
		open_bytes(recorded_with(recorder, root, &lean, &report));

	CHECK_INT(report.left_out_count, 1024);
	CHECK_INT(report.collected_count, 3);
	EACH(i, keys)
		CHECK_STR(devices_of(bundle, keys[i]),
		          "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15");
}

/*
 * Collect meanwhile
 */

/* Put what nobody else puts, and remember what was taken. */
static void *put_own_pairs(void *self)
{
	struct worker *worker = self;

	(void)pthread_barrier_wait(worker->start);
	for (unsigned i = 0; i < SHARE; i++) {
		EACH(j, keys)
			worker->was_put[j][i] = note(
				worker,
				tkb_recorder_put(worker->recorder, keys[j],
			                         worker->number * SHARE + i,
			                         &worker->err));
		if (i % 8 == 7)
			(void)sched_yield();
	}
	return NULL;
}

static void *collect_once(void *self)
{
	struct worker *worker = self;
	const struct tkb_sink sink = tkb_buf_sink(&worker->got);

	(void)pthread_barrier_wait(worker->start);
	for (unsigned i = 0; i < worker->number; i++)
		(void)sched_yield();
	note_success(worker,
	             tkb_recorder_collect(worker->recorder, worker->root, &lean,
	                                  &sink, NULL, &worker->err));
	return NULL;
}

/* The devices of key `index` that were taken from all threads. */
static const char *taken_devices(const struct worker *workers, size_t index)
{
	const char *list = "";

	for (unsigned i = 0; i < THREADS * SHARE; i++) {
		if (workers[i / SHARE].was_put[index][i % SHARE])
			list = text("%s%s%u", list, list[0] == '\0' ? "" : ",",
			            i);
	}
	return list;
}

/* Collect behind `delay` turns, while eight threads put. */
static void collect_while_others_put(const char *root, unsigned delay)
{
	RECORDER(recorder) = recording();
	struct worker workers[THREADS + 1];
	pthread_barrier_t barrier;
	size_t found = 0;

	SYS(pthread_barrier_init(&barrier, NULL, THREADS + 1));
	for (unsigned i = 0; i <= THREADS; i++)
		workers[i] =
			(struct worker){ .number = i == THREADS ? delay : i,
			                 .recorder = recorder,
			                 .root = root,
			                 .start = &barrier,
			                 .got = TKB_BUF_INIT((size_t)1 << 28) };
	start(&workers[THREADS], 1, collect_once);
	start(workers, THREADS, put_own_pairs);
	finish(workers, THREADS + 1);
	(void)pthread_barrier_destroy(&barrier);

	BUNDLE(bundle) = open_bytes(tkb_buf_bytes(&workers[THREADS].got));
	check_sound(bundle);
	EACH(i, keys) {
		const char *taken = taken_devices(workers, i);

		if (taken[0] == '\0')
			continue;
		found++;
		CHECK_STR(devices_of(bundle, keys[i]), taken);
	}
	CHECK_INT(tkb_bundle_entry_count(bundle), found);
	tkb_buf_release(&workers[THREADS].got);
}

TEST(recorder, collects_just_what_was_taken_while_eight_threads_put)
{
	const char *root = cpu();

	for (unsigned delay = 0; delay < 20; delay++)
		collect_while_others_put(root, delay);
}

/*
 * Everything at once
 */

static int drop_bytes(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)self;
	(void)bytes;
	(void)err;
	return 0;
}

static void put_one_of_each(struct worker *worker)
{
	static const char *const needs[] = { SOFTMAX };
	const char *name = worker->number % 2 == 0 ? "even" : "odd";
	const struct tkb_launcher_spec launcher = {
		sizeof(launcher), name,  name, { name, 3 },
		TKB_NEED_ALL,     needs, 1
	};
	struct tkb_recorder *recorder = worker->recorder;

	(void)note(worker, tkb_recorder_put(recorder, ADD, worker->number,
	                                    &worker->err));
	(void)note(worker,
	           tkb_recorder_put_winner(recorder, GELU, &worker->err));
	(void)note(worker, tkb_recorder_put_launcher(recorder, &launcher,
	                                             &worker->err));
}

static void *do_all(void *self)
{
	const struct tkb_sink sink = { drop_bytes, NULL };
	struct worker *worker = self;
	struct tkb_collect_options options = lean;

	(void)pthread_barrier_wait(worker->start);
	for (unsigned i = 0; i < 40; i++) {
		options.is_dry_run = i % 3 == 0;
		put_one_of_each(worker);
		if (worker->number < 2)
			(void)note(worker, tkb_recorder_collect(
						   worker->recorder,
						   worker->root, &options,
						   &sink, NULL, &worker->err));
		if (worker->number > 1 && worker->number < 4)
			tkb_recorder_end_compile(worker->recorder);
		if (worker->number > 2)
			(void)note(worker,
			           tkb_recorder_begin_compile(worker->recorder,
			                                      &worker->err));
	}
	return NULL;
}

TEST(recorder, stands_all_calls_from_eight_threads_at_once)
{
	RECORDER(recorder) = recording();
	const char *root = cpu();
	struct worker workers[THREADS];
	pthread_barrier_t barrier;

	SYS(pthread_barrier_init(&barrier, NULL, THREADS));
	for (unsigned i = 0; i < THREADS; i++)
		workers[i] = (struct worker){ .number = i,
			                      .recorder = recorder,
			                      .root = root,
			                      .start = &barrier };
	start(workers, THREADS, do_all);
	finish(workers, THREADS);
	(void)pthread_barrier_destroy(&barrier);

	tkb_recorder_end_compile(recorder);
	OK(tkb_recorder_begin_compile(recorder, ERR));
	put(recorder, ADD, 0);
	BUNDLE(bundle) = open_bytes(recorded(recorder, root));
	CHECK_STR(keys_in(bundle), "5DJU");
	CHECK_STR(devices_of(bundle, ADD), "0");
	CHECK_STR(launchers_in(bundle), "");
}

/*
 * Emit meanwhile
 */

static void *emit_again_and_again(void *self)
{
	static const struct tkb_emit_options options = { SIZED(options),
		                                         .threads = 2 };
	struct worker *worker = self;

	(void)pthread_barrier_wait(worker->start);
	for (unsigned i = 0; i < 5; i++) {
		struct tkb_emit_report report = { SIZED(report) };
		struct tkb_launchers *launchers = NULL;

		note_success(worker, tkb_emit(worker->bundle, "out", &options,
		                              &report, &worker->err));
		note_success(worker, (int)report.failed_count);
		note_success(worker,
		             tkb_launchers_open(worker->bundle, "out", NULL,
		                                &launchers, &worker->err));
		if (launchers == NULL || tkb_launchers_count(launchers) != 1)
			worker->failure = TKB_MISS;
		tkb_launchers_close(launchers);
	}
	return NULL;
}

/* A recorder of the worker's own, and one of everybody's. */
static void *record_again_and_again(void *self)
{
	const struct tkb_sink sink = { drop_bytes, NULL };
	struct worker *worker = self;
	struct tkb_recorder *own = NULL;

	(void)pthread_barrier_wait(worker->start);
	note_success(worker, tkb_recorder_new(NULL, &own, &worker->err));
	while (!atomic_load(worker->is_over)) {
		struct worker mine = *worker;

		mine.recorder = own;
		note_success(worker,
		             tkb_recorder_begin_compile(own, &worker->err));
		put_one_of_each(&mine);
		put_one_of_each(worker);
		note_success(worker,
		             tkb_recorder_collect(own, worker->root, &lean,
		                                  &sink, NULL, &worker->err));
		tkb_recorder_end_compile(own);
	}
	tkb_recorder_free(own);
	return NULL;
}

static struct tkb_bytes bundle_of(const char *root, size_t index)
{
	RECORDER(recorder) = recording();
	const char *key = keys[index % TKB_COUNT_OF(keys)];

	put(recorder, ADD, 0);
	put(recorder, SOFTMAX, 0);
	save(recorder, "k", "payload", TKB_NEED_ALL, keys_of(1, key));
	return recorded(recorder, root);
}

TEST(recorder, works_while_eight_threads_emit_several_bundles_into_one_root)
{
	enum {
		BUNDLES = 3,
		RECORDERS = 2,
		ALL = THREADS + RECORDERS
	};
	RECORDER(recorder) = recording();
	const char *root = cpu();
	struct tkb_bundle *bundles[BUNDLES];
	struct worker workers[ALL];
	pthread_barrier_t barrier;
	atomic_bool is_over = false;
	struct keys wanted = keys_of(3, keys[0], keys[1], keys[2]);

	SYS(pthread_barrier_init(&barrier, NULL, ALL));
	for (size_t i = 0; i < BUNDLES; i++)
		bundles[i] = open_bytes(bundle_of(root, i));
	for (unsigned i = 0; i < ALL; i++)
		workers[i] = (struct worker){ .number = i,
			                      .recorder = recorder,
			                      .root = root,
			                      .bundle = bundles[i % BUNDLES],
			                      .start = &barrier,
			                      .is_over = &is_over };
	start(workers + THREADS, RECORDERS, record_again_and_again);
	start(workers, THREADS, emit_again_and_again);
	finish(workers, THREADS);
	atomic_store(&is_over, true);
	finish(workers + THREADS, RECORDERS);
	(void)pthread_barrier_destroy(&barrier);

	CHECK(tkb_bytes_equal(collected("out", NULL),
	                      collected_keys(root, &wanted)));
	CHECK_INT(count_names("out/.tkbundle") < 4, true);
	for (size_t i = 0; i < BUNDLES; i++)
		tkb_bundle_close(bundles[i]);
}
