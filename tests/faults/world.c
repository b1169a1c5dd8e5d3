/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "tree/rules.h"

enum {
	DIRT = 0x5a
};

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
	const struct tkb_collect_options options = { SIZED(options),
		                                     .profile =
		                                             TKB_PROFILE_LEAN };

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

static int write_bytes(void *self, struct tkb_bytes bytes,
                       struct tkb_error *err)
{
	struct world_sink *sink = self;

	(void)err;
	if (bytes.size > sizeof(sink->data) - sink->size)
		abort();
	memcpy(sink->data + sink->size, bytes.data, bytes.size);
	sink->size += bytes.size;
	return 0;
}

struct tkb_sink world_sink(struct world_sink *sink)
{
	sink->size = 0;
	return world_sink_on(sink);
}

struct tkb_sink world_sink_on(struct world_sink *sink)
{
	return (struct tkb_sink){ .write = write_bytes, .self = sink };
}

void world_dirty_report(void *report, size_t size)
{
	memset(report, DIRT, size);
	memcpy(report, &size, sizeof(size));
}

bool world_report_is_dirty(const void *report, size_t size)
{
	const unsigned char *bytes = report;

	for (size_t i = sizeof(size); i < size; i++) {
		if (bytes[i] != DIRT)
			return false;
	}
	return memcmp(report, &size, sizeof(size)) == 0;
}

const char *world_check_sent(enum fault_moment moment,
                             const struct world_sink *got,
                             struct tkb_bytes wanted)
{
	return (moment == FAULT_DONE || moment == FAULT_DONE_YET) &&
	                       !tkb_bytes_equal((struct tkb_bytes){ got->data,
	                                                            got->size },
	                                        wanted)
	               ? "the bundle's bytes are others"
	               : NULL;
}

static bool holds(const struct tree_item *file, struct tkb_bytes wanted)
{
	return file != NULL &&
	       tkb_bytes_equal((struct tkb_bytes){ file->data, file->size },
	                       wanted);
}

const char *world_check_file(enum fault_moment moment, const char *name,
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
	if ((moment == FAULT_REFUSED || moment == FAULT_STARVED) && !is_old)
		return "the file was replaced";
	if ((moment == FAULT_DONE || moment == FAULT_DONE_YET) && !is_new)
		return "the file is not there";
	return NULL;
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
