/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <stdlib.h>

/* TKBUNDLE_DISABLE takes tkbundle out of the way, in the library, too. */

static void disable(void)
{
	CHECK_INT(setenv("TKBUNDLE_DISABLE", "1", 1), 0);
}

/* It would reach the tests behind this one. */
static void enable(void)
{
	CHECK_INT(unsetenv("TKBUNDLE_DISABLE"), 0);
}

static struct tkb_bundle *open_bundle(void)
{
	struct tkb_bundle *bundle = NULL;
	struct tkb_error err = { 0 };

	CHECK_OK(tkb_collect_to_file(pool(), NULL, "x.tkb", NULL, &err), &err);
	CHECK_OK(tkb_bundle_open("x.tkb", &bundle, &err), &err);
	return bundle;
}

TEST(disable, lets_an_emit_do_nothing_unless_it_is_told)
{
	struct tkb_bundle *bundle = open_bundle();
	struct tkb_emit_options options = { .struct_size = sizeof(options),
		                            .threads = 1 };
	struct tkb_emit_report report = { .struct_size = sizeof(report),
		                          .emitted_count = 7 };
	struct tkb_error err = { 0 };

	disable();
	CHECK_OK(tkb_emit(bundle, "root", NULL, &report, &err), &err);
	CHECK_INT(report.emitted_count, 0);
	CHECK(!exists("root"));
	CHECK_OK(tkb_emit(bundle, "root", &options, NULL, &err), &err);
	CHECK(!exists("root"));
	options.is_enabled = true;
	CHECK_OK(tkb_emit(bundle, "root", &options, &report, &err), &err);
	CHECK_INT(report.emitted_count, POOL);
	enable();
	tkb_bundle_close(bundle);
}

TEST(disable, is_not_asked_where_the_variable_is_empty_or_0)
{
	struct tkb_bundle *bundle = open_bundle();
	struct tkb_emit_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { 0 };

	CHECK_INT(setenv("TKBUNDLE_DISABLE", "", 1), 0);
	CHECK_OK(tkb_emit(bundle, "a", NULL, &report, &err), &err);
	CHECK_INT(report.emitted_count, POOL);
	CHECK_INT(setenv("TKBUNDLE_DISABLE", "0", 1), 0);
	CHECK_OK(tkb_emit(bundle, "b", NULL, &report, &err), &err);
	CHECK_INT(report.emitted_count, POOL);
	enable();
	tkb_bundle_close(bundle);
}

TEST(disable, lets_a_collect_write_nothing_unless_it_is_told)
{
	const struct tkb_collect_options told = { .struct_size = sizeof(told),
		                                  .is_enabled = true };
	struct tkb_collect_report report = { .struct_size = sizeof(report),
		                             .file_count = 7 };
	struct tkb_error err = { 0 };
	const char *root = pool();

	disable();
	CHECK_OK(tkb_collect_to_file(root, NULL, "y.tkb", &report, &err), &err);
	CHECK_INT(report.file_count, 0);
	CHECK(!exists("y.tkb"));
	CHECK_OK(tkb_collect_to_file(root, &told, "y.tkb", &report, &err),
	         &err);
	CHECK_INT(report.collected_count, POOL);
	CHECK(exists("y.tkb"));
	enable();
}

TEST(disable, asks_no_remote_unless_it_is_told)
{
	const char *root = pool();
	const char *pulled = text("%s/pulled", test_folder());
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const struct tkb_push_options push = {
		.struct_size = sizeof(push),
		.collect =
			&(const struct tkb_collect_options){
				.struct_size =
					sizeof(struct tkb_collect_options),
				.is_enabled = true }
	};
	const struct tkb_pull_options pull = {
		.struct_size = sizeof(pull),
		.emit =
			&(const struct tkb_emit_options){
				.struct_size = sizeof(struct tkb_emit_options),
				.is_enabled = true }
	};
	const struct tkb_remote_gc_options gc = { .struct_size = sizeof(gc),
		                                  .is_enabled = true };

	spy_reset();
	disable();
	CHECK_INT(push_all(remote, root).pushed_count, 0);
	CHECK_INT(pull_all(remote, pulled).record_count, 0);
	CHECK_OK(tkb_remote_gc(remote, NULL, NULL, NULL), NULL);
	CHECK_INT(spy_trips(), 0);
	CHECK_INT(push_with(remote, root, push).pushed_count, POOL);
	CHECK_INT(pull_with(remote, pulled, pull).emitted_count, POOL);
	CHECK_OK(tkb_remote_gc(remote, &gc, NULL, NULL), NULL);
	enable();
}

TEST(disable, drops_nothing_that_is_damaged_unless_it_is_told)
{
	struct tkb_remote_verify_options options = { .struct_size =
		                                             sizeof(options),
		                                     .is_repair = true };
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_remote_verify_report report = { .struct_size =
		                                           sizeof(report) };
	struct tkb_error err = { 0 };

	(void)push_all(remote, pool());
	flip(blob_files("remote")[0], 8);
	disable();
	CHECK_INT(tkb_remote_verify(remote, &options, &report, &err),
	          TKB_ERR_CORRUPT);
	CHECK_INT(report.damaged_count, 1);
	CHECK_INT(report.dropped_count, 0);
	options.is_enabled = true;
	CHECK_INT(tkb_remote_verify(remote, &options, &report, &err),
	          TKB_ERR_CORRUPT);
	CHECK_INT(report.dropped_count, 1);
	enable();
}

TEST(disable, leaves_a_cache_as_it_is_unless_it_is_told)
{
	const struct tkb_relocate_options told = { .struct_size = sizeof(told),
		                                   .is_enabled = true };
	struct tkb_gc_options gc = { .struct_size = sizeof(gc),
		                     .has_max_entries = true };
	struct tkb_relocate_report relocated = { .struct_size =
		                                         sizeof(relocated),
		                                 .relocated_count = 7 };
	struct tkb_gc_report removed = { .struct_size = sizeof(removed),
		                         .removed_count = 7 };
	struct tkb_error err = { 0 };
	const char *root = cache_of("moved", (struct part){ 0, POOL });

	disable();
	CHECK_OK(tkb_relocate(root, NULL, &relocated, &err), &err);
	CHECK_INT(relocated.relocated_count, 0);
	CHECK_OK(tkb_relocate(root, &told, &relocated, &err), &err);
	CHECK(relocated.relocated_count > 0);
	CHECK_OK(tkb_gc(root, &gc, &removed, &err), &err);
	CHECK_INT(removed.removed_count, 0);
	gc.is_enabled = true;
	CHECK_OK(tkb_gc(root, &gc, &removed, &err), &err);
	CHECK_INT(removed.removed_count, POOL);
	enable();
}

TEST(disable, gives_no_launcher_and_notes_no_kernel)
{
	struct tkb_bundle *bundle = open_bundle();
	const struct tkb_recorder_options told = { .struct_size = sizeof(told),
		                                   .is_enabled = true };
	struct tkb_launchers *launchers = NULL;
	struct tkb_recorder *recorder = NULL;
	struct tkb_error err = { 0 };

	disable();
	CHECK_OK(tkb_launchers_open(bundle, "nowhere", NULL, &launchers, &err),
	         &err);
	CHECK_INT(tkb_launchers_count(launchers), 0);
	tkb_launchers_close(launchers);
	CHECK_OK(tkb_recorder_new(NULL, &recorder, &err), &err);
	CHECK(tkb_recorder_is_disabled(recorder));
	tkb_recorder_free(recorder);
	CHECK_OK(tkb_recorder_new(&told, &recorder, &err), &err);
	CHECK(!tkb_recorder_is_disabled(recorder));
	tkb_recorder_free(recorder);
	enable();
	tkb_bundle_close(bundle);
}

TEST(disable, fetches_no_launcher_and_pushes_nothing_of_a_recorder)
{
	const struct tkb_launchers_options told = { .struct_size = sizeof(told),
		                                    .is_enabled = true };
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const char *root = pool();
	struct tkb_push_report report = { .struct_size = sizeof(report),
		                          .pushed_count = 7 };
	struct tkb_launchers *launchers = NULL;
	struct tkb_recorder *recorder = NULL;
	struct tkb_error err = { 0 };

	(void)push_all(remote, root);
	spy_reset();
	disable();
	CHECK_OK(tkb_pull_launchers(remote, REF, root, NULL, NULL, &launchers,
	                            &err),
	         &err);
	CHECK_INT(tkb_launchers_count(launchers), 0);
	tkb_launchers_close(launchers);
	CHECK_OK(tkb_recorder_new(NULL, &recorder, &err), &err);
	CHECK_OK(tkb_recorder_begin_compile(recorder, &err), &err);
	CHECK_OK(tkb_recorder_push(recorder, remote, REF, "nowhere", NULL,
	                           &report, &err),
	         &err);
	CHECK_INT(report.pushed_count, 0);
	tkb_recorder_free(recorder);
	CHECK_INT(spy_trips(), 0);

	CHECK_INT(tkb_pull_launchers(remote, "absent", root, NULL, &told,
	                             &launchers, &err),
	          TKB_MISS);
	CHECK(spy_trips() > 0);
	enable();
}
