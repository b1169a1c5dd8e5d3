/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"
#include "world.h"

/* Two bundles that share an entry. */
struct merge {
	struct tkb_bundle *bundles[2];
	struct tkb_bytes first;
	struct tkb_bytes wanted;
	struct tkb_merge_report wanted_report;
	struct tkb_merge_report report;
};

static struct merge merge;

static const struct tkb_bundle *const *inputs(void)
{
	return (const struct tkb_bundle *const *)merge.bundles;
}

static void set_up(void)
{
	merge = (struct merge){ .bundles = { NULL } };
	world_cache();
	world_bundle("cache", "a.tkb");
	world_add(WORLD_OTHER);
	world_bundle("cache", "b.tkb");
	merge.bundles[0] = test_bundle("a.tkb");
	merge.bundles[1] = test_bundle("b.tkb");
	merge.first = read_file("a.tkb");
	merge.wanted_report.struct_size = sizeof(merge.wanted_report);
	OK(tkb_merge_to_file(inputs(), 2, NULL, "wanted.tkb",
	                     &merge.wanted_report, ERR));
	CHECK_INT(merge.wanted_report.entry_count, 3);
	merge.wanted = read_file("wanted.tkb");
}

static void try_merge(struct fault_call call)
{
	call.report = &merge.report;
	call.report_size = sizeof(merge.report);
	call.wanted_report = &merge.wanted_report;
	fault_each_allocation(&call);
}

static int call_merge(struct tkb_error *err)
{
	return tkb_merge(inputs(), 2, NULL, &fault_sink, &merge.report, err);
}

TEST(merge, survives_each_failing_allocation)
{
	need_faults();
	set_up();
	try_merge((struct fault_call){ .call = call_merge,
	                               .wanted_sent = merge.wanted });
}

static void prepare_file(void)
{
	tree_make_folder("out");
	write_file("out/a.tkb", merge.first);
}

static int call_to_file(struct tkb_error *err)
{
	return tkb_merge_to_file(inputs(), 2, NULL, "out/a.tkb", &merge.report,
	                         err);
}

static const char *look_at_file(enum fault_moment moment)
{
	return world_look_at_file(moment, "a.tkb", merge.first, merge.wanted);
}

TEST(merge, over_one_of_its_inputs_survives_each_failing_allocation)
{
	need_faults();
	set_up();
	try_merge((struct fault_call){ .prepare = prepare_file,
	                               .call = call_to_file,
	                               .look = look_at_file });
}

TEST(merge, whose_file_cannot_take_its_place_changes_no_report)
{
	const struct tkb_merge_options options =
		CHOSEN(tkb_merge_options, .watch = world_place_taker());

	set_up();
	tree_make_folder("out");
	fault_soil_report(&merge.report, sizeof(merge.report));
	FAILS(tkb_merge_to_file(inputs(), 2, &options, "out/x.tkb",
	                        &merge.report, ERR),
	      TKB_ERR_IO, "cannot write 'out/x.tkb'");
	CHECK(fault_report_is_soiled(&merge.report, sizeof(merge.report)));
	CHECK_INT(count_names("out"), 1);
}
