/* SPDX-License-Identifier: Apache-2.0 */
#include "merging.h"

#include <stdio.h>
#include <stdlib.h>

/* Which bundle's files a device gets, where several have some for it. */

/* Of triton-3.6.0-h100. */
#define UTILS "XU5DT2AO5BD5AEHEYGLPP5LRDFHHCUEJT4LGDVLB4STXUGVGHFPA"
#define UTILS_FILE "cuda_utils.cpython-312-x86_64-linux-gnu.so"

enum {
	MACHINE = 18, /* of an ELF file, where it says for which it is */
	AARCH64 = 183
};

/* Kernel ADD as it is for some devices, and compiled elsewhere for others. */
static void pack_add(const char *path, const char *root, uint32_t one,
                     uint32_t other)
{
	pack_into(path,
	          (struct packing){ .root = root,
	                            .puts = { { ADD, one }, { ADD, other } } });
}

TEST(merge, unites_the_devices_where_the_files_are_equal)
{
	const char *root = arrange_cache();

	pack_add("a.tkb", root, 0, 3);
	pack_add("b.tkb", root, 1, 3);
	struct tkb_merge_report report = merge("m.tkb", "a.tkb", "b.tkb", NULL);
	struct tkb_bundle *bundle = test_bundle("m.tkb");

	CHECK_INT(report.entry_count, 1);
	CHECK_INT(report.skipped_count, 1);
	CHECK_INT(report.unused_size, 0);
	CHECK_STR(devices_for(bundle, ADD, 1), "0,1,3");
	CHECK_STR(frames_of("m.tkb"), "0 +0");
	check_verifies("m.tkb");
	emit_all("m.tkb", "torchinductor_x");
	CHECK(exists("torchinductor_x/triton/1/" ADD "/add_kernel.cubin"));
	CHECK(exists("torchinductor_x/triton/3/" ADD "/add_kernel.cubin"));
}

TEST(merge, splits_the_devices_where_the_files_are_not_equal)
{
	const char *root = arrange_cache();
	const char *other = compile_elsewhere(root, ADD, "bob");

	pack_add("a.tkb", root, 0, 2);
	pack_add("b.tkb", other, 1, 2);
	merge("m.tkb", "a.tkb", "b.tkb", NULL);
	struct tkb_bundle *bundle = test_bundle("m.tkb");

	CHECK_INT(tkb_bundle_entry_count(bundle), 2);
	CHECK_STR(devices_for(bundle, ADD, 0), "0,2");
	CHECK_STR(devices_for(bundle, ADD, 1), "1");
	CHECK_STR(user_of(bundle, ADD, 2), "app");
	CHECK_STR(user_of(bundle, ADD, 1), "bob");
	CHECK_STR(frames_of("m.tkb"), "0 | 1 +0");
	check_verifies("m.tkb");
}

TEST(merge, unites_with_the_equal_one_and_not_with_the_first)
{
	const char *root = arrange_cache();
	const char *other = compile_elsewhere(root, ADD, "bob");

	pack_add("a.tkb", root, 2, 2);
	pack_add("b.tkb", other, 4, 5);
	pack_add("c.tkb", other, 1, 4);
	merge("m.tkb", "a.tkb", "b.tkb", "c.tkb", NULL);
	struct tkb_bundle *bundle = test_bundle("m.tkb");

	CHECK_STR(devices_for(bundle, ADD, 2), "2");
	CHECK_STR(devices_for(bundle, ADD, 1), "1,4,5");
	CHECK_STR(user_of(bundle, ADD, 1), "bob");
	check_verifies("m.tkb");
}

/* The first device decides the order: it may change places with its twin. */
TEST(merge, reads_a_frame_whose_twins_changed_places)
{
	const char *root = arrange_cache();
	const char *other = compile_elsewhere(root, ADD, "bob");

	pack_add("a.tkb", root, 1, 1);
	pack_add("b.tkb", other, 2, 2);
	pack_add("c.tkb", other, 0, 0);
	merge("ab.tkb", "a.tkb", "b.tkb", NULL);
	emit_all("ab.tkb", "torchinductor_ab");
	collect_into("twins.tkb", "torchinductor_ab");
	CHECK_STR(frames_of("twins.tkb"), "0-1");
	merge("m.tkb", "twins.tkb", "c.tkb", NULL);
	struct tkb_bundle *bundle = test_bundle("m.tkb");

	CHECK_STR(frames_of("m.tkb"), "0-1 +0");
	CHECK_STR(devices_for(bundle, ADD, 0), "0,2");
	CHECK_STR(user_of(bundle, ADD, 0), "bob");
	CHECK_STR(user_of(bundle, ADD, 1), "app");
	CHECK_STR(tkb_bundle_entry(bundle, 0)->key, ADD);
	CHECK_INT(tkb_bundle_entry(bundle, 0)->devices[0], 0);
	check_verifies("m.tkb");
}

/* The same module for two machines: e_machine tells them apart. */
TEST(merge, keeps_the_modules_of_each_platform)
{
	const char *path = "arm/" UTILS "/" UTILS_FILE;

	unpack("triton-3.6.0-h100", "unpacked");
	CHECK_INT(run("mkdir", "arm", NULL).status, 0);
	copy_folder("unpacked/.triton/cache/" UTILS, "arm/" UTILS);
	struct tkb_bytes module = read_file(path);
	char *copy = test_alloc(module.size);
	memcpy(copy, module.data, module.size);
	copy[MACHINE] = (char)AARCH64;
	write_file(path, (struct tkb_bytes){ copy, module.size });
	pack_into("a.tkb", (struct packing){ .root = "unpacked/.triton/cache",
	                                     .puts = { { UTILS, 0 } } });
	pack_into("b.tkb",
	          (struct packing){ .root = "arm", .puts = { { UTILS, 0 } } });
	CHECK_INT(merge("m.tkb", "a.tkb", "b.tkb", NULL).skipped_count, 0);
	struct tkb_bundle *bundle = test_bundle("m.tkb");

	CHECK_INT(tkb_bundle_entry_count(bundle), 2);
	CHECK_STR(tkb_bundle_entry(bundle, 0)->platform,
	          "aarch64-glibc2.34-cpython312");
	CHECK_STR(tkb_bundle_entry(bundle, 1)->platform,
	          "x86_64-glibc2.34-cpython312");
	CHECK_STR(frames_of("m.tkb"), "1 | 0");
	check_verifies("m.tkb");
}

/*
 * At random: bundles of two kernels, each as it is or compiled elsewhere, for
 * some of four devices; merged, and what comes of it merged again. A model says
 * who wins where.
 */
enum {
	DEVICES = 4,
	SIMPLE = 12, /* bundles that are packed */
	ROUNDS = 60,
	PICKS = 4
};

static const char *const model_keys[] = { ADD, SOFTMAX };

/* Of each key, for each device: where it was compiled, or NULL. */
struct model {
	const char *users[TKB_COUNT_OF(model_keys)][DEVICES];
};

/* Four caches: each kernel as it is, or compiled elsewhere. */
static void arrange_variants(const char *roots[2][2])
{
	roots[0][0] = arrange_cache();
	roots[1][0] = compile_elsewhere(roots[0][0], ADD, "bob");
	roots[0][1] = compile_elsewhere(roots[0][0], SOFTMAX, "eve");
	roots[1][1] = compile_elsewhere(roots[1][0], SOFTMAX, "eve");
}

static void pack_model(const char *const roots[2][2], const char *path,
                       struct model *model)
{
	static const char *const users[][2] = { { "app", "bob" },
		                                { "app", "eve" } };
	const int variants[] = { rand() % 2, rand() % 2 };
	struct packing packing = { .root = roots[variants[0]][variants[1]] };
	size_t count = 0;

	EACH(i, model_keys) {
		for (uint32_t j = 0; j < DEVICES; j++) {
			if (rand() % 2 == 0)
				continue;
			packing.puts[count].key = model_keys[i];
			packing.puts[count++].device = j;
			model->users[i][j] = users[i][variants[i]];
		}
	}
	pack_into(path, packing);
}

static void add_to_model(struct model *model, const struct model *behind)
{
	EACH(i, model_keys) {
		for (size_t j = 0; j < DEVICES; j++) {
			if (model->users[i][j] == NULL)
				model->users[i][j] = behind->users[i][j];
		}
	}
}

static void check_model(const char *path, const struct model *model)
{
	struct tkb_bundle *bundle = test_bundle(path);
	size_t wanted = 0;
	size_t got = 0;

	EACH(i, model_keys) {
		for (uint32_t j = 0; j < DEVICES; j++) {
			const char *user = model->users[i][j];

			if (user == NULL)
				continue;
			CHECK_STR(user_of(bundle, model_keys[i], j), user);
			wanted++;
		}
	}
	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++)
		got += tkb_bundle_entry(bundle, i)->device_count;
	CHECK_INT(got, wanted);
	check_verifies(path);
}

TEST(merge, of_merges_gives_each_device_what_came_first)
{
	struct model models[SIMPLE + ROUNDS] = { 0 };
	const char *roots[2][2];

	arrange_variants(roots);
	srand(1);
	for (size_t i = 0; i < SIMPLE; i++)
		pack_model((const char *const(*)[2])roots, text("%zu.tkb", i),
		           &models[i]);
	for (size_t i = SIMPLE; i < SIMPLE + ROUNDS; i++) {
		const size_t count = 1 + (size_t)rand() % PICKS;
		const char *inputs[PICKS];

		for (size_t j = 0; j < count; j++) {
			const size_t pick = (size_t)rand() % i;

			inputs[j] = text("%zu.tkb", pick);
			add_to_model(&models[i], &models[pick]);
		}
		merge_list(text("%zu.tkb", i), inputs, count);
		check_model(text("%zu.tkb", i), &models[i]);
	}
}
