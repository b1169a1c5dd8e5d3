/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "loop.h"
#include "root.h"
#include "world.h"

/* The upkeep of "root", and what an undisturbed one reports. */
struct upkeep {
	struct fault_root root;
	struct tkb_relocate_report relocate;
	struct tkb_gc_report gc;
	struct tkb_uses *uses;
};

static struct upkeep upkeep;

static const char *const places[] = { WORLD_KERNEL, WORLD_OTHER, WORLD_MODULE,
	                              WORLD_THIRD, NULL };

/* Two kernels and a module, from elsewhere; and a kernel in work. */
static void set_up(void)
{
	need_faults();
	upkeep = (struct upkeep){ .root.places = places };
	world_cache();
	world_add(WORLD_OTHER);
	world_lean_bundle("cache", "x.tkb");
	OK(tkb_emit(test_bundle("x.tkb"), "away", NULL, NULL, ERR));
	SYS(rename("away", "root"));
	tree_make_folder("root/" WORLD_THIRD);
	tree_make_folder("root/" WORLD_THIRD "/tmp.pid_7_a");
	upkeep.root.before = tree_read("root");
}

static void prepare(void)
{
	fault_root_prepare(&upkeep.root);
}

/* `wanted` is what an undisturbed call reported, to which `call.report` is. */
static void try_upkeep(struct fault_call call, const void *wanted, size_t size)
{
	upkeep.root.after = tree_read("root");
	call.prepare = prepare;
	call.report_size = size;
	call.wanted_report = wanted;
	call.goes_on = true;
	fault_each_allocation(&call);
	fault_root_release(&upkeep.root);
}

static int call_relocate(struct tkb_error *err)
{
	const struct tkb_relocate_options options =
		CHOSEN(tkb_relocate_options, .threads = 1);

	return tkb_relocate("root", &options, &upkeep.relocate, err);
}

static const char *look_at_relocated(enum fault_moment moment)
{
	const struct tkb_relocate_report *report = &upkeep.relocate;

	if (moment == FAULT_DONE &&
	    report->relocated_count + report->present_count != 3)
		return "not all is relocated";
	return fault_root_look(&upkeep.root, moment);
}

TEST(relocate, survives_each_failing_allocation)
{
	struct tkb_relocate_report wanted = DEFAULTS(tkb_relocate_report);

	set_up();
	OK(tkb_relocate("root", NULL, &wanted, ERR));
	CHECK_INT(wanted.relocated_count, 2);
	try_upkeep((struct fault_call){ .call = call_relocate,
	                                .report = &upkeep.relocate,
	                                .look = look_at_relocated },
	           &wanted, sizeof(wanted));
}

static int call_gc(struct tkb_error *err)
{
	const struct tkb_gc_options options =
		CHOSEN(tkb_gc_options, .has_max_entries = true, .threads = 1);

	return tkb_gc("root", &options, &upkeep.gc, err);
}

/* What an earlier gc has hidden but not removed is left to one of tomorrow. */
static const char *look_at_kept(enum fault_moment moment)
{
	if (moment == FAULT_DONE && upkeep.gc.kept_count != 0)
		return "not all is removed";
	return fault_root_look(&upkeep.root,
	                       moment == FAULT_DONE ? FAULT_REFUSED : moment);
}

TEST(gc, survives_each_failing_allocation)
{
	struct tkb_gc_report wanted;

	set_up();
	upkeep.gc = DEFAULTS(tkb_gc_report);
	OK(call_gc(ERR));
	wanted = upkeep.gc;
	CHECK_INT(wanted.removed_count, 3);
	try_upkeep((struct fault_call){ .call = call_gc,
	                                .report = &upkeep.gc,
	                                .look = look_at_kept },
	           &wanted, sizeof(wanted));
}

static int call_uses(struct tkb_error *err)
{
	const struct tkb_uses_options options =
		CHOSEN(tkb_uses_options, .threads = 1);

	return tkb_uses_open("root", &options, &upkeep.uses, err);
}

static const char *check_uses(void)
{
	return tkb_uses_count(upkeep.uses) == 3 ? NULL
	                                        : "it tells of other entries";
}

static void close_uses(void)
{
	tkb_uses_close(upkeep.uses);
}

TEST(uses, are_told_or_it_is_said_that_an_allocation_failed)
{
	const struct fault_call call = { .call = call_uses,
		                         .out = &upkeep.uses,
		                         .check = check_uses,
		                         .release = close_uses };

	set_up();
	fault_each_allocation(&call);
	fault_root_release(&upkeep.root);
}
