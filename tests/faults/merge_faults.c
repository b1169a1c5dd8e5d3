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
	struct world_sink got;
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
	OK(tkb_bundle_open("a.tkb", &merge.bundles[0], ERR));
	OK(tkb_bundle_open("b.tkb", &merge.bundles[1], ERR));
	merge.first = read_file("a.tkb");
	merge.wanted_report.struct_size = sizeof(merge.wanted_report);
	OK(tkb_merge_to_file(inputs(), 2, NULL, "wanted.tkb",
	                     &merge.wanted_report, ERR));
	CHECK_INT(merge.wanted_report.entry_count, 3);
	merge.wanted = read_file("wanted.tkb");
}

static void tear_down(void)
{
	tkb_bundle_close(merge.bundles[0]);
	tkb_bundle_close(merge.bundles[1]);
}

static const char *check_report(enum fault_moment moment)
{
	switch (moment) {
	case FAULT_REFUSED:
	case FAULT_STARVED:
		return world_report_is_dirty(&merge.report,
		                             sizeof(merge.report))
		               ? NULL
		               : "the report was touched";
	case FAULT_DONE_YET:
	case FAULT_DONE:
		return memcmp(&merge.report, &merge.wanted_report,
		              sizeof(merge.report)) == 0
		               ? NULL
		               : "the report is another";
	}
	return NULL;
}

static int call_merge(void *self, struct tkb_error *err)
{
	const struct tkb_sink sink = world_sink(&merge.got);

	(void)self;
	world_dirty_report(&merge.report, sizeof(merge.report));
	return tkb_merge(inputs(), 2, NULL, &sink, &merge.report, err);
}

static const char *check_merge(void *self, enum fault_moment moment)
{
	const char *fault = world_check_sent(moment, &merge.got, merge.wanted);

	(void)self;
	return fault != NULL ? fault : check_report(moment);
}

TEST(merge, survives_each_failing_allocation)
{
	const struct fault_call call = { .call = call_merge,
		                         .check = check_merge };

	need_faults();
	set_up();
	fault_each_allocation(&call);
	tear_down();
}

static void prepare_file(void *self)
{
	(void)self;
	tree_make_folder("out");
	tree_make_file("out/a.tkb", merge.first.data, merge.first.size);
}

static int call_to_file(void *self, struct tkb_error *err)
{
	(void)self;
	world_dirty_report(&merge.report, sizeof(merge.report));
	return tkb_merge_to_file(inputs(), 2, NULL, "out/a.tkb", &merge.report,
	                         err);
}

static const char *check_file(void *self, enum fault_moment moment)
{
	const char *fault =
		world_check_file(moment, "a.tkb", merge.first, merge.wanted);

	(void)self;
	return fault != NULL ? fault : check_report(moment);
}

TEST(merge, over_one_of_its_inputs_survives_each_failing_allocation)
{
	const struct fault_call call = { .prepare = prepare_file,
		                         .call = call_to_file,
		                         .check = check_file };

	need_faults();
	set_up();
	fault_each_allocation(&call);
	tear_down();
}

TEST(merge, whose_file_cannot_take_its_place_changes_no_report)
{
	const struct tkb_merge_options options = {
		SIZED(options), .watch = world_place_taker()
	};

	set_up();
	tree_make_folder("out");
	world_dirty_report(&merge.report, sizeof(merge.report));
	FAILS(tkb_merge_to_file(inputs(), 2, &options, "out/x.tkb",
	                        &merge.report, ERR),
	      TKB_ERR_IO, "cannot write 'out/x.tkb'");
	CHECK(world_report_is_dirty(&merge.report, sizeof(merge.report)));
	CHECK_INT(count_names("out"), 1);
	tear_down();
}
