/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/tkbundle.h>

#include <string.h>

#include "base/struct.h"
#include "harness.h"

/*
 * Programs and libraries of different versions: what a struct's size says, and
 * what comes of it.
 */

/* A struct in its first version, and in a later one. */
struct tkb_first {
	size_t struct_size;
	uint32_t count;
	bool is_fast;
};

struct tkb_later {
	size_t struct_size;
	uint32_t count;
	bool is_fast;
	uint64_t added;
};

static int read_later(struct tkb_later *own, const void *given,
                      struct tkb_error *err)
{
	return tkb_struct_read(TKB_STRUCT_SHAPE(tkb_later, is_fast), own, given,
	                       err);
}

TEST(sizes, of_an_older_program_leave_what_it_does_not_know_zero)
{
	const struct tkb_first given = { sizeof(given), 7, true };
	struct tkb_later own = { .added = 9 };
	struct tkb_error err = { 0 };

	CHECK_OK(read_later(&own, &given, &err), &err);
	CHECK_INT(own.struct_size, sizeof(own));
	CHECK_INT(own.count, 7);
	CHECK(own.is_fast);
	CHECK_INT(own.added, 0);
}

TEST(sizes, of_an_older_program_bound_what_is_filled)
{
	struct {
		struct tkb_first report;
		unsigned char behind[16];
	} given = { .report = { .struct_size = sizeof(given.report) } };
	const struct tkb_later own = { .count = 7, .added = UINT64_MAX };

	memset(given.behind, 0x5a, sizeof(given.behind));
	tkb_struct_write(TKB_STRUCT_SHAPE(tkb_later, is_fast), &given.report,
	                 &own);
	CHECK_INT(given.report.struct_size, sizeof(given.report));
	CHECK_INT(given.report.count, 7);
	for (size_t i = 0; i < sizeof(given.behind); i++)
		CHECK_INT(given.behind[i], 0x5a);
}

TEST(sizes, that_are_not_set_or_make_no_sense_are_refused)
{
	static const size_t bad[] = {
		0, 1, sizeof(size_t), 12, 5000, SIZE_MAX
	};

	for (size_t i = 0; i < TKB_COUNT_OF(bad); i++) {
		const struct tkb_later given = { .struct_size = bad[i] };
		struct tkb_later own = { .count = 1 };
		struct tkb_error err = { 0 };

		CHECK_FAILS(read_later(&own, &given, &err), TKB_ERR_INVALID,
		            &err, "struct_size of a struct tkb_later is");
		CHECK_INT(own.count, 1);
	}
}

TEST(sizes, of_a_newer_program_are_taken_where_it_asks_for_nothing_new)
{
	struct {
		struct tkb_emit_options known;
		uint64_t unknown;
	} options = { .known = { .struct_size = sizeof(options),
		                 .is_dry_run = true } };
	struct {
		struct tkb_emit_report known;
		uint64_t unknown;
	} report = { .known = { .struct_size = sizeof(report) }, .unknown = 9 };
	struct tkb_bundle *bundle = NULL;
	struct tkb_error err = { 0 };

	unpack("triton-3.6.0-cpu", "made");
	CHECK_OK(tkb_collect_to_file("made/.triton/cache", NULL, "a.tkb", NULL,
	                             &err),
	         &err);
	CHECK_OK(tkb_bundle_open("a.tkb", &bundle, &err), &err);
	CHECK_OK(tkb_emit(bundle, "out", &options.known, &report.known, &err),
	         &err);
	CHECK(report.known.emitted_count != 0);
	CHECK_INT(report.known.struct_size, sizeof(report));
	CHECK_INT(report.unknown, 0);
	options.unknown = 1;
	CHECK_FAILS(
		tkb_emit(bundle, "out", &options.known, &report.known, &err),
		TKB_ERR_UNSUPPORTED, &err,
		"a struct tkb_emit_options asks for something");
	tkb_bundle_close(bundle);
}

/* Whatever is called with zeros says which struct's size is missing. */
TEST(sizes, of_zero_are_never_the_default)
{
	const struct tkb_collect_options collect = { 0 };
	const struct tkb_cache_options cache = { 0 };
	const struct tkb_relocate_options relocate = { 0 };
	const struct tkb_gather_options gather = { 0 };
	const struct tkb_gc_options gc = { 0 };
	const struct tkb_uses_options uses = { 0 };
	const struct tkb_pool_options pool = { 0 };
	const struct tkb_compiler_options compiler = { 0 };
	const struct tkb_triton_options triton = { 0 };
	const struct tkb_remote_options remote = { 0 };
	const struct tkb_recorder_options recorder = { 0 };
	const struct tkb_sign_options sign = { 0 };
	const struct tkb_image_manifest image = { 0 };
	const struct tkb_watch watch = { 0 };
	const struct tkb_cache_options watched = { .struct_size =
		                                           sizeof(watched),
		                                   .watch = &watch };
	struct tkb_collect_report report = { 0 };
	struct tkb_error err = { 0 };
	void *out = NULL;

#define REFUSED(call, name)                                                    \
	CHECK_FAILS(call, TKB_ERR_INVALID, &err,                               \
	            "struct_size of a struct tkb_" name " is not set")
	REFUSED(tkb_collect_to_file("c", &collect, "x", NULL, &err),
	        "collect_options");
	REFUSED(tkb_collect_to_file("c", NULL, "x", &report, &err),
	        "collect_report");
	REFUSED(tkb_cache_open("c", &cache, (struct tkb_cache **)&out, &err),
	        "cache_options");
	REFUSED(tkb_cache_open("c", &watched, (struct tkb_cache **)&out, &err),
	        "watch");
	REFUSED(tkb_relocate("c", &relocate, NULL, &err), "relocate_options");
	REFUSED(tkb_gather_kernels("c", &gather, NULL, &err), "gather_options");
	REFUSED(tkb_gc("c", &gc, NULL, &err), "gc_options");
	REFUSED(tkb_uses_open("c", &uses, (struct tkb_uses **)&out, &err),
	        "uses_options");
	REFUSED(tkb_pool_open(&pool, (struct tkb_pool **)&out, &err),
	        "pool_options");
	REFUSED(tkb_compiler_open(&compiler, (struct tkb_compiler **)&out,
	                          &err),
	        "compiler_options");
	REFUSED(tkb_triton_open(&triton, (struct tkb_triton **)&out, &err),
	        "triton_options");
	REFUSED(tkb_remote_open("memory://x", &remote,
	                        (struct tkb_remote **)&out, &err),
	        "remote_options");
	REFUSED(tkb_recorder_new(&recorder, (struct tkb_recorder **)&out, &err),
	        "recorder_options");
	REFUSED(tkb_ref_sign(NULL, "r", &sign, NULL, &err), "sign_options");
	REFUSED(tkb_image_put(NULL, &image, NULL, &err), "image_manifest");
	CHECK(out == NULL);
}
