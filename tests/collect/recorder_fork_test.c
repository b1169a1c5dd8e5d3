/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/*
 * Recorders in a child of fork(). The parent has threads at work when it forks;
 * the child must find a recorder that it can use, with what was put before.
 */

#define ADD "5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA"
#define SOFTMAX "QTEEPGZB42VR33O465X32KCCTRBLNCACUOLQ4Q5DBQICNJLN64DA"

enum {
	THREADS = 4,
	FORKS = 200,
	PAIRS = 256, /* of each thread */
	MAIN_DEVICE = 1023,
	CHILD_DEVICE = 1022,
	DEADLINE_S = 30
};

/* A sanitizer's allocator has locks that a child may find held for ever. */
static bool can_fork(void)
{
	return !has_thread_sanitizer() && !has_address_sanitizer();
}

static const struct tkb_collect_options lean = { SIZED(lean),
	                                         .profile = TKB_PROFILE_LEAN,
	                                         .threads = 1 };

/* All that threads and children look at. */
struct scene {
	const char *root;
	struct tkb_recorder *recorder;
	atomic_bool is_over;
	atomic_uint put_counts[THREADS]; /* pairs that are put for certain */
};

struct worker {
	pthread_t thread;
	struct scene *scene;
	unsigned number;
};

static void open_scene(struct scene *scene)
{
	*scene = (struct scene){ .recorder = recording() };
	unpack("triton-3.6.0-cpu", "cpu");
	scene->root = text("%s/cpu/.triton/cache", test_folder());
	put(scene->recorder, ADD, MAIN_DEVICE);
	save(scene->recorder, "main", "payload", TKB_NEED_ALL,
	     keys_of(1, SOFTMAX));
}

static void start(struct worker *workers, struct scene *scene, size_t count,
                  void *(*work)(void *))
{
	for (unsigned i = 0; i < count; i++) {
		workers[i] = (struct worker){ .scene = scene, .number = i };
		SYS(pthread_create(&workers[i].thread, NULL, work,
		                   &workers[i]));
	}
}

static void finish(struct worker *workers, struct scene *scene, size_t count)
{
	atomic_store(&scene->is_over, true);
	for (size_t i = 0; i < count; i++)
		SYS(pthread_join(workers[i].thread, NULL));
	tkb_recorder_free(scene->recorder);
}

/*
 * What children do. They tell by their exit status where they failed.
 */

static int collect_in_child(const struct scene *scene, struct tkb_buf *buf,
                            struct tkb_bundle **out)
{
	struct tkb_collect_report report = { SIZED(report) };
	const struct tkb_sink sink = tkb_buf_sink(buf);

	if (tkb_recorder_collect(scene->recorder, scene->root, &lean, &sink,
	                         &report, NULL) != 0)
		return 10;
	if (report.left_out_count != 0) /* half a note */
		return 13;
	if (tkb_bundle_open_memory(tkb_buf_bytes(buf), "child", out, NULL) != 0)
		return 11;
	if (tkb_bundle_verify(*out, &CHOSEN(tkb_verify_options, .threads = 1),
	                      NULL, NULL) != 0)
		return 12;
	return 0;
}

static const struct tkb_entry *entry_of(const struct tkb_bundle *bundle,
                                        const char *key)
{
	size_t index = 0;

	if (tkb_bundle_find(bundle, key, &index, NULL) != 0)
		return NULL;
	return tkb_bundle_entry(bundle, index);
}

static bool has_device(const struct tkb_entry *entry, uint32_t device)
{
	for (size_t i = 0; i < entry->device_count; i++) {
		if (entry->devices[i] == device)
			return true;
	}
	return false;
}

/* What the parent's main thread put, and the child. */
static int check_own(const struct tkb_bundle *bundle)
{
	const struct tkb_entry *add = entry_of(bundle, ADD);

	if (add == NULL || !has_device(add, MAIN_DEVICE))
		return 20;
	if (!has_device(add, CHILD_DEVICE))
		return 21;
	if (entry_of(bundle, SOFTMAX) == NULL)
		return 22;
	if (tkb_bundle_launcher_count(bundle) < 1)
		return 23;
	return 0;
}

static int put_and_collect(struct scene *scene)
{
	struct tkb_buf *buf = test_buf((size_t)1 << 28);
	BUNDLE(bundle) = NULL;

	if (tkb_recorder_put(scene->recorder, ADD, CHILD_DEVICE, NULL) != 0)
		return 1;
	int failure = collect_in_child(scene, buf, &bundle);
	if (failure == 0)
		failure = check_own(bundle);
	if (failure != 0)
		return failure;
	const struct tkb_entry *softmax = entry_of(bundle, SOFTMAX);
	for (unsigned i = 0; i < THREADS; i++) {
		const unsigned count = atomic_load(&scene->put_counts[i]);

		for (unsigned j = 0; j < count && j < PAIRS; j++) {
			if (i * PAIRS + j != MAIN_DEVICE &&
			    !has_device(softmax, i * PAIRS + j))
				return 30;
		}
	}
	return tkb_recorder_put(scene->recorder, ADD, 0, NULL) ==
	                       TKB_ERR_INVALID
	               ? 0
	               : 31;
}

/* What is there of a compile that may be about to end is whole. */
static int collect_the_rest(struct scene *scene)
{
	struct tkb_buf *buf = test_buf((size_t)1 << 28);
	BUNDLE(bundle) = NULL;

	if (tkb_recorder_put(scene->recorder, ADD, CHILD_DEVICE, NULL) ==
	    TKB_ERR_INVALID)
		return 0;
	int failure = collect_in_child(scene, buf, &bundle);
	if (failure != 0)
		return failure;
	const struct tkb_entry *softmax = entry_of(bundle, SOFTMAX);
	for (size_t i = 0; softmax != NULL && i < softmax->device_count; i++) {
		if (softmax->devices[i] >= PAIRS)
			return 40;
	}
	return 0;
}

/* Of a compile that may have ended meanwhile, only the child's is certain. */
static int begin_anew(struct scene *scene)
{
	struct tkb_buf *buf = test_buf((size_t)1 << 28);
	BUNDLE(bundle) = NULL;

	int failure = collect_the_rest(scene);
	if (failure != 0)
		return failure;
	tkb_recorder_end_compile(scene->recorder);
	if (tkb_recorder_begin_compile(scene->recorder, NULL) != 0)
		return 1;
	if (tkb_recorder_put(scene->recorder, ADD, CHILD_DEVICE, NULL) != 0)
		return 2;
	failure = collect_in_child(scene, buf, &bundle);
	if (failure != 0)
		return failure;
	const struct tkb_entry *add = entry_of(bundle, ADD);
	if (tkb_bundle_entry_count(bundle) != 1 || add == NULL ||
	    add->device_count != 1 || add->devices[0] != CHILD_DEVICE ||
	    tkb_bundle_launcher_count(bundle) != 0)
		return 3;
	tkb_recorder_end_compile(scene->recorder);
	tkb_recorder_free(scene->recorder);
	return 0;
}

/* A child that hangs is killed by its alarm. */
static void fork_once(struct scene *scene, int (*act)(struct scene *scene))
{
	const pid_t child = must_fork();

	if (child == 0) {
		(void)alarm(DEADLINE_S);
		_exit(act(scene));
	}
	CHECK_INT(end_of(child), 0);
}

/*
 * What threads do meanwhile
 */

/* The children need the processor too. */
static void pause_sometimes(unsigned i, unsigned turns)
{
	if (i % turns == 0)
		(void)usleep(100);
}

/* Put a new pair now and then, and what is known all the time. */
static void *put_always(void *self)
{
	const struct worker *worker = self;
	struct scene *scene = worker->scene;
	unsigned next = 0;

	for (unsigned i = 0; !atomic_load(&scene->is_over); i++) {
		const unsigned device = worker->number * PAIRS +
		                        (next < PAIRS ? next : i % PAIRS);

		if (tkb_recorder_put(scene->recorder, SOFTMAX, device, NULL) !=
		    0)
			continue;
		if (next < PAIRS && i % 64 == 0)
			atomic_store(&scene->put_counts[worker->number],
			             ++next);
		pause_sometimes(i, 512);
	}
	return NULL;
}

static void *save_always(void *self)
{
	static const char *const needs[] = { SOFTMAX };
	const struct worker *worker = self;
	struct scene *scene = worker->scene;
	char name[64];

	for (unsigned i = 0; !atomic_load(&scene->is_over) && i < 8000; i++) {
		struct tkb_launcher_spec launcher = { sizeof(launcher),
			                              name,
			                              "softmax",
			                              { name, sizeof(name) },
			                              TKB_NEED_ANY,
			                              needs,
			                              1 };

		(void)snprintf(name, sizeof(name), "%u-%031u", worker->number,
		               i % 8);
		if (tkb_recorder_put_launcher(scene->recorder, &launcher,
		                              NULL) != 0)
			break;
		pause_sometimes(i, 16);
	}
	return NULL;
}

static void *collect_always(void *self)
{
	const struct worker *worker = self;
	struct tkb_collect_options options = lean;

	options.is_dry_run = true;
	while (!atomic_load(&worker->scene->is_over))
		(void)!tkb_recorder_collect(worker->scene->recorder,
		                            worker->scene->root, &options, NULL,
		                            NULL, NULL);
	return NULL;
}

/* Notes come and go, and their table grows each time. */
static void *end_always(void *self)
{
	const struct worker *worker = self;
	struct tkb_recorder *recorder = worker->scene->recorder;

	while (!atomic_load(&worker->scene->is_over)) {
		tkb_recorder_end_compile(recorder);
		(void)!tkb_recorder_begin_compile(recorder, NULL);
		for (unsigned i = 0; i < PAIRS; i++)
			(void)!tkb_recorder_put(recorder, SOFTMAX, i, NULL);
	}
	return NULL;
}

TEST(recorder, is_whole_in_a_child_whatever_four_threads_put)
{
	struct worker workers[THREADS];
	struct scene scene;

	if (!can_fork())
		skip();
	open_scene(&scene);
	start(workers, &scene, THREADS, put_always);
	for (size_t i = 0; i < FORKS; i++)
		fork_once(&scene, put_and_collect);
	finish(workers, &scene, THREADS);
}

TEST(recorder, is_whole_in_a_child_whatever_launchers_are_saved)
{
	struct worker workers[2];
	struct scene scene;

	if (!can_fork())
		skip();
	open_scene(&scene);
	start(workers, &scene, 2, save_always);
	for (size_t i = 0; i < FORKS / 2; i++)
		fork_once(&scene, put_and_collect);
	finish(workers, &scene, 2);
}

TEST(recorder, can_be_put_to_in_a_child_while_the_parent_collects)
{
	struct worker worker;
	struct scene scene;

	if (!can_fork())
		skip();
	open_scene(&scene);
	start(&worker, &scene, 1, collect_always);
	for (size_t i = 0; i < FORKS / 2; i++)
		fork_once(&scene, put_and_collect);
	finish(&worker, &scene, 1);
}

TEST(recorder, can_begin_in_a_child_while_the_parent_ends)
{
	struct worker workers[2];
	struct scene scene;

	if (!can_fork())
		skip();
	open_scene(&scene);
	start(workers, &scene, 2, end_always);
	for (size_t i = 0; i < FORKS; i++)
		fork_once(&scene, begin_anew);
	finish(workers, &scene, 2);
}
