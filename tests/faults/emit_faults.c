/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "fleet_fixture.h"
#include "loop.h"
#include "root.h"
#include "world.h"

/* An emit into "root", and what an undisturbed one reports. */
struct emit {
	struct tkb_emit_options options;
	struct tkb_bundle *bundle;
	struct fault_root root;
	struct tkb_emit_report wanted_report;
	struct tkb_emit_report report;
};

static struct emit emit;

static void prepare_emit(void)
{
	fault_root_prepare(&emit.root);
}

static int call_emit(struct tkb_error *err)
{
	return tkb_emit(emit.bundle, "root", &emit.options, &emit.report, err);
}

static uint64_t good_count(const struct tkb_emit_report *report)
{
	return report->emitted_count + report->present_count +
	       report->repaired_count;
}

static const char *look_at_root(enum fault_moment moment)
{
	if (moment == FAULT_DONE &&
	    good_count(&emit.report) != good_count(&emit.wanted_report))
		return "not all is there";
	return fault_root_look(&emit.root, moment);
}

static void try_emit(struct tkb_emit_options options, int wanted,
                     const char *const *places)
{
	const struct fault_call call = { .prepare = prepare_emit,
		                         .call = call_emit,
		                         .wanted = wanted,
		                         .report = &emit.report,
		                         .report_size = sizeof(emit.report),
		                         .wanted_report = &emit.wanted_report,
		                         .goes_on = true,
		                         .look = look_at_root };

	emit = (struct emit){ .bundle = test_bundle("x.tkb"),
		              .report = DEFAULTS(tkb_emit_report),
		              .options = options,
		              .root.places = places };
	emit.root.before = tree_read("root");
	CHECK_INT(call_emit(ERR), wanted);
	emit.wanted_report = emit.report;
	emit.root.after = tree_read("root");
	fault_each_allocation(&call);
	fault_root_release(&emit.root);
}

static const char *const two_places[] = { WORLD_KERNEL, WORLD_MODULE, NULL };

static void bundle_cache(void)
{
	need_faults();
	world_cache();
	world_bundle("cache", "x.tkb");
}

static void try_new_root(uint32_t threads)
{
	bundle_cache();
	try_emit(CHOSEN(tkb_emit_options, .threads = threads), 0, two_places);
}

TEST(emit, into_a_new_root_survives_each_failing_allocation)
{
	try_new_root(1);
}

TEST(emit, into_a_new_root_survives_each_failing_one_on_two_threads)
{
	try_new_root(2);
}

static void emit_to(const char *root)
{
	OK(tkb_emit(test_bundle("x.tkb"), root, NULL, NULL, ERR));
}

/* As many states as there are entries. */
static void make_states(void)
{
	need_faults();
	world_cache();
	world_add(WORLD_OTHER);
	world_add(WORLD_THIRD);
	world_lean_bundle("cache", "x.tkb");
	emit_to("away");
	SYS(rename("away", "root")); /* all name that place */
	SYS(remove("root/" WORLD_OTHER "/add_kernel.cubin")); /* torn */
	tree_remove("root/" WORLD_MODULE);                    /* absent */
	/* in work */
	tree_make_folder("root/" WORLD_THIRD);
	tree_make_folder("root/" WORLD_THIRD "/tmp.pid_7_a");
	/* what a dead emit left */
	tree_make_folder("root/.tkbundle");
	tree_make_folder("root/.tkbundle/stage-0123456789abcdef");
	tree_make_folder("root/.tkbundle/stage-0123456789abcdef/0");
	write_text("root/.tkbundle/stage-0123456789abcdef/0/a", "a");
	write_text("root/.tkbundle/stage-0123456789abcdef/lock", "");
}

TEST(emit, among_entries_of_all_states_survives_each_failing_allocation)
{
	static const char *const places[] = { WORLD_KERNEL, WORLD_OTHER,
		                              WORLD_MODULE, WORLD_THIRD, NULL };

	make_states();
	try_emit(CHOSEN(tkb_emit_options, .threads = 1), TKB_ERR_PARTIAL,
	         places);
	CHECK_INT(emit.wanted_report.emitted_count, 1);
	CHECK_INT(emit.wanted_report.repaired_count, 2);
	CHECK_INT(emit.wanted_report.busy_count, 1);
}

TEST(emit, of_what_is_present_survives_each_failing_allocation)
{
	bundle_cache();
	emit_to("root");
	try_emit(CHOSEN(tkb_emit_options, .threads = 1), 0, two_places);
	CHECK_INT(emit.wanted_report.present_count, 2);
}

TEST(emit, of_what_nobody_verified_yet_survives_each_failing_allocation)
{
	bundle_cache();
	emit_to("root");
	tree_remove("root/.tkbundle");
	try_emit(CHOSEN(tkb_emit_options, .threads = 1), 0, two_places);
	CHECK_INT(emit.wanted_report.present_count, 2);
}

TEST(emit, for_two_devices_survives_each_failing_allocation)
{
	static const char *const places[] = { "triton/0/" WORLD_KERNEL,
		                              "triton/0/" WORLD_MODULE,
		                              "triton/1/" WORLD_KERNEL,
		                              "triton/1/" WORLD_MODULE, NULL };

	need_faults();
	world_inductor();
	world_lean_bundle("cache", "x.tkb");
	try_emit(CHOSEN(tkb_emit_options, .threads = 1), 0, places);
	CHECK_INT(emit.wanted_report.emitted_count, 4);
}

TEST(emit, of_a_damaged_frame_survives_each_failing_allocation)
{
	bundle_cache();
	flip("x.tkb", 8);
	try_emit(CHOSEN(tkb_emit_options, .threads = 1), TKB_ERR_CORRUPT,
	         two_places);
	CHECK_INT(emit.wanted_report.damaged_count, 2);
}

TEST(emit, over_what_is_unsafe_survives_each_failing_allocation)
{
	bundle_cache();
	tree_make_folder("root");
	write_text("root/" WORLD_KERNEL, "no folder");
	try_emit(CHOSEN(tkb_emit_options, .threads = 1), TKB_ERR_PARTIAL,
	         two_places);
	CHECK_INT(emit.wanted_report.unsafe_count, 1);
}

/* A cache and a tree, packed into x.tkb. */
static void bundle_tree(void)
{
	const struct tkb_collect_options options =
		CHOSEN(tkb_collect_options, .trees = world_tree_at("tree"),
	               .tree_count = 1);

	need_faults();
	world_cache();
	world_tree();
	OK(tkb_collect_to_file("cache", &options, "x.tkb", NULL, ERR));
}

static void try_tree(void)
{
	static const char *const places[] = { WORLD_KERNEL, WORLD_MODULE,
		                              "tree/u", "tree/f.json", NULL };

	try_emit(CHOSEN(tkb_emit_options, .threads = 1,
	                .trees = world_tree_at("root/tree"), .tree_count = 1),
	         0, places);
}

TEST(emit, of_a_tree_survives_each_failing_allocation)
{
	bundle_tree();
	try_tree();
	CHECK_INT(emit.wanted_report.emitted_count, 4);
}

TEST(emit, of_a_tree_that_is_present_survives_each_failing_allocation)
{
	bundle_tree();
	tree_make_folder("root");
	copy_folder("tree", "root/tree");
	write_text("root/tree/u/index.py",
	           text("['%s/root/tree/u/a']", test_folder()));
	try_tree();
	CHECK_INT(emit.wanted_report.present_count, 2);
}
