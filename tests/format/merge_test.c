/* SPDX-License-Identifier: Apache-2.0 */
#include "merging.h"

#include <stdio.h>

/* What is in a merged bundle: entries and frames. */

enum {
	PARTS = 3,
	KEYS_LIMIT = 32
};

/* The keys of the cache at `root`. */
static size_t list_keys(const char *root, const char *out[KEYS_LIMIT])
{
	struct tkb_cache *cache = NULL;

	OK(tkb_cache_open(root, NULL, &cache, ERR));
	size_t count = tkb_cache_entry_count(cache);
	CHECK(count <= KEYS_LIMIT);
	for (size_t i = 0; i < count; i++)
		out[i] = text("%s", tkb_cache_entry(cache, i)->key);
	tkb_cache_close(cache);
	return count;
}

/* Pack every third key of the cache at `root`, from `first` on. */
static const char *collect_part(const char *root, const char *const *keys,
                                size_t count, size_t first)
{
	const char *chosen[KEYS_LIMIT];
	struct tkb_collect_options options = { SIZED(options), .keys = chosen,
		                               .is_strict = true };
	const char *path = text("part%zu.tkb", first);

	for (size_t i = first; i < count; i += PARTS)
		chosen[options.key_count++] = keys[i];
	OK(tkb_collect_to_file(root, &options, path, NULL, ERR));
	return path;
}

/* Take the cache at `root` apart, merge the parts, look for what is new. */
static void check_parts(const char *root)
{
	const char *keys[KEYS_LIMIT];
	const char *parts[PARTS];
	const size_t count = list_keys(root, keys);

	for (size_t i = 0; i < PARTS; i++)
		parts[i] = collect_part(root, keys, count, i);
	collect_into("whole.tkb", root);
	struct tkb_merge_report report = merge_list("merged.tkb", parts, PARTS);

	CHECK_STR(id_of("merged.tkb"), id_of("whole.tkb"));
	CHECK_INT(report.entry_count, count);
	CHECK_INT(report.skipped_count, 0);
	CHECK_INT(report.unused_size, 0);
	CHECK_INT(check_verifies("merged.tkb").size, report.size);
	check_emit_same("whole.tkb", "merged.tkb");
}

TEST(merge, of_parts_is_the_bundle_of_the_whole)
{
	static const char *const fixtures[] = { EVERY_TRITON };

	EACH(i, fixtures) {
		unpack(fixtures[i], fixtures[i]);
		check_parts(text("%s/.triton/cache", fixtures[i]));
	}
}

TEST(merge, of_parts_of_an_inductor_folder_is_that_of_the_whole)
{
	unpack("inductor-2.11-llama4-h100", "unpacked");
	check_parts("unpacked/.cache/torchinductor");
}

TEST(merge, of_all_versions_of_triton_holds_every_entry)
{
	static const char *const versions[] = { "3.0.0", "3.2.0", "3.3.1",
		                                "3.6.0", "3.9.0" };
	const char *paths[TKB_COUNT_OF(versions)];
	uint64_t count = 0;

	EACH(i, versions) {
		const char *fixture = text("triton-%s-cpu", versions[i]);

		paths[i] = text("%s.tkb", versions[i]);
		unpack(fixture, fixture);
		collect_into(paths[i], text("%s/.triton/cache", fixture));
		count += check_verifies(paths[i]).verified_count;
		emit_all(paths[i], "one-by-one");
	}
	CHECK_INT(merge_list("m.tkb", paths, TKB_COUNT_OF(paths)).entry_count,
	          count);

	CHECK_INT(check_verifies("m.tkb").verified_count, count);
	SYS(rename("one-by-one", "apart"));
	emit_all("m.tkb", "one-by-one");
	CHECK_INT(run("diff", "-r", "-x", ".tkbundle", "apart", "one-by-one",
	              NULL)
	                  .status,
	          0);
}

TEST(merge, of_one_bundle_is_that_bundle)
{
	collect_into("a.tkb", arrange_cache());
	struct tkb_merge_report report = merge("m.tkb", "a.tkb", NULL);

	check_same_file("m.tkb", "a.tkb");
	CHECK_INT(report.bundle_size, read_file("a.tkb").size);
	CHECK_INT(report.frame_count, 1);
	CHECK_INT(report.entry_count, 5);
	CHECK_INT(report.size, check_verifies("a.tkb").size);
}

TEST(merge, of_a_bundle_with_itself_is_that_bundle)
{
	collect_into("a.tkb", arrange_cache());
	struct tkb_merge_report report =
		merge("m.tkb", "a.tkb", "a.tkb", "a.tkb", NULL);

	check_same_file("m.tkb", "a.tkb");
	CHECK_INT(report.skipped_count, 10);
	CHECK_INT(report.unused_size, 0);
}

/* Three bundles: two of them overlap, two hold other bytes for one key. */
static void arrange_three(void)
{
	const char *root = arrange_cache();
	const char *other = compile_elsewhere(root, ADD, "robert");

	pack_overlapping(root);
	pack_into("c.tkb",
	          (struct packing){ .root = other,
	                            .puts = { { ADD, 0 }, { AUTOTUNE, 0 } } });
}

TEST(merge, of_the_same_bundles_gives_the_same_bytes)
{
	arrange_three();
	merge("m.tkb", "a.tkb", "b.tkb", "c.tkb", NULL);
	merge("n.tkb", "a.tkb", "b.tkb", "c.tkb", NULL);

	check_same_file("m.tkb", "n.tkb");
}

TEST(merge, takes_of_a_bundle_that_overlaps_only_what_is_new)
{
	arrange_three();
	collect_into("whole.tkb", "unpacked/.triton/cache");
	struct tkb_merge_report report = merge("m.tkb", "a.tkb", "b.tkb", NULL);

	CHECK_INT(report.entry_count, 3);
	CHECK_INT(report.skipped_count, 1);
	CHECK_INT(report.frame_count, 2);
	CHECK_STR(frames_of("m.tkb"), "0-1 | 2 +8");
	check_verifies("m.tkb");
	merge("n.tkb", "m.tkb", "whole.tkb", NULL);
	CHECK_STR(id_of("n.tkb"), id_of("whole.tkb"));
	CHECK_STR(frames_of("n.tkb"), "1-2 | 4 +8 | 0,3 +24");
	check_emit_same("n.tkb", "whole.tkb");
}

TEST(merge, tells_how_many_bytes_lie_unused)
{
	arrange_three();
	struct tkb_bundle *bundle = test_bundle("b.tkb");
	uint64_t unused = tkb_entry_size(entry_for(bundle, GELU, 0, NULL));

	CHECK(unused != 0);
	CHECK_INT(merge("m.tkb", "a.tkb", "b.tkb", NULL).unused_size, unused);
}

TEST(merge, does_not_copy_a_frame_of_which_nothing_counts)
{
	arrange_three();
	collect_into("whole.tkb", "unpacked/.triton/cache");
	struct tkb_merge_report report =
		merge("m.tkb", "whole.tkb", "a.tkb", "c.tkb", "b.tkb", NULL);

	check_same_file("m.tkb", "whole.tkb");
	CHECK_INT(report.entry_count, 5);
	CHECK_INT(report.skipped_count, 6);
	CHECK_INT(report.frame_count, 1);
}

TEST(merge, prefers_the_first_of_several_with_other_bytes)
{
	arrange_three();
	merge("first.tkb", "a.tkb", "c.tkb", NULL);
	merge("last.tkb", "c.tkb", "a.tkb", NULL);
	struct tkb_bundle *first = test_bundle("first.tkb");
	struct tkb_bundle *last = test_bundle("last.tkb");

	CHECK_STR(user_of(first, ADD, 0), "app");
	CHECK_STR(user_of(last, ADD, 0), "robert");
	CHECK_INT(tkb_bundle_entry_count(first), 3);
	CHECK_STR(frames_of("first.tkb"), "1-2 | 0 +8");
	CHECK_STR(frames_of("last.tkb"), "0-1 | 2 +8");
	check_verifies("first.tkb");
	check_verifies("last.tkb");
}

/* What bundles put into a root one by one is what the merged one does. */
TEST(merge, emits_what_its_inputs_emit_in_turn)
{
	static const char *const inputs[] = { "c.tkb", "a.tkb", "b.tkb" };

	arrange_three();
	merge_list("m.tkb", inputs, TKB_COUNT_OF(inputs));
	EACH(i, inputs)
		emit_all(inputs[i], "root");
	SYS(rename("root", "in-turn"));
	emit_all("m.tkb", "root");

	CHECK_INT(run("diff", "-r", "-x", ".tkbundle", "in-turn", "root", NULL)
	                  .status,
	          0);
}

TEST(merge, adds_up_what_lies_unused_over_three_levels)
{
	arrange_three();
	collect_into("whole.tkb", "unpacked/.triton/cache");
	pack_into("gelu.tkb",
	          (struct packing){ .root = "unpacked/.triton/cache",
	                            .puts = { { OTHER_GELU, 0 } } });
	merge("one.tkb", "a.tkb", "whole.tkb", NULL);
	CHECK_STR(frames_of("one.tkb"), "1-2 | 0,3-4 +16");
	merge("two.tkb", "gelu.tkb", "one.tkb", NULL);
	CHECK_STR(frames_of("two.tkb"), "3 | 1-2 | 0,4 +24");
	merge("three.tkb", "c.tkb", "two.tkb", NULL);

	CHECK_STR(frames_of("three.tkb"), "0-1 | 3 | 2 +8 | 4 +25");
	CHECK_INT(check_verifies("three.tkb").verified_count, 5);
	merge("four.tkb", "whole.tkb", "three.tkb", NULL);
	check_same_file("four.tkb", "whole.tkb");
}

TEST(merge, of_a_merged_bundle_alone_changes_nothing)
{
	arrange_three();
	merge("m.tkb", "b.tkb", "a.tkb", "c.tkb", NULL);
	merge("n.tkb", "m.tkb", NULL);

	check_same_file("n.tkb", "m.tkb");
}

static void pack_lean(const char *path, const char *key)
{
	pack_into(path, (struct packing){ .root = "unpacked/.triton/cache",
	                                  .puts = { { key, 0 } },
	                                  .is_lean = true });
}

TEST(merge, is_lean_if_any_is)
{
	arrange_three();
	pack_lean("add.tkb", ADD);
	pack_lean("softmax.tkb", SOFTMAX);
	merge("mixed.tkb", "add.tkb", "a.tkb", NULL);
	merge("last.tkb", "a.tkb", "softmax.tkb", NULL);
	merge("lean.tkb", "add.tkb", "softmax.tkb", NULL);
	merge("full.tkb", "a.tkb", "b.tkb", NULL);
	struct tkb_bundle *mixed = test_bundle("mixed.tkb");
	struct tkb_bundle *last = test_bundle("last.tkb");
	struct tkb_bundle *lean = test_bundle("lean.tkb");
	struct tkb_bundle *full = test_bundle("full.tkb");

	CHECK_STR(tkb_bundle_profile(mixed), "lean");
	CHECK_STR(tkb_bundle_profile(last), "lean");
	CHECK_STR(tkb_bundle_profile(lean), "lean");
	CHECK_STR(tkb_bundle_profile(full), "full");
	CHECK_INT(entry_for(mixed, ADD, 0, NULL)->file_count, LEAN_FILES);
	CHECK_INT(entry_for(mixed, GELU, 0, NULL)->file_count, KERNEL_FILES);
	check_verifies("mixed.tkb");
}

TEST(merge, keeps_the_lean_one_of_two_where_that_is_first)
{
	const char *root = arrange_cache();

	pack_lean("lean.tkb", ADD);
	pack_into("full.tkb",
	          (struct packing){ .root = root,
	                            .puts = { { ADD, 0 }, { ADD, 1 } } });
	merge("m.tkb", "lean.tkb", "full.tkb", NULL);
	struct tkb_bundle *bundle = test_bundle("m.tkb");

	CHECK_INT(entry_for(bundle, ADD, 0, NULL)->file_count, LEAN_FILES);
	CHECK_INT(entry_for(bundle, ADD, 1, NULL)->file_count, KERNEL_FILES);
	check_verifies("m.tkb");
}

TEST(merge, of_nothing_but_empty_bundles_is_empty)
{
	pack_into("empty.tkb", (struct packing){ .root = "." });
	merge("m.tkb", "empty.tkb", "empty.tkb", NULL);
	struct tkb_bundle *bundle = test_bundle("m.tkb");

	check_same_file("m.tkb", "empty.tkb");
	CHECK_INT(tkb_bundle_entry_count(bundle), 0);
	check_verifies("m.tkb");
}

TEST(merge, with_an_empty_bundle_changes_nothing)
{
	collect_into("a.tkb", arrange_cache());
	pack_into("empty.tkb", (struct packing){ .root = "." });
	merge("before.tkb", "empty.tkb", "a.tkb", NULL);
	merge("behind.tkb", "a.tkb", "empty.tkb", NULL);

	check_same_file("before.tkb", "a.tkb");
	check_same_file("behind.tkb", "a.tkb");
}

static int read_at(void *self, uint64_t offset, void *data, size_t size,
                   size_t *got_out, struct tkb_error *err)
{
	const struct tkb_bytes *bytes = self;

	(void)err;
	if (offset > bytes->size)
		offset = bytes->size;
	if (size > bytes->size - offset)
		size = bytes->size - (size_t)offset;
	memcpy(data, (const char *)bytes->data + offset, size);
	*got_out = size;
	return 0;
}

TEST(merge, does_not_mind_where_the_bytes_of_a_bundle_come_from)
{
	struct tkb_bytes of_b;
	struct tkb_bundle *bundles[2] = { NULL };
	const struct tkb_source source = { read_at, &of_b };

	arrange_three();
	merge("m.tkb", "a.tkb", "b.tkb", NULL);
	struct tkb_bytes of_a = read_file("a.tkb");
	of_b = read_file("b.tkb");
	OK(tkb_bundle_open_memory(of_a, "a", &bundles[0], ERR));
	OK(tkb_bundle_open_source(&source, "b", &bundles[1], ERR));
	OK(tkb_merge_to_file((const struct tkb_bundle *const *)bundles, 2, NULL,
	                     "n.tkb", NULL, ERR));
	tkb_bundle_close(bundles[0]);
	tkb_bundle_close(bundles[1]);

	check_same_file("n.tkb", "m.tkb");
}

/* One of several threads that merge the same bundles. */
struct job {
	const struct tkb_bundle *const *bundles;
	struct tkb_buf out;
	int rc;
};

static void *merge_job(void *self)
{
	struct job *job = self;
	const struct tkb_sink sink = tkb_buf_sink(&job->out);

	job->rc = tkb_merge(job->bundles, 2, NULL, &sink, NULL, NULL);
	return NULL;
}

TEST(merge, can_be_done_by_several_threads_at_once)
{
	const struct tkb_bundle *bundles[2];
	struct job jobs[4];

	arrange_three();
	merge("m.tkb", "a.tkb", "b.tkb", NULL);
	struct tkb_bytes wanted = read_file("m.tkb");
	bundles[0] = test_bundle("a.tkb");
	bundles[1] = test_bundle("b.tkb");
	EACH(i, jobs)
		jobs[i] = (struct job){ .bundles = bundles,
			                .out = TKB_BUF_INIT(TKB_MIB) };
	IN_THREADS(merge_job, jobs);
	EACH(i, jobs) {
		CHECK_INT(jobs[i].rc, 0);
		CHECK(tkb_bytes_equal(tkb_buf_bytes(&jobs[i].out), wanted));
		tkb_buf_release(&jobs[i].out);
	}
}
