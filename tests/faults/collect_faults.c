/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "loop.h"
#include "world.h"

/* A collect, and what an undisturbed one gives. */
struct collect {
	struct tkb_collect_options options;
	struct tkb_bytes old; /* a file that is there already, or none */
	struct tkb_bytes wanted;
	struct tkb_collect_report wanted_report;
	struct tkb_collect_report report;
	struct world_sink got;
};

static struct collect collect;

static void want(void)
{
	struct tkb_collect_options lenient = collect.options;

	lenient.is_strict = false;
	collect.wanted_report.struct_size = sizeof(collect.wanted_report);
	DONE(tkb_collect_to_file("cache", &lenient, "wanted.tkb",
	                         &collect.wanted_report, ERR),
	     collect.wanted_report.left_out_count > 0);
	collect.wanted = read_file("wanted.tkb");
}

static const char *check_report(enum fault_moment moment)
{
	if (moment == FAULT_REFUSED || moment == FAULT_STARVED)
		return world_report_is_dirty(&collect.report,
		                             sizeof(collect.report))
		               ? NULL
		               : "the report was touched";
	return memcmp(&collect.report, &collect.wanted_report,
	              sizeof(collect.report)) == 0
	               ? NULL
	               : wrong("the report is another: %d collected, %d left "
	                       "out",
	                       (int)collect.report.collected_count,
	                       (int)collect.report.left_out_count);
}

static int call_collect(void *self, struct tkb_error *err)
{
	const struct tkb_sink sink = world_sink(&collect.got);

	(void)self;
	world_dirty_report(&collect.report, sizeof(collect.report));
	return tkb_collect("cache", &collect.options, &sink, &collect.report,
	                   err);
}

static const char *check_collect(void *self, enum fault_moment moment)
{
	const char *fault =
		world_check_sent(moment, &collect.got, collect.wanted);

	(void)self;
	return fault != NULL ? fault : check_report(moment);
}

static void try_collect(struct tkb_collect_options options)
{
	struct fault_call call = { .call = call_collect,
		                   .check = check_collect };

	collect = (struct collect){ .options = options };
	want();
	if (collect.wanted_report.left_out_count > 0)
		call.wanted = TKB_ERR_PARTIAL;
	fault_each_allocation(&call);
}

TEST(collect, survives_each_failing_allocation)
{
	need_faults();
	world_cache();
	try_collect(CHOSEN(tkb_collect_options, .threads = 1));
}

TEST(collect, survives_each_failing_allocation_on_two_threads)
{
	need_faults();
	world_cache();
	try_collect(CHOSEN(tkb_collect_options, .threads = 2));
}

TEST(collect, of_a_tree_survives_each_failing_allocation)
{
	need_faults();
	world_cache();
	world_tree();
	try_collect(CHOSEN(tkb_collect_options, .threads = 1,
	                   .trees = world_tree_at("tree"), .tree_count = 1));
	CHECK_INT(collect.wanted_report.collected_count, 4);
}

TEST(collect, of_two_devices_by_key_survives_each_failing_allocation)
{
	static const char *const keys[] = { WORLD_KERNEL };

	need_faults();
	world_inductor();
	try_collect(CHOSEN(tkb_collect_options, .threads = 1, .keys = keys,
	                   .key_count = 1, .profile = TKB_PROFILE_LEAN));
}

/* Two that are torn, one of them so that it is seen only when it is packed. */
static void tear_two(void)
{
	world_cache();
	world_add(WORLD_OTHER);
	world_add(WORLD_THIRD);
	SYS(remove("cache/" WORLD_OTHER "/add_kernel.ptx"));
	write_text("cache/" WORLD_THIRD "/add_kernel.cubin", "no ELF file");
}

TEST(collect, that_leaves_two_out_survives_each_failing_allocation)
{
	need_faults();
	tear_two();
	try_collect(CHOSEN(tkb_collect_options, .threads = 1));
	CHECK_INT(collect.wanted_report.left_out_count, 2);
}

static const char *check_strict(void *self, enum fault_moment moment)
{
	(void)self;
	if (collect.got.size != 0)
		return "something was sent";
	if (moment == FAULT_REFUSED || moment == FAULT_STARVED)
		return check_report(moment);
	return collect.report.left_out_count == 2 ? NULL
	                                          : "the report is another";
}

TEST(collect, that_is_strict_survives_each_failing_allocation)
{
	const struct fault_call call = { .call = call_collect,
		                         .wanted = TKB_ERR_LEFT_OUT,
		                         .check = check_strict };

	need_faults();
	tear_two();
	collect = (struct collect){ .options = { .struct_size = sizeof(
							 collect.options),
		                                 .threads = 1,
		                                 .is_strict = true } };
	fault_each_allocation(&call);
}

static void prepare_file(void *self)
{
	(void)self;
	tree_make_folder("out");
	if (collect.old.size != 0)
		tree_make_file("out/x.tkb", collect.old.data, collect.old.size);
}

static int call_to_file(void *self, struct tkb_error *err)
{
	(void)self;
	world_dirty_report(&collect.report, sizeof(collect.report));
	return tkb_collect_to_file("cache", &collect.options, "out/x.tkb",
	                           &collect.report, err);
}

static const char *check_file(void *self, enum fault_moment moment)
{
	const char *fault =
		world_check_file(moment, "x.tkb", collect.old, collect.wanted);

	(void)self;
	return fault != NULL ? fault : check_report(moment);
}

static void try_to_file(const char *old)
{
	const struct fault_call call = { .prepare = prepare_file,
		                         .call = call_to_file,
		                         .check = check_file };

	need_faults();
	world_cache();
	collect = (struct collect){ .options = { .struct_size = sizeof(
							 collect.options),
		                                 .threads = 1,
		                                 .profile = TKB_PROFILE_LEAN },
		                    .old = tkb_text(old) };
	want();
	fault_each_allocation(&call);
}

TEST(collect, to_a_new_file_survives_each_failing_allocation)
{
	try_to_file("");
}

TEST(collect, over_a_file_survives_each_failing_allocation)
{
	try_to_file("another");
}

TEST(collect, whose_file_cannot_take_its_place_changes_no_report)
{
	const struct tkb_collect_options options = {
		SIZED(options), .watch = world_place_taker()
	};

	world_cache();
	tree_make_folder("out");
	world_dirty_report(&collect.report, sizeof(collect.report));
	FAILS(tkb_collect_to_file("cache", &options, "out/x.tkb",
	                          &collect.report, ERR),
	      TKB_ERR_IO, "cannot write 'out/x.tkb'");
	CHECK(world_report_is_dirty(&collect.report, sizeof(collect.report)));
	CHECK_INT(count_names("out"), 1);
}
