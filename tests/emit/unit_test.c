/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	UNITS = 6
};

/* Six files in one folder, each a unit, as a bundle. */
static const char *bundle_of_units(void)
{
	const struct tkb_tree tree = { .name = "notes", .path = "from" };
	const struct tkb_collect_options options =
		CHOSEN(tkb_collect_options, .trees = &tree, .tree_count = 1);

	make_folders("kernels");
	make_folders("from/in");
	for (int i = 0; i < UNITS; i++)
		write_text(text("from/in/%d", i), text("unit %d\n", i));
	OK(tkb_collect_to_file("kernels", &options, "units.tkb", NULL, ERR));
	return "units.tkb";
}

/* Removes the folder of the units once, when the first of them is done. */
struct remover {
	bool has_removed;
};

static void remove_folder(void *self, uint64_t done, uint64_t total)
{
	struct remover *remover = self;

	(void)total;
	if (done == 0 || remover->has_removed || !exists("to/in"))
		return;
	for (int i = 0; i < UNITS; i++)
		(void)unlink(text("to/in/%d", i));
	SYS(rmdir("to/in"));
	remover->has_removed = true;
}

TEST(emit_units, make_their_folder_again_if_somebody_removes_it)
{
	const struct tkb_tree tree = { .name = "notes", .path = "to" };
	struct tkb_emit_report report = DEFAULTS(tkb_emit_report);
	struct tkb_bundle *bundle = test_bundle(bundle_of_units());
	struct remover remover = { false };
	const struct tkb_watch watch = { SIZED(struct tkb_watch),
		                         .self = &remover,
		                         .on_progress = remove_folder };
	const struct tkb_emit_options options = {
		SIZED(struct tkb_emit_options), .trees = &tree, .tree_count = 1,
		.threads = 1, .watch = &watch
	};

	/* If the folder did not exist, all would appear at once. */
	SYS(mkdir("to", 0777));
	SYS(mkdir("to/in", 0777));
	OK(tkb_emit(bundle, "kernels", &options, &report, ERR));
	CHECK(remover.has_removed);
	CHECK_INT(report.emitted_count, UNITS);
	CHECK(!exists("to/in/0"));
	for (int i = 1; i < UNITS; i++)
		CHECK_STR(read_file(text("to/in/%d", i)).data,
		          text("unit %d\n", i));
}

/* Changes a unit once, after all units are loaded and before they are hashed. */
static void change_unit(void *self, uint64_t done, uint64_t total)
{
	(void)total;
	(void)self;
	if (done == UNITS)
		write_text("from/in/0", "changed");
}

TEST(cache_units, are_left_out_under_their_path_if_they_change)
{
	const struct tkb_tree tree = { .name = "notes", .path = "from" };
	const struct tkb_watch watch = { SIZED(struct tkb_watch),
		                         .on_progress = change_unit };
	const struct tkb_cache_options options = {
		SIZED(struct tkb_cache_options),
		.trees = &tree,
		.tree_count = 1,
		.threads = 1,
		.has_digests = true,
		.watch = &watch
	};
	struct tkb_cache *cache = NULL;

	(void)bundle_of_units();
	OK(tkb_cache_open("kernels", &options, &cache, ERR));
	CHECK_INT(tkb_cache_left_out_count(cache), 1);
	CHECK_STR(tkb_cache_left_out(cache, 0)->key, "in/0");
	tkb_cache_close(cache);
}

/* In a child: what is there is looked at, and how much memory does that take? */
struct look {
	uint64_t checked;
	uint64_t present;
	uint64_t kib;
};

static uint64_t peak_kib(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss;
}

static void look_at_units(void *self)
{
	const struct tkb_tree tree = { .name = "notes", .path = "from" };
	const struct tkb_collect_options check =
		CHOSEN(tkb_collect_options, .trees = &tree, .tree_count = 1,
	               .is_dry_run = true);
	const struct tkb_emit_options emit =
		CHOSEN(tkb_emit_options, .trees = &tree, .tree_count = 1);
	struct tkb_collect_report checked = DEFAULTS(tkb_collect_report);
	struct tkb_emit_report report = DEFAULTS(tkb_emit_report);
	const uint64_t before = peak_kib();
	struct look *look = self;
	BUNDLE(bundle) = NULL;

	OK(tkb_collect_to_file("kernels", &check, "none", &checked, ERR));
	look->checked = checked.collected_count;
	OK(tkb_bundle_open("units.tkb", &bundle, ERR));
	OK(tkb_emit(bundle, "kernels", &emit, &report, ERR));
	look->present = report.present_count;
	look->kib = peak_kib() - before;
}

TEST(cache_units, that_are_large_are_looked_at_in_little_memory)
{
	enum {
		SIZE = 64 * 1024 * 1024
	};
	struct look look;

	make_folders("from/in");
	write_text("from/in/large", "x");
	SYS(truncate("from/in/large", SIZE));
	(void)bundle_of_units();
	in_child(look_at_units, &look, sizeof(look));
	CHECK_INT(look.checked, UNITS + 1);
	CHECK_INT(look.present, UNITS + 1);
	if (!IS_SANITIZED)
		CHECK(look.kib < SIZE / 1024 / 2);
}
