/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <stdlib.h>

/* TKBUNDLE_DISABLE takes tkbundle out of the way, in the library, too. */

static void disable(void)
{
	SYS(setenv("TKBUNDLE_DISABLE", "1", 1));
}

/* It would reach the tests behind this one. */
static void enable(void)
{
	SYS(unsetenv("TKBUNDLE_DISABLE"));
}

static struct tkb_bundle *open_bundle(void)
{
	struct tkb_bundle *bundle = NULL;

	OK(tkb_collect_to_file(pool(), NULL, "x.tkb", NULL, ERR));
	OK(tkb_bundle_open("x.tkb", &bundle, ERR));
	return bundle;
}

TEST(disable, lets_an_emit_do_nothing_unless_it_is_told)
{
	struct tkb_bundle *bundle = open_bundle();
	struct tkb_emit_options options = { SIZED(options), .threads = 1 };
	struct tkb_emit_report report = { SIZED(report), .emitted_count = 7 };

	disable();
	OK(tkb_emit(bundle, "root", NULL, &report, ERR));
	CHECK_INT(report.emitted_count, 0);
	CHECK(!exists("root"));
	OK(tkb_emit(bundle, "root", &options, NULL, ERR));
	CHECK(!exists("root"));
	options.is_enabled = true;
	OK(tkb_emit(bundle, "root", &options, &report, ERR));
	CHECK_INT(report.emitted_count, POOL);
	enable();
	tkb_bundle_close(bundle);
}

TEST(disable, is_not_asked_where_the_variable_is_empty_or_0)
{
	struct tkb_bundle *bundle = open_bundle();
	struct tkb_emit_report report = { SIZED(report) };

	SYS(setenv("TKBUNDLE_DISABLE", "", 1));
	OK(tkb_emit(bundle, "a", NULL, &report, ERR));
	CHECK_INT(report.emitted_count, POOL);
	SYS(setenv("TKBUNDLE_DISABLE", "0", 1));
	OK(tkb_emit(bundle, "b", NULL, &report, ERR));
	CHECK_INT(report.emitted_count, POOL);
	enable();
	tkb_bundle_close(bundle);
}

TEST(disable, lets_a_collect_write_nothing_unless_it_is_told)
{
	const struct tkb_collect_options told = { SIZED(told),
		                                  .is_enabled = true };
	struct tkb_collect_report report = { SIZED(report), .file_count = 7 };
	const char *root = pool();

	disable();
	OK(tkb_collect_to_file(root, NULL, "y.tkb", &report, ERR));
	CHECK_INT(report.file_count, 0);
	CHECK(!exists("y.tkb"));
	CHECK_INT(tkb_collect(root, NULL, NULL, NULL, NULL), TKB_ERR_INVALID);
	OK(tkb_collect_to_file(root, &told, "y.tkb", &report, ERR));
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
		SIZED(push),
		.collect = &CHOSEN(tkb_collect_options, .is_enabled = true)
	};
	const struct tkb_pull_options pull = {
		SIZED(pull),
		.emit = &CHOSEN(tkb_emit_options, .is_enabled = true)
	};
	const struct tkb_remote_gc_options gc = { SIZED(gc),
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
	struct tkb_remote_verify_options options = { SIZED(options),
		                                     .is_repair = true };
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_remote_verify_report report = { SIZED(report) };

	(void)push_all(remote, pool());
	flip(blob_files("remote")[0], 8);
	disable();
	CHECK_INT(tkb_remote_verify(remote, &options, &report, ERR),
	          TKB_ERR_CORRUPT);
	CHECK_INT(report.damaged_count, 1);
	CHECK_INT(report.dropped_count, 0);
	options.is_enabled = true;
	CHECK_INT(tkb_remote_verify(remote, &options, &report, ERR),
	          TKB_ERR_CORRUPT);
	CHECK_INT(report.dropped_count, 1);
	enable();
}

TEST(disable, leaves_a_cache_as_it_is_unless_it_is_told)
{
	const struct tkb_relocate_options told = { SIZED(told),
		                                   .is_enabled = true };
	struct tkb_gc_options gc = { SIZED(gc), .has_max_entries = true };
	struct tkb_relocate_report relocated = { SIZED(relocated),
		                                 .relocated_count = 7 };
	struct tkb_gc_report removed = { SIZED(removed), .removed_count = 7 };
	const char *root = cache_of("moved", (struct part){ 0, POOL });

	disable();
	OK(tkb_relocate(root, NULL, &relocated, ERR));
	CHECK_INT(relocated.relocated_count, 0);
	OK(tkb_relocate(root, &told, &relocated, ERR));
	CHECK(relocated.relocated_count > 0);
	OK(tkb_gc(root, &gc, &removed, ERR));
	CHECK_INT(removed.removed_count, 0);
	gc.is_enabled = true;
	OK(tkb_gc(root, &gc, &removed, ERR));
	CHECK_INT(removed.removed_count, POOL);
	enable();
}

TEST(disable, gives_no_launcher_and_notes_no_kernel)
{
	struct tkb_bundle *bundle = open_bundle();
	const struct tkb_recorder_options told = { SIZED(told),
		                                   .is_enabled = true };
	struct tkb_launchers *launchers = NULL;
	struct tkb_recorder *recorder = NULL;

	disable();
	OK(tkb_launchers_open(bundle, "nowhere", NULL, &launchers, ERR));
	CHECK_INT(tkb_launchers_count(launchers), 0);
	tkb_launchers_close(launchers);
	OK(tkb_recorder_new(NULL, &recorder, ERR));
	CHECK(tkb_recorder_is_disabled(recorder));
	tkb_recorder_free(recorder);
	OK(tkb_recorder_new(&told, &recorder, ERR));
	CHECK(!tkb_recorder_is_disabled(recorder));
	tkb_recorder_free(recorder);
	enable();
	tkb_bundle_close(bundle);
}

TEST(disable, fetches_no_launcher_and_pushes_nothing_of_a_recorder)
{
	const struct tkb_launchers_options told = { SIZED(told),
		                                    .is_enabled = true };
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const char *root = pool();
	struct tkb_push_report report = { SIZED(report), .pushed_count = 7 };
	struct tkb_launchers *launchers = NULL;
	struct tkb_recorder *recorder = NULL;

	(void)push_all(remote, root);
	spy_reset();
	disable();
	OK(tkb_pull_launchers(remote, REF, root, NULL, NULL, &launchers, ERR));
	CHECK_INT(tkb_launchers_count(launchers), 0);
	tkb_launchers_close(launchers);
	OK(tkb_recorder_new(NULL, &recorder, ERR));
	OK(tkb_recorder_begin_compile(recorder, ERR));
	OK(tkb_recorder_push(recorder, remote, REF, "nowhere", NULL, &report,
	                     ERR));
	CHECK_INT(report.pushed_count, 0);
	tkb_recorder_free(recorder);
	CHECK_INT(spy_trips(), 0);

	CHECK_INT(tkb_pull_launchers(remote, "absent", root, NULL, &told,
	                             &launchers, ERR),
	          TKB_MISS);
	CHECK(spy_trips() > 0);
	enable();
}
