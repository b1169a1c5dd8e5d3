/* SPDX-License-Identifier: Apache-2.0 */
#include "upkeep.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* Gc as a process among others. */

enum {
	ENTRIES = 17,
	TWO_DAYS_S = 2 * 24 * 60 * 60
};

static size_t count_unfinished(void)
{
	return look_at("out").unfinished_count;
}

static const struct tkb_gc_options lenient = { SIZED(lenient),
	                                       .has_max_entries = true,
	                                       .max_entries = 1000 };

static struct tkb_gc_report gc_leniently(bool is_dry)
{
	struct tkb_gc_options options = lenient;
	struct tkb_gc_report report = { SIZED(report) };

	options.is_dry_run = is_dry;
	OK(tkb_gc("out", &options, &report, ERR));
	return report;
}

TEST(gc_live, killed_leaves_what_a_later_one_removes)
{
	const char **all = arrange_dated();
	const char *group = stamp_of(text("out/%s", all[3]));
	pid_t child = start(program(), "gc", "out", "--max-entries=13", NULL);
	for (unsigned waited = 0; exists(group); waited++) {
		CHECK(waited < 10000);
		nap_ms(1);
	}
	SYS(kill(child, SIGKILL));
	CHECK_INT(end_of(child), 128 + SIGKILL);

	struct tkb_collect_report report = look_at("out");
	CHECK_INT(report.collected_count, 13);
	CHECK_INT(report.left_out_count, 0);
	CHECK_INT(report.unfinished_count, 4);
	CHECK_INT(gc_leniently(false).unfinished_count, 0);
	CHECK_INT(count_unfinished(), 4);

	for (size_t i = 0; i < 4; i++)
		age_folder(text("out/%s", all[i]), TWO_DAYS_S);
	CHECK_INT(gc_leniently(true).unfinished_count, 4);
	CHECK_INT(count_unfinished(), 4);
	CHECK_INT(gc_leniently(false).unfinished_count, 4);
	CHECK_INT(count_unfinished(), 0);
	CHECK_INT(look_at("out").collected_count, 13);
	CHECK_INT(count_names("out"), 14);
}

TEST(gc_live, by_several_at_once_leaves_what_one_would_leave)
{
	pid_t children[5];

	const char **all = arrange_dated();
	EACH(i, children)
		children[i] =
			start(program(), "gc", "out", "--max-entries=10", NULL);

	EACH(i, children)
		CHECK_INT(end_of(children[i]), 0);
	for (size_t i = 0; all[i] != NULL; i++)
		CHECK_INT(exists(text("out/%s", all[i])), i >= 7);
	CHECK_INT(look_at("out").collected_count, 10);
	CHECK_INT(look_at("out").left_out_count, 0);
	CHECK_INT(count_names("out/.tkbundle"), 2);
}

/* One that looks for kernels as Triton does, until it is told to stop. */
struct reader {
	pthread_t thread;
	const char **groups; /* paths of group files */
	const char ***files; /* of each, those that it lists */
	atomic_bool is_over;
	atomic_uint hits;
	atomic_uint holes; /* a group file without one of its files */
};

static void look_up(struct reader *reader, size_t index)
{
	const uint64_t begin = now_ms();
	bool is_whole = true;

	if (access(reader->groups[index], R_OK) < 0)
		return;
	for (const char **file = reader->files[index]; *file != NULL; file++)
		is_whole &= access(*file, R_OK) == 0;
	(void)atomic_fetch_add(&reader->hits, 1);
	/* To read on for a second, after so long a sleep, is promised. */
	if (!is_whole && now_ms() - begin < 900)
		(void)atomic_fetch_add(&reader->holes, 1);
}

static void *read_all(void *self)
{
	struct reader *reader = self;

	while (!atomic_load(&reader->is_over)) {
		for (size_t i = 0; reader->groups[i] != NULL; i++)
			look_up(reader, i);
	}
	return NULL;
}

/* The paths of all files in `folder` but for the group file. */
static const char **children_of(const char *folder)
{
	const char **names = list(folder);
	size_t kept = 0;

	for (size_t i = 0; names[i] != NULL; i++) {
		if (strncmp(names[i], "__grp__", 7) != 0)
			names[kept++] = text("%s/%s", folder, names[i]);
	}
	names[kept] = NULL;
	return names;
}

static void prepare_reader(struct reader *reader)
{
	const char **all = keys("out");
	size_t count = 0;

	reader->groups = test_alloc(32 * sizeof(*reader->groups));
	reader->files = test_alloc(32 * sizeof(*reader->files));
	for (size_t i = 0; all[i] != NULL; i++) {
		const char *folder = text("out/%s", all[i]);

		if (strstr(stamp_of(folder), "__grp__") == NULL)
			continue;
		reader->groups[count] = stamp_of(folder);
		reader->files[count++] = children_of(folder);
	}
}

static void check_status_in(int status, int one, int other)
{
	if (status != one && status != other)
		fail_msg("exit %d", status);
}

/* Four of each at work at once; what they find busy, they say so. */
static void run_round(void)
{
	pid_t gcs[2];
	pid_t emits[2];
	pid_t collects[2];
	pid_t relocates[2];

	for (size_t i = 0; i < 2; i++) {
		gcs[i] = start(program(), "gc", "out", "--max-entries=4", NULL);
		emits[i] = start(program(), "emit", "a.tkb", "out", NULL);
		collects[i] = start(program(), "collect", "out", "-o",
		                    text("%zu.tkb", i), NULL);
		relocates[i] = start(program(), "relocate", "out", NULL);
	}
	for (size_t i = 0; i < 2; i++) {
		check_status_in(end_of(gcs[i]), 0, 4);
		check_status_in(end_of(collects[i]), 0, 4);
		check_status_in(end_of(relocates[i]), 0, 4);
		CHECK_INT(end_of(emits[i]), 0);
		CHECK_INT(run(program(), "verify", text("%zu.tkb", i), NULL)
		                  .status,
		          0);
	}
}

TEST(gc_live, with_all_others_at_once_never_shows_a_part)
{
	struct reader reader = { .hits = 0 };

	(void)arrange_dated();
	prepare_reader(&reader);
	SYS(pthread_create(&reader.thread, NULL, read_all, &reader));
	for (unsigned round = 0; round < 4; round++)
		run_round();
	atomic_store(&reader.is_over, true);
	SYS(pthread_join(reader.thread, NULL));

	CHECK(atomic_load(&reader.hits) > 100);
	CHECK_INT(atomic_load(&reader.holes), 0);
	emit("a.tkb", "out");
	CHECK_INT(run(program(), "verify", "out", NULL).status, 0);
	CHECK_INT(look_at("out").collected_count, ENTRIES);
	CHECK_INT(look_at("out").left_out_count, 0);
}
