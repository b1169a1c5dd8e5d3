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
};

static struct collect collect;

static void want(void)
{
	collect.wanted_report.struct_size = sizeof(collect.wanted_report);
	DONE(tkb_collect_to_file("cache", &collect.options, "wanted.tkb",
	                         &collect.wanted_report, ERR),
	     collect.wanted_report.left_out_count > 0);
	collect.wanted = read_file("wanted.tkb");
}

/* Its report, and `wanted` of it, which may be NULL. */
static void try_call(struct fault_call call,
                     const struct tkb_collect_report *wanted)
{
	call.report = &collect.report;
	call.report_size = sizeof(collect.report);
	call.wanted_report = wanted;
	fault_each_allocation(&call);
}

static int call_collect(struct tkb_error *err)
{
	return tkb_collect("cache", &collect.options, &fault_sink,
	                   &collect.report, err);
}

static void try_collect(struct tkb_collect_options options)
{
	collect = (struct collect){ .options = options };
	want();
	try_call(
		(struct fault_call){
			.call = call_collect,
			.wanted = collect.wanted_report.left_out_count > 0
	                                  ? TKB_ERR_PARTIAL
	                                  : 0,
			.wanted_sent = collect.wanted },
		&collect.wanted_report);
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

static const char *look_at_strict(enum fault_moment moment)
{
	if (fault_sent().size != 0)
		return "something was sent";
	return fault_is_done(moment) && collect.report.left_out_count != 2
	               ? "the report is another"
	               : NULL;
}

TEST(collect, that_is_strict_survives_each_failing_allocation)
{
	need_faults();
	tear_two();
	collect.options =
		CHOSEN(tkb_collect_options, .threads = 1, .is_strict = true);
	try_call((struct fault_call){ .call = call_collect,
	                              .wanted = TKB_ERR_LEFT_OUT,
	                              .look = look_at_strict },
	         NULL);
}

static void prepare_file(void)
{
	tree_make_folder("out");
	if (collect.old.size != 0)
		write_file("out/x.tkb", collect.old);
}

static int call_to_file(struct tkb_error *err)
{
	return tkb_collect_to_file("cache", &collect.options, "out/x.tkb",
	                           &collect.report, err);
}

static const char *look_at_file(enum fault_moment moment)
{
	return world_look_at_file(moment, "x.tkb", collect.old, collect.wanted);
}

static void try_to_file(const char *old)
{
	need_faults();
	world_cache();
	collect = (struct collect){
		.options = CHOSEN(tkb_collect_options, .threads = 1,
		                  .profile = TKB_PROFILE_LEAN),
		.old = tkb_text(old),
	};
	want();
	try_call((struct fault_call){ .prepare = prepare_file,
	                              .call = call_to_file,
	                              .look = look_at_file },
	         &collect.wanted_report);
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
	const struct tkb_collect_options options =
		CHOSEN(tkb_collect_options, .watch = world_place_taker());

	world_cache();
	tree_make_folder("out");
	fault_soil_report(&collect.report, sizeof(collect.report));
	FAILS(tkb_collect_to_file("cache", &options, "out/x.tkb",
	                          &collect.report, ERR),
	      TKB_ERR_IO, "cannot write 'out/x.tkb'");
	CHECK(fault_report_is_soiled(&collect.report, sizeof(collect.report)));
	CHECK_INT(count_names("out"), 1);
}
