/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "loop.h"
#include "root.h"
#include "world.h"

/* The upkeep of "root", and what an undisturbed one reports. */
struct upkeep {
	struct fault_root root;
	struct tkb_relocate_report wanted_relocate;
	struct tkb_relocate_report relocate;
	struct tkb_gc_report wanted_gc;
	struct tkb_gc_report gc;
	struct tkb_uses *uses;
};

static struct upkeep upkeep;

static struct tkb_uses *const untouched =
	(struct tkb_uses *)(uintptr_t)0x5a5a5a5a;

static const char *const places[] = { WORLD_KERNEL, WORLD_OTHER, WORLD_MODULE,
	                              WORLD_THIRD, NULL };

/* Two kernels and a module, from elsewhere; and a kernel in work. */
static void set_up(void)
{
	struct tkb_bundle *bundle = NULL;

	need_faults();
	upkeep = (struct upkeep){ .root.places = places };
	world_cache();
	world_add(WORLD_OTHER);
	world_lean_bundle("cache", "x.tkb");
	OK(tkb_bundle_open("x.tkb", &bundle, ERR));
	OK(tkb_emit(bundle, "away", NULL, NULL, ERR));
	tkb_bundle_close(bundle);
	SYS(rename("away", "root"));
	tree_make_folder("root/" WORLD_THIRD);
	tree_make_folder("root/" WORLD_THIRD "/tmp.pid_7_a");
	upkeep.root.before = tree_read("root");
}

static void prepare(void *self)
{
	(void)self;
	fault_root_prepare(&upkeep.root);
}

static int call_relocate(void *self, struct tkb_error *err)
{
	const struct tkb_relocate_options options = { .struct_size =
		                                              sizeof(options),
		                                      .threads = 1 };

	(void)self;
	world_dirty_report(&upkeep.relocate, sizeof(upkeep.relocate));
	return tkb_relocate("root", &options, &upkeep.relocate, err);
}

static const char *check_relocate(void *self, enum fault_moment moment)
{
	const struct tkb_relocate_report *report = &upkeep.relocate;
	const char *problem = fault_root_check(&upkeep.root, moment);

	(void)self;
	if (problem != NULL)
		return problem;
	if (moment == FAULT_REFUSED || moment == FAULT_STARVED)
		return world_report_is_dirty(report, sizeof(*report))
		               ? NULL
		               : "the report was touched";
	if (moment == FAULT_DONE_YET)
		return memcmp(report, &upkeep.wanted_relocate,
		              sizeof(*report)) == 0
		               ? NULL
		               : "the report is another";
	return report->relocated_count + report->present_count == 3
	               ? NULL
	               : "not all is relocated";
}

TEST(relocate, survives_each_failing_allocation)
{
	const struct fault_call call = { .prepare = prepare,
		                         .call = call_relocate,
		                         .check = check_relocate };

	set_up();
	upkeep.wanted_relocate.struct_size = sizeof(upkeep.wanted_relocate);
	OK(tkb_relocate("root", NULL, &upkeep.wanted_relocate, ERR));
	CHECK_INT(upkeep.wanted_relocate.relocated_count, 2);
	upkeep.root.after = tree_read("root");
	fault_each_allocation(&call);
	fault_root_release(&upkeep.root);
}

static int gc_all(struct tkb_gc_report *report, struct tkb_error *err)
{
	const struct tkb_gc_options options = { SIZED(options),
		                                .has_max_entries = true,
		                                .threads = 1 };

	return tkb_gc("root", &options, report, err);
}

static int call_gc(void *self, struct tkb_error *err)
{
	(void)self;
	world_dirty_report(&upkeep.gc, sizeof(upkeep.gc));
	return gc_all(&upkeep.gc, err);
}

/* What an earlier gc has hidden but not removed is left to one of tomorrow. */
static const char *check_gc(void *self, enum fault_moment moment)
{
	const struct tkb_gc_report *report = &upkeep.gc;
	const char *problem = fault_root_check(
		&upkeep.root, moment == FAULT_DONE ? FAULT_REFUSED : moment);

	(void)self;
	if (problem != NULL)
		return problem;
	if (moment == FAULT_REFUSED || moment == FAULT_STARVED)
		return world_report_is_dirty(report, sizeof(*report))
		               ? NULL
		               : "the report was touched";
	if (moment == FAULT_DONE_YET)
		return memcmp(report, &upkeep.wanted_gc, sizeof(*report)) == 0
		               ? NULL
		               : "the report is another";
	return report->kept_count == 0 ? NULL : "not all is removed";
}

TEST(gc, survives_each_failing_allocation)
{
	const struct fault_call call = { .prepare = prepare,
		                         .call = call_gc,
		                         .check = check_gc };

	set_up();
	upkeep.wanted_gc.struct_size = sizeof(upkeep.wanted_gc);
	OK(gc_all(&upkeep.wanted_gc, ERR));
	CHECK_INT(upkeep.wanted_gc.removed_count, 3);
	upkeep.root.after = tree_read("root");
	fault_each_allocation(&call);
	fault_root_release(&upkeep.root);
}

static int call_uses(void *self, struct tkb_error *err)
{
	const struct tkb_uses_options options = { .struct_size =
		                                          sizeof(options),
		                                  .threads = 1 };

	(void)self;
	upkeep.uses = untouched;
	return tkb_uses_open("root", &options, &upkeep.uses, err);
}

static const char *check_uses(void *self, enum fault_moment moment)
{
	(void)self;
	if (moment == FAULT_REFUSED || moment == FAULT_STARVED)
		return upkeep.uses == untouched ? NULL : "its out was touched";
	return tkb_uses_count(upkeep.uses) == 3 ? NULL
	                                        : "it tells of other entries";
}

static void close_uses(void *self)
{
	(void)self;
	tkb_uses_close(upkeep.uses);
}

TEST(uses, are_told_or_it_is_said_that_an_allocation_failed)
{
	const struct fault_call call = { .call = call_uses,
		                         .check = check_uses,
		                         .release = close_uses };

	set_up();
	fault_each_allocation(&call);
	fault_root_release(&upkeep.root);
}
