/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

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

	SYS(mkdir("kernels", 0777));
	SYS(mkdir("from", 0777));
	SYS(mkdir("from/in", 0777));
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
