/* SPDX-License-Identifier: Apache-2.0 */

/* What real ninja says of a project that was stamped. */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "base/digest.h"
#include "harness.h"
#include "tree/ninja.h"
#include "tree/ninja_build.h"

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
	for (size_t i = 0; i < TKB_COUNT_OF(sources); i++) {
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

/* One digest of all inputs, as a caller records them. */
static struct tkb_digest digest_inputs(void)
{
	TKB_AUTO(tkb_hasher_close) struct tkb_hasher hasher = { 0 };
	struct tkb_digest digest;
	size_t count;
	const char **inputs = list_inputs(&count);

	OK(tkb_hasher_open(&hasher, ERR));
	OK(tkb_hasher_begin(&hasher, ERR));
	for (size_t i = 0; i < count; i++)
		OK(tkb_hasher_add(&hasher, read_file(inputs[i]), ERR));
	OK(tkb_hasher_end(&hasher, &digest, ERR));
	return digest;
}

/* As an emit: the outputs get the time, on the disk and in ninja's files. */
static void stamp(int64_t mtime)
{
	TKB_AUTO(tkb_ninja_log_release) struct tkb_ninja_log log = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf log_out = TKB_BUF_INIT(TKB_MIB);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf deps_out = TKB_BUF_INIT(TKB_MIB);

	OK(tkb_ninja_log_read(read_file(".ninja_log"), &log, ERR));
	CHECK_INT(log.output_count, 4);
	for (size_t i = 0; i < log.output_count; i++) {
		log.outputs[i].mtime = mtime;
		set_mtime(log.outputs[i].output, mtime);
	}
	OK(tkb_ninja_stamp(read_file(".ninja_log"), read_file(".ninja_deps"),
	                   log.outputs, log.output_count, &log_out, &deps_out,
	                   ERR));
	write_file(".ninja_log", tkb_buf_bytes(&log_out));
	write_file(".ninja_deps", tkb_buf_bytes(&deps_out));
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
	make_project();
	renew_inputs();
	CHECK_CONTAINS(ninja("-n"), "[1/");

	stamp(now() + 60000000000);
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

TEST(ninja_real, a_header_that_changed_is_seen_by_its_digest)
{
	struct tkb_digest before;
	struct tkb_digest same;
	struct tkb_digest changed;

	make_project();
	before = digest_inputs();
	renew_inputs();
	same = digest_inputs();
	CHECK(tkb_digest_equal(&before, &same));
	write_text("src/common.h", "changed\n");
	changed = digest_inputs();
	CHECK(!tkb_digest_equal(&before, &changed));
	write_text("src/common.h", "common.h\n");
	write_text("src/order.txt", "changed\n");
	changed = digest_inputs();
	CHECK(!tkb_digest_equal(&before, &changed));
}

TEST(ninja_real, a_source_that_changes_later_is_built_again)
{
	make_project();
	stamp(now());
	CHECK_CONTAINS(ninja("-n"), "no work to do");
	write_text("src/common.h", "changed\n");
	set_mtime("src/common.h", now() + 60000000000);
	CHECK_CONTAINS(ninja("-v"), "[3/3]");
	CHECK_CONTAINS((const char *)read_file("lib.so").data, "changed");
}

TEST(ninja_real, another_command_is_built_again)
{
	make_project();
	stamp(now());
	edit_file("build.ninja", "cat $in > $out", "cat  $in > $out");
	CHECK_CONTAINS(ninja("-n"), "[1/1]");
}

TEST(ninja_real, the_inputs_of_build_ninja_are_those_that_ninja_lists)
{
	TKB_AUTO(tkb_ninja_build_release) struct tkb_ninja_build named = { 0 };

	make_project();
	OK(tkb_ninja_build_read(read_file("build.ninja"), &named, ERR));
	for (size_t i = 0; i < named.input_count; i++)
		CHECK_CONTAINS(run(TKB_NINJA, "-C", test_folder(), "-t",
		                   "query", named.inputs[i], NULL)
		                       .out,
		               "outputs:");
	for (size_t i = 0; i < named.output_count; i++)
		CHECK_CONTAINS(run(TKB_NINJA, "-C", test_folder(), "-t",
		                   "query", named.outputs[i], NULL)
		                       .out,
		               "input:");
	CHECK_INT(named.input_count, 5);
	CHECK_INT(named.output_count, 4);
}
