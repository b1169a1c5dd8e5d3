/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "fault_scene.h"

/*
 * Pushes and pulls that are killed at any moment. Whoever comes next finds
 * nothing torn, in the remote and in the cache, and heals.
 */

enum {
	ROUNDS = 12 /* of each kind; TKB_KILL_ROUNDS says otherwise */
};

static unsigned rounds(void)
{
	const char *number = getenv("TKB_KILL_ROUNDS");

	return number == NULL ? ROUNDS : (unsigned)atoi(number);
}

typedef struct attempt (*work_fn)(const char *url, const char *root);

static void nap_us(uint64_t us)
{
	const struct timespec nap = { (time_t)(us / 1000000),
		                      (long)(us % 1000000) * 1000 };

	(void)nanosleep(&nap, NULL);
}

/* Let a child work, and kill it after so many us. False: it was done before. */
static bool kill_after(work_fn work, const char *url, const char *root,
                       uint64_t us)
{
	const pid_t pid = must_fork();

	if (pid == 0)
		_exit(work(url, root).rc == 0 ? 0 : 1);
	nap_us(us);
	(void)kill(pid, SIGKILL);
	const int status = end_of(pid);
	CHECK(status == 0 || status == 128 + SIGKILL);
	return status != 0;
}

/* Some moment of a work that takes so many ms, or shortly after. */
static uint64_t some_us(uint64_t ms)
{
	return (uint64_t)random() % ((ms + 2) * 1100);
}

static void check_killed_pushes(struct scene *scene)
{
	unsigned killed = 0;

	scene->empty(scene);
	uint64_t ms = push_to(scene->direct, scene->source).ms;
	for (unsigned i = 0; i < rounds(); i++) {
		const char *root = text("healed-%u", i);

		scene->empty(scene);
		const bool is_killed = kill_after(push_to, scene->direct,
		                                  scene->source, some_us(ms));
		killed += is_killed;
		(void)count_sound(scene);
		struct attempt next = push_to(scene->direct, scene->source);
		CHECK_OK(next.rc, &next.err);
		/* A busy machine is not always as busy. */
		if (next.pushed.pushed_count == scene->entry_count)
			ms = next.ms;
		else if (!is_killed)
			ms /= 2;
		CHECK_INT(count_sound(scene), 1);
		next = pull_from(scene->direct, root);
		CHECK_OK(next.rc, &next.err);
		CHECK_INT(count_right(scene, root), scene->entry_count);
	}
	print_message("  %u of %u were killed in time\n", killed, rounds());
	CHECK(killed != 0);
}

static void check_killed_pulls(const struct scene *scene)
{
	unsigned torn = 0;

	uint64_t ms = pull_from(scene->direct, "undisturbed").ms;
	for (unsigned i = 0; i < rounds(); i++) {
		const char *root = text("pulled-%u", i);

		(void)kill_after(pull_from, scene->direct, root, some_us(ms));
		size_t count = count_visible(scene, root);
		torn += count != 0 && count != scene->entry_count;
		struct attempt next = pull_from(scene->direct, root);
		CHECK_OK(next.rc, &next.err);
		CHECK_INT(count_right(scene, root), scene->entry_count);
		CHECK_INT(count_sound(scene), 1);
	}
	print_message("  %u of %u were killed in the middle\n", torn, rounds());
}

static void empty_folder(struct scene *scene)
{
	(void)scene;
	shell("rm -rf remote-*");
}

static struct scene folder_scene(void)
{
	struct scene scene = arrange_scene(
		0, text("file://%s/remote-%%u?%%s", test_folder()));

	scene.empty = empty_folder;
	return scene;
}

TEST(kill, a_push_to_a_folder_that_is_killed_tears_nothing)
{
	struct scene scene = folder_scene();

	check_killed_pushes(&scene);
	CHECK_STR(run("find", "remote-0", "-name", "*.tmp", NULL).out, "");
}

TEST(kill, a_pull_from_a_folder_that_is_killed_tears_nothing)
{
	const struct scene scene = folder_scene();

	check_killed_pulls(&scene);
}

TEST(kill, a_push_to_redis_that_is_killed_tears_nothing)
{
	struct scene scene = redis_scene();

	check_killed_pushes(&scene);
}

TEST(kill, a_pull_from_redis_that_is_killed_tears_nothing)
{
	const struct scene scene = redis_scene();

	check_killed_pulls(&scene);
}

/* It is no remote yet. */
static void empty_http(struct scene *scene)
{
	(void)scene;
	shell("rm -rf nginx/www/cache");
}

TEST(kill, a_push_by_http_that_is_killed_tears_nothing)
{
	struct scene scene = nginx_scene();

	scene.empty = empty_http;
	check_killed_pushes(&scene);
}

TEST(kill, a_pull_by_http_that_is_killed_tears_nothing)
{
	const struct scene scene = nginx_scene();

	check_killed_pulls(&scene);
}
