/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "loop.h"
#include "world.h"

/* A collect, and what an undisturbed one gives. */
struct collect {
	struct tkb_collect_options options;
	bool replaces; /* there is a file already */
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
	(void)self;
	if ((moment == FAULT_DONE || moment == FAULT_DONE_YET) &&
	    (collect.got.size != collect.wanted.size ||
	     memcmp(collect.got.data, collect.wanted.data,
	            collect.wanted.size) != 0))
		return "the bundle's bytes are others";
	return check_report(moment);
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
	try_collect((struct tkb_collect_options){
		.struct_size = sizeof(struct tkb_collect_options),
		.threads = 1 });
}

TEST(collect, survives_each_failing_allocation_on_two_threads)
{
	need_faults();
	world_cache();
	try_collect((struct tkb_collect_options){
		.struct_size = sizeof(struct tkb_collect_options),
		.threads = 2 });
}

TEST(collect, of_a_tree_survives_each_failing_allocation)
{
	need_faults();
	world_cache();
	world_tree();
	try_collect((struct tkb_collect_options){
		.struct_size = sizeof(struct tkb_collect_options),
		.threads = 1,
		.trees = world_tree_at("tree"),
		.tree_count = 1 });
	CHECK_INT(collect.wanted_report.collected_count, 4);
}

TEST(collect, of_two_devices_by_key_survives_each_failing_allocation)
{
	static const char *const keys[] = { WORLD_KERNEL };

	need_faults();
	world_inductor();
	try_collect((struct tkb_collect_options){
		.struct_size = sizeof(struct tkb_collect_options),
		.threads = 1,
		.keys = keys,
		.key_count = 1,
		.profile = TKB_PROFILE_LEAN });
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
	try_collect((struct tkb_collect_options){
		.struct_size = sizeof(struct tkb_collect_options),
		.threads = 1 });
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
	if (collect.replaces)
		tree_make_file("out/x.tkb", "another", 7);
}

static int call_to_file(void *self, struct tkb_error *err)
{
	(void)self;
	world_dirty_report(&collect.report, sizeof(collect.report));
	return tkb_collect_to_file("cache", &collect.options, "out/x.tkb",
	                           &collect.report, err);
}

/* The file is as it was, or whole; there is no other. */
static const char *check_file(void *self, enum fault_moment moment)
{
	struct tree out = tree_read("out");
	const struct tree_item *file = tree_find(&out, "x.tkb");
	const bool is_old = collect.replaces ? file != NULL && file->size == 7
	                                     : file == NULL;
	const bool is_new =
		file != NULL && file->size == collect.wanted.size &&
		memcmp(file->data, collect.wanted.data, file->size) == 0;
	const size_t count = out.count;

	(void)self;
	tree_release(&out);
	if (count > 1 || (count == 1 && !is_old && !is_new))
		return "a torn file or another one is left";
	if ((moment == FAULT_REFUSED || moment == FAULT_STARVED) && !is_old)
		return "the file was replaced";
	if ((moment == FAULT_DONE || moment == FAULT_DONE_YET) && !is_new)
		return "the file is not there";
	return check_report(moment);
}

static void try_to_file(bool replaces)
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
		                    .replaces = replaces };
	want();
	fault_each_allocation(&call);
}

TEST(collect, to_a_new_file_survives_each_failing_allocation)
{
	try_to_file(false);
}

TEST(collect, over_a_file_survives_each_failing_allocation)
{
	try_to_file(true);
}

/* Something takes the file's place while the bundle is made. */
static void take_place(void *self, const struct tkb_result *result)
{
	(void)self;
	(void)result;
	if (!exists("out/x.tkb"))
		tree_make_folder("out/x.tkb");
}

TEST(collect, whose_file_cannot_take_its_place_changes_no_report)
{
	const struct tkb_collect_options options = {
		.struct_size = sizeof(options),
		.watch = &(const struct tkb_watch){ .struct_size = sizeof(
							    struct tkb_watch),
		                                    .on_result = take_place }
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
