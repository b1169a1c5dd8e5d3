/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <sys/stat.h>

#include "tree/rules.h"

static void take(const char *key, const char *into)
{
	copy_folder(text("unpacked/.triton/cache/%s", key),
	            text("%s/%s", into, key));
}

void world_cache(void)
{
	unpack("triton-3.6.0-h100", "unpacked");
	SYS(mkdir("cache", 0777));
	take(WORLD_KERNEL, "cache");
	take(WORLD_MODULE, "cache");
}

void world_add(const char *key)
{
	take(key, "cache");
}

void world_inductor(void)
{
	unpack("triton-3.6.0-h100", "unpacked");
	SYS(mkdir("cache", 0777));
	SYS(mkdir("cache/triton", 0777));
	for (int device = 0; device < 2; device++) {
		const char *root = text("cache/triton/%d", device);

		SYS(mkdir(root, 0777));
		take(WORLD_KERNEL, root);
		take(WORLD_MODULE, root);
	}
}

void world_bundle(const char *cache, const char *path)
{
	OK(tkb_collect_to_file(cache, NULL, path, NULL, ERR));
}

void world_lean_bundle(const char *cache, const char *path)
{
	const struct tkb_collect_options options =
		CHOSEN(tkb_collect_options, .profile = TKB_PROFILE_LEAN);

	OK(tkb_collect_to_file(cache, &options, path, NULL, ERR));
}

void world_tree(void)
{
	tree_make_folder("tree");
	tree_make_folder("tree/u");
	tree_make_folder("tree/u/b");
	write_text("tree/u/a", "a graph");
	write_text("tree/u/b/c", "another");
	write_text("tree/u/index.py", text("['%s/tree/u/a']", test_folder()));
	write_text("tree/f.json", "{\"API_KEY\": \"x\"}");
}

const struct tkb_tree *world_tree_at(const char *path)
{
	static const struct tkb_tree_rule items[] = {
		{ .path = "u", .action = TKB_TREE_ACTION_UNIT },
		{ .path = "u/index.py",
		  .style = TKB_PATH_STYLE_PYTHON,
		  .is_last = 1 },
	};
	static const struct tkb_tree_rules rules = { items, 2 };
	static struct tkb_tree tree;

	tree = (struct tkb_tree){ .name = "t", .path = path, .rules = &rules };
	return &tree;
}

static bool holds(const struct tree_item *file, struct tkb_bytes wanted)
{
	return file != NULL &&
	       tkb_bytes_equal((struct tkb_bytes){ file->data, file->size },
	                       wanted);
}

const char *world_look_at_file(enum fault_moment moment, const char *name,
                               struct tkb_bytes old, struct tkb_bytes wanted)
{
	struct tree out = tree_read("out");
	const struct tree_item *file = tree_find(&out, name);
	const bool is_alone = out.count == (file != NULL);
	const bool is_old = old.size == 0 ? file == NULL : holds(file, old);
	const bool is_new = holds(file, wanted);

	tree_release(&out);
	if (!is_alone || (!is_old && !is_new))
		return "a torn file or another one is left";
	if (fault_is_done(moment))
		return is_new ? NULL : "the file is not there";
	return is_old ? NULL : "the file was replaced";
}

static void take_place(void *self, const struct tkb_result *result)
{
	(void)self;
	(void)result;
	if (!exists("out/x.tkb"))
		tree_make_folder("out/x.tkb");
}

const struct tkb_watch *world_place_taker(void)
{
	static const struct tkb_watch watch = { SIZED(watch),
		                                .on_result = take_place };

	return &watch;
}
