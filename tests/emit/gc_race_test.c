/* SPDX-License-Identifier: Apache-2.0 */
#include "upkeep.h"

#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

/* Gc, while something happens to what it removes. */

enum {
	ENTRIES = 17
};

/* What a gc of "out" did, and what was done to it at a turn. */
struct race {
	struct told told; /* first, for tell_to() */
	pthread_t thread; /* from begin_gc() to end_gc() */
	struct tkb_gc_options options;
	struct tkb_gc_report report;
	struct tkb_error err;
	int rc;
	const char *folder; /* of the oldest entry */
	size_t turns_left;
	const char *script; /* $F is that */
	void (*act)(const struct race *race);
	bool is_cancelled;
};

/*
 * It is asked once for each of the entries while the cache is read, and then
 * for each that has to go.
 */
static bool take_turn(void *self)
{
	struct race *race = self;

	if (race->is_cancelled && race->turns_left == 0)
		return true;
	if (race->turns_left-- != 0)
		return false;
	if (race->script != NULL)
		shell("F=%s; %s", race->folder, race->script);
	if (race->act != NULL)
		race->act(race);
	return race->is_cancelled;
}

static void *gc(void *self)
{
	struct race *race = self;

	(void)tell_to(&race->told);
	race->told.watch.is_cancelled = take_turn;
	race->options.watch = &race->told.watch;
	race->options.struct_size = sizeof(race->options);
	race->report.struct_size = sizeof(race->report);
	race->options.threads = 1;
	race->options.has_max_entries = true;
	race->rc = tkb_gc("out", &race->options, &race->report, &race->err);
	return NULL;
}

/* Let one entry go, and do that just before. */
static struct race gc_after(const char *script,
                            void (*act)(const struct race *race))
{
	struct race race = { .turns_left = ENTRIES,
		             .script = script,
		             .act = act };

	race.folder = text("out/%s", keys("out")[0]);
	race.options.max_entries = ENTRIES - 1;
	(void)gc(&race);
	CHECK_INT(race.rc, race.report.busy_count > 0 ? TKB_ERR_PARTIAL : 0);
	return race;
}

static void check_busy(const struct race *race, const char *why)
{
	CHECK_FAILS(race->rc, TKB_ERR_PARTIAL, &race->err, why);
	CHECK_INT(race->report.removed_count, 0);
	CHECK_INT(race->report.busy_count, 1);
	CHECK_INT(race->report.kept_count, ENTRIES);
	CHECK_INT(race->told.count, 1);
	CHECK_INT(race->told.items[0].outcome, TKB_OUTCOME_SKIPPED);
	CHECK_INT(race->told.items[0].reason, TKB_REASON_BUSY);
	CHECK_CONTAINS(race->told.items[0].message, why);
	CHECK_INT(look_at("out").collected_count, ENTRIES);
}

TEST(gc_race, leaves_what_was_used_since_it_looked)
{
	(void)arrange_dated();
	struct race race = gc_after("cat $F/__grp__* >read", NULL);
	if (!race.report.has_uses)
		skip();

	check_busy(&race, "it was used just now");
}

/* As a compiler does: made beside it, and moved over it. */
#define RENEW(name) "cp $F/" name " new; mv new $F/" name

TEST(gc_race, leaves_what_was_written_since_it_looked)
{
	(void)arrange_dated();
	struct race race = gc_after(RENEW("add_kernel.cubin"), NULL);

	check_busy(&race, "'add_kernel.cubin' changed");
}

TEST(gc_race, leaves_what_is_compiled_since_it_looked)
{
	(void)arrange_dated();
	struct race race = gc_after("mkdir $F/tmp.pid_1_abc", NULL);

	check_busy(&race, "a compiler is writing there");
}

/* Who holds the lock while a gc wants it, and changes something then. */
static struct holder {
	pthread_t thread;
	int lock;
	const char *touched; /* one of these */
	const char *removed;
} holder;

static void *change_and_unlock(void *self)
{
	(void)self;
	nap_ms(200);
	if (holder.touched != NULL)
		(void)utimensat(AT_FDCWD, holder.touched, NULL, 0);
	else
		(void)unlink(holder.removed);
	(void)close(holder.lock);
	return NULL;
}

static void hold_lock(void)
{
	holder.lock = lock_root("out");
	SYS(pthread_create(&holder.thread, NULL, change_and_unlock, NULL));
}

static void hold_and_touch(const struct race *race)
{
	holder = (struct holder){ .touched = text("%s/add_kernel.cubin",
		                                  race->folder) };
	hold_lock();
}

static void hold_and_remove(const struct race *race)
{
	holder = (struct holder){ .removed = stamp_of(race->folder) };
	hold_lock();
}

TEST(gc_race, waits_for_the_lock_before_it_takes_a_group_file_away)
{
	(void)arrange_dated();
	struct race race = gc_after(NULL, hold_and_touch);

	SYS(pthread_join(holder.thread, NULL));
	check_busy(&race, "'add_kernel.cubin' changed");
}

TEST(gc_race, says_nothing_of_what_is_gone_already)
{
	(void)arrange_dated();
	struct race race = gc_after("rm -r $F", NULL);
	CHECK_INT(race.told.count, 0);
	CHECK_INT(race.report.kept_count, ENTRIES - 1);

	remove_folder("out");
	emit("a.tkb", "out");
	date_all("out");
	race = gc_after("rm $F/__grp__*", NULL);
	CHECK_INT(race.told.count, 0);
	CHECK_INT(race.report.kept_count, ENTRIES - 1);
	CHECK_INT(count_names(race.folder), 7);
}

TEST(gc_race, says_nothing_of_what_goes_while_it_waits_for_the_lock)
{
	(void)arrange_dated();
	struct race race = gc_after(NULL, hold_and_remove);

	SYS(pthread_join(holder.thread, NULL));
	CHECK_INT(race.told.count, 0);
	CHECK_INT(race.report.kept_count, ENTRIES - 1);
}

TEST(gc_race, removes_nothing_through_a_link)
{
	(void)arrange_dated();
	struct race race =
		gc_after("mv $F elsewhere; ln -s ../elsewhere $F", NULL);

	CHECK_INT(race.report.removed_count, 0);
	CHECK_INT(count_names("elsewhere"), 8);
}

/* Begin to let the oldest of "out" go; return when its group file is gone. */
static void begin_gc(struct race *race)
{
	*race = (struct race){ .turns_left = SIZE_MAX };
	race->folder = text("out/%s", keys("out")[0]);
	race->options.max_entries = ENTRIES - 1;
	const char *group = stamp_of(race->folder);
	SYS(pthread_create(&race->thread, NULL, gc, race));
	for (unsigned waited = 0; exists(group); waited++) {
		CHECK(waited < 10000);
		nap_ms(1);
	}
}

static void end_gc(const struct race *race)
{
	SYS(pthread_join(race->thread, NULL));
}

TEST(gc_race, removes_the_rest_a_second_after_the_group_file)
{
	struct race race;

	(void)arrange_dated();
	begin_gc(&race);
	uint64_t begin = now_ms();

	while (now_ms() - begin < 800) {
		CHECK_INT(count_names(race.folder), 7);
		nap_ms(1);
	}
	end_gc(&race);
	CHECK_INT(race.rc, 0);
	CHECK_INT(race.report.removed_count, 1);
	CHECK(!exists(race.folder));
}

/* The oldest entry's files, as they were; the group file is the last. */
static void compile_anew(const struct race *race)
{
	shell("for file in good/%s/[!_]* good/%s/__grp__*; do"
	      " cp $file new; mv new %s/${file##*/}; done",
	      race->folder + 4, race->folder + 4, race->folder);
}

TEST(gc_race, leaves_what_is_compiled_anew_meanwhile)
{
	struct race race;

	(void)arrange_dated();
	copy_folder("out", "good");
	date_all("out"); /* to copy is to read */
	begin_gc(&race);
	compile_anew(&race);

	end_gc(&race);
	check_busy(&race, "a compiler is writing there");
	CHECK_INT(count_names(race.folder), 8);
}

TEST(gc_race, waits_for_the_lock_before_it_removes_the_rest)
{
	struct race race;

	(void)arrange_dated();
	copy_folder("out", "good");
	date_all("out");
	begin_gc(&race);
	int lock = lock_root("out");
	nap_ms(1300);
	CHECK_INT(count_names(race.folder), 7);
	compile_anew(&race);
	(void)close(lock);

	end_gc(&race);
	check_busy(&race, "a compiler is writing there");
}

TEST(gc_race, leaves_a_folder_to_a_compiler_that_has_come_meanwhile)
{
	struct race race;

	(void)arrange_dated();
	begin_gc(&race);
	SYS(mkdir(text("%s/tmp.pid_1_abc", race.folder), 0777));

	end_gc(&race);
	CHECK_INT(race.rc, TKB_ERR_PARTIAL);
	CHECK_INT(race.report.busy_count, 1);
	CHECK_INT(count_names(race.folder), 8);
}

TEST(gc_race, leaves_each_file_that_is_written_meanwhile)
{
	struct timespec times[2] = { { .tv_sec = 0 } };
	struct race race;

	(void)arrange_dated();
	begin_gc(&race);
	times[1] = stat_of(text("%s/add_kernel.ptx", race.folder)).st_mtim;
	shell("F=%s; " RENEW("add_kernel.ptx"), race.folder);
	SYS(utimensat(AT_FDCWD, text("%s/add_kernel.ptx", race.folder), times,
	              0));
	age(text("%s/add_kernel.llir", race.folder), 60);

	end_gc(&race);
	CHECK_INT(race.rc, 0);
	CHECK_INT(race.report.removed_count, 1);
	CHECK_INT(count_names(race.folder), 2);
	CHECK(exists(text("%s/add_kernel.ptx", race.folder)));
	CHECK(exists(text("%s/add_kernel.llir", race.folder)));
}

TEST(gc_race, leaves_an_entry_that_is_emitted_meanwhile)
{
	struct race race;

	(void)arrange_dated();
	begin_gc(&race);
	emit("a.tkb", "out");

	end_gc(&race);
	CHECK_INT(race.rc, TKB_ERR_PARTIAL);
	CHECK_INT(race.report.removed_count, 0);
	CHECK_INT(look_at("out").collected_count, ENTRIES);
	CHECK_INT(look_at("out").left_out_count, 0);
}

/* Cancelled at each question in turn: what is begun is brought to its end. */
TEST(gc_race, cancelled_leaves_whole_entries_and_nothing_else)
{
	static const size_t turns[] = { 0, 5, ENTRIES, ENTRIES + 1,
		                        ENTRIES + 9 };

	(void)arrange_dated();
	copy_folder("out", "good");
	EACH(i, turns) {
		const uint64_t gone =
			turns[i] > ENTRIES ? turns[i] - ENTRIES : 0;
		struct race race = { .turns_left = turns[i],
			             .is_cancelled = true };

		(void)gc(&race);
		CHECK_INT(race.rc, TKB_ERR_CANCELLED);
		CHECK_INT(race.told.count, gone);
		struct tkb_collect_report report = look_at("out");
		CHECK_INT(report.collected_count, ENTRIES - gone);
		CHECK_INT(report.left_out_count, 0);
		CHECK_INT(report.unfinished_count, 0);
		remove_folder("out");
		copy_folder("good", "out");
	}
}
