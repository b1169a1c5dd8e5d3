/* SPDX-License-Identifier: Apache-2.0 */

/* What real ninja says of a project that was stamped. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "harness.h"
#include "ninja/logs.h"
#include "ninja/record.h"
#include "ninja/build.h"

static const char build[] = "ninja_required_version = 1.3\n"
			    "src = src\n"
			    "rule cc\n"
			    "  command = cat $in src/common.h > $out && "
			    "echo $out: $in src/common.h > $out.d\n"
			    "  deps = gcc\n"
			    "  depfile = $out.d\n"
			    "rule join\n"
			    "  command = cat $in > $out\n"
			    "rule keep\n"
			    "  command = cat $in > $out\n"
			    "  restat = 1\n"
			    "build out/a.o: cc $src/a.c | src/tool || order\n"
			    "build out/b.o: cc $src/${name}.c\n"
			    "  name = b\n"
			    "build lib.so: join out/a.o out/b.o | note\n"
			    "build note: keep src/note.txt\n"
			    "build order: phony src/order.txt\n"
			    "build all: phony lib.so\n"
			    "default all\n";

static const char *ninja(const char *option)
{
	const char *program = getenv("TKB_TEST_NINJA");
	const struct outcome done =
		run(program != NULL ? program : TKB_NINJA, "-C", test_folder(),
	            "-d", "explain", option, NULL);

	if (done.status != 0)
		fail_msg("ninja %s: %s%s", option, done.out, done.err);
	return done.out;
}

static void set_mtime(const char *path, int64_t mtime)
{
	const struct timespec times[2] = {
		{ .tv_nsec = UTIME_OMIT },
		{ .tv_sec = mtime / 1000000000, .tv_nsec = mtime % 1000000000 },
	};

	SYS(utimensat(AT_FDCWD, path, times, 0));
}

static int64_t now(void)
{
	struct timespec time;

	SYS(clock_gettime(CLOCK_REALTIME, &time));
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* A project that was just built; here, the files of another machine. */
static void make_project(void)
{
	static const char *const sources[] = { "a.c",      "b.c",
		                               "tool",     "common.h",
		                               "note.txt", "order.txt" };

	SYS(mkdir("src", 0777));
	SYS(mkdir("out", 0777));
	EACH(i, sources) {
		write_text(text("src/%s", sources[i]),
		           text("%s\n", sources[i]));
		set_mtime(text("src/%s", sources[i]), now() - 3600000000000);
	}
	write_text("build.ninja", build);
	(void)ninja("-v");
	CHECK_CONTAINS(ninja("-n"), "no work to do");
}

/* All inputs: those of build.ninja, and those that ninja found. */
static const char **list_inputs(size_t *count)
{
	TKB_AUTO(tkb_ninja_build_release) struct tkb_ninja_build named = { 0 };
	TKB_AUTO(tkb_ninja_deps_release) struct tkb_ninja_deps deps = { 0 };
	const char **inputs = test_alloc(100 * sizeof(*inputs));

	*count = 0;
	OK(tkb_ninja_build_read(read_file("build.ninja"), &named, ERR));
	for (size_t i = 0; i < named.input_count; i++)
		inputs[(*count)++] = text("%s", named.inputs[i]);
	OK(tkb_ninja_deps_read(read_file(".ninja_deps"), &deps, ERR));
	CHECK_INT(deps.count, 2);
	for (size_t i = 0; i < deps.count; i++) {
		for (size_t j = 0; j < deps.items[i].input_count; j++)
			inputs[(*count)++] =
				text("%s", deps.items[i].inputs[j]);
	}
	return inputs;
}

/* What a step of these tests works with. */
struct work {
	struct tkb_hasher hasher;
	struct tkb_buf record;
	struct tkb_buf log;
	struct tkb_buf deps;
};

static void end_work(void *self)
{
	struct work *work = self;

	tkb_hasher_close(&work->hasher);
	tkb_buf_release(&work->record);
	tkb_buf_release(&work->log);
	tkb_buf_release(&work->deps);
}

/* Ended with the test. */
static struct work *start_work(void)
{
	struct work *work = test_alloc(sizeof(*work));

	*work = (struct work){ .record = TKB_BUF_INIT(TKB_MIB),
		               .log = TKB_BUF_INIT(TKB_MIB),
		               .deps = TKB_BUF_INIT(TKB_MIB) };
	OK(tkb_hasher_open(&work->hasher, ERR));
	at_end(end_work, work);
	return work;
}

static const struct tkb_ninja_place place = { AT_FDCWD, "/elsewhere/op", NULL };

static int record(struct work *work, bool *is_fresh, struct tkb_error *why)
{
	return tkb_ninja_record_make(&place, &work->hasher, &work->record,
	                             is_fresh, why, ERR);
}

static void make_record(struct work *work)
{
	bool is_fresh = false;

	OK(record(work, &is_fresh, NULL));
	CHECK(is_fresh);
}

static int apply_record(struct work *work, struct tkb_bytes bytes)
{
	return tkb_ninja_record_apply(&place, bytes, &work->hasher, &work->log,
	                              &work->deps, ERR);
}

/* As an emit. */
static void apply(struct work *work)
{
	OK(apply_record(work, tkb_buf_bytes(&work->record)));
	write_file(".ninja_log", tkb_buf_bytes(&work->log));
	write_file(".ninja_deps", tkb_buf_bytes(&work->deps));
}

/* Every input here was written later than the outputs were made. */
static void renew_inputs(void)
{
	size_t count;
	const char **inputs = list_inputs(&count);

	for (size_t i = 0; i < count; i++)
		set_mtime(inputs[i], now() + 60000000000);
}

TEST(ninja_real, a_stamped_project_with_newer_inputs_has_no_work)
{
	struct work *work = start_work();

	make_project();
	make_record(work);
	renew_inputs();
	CHECK_CONTAINS(ninja("-n"), "[1/");

	apply(work);
	CHECK_CONTAINS(ninja("-n"), "no work to do");
	CHECK_CONTAINS(ninja("-v"), "no work to do");
	CHECK_CONTAINS(ninja("-n"), "no work to do");
}

TEST(ninja_real, new_times_on_the_outputs_alone_are_not_enough)
{
	make_project();
	renew_inputs();
	set_mtime("out/a.o", now() + 60000000000);
	set_mtime("out/b.o", now() + 60000000000);
	set_mtime("note", now() + 60000000000);
	set_mtime("lib.so", now() + 60000000000);
	CHECK_CONTAINS(ninja("-n"), "[1/");
}

TEST(ninja_real, an_input_that_is_another_one_is_named)
{
	struct work *work = start_work();

	make_project();
	make_record(work);
	write_text("src/order.txt", "changed\n");
	FAILS(apply_record(work, tkb_buf_bytes(&work->record)), TKB_ERR_CORRUPT,
	      "'src/order.txt', which it was built from, is different "
	      "here");
	CHECK_INT(ERR->reason, TKB_REASON_INPUTS);
	CHECK_INT(unlink("src/order.txt"), 0);
	FAILS(apply_record(work, tkb_buf_bytes(&work->record)), TKB_ERR_CORRUPT,
	      "is not there");
}

TEST(ninja_real, a_source_that_changes_later_is_built_again)
{
	struct work *work = start_work();

	make_project();
	make_record(work);
	apply(work);
	CHECK_CONTAINS(ninja("-n"), "no work to do");
	write_text("src/common.h", "changed\n");
	set_mtime("src/common.h", now() + 60000000000);
	CHECK_CONTAINS(ninja("-v"), "[3/3]");
	CHECK_CONTAINS((const char *)read_file("lib.so").data, "changed");
}

TEST(ninja_real, what_ninja_would_build_has_no_record_that_is_fresh)
{
	struct work *work = start_work();
	struct tkb_error why = { 0 };
	bool is_fresh = true;

	make_project();
	renew_inputs();
	OK(record(work, &is_fresh, &why));
	CHECK(!is_fresh);
	CHECK_CONTAINS(why.message, "is newer than");
	edit_file("build.ninja", "cat $in > $out", "cat  $in > $out");
	FAILS(record(work, &is_fresh, &why), TKB_ERR_CORRUPT,
	      "'lib.so' was not built by the command that");
}

/* Replace an input, as a package does that brings a time before the build. */
static void replace_input(const char *path)
{
	write_text("new", "another\n");
	set_mtime("new", now() - 3600000000000);
	SYS(rename("new", path));
	CHECK_CONTAINS(ninja("-n"), "no work to do");
}

TEST(ninja_real, an_input_that_was_replaced_by_an_older_one_is_named)
{
	static const char *const paths[] = { "src/tool", "src/common.h" };

	EACH(i, paths) {
		struct work *work = start_work();
		struct tkb_error why = { 0 };
		bool is_fresh = true;

		shell("rm -rf src out .ninja* lib.so note");
		make_project();
		replace_input(paths[i]);
		OK(record(work, &is_fresh, &why));
		CHECK(!is_fresh);
		CHECK_STR(why.message,
		          text("'%s' was replaced, or its owner or mode "
		               "changed, after 'out/a.o', which is made from "
		               "it",
		               paths[i]));
	}
}

TEST(ninja_real, an_input_of_which_nothing_tells_when_it_came_is_taken)
{
	static const char *const outputs[] = { "out/a.o", "out/b.o", "lib.so",
		                               "note" };
	const int64_t built = now() - 60000000000;
	struct work *work = start_work();

	/* Linked from a store, as uv does. */
	make_project();
	write_text("store", "tool\n");
	set_mtime("store", now() - 3600000000000);
	SYS(unlink("src/tool"));
	SYS(link("store", "src/tool"));
	make_record(work);

	/* Outputs that were unpacked here, as with an image. */
	EACH(i, outputs)
		set_mtime(outputs[i], built);
	replace_input("src/tool");
	tkb_buf_reset(&work->record);
	make_record(work);
}

TEST(ninja_real, a_record_that_makes_no_sense_is_refused)
{
	static const char *const records[] = {
		"",
		"ninja",
		"ninja 4\n",
		"ninja 77\n",
		"ninja 7\nin x\n",
		"ninja 7\nout - lib.so\n",
		"ninja 7\nout - note\nout - lib.so\n",
		"ninja 7\nmore\n",
		"ninja 7\nout - lib.so\nout - note\nout 1 out/a.o\n",
		("ninja 7\nout - lib.so\nout - note\nout - out/a.o\n"
		 "out - out/b.o\nmore\n"),
		"ninja 7\nout - lib.so\nout - note\nout 99999999999 out/a.o\n",
	};

	make_project();
	EACH(i, records) {
		struct work *work = start_work();

		FAILS(apply_record(work, tkb_text(records[i])), TKB_ERR_CORRUPT,
		      "makes no sense");
	}
}

static const char *query(const char *path)
{
	return run(TKB_NINJA, "-C", test_folder(), "-t", "query", path, NULL)
	        .out;
}

TEST(ninja_real, the_inputs_of_build_ninja_are_those_that_ninja_lists)
{
	TKB_AUTO(tkb_ninja_build_release) struct tkb_ninja_build named = { 0 };

	make_project();
	OK(tkb_ninja_build_read(read_file("build.ninja"), &named, ERR));
	for (size_t i = 0; i < named.input_count; i++)
		CHECK_CONTAINS(query(named.inputs[i]), "outputs:");
	for (size_t i = 0; i < named.output_count; i++)
		CHECK_CONTAINS(query(named.outputs[i]), "input:");
	CHECK_INT(named.input_count, 5);
	CHECK_INT(named.output_count, 4);
}
