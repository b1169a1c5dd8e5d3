/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "alloc.h"
#include "loop.h"
#include "world.h"

/* Kernels put, so that the recorder's table grows with the last ones. */
enum {
	PUTS = 131,
	DULL_PUTS = 125
};

/* A whole compile, and what an undisturbed one packs. */
struct compile {
	struct tkb_recorder *recorder;
	struct tkb_recorder *made;
	bool to_file;
	struct tkb_bytes wanted; /* of the bundle */
	struct tkb_collect_report report;
};

static struct compile compile;

static const char payload[] = "what only the framework understands";

static int put(size_t number, struct tkb_error *err)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
	char key[] = WORLD_KERNEL;

	key[0] = digits[number % 32];
	key[1] = digits[number / 32];
	return tkb_recorder_put(compile.recorder, key, 0, err);
}

static int put_launcher(size_t number, struct tkb_error *err)
{
	static const char *const needs[] = { WORLD_KERNEL };
	const struct tkb_launcher_spec spec = {
		SIZED(spec),
		.cache_key = number == 0 ? "first" : "second",
		.name = "add_kernel",
		.payload = { payload, sizeof(payload) - number },
		.need = TKB_NEED_ALL,
		.needs = needs,
		.need_count = 1,
	};

	return tkb_recorder_put_launcher(compile.recorder, &spec, err);
}

static int put_winner(size_t number, struct tkb_error *err)
{
	return tkb_recorder_put_winner(
		compile.recorder, number == 0 ? WORLD_KERNEL : WORLD_MODULE,
		err);
}

static int collect(size_t number, struct tkb_error *err)
{
	const struct tkb_collect_options options = CHOSEN(
		tkb_collect_options, .threads = 1, .profile = TKB_PROFILE_LEAN);

	(void)number;
	fault_empty_sink();
	if (compile.to_file)
		return tkb_recorder_collect_to_file(compile.recorder, "cache",
		                                    &options, "out/x.tkb",
		                                    &compile.report, err);
	return tkb_recorder_collect(compile.recorder, "cache", &options,
	                            &fault_sink, &compile.report, err);
}

/* A step that fails changes nothing: it may be done once more. */
static int do_twice(int (*step)(size_t number, struct tkb_error *err),
                    size_t count, struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++) {
		rc = step(i, err);
		if (rc == TKB_ERR_NOMEM)
			rc = step(i, err);
	}
	return rc;
}

static int record(struct tkb_error *err)
{
	int rc;

	rc = tkb_recorder_begin_compile(compile.recorder, err);
	alloc_hold(true);
	for (size_t i = 0; i < DULL_PUTS && rc == 0; i++)
		rc = put(i, err);
	alloc_hold(false);
	if (rc == 0)
		rc = do_twice(put, PUTS, err);
	if (rc == 0)
		rc = do_twice(put_winner, 2, err);
	if (rc == 0)
		rc = do_twice(put_launcher, 2, err);
	if (rc == 0)
		rc = do_twice(collect, 1, err);
	return rc;
}

static int call_record(struct tkb_error *err)
{
	int rc;

	rc = tkb_recorder_new(NULL, &compile.recorder, err);
	if (rc < 0)
		return rc;
	rc = record(err);
	tkb_recorder_end_compile(compile.recorder);
	tkb_recorder_free(compile.recorder);
	return rc;
}

static const char *check_report(void)
{
	const struct tkb_collect_report *report = &compile.report;

	return report->collected_count == 2 && report->launcher_count == 2 &&
	                       report->left_out_count == 0
	               ? NULL
	               : "the report is another";
}

static void prepare_folder(void)
{
	tree_make_folder("out");
}

static const char *look_at_file(enum fault_moment moment)
{
	return world_look_at_file(moment, "x.tkb", tkb_text(""),
	                          compile.wanted);
}

static void set_up(bool to_file)
{
	need_faults();
	world_cache();
	compile = (struct compile){ .report = DEFAULTS(tkb_collect_report) };
	compile.wanted = fault_sent_by(call_record);
	compile.to_file = to_file;
}

TEST(recorder, packs_what_was_put_though_any_call_failed_once)
{
	struct fault_call call = { .call = call_record, .check = check_report };

	set_up(false);
	call.wanted_sent = compile.wanted;
	fault_each_allocation(&call);
}

TEST(recorder, writes_its_file_whole_though_any_call_failed_once)
{
	const struct fault_call call = { .prepare = prepare_folder,
		                         .call = call_record,
		                         .check = check_report,
		                         .look = look_at_file };

	set_up(true);
	fault_each_allocation(&call);
}

static int call_new(struct tkb_error *err)
{
	return tkb_recorder_new(NULL, &compile.made, err);
}

static void free_new(void)
{
	tkb_recorder_free(compile.made);
}

TEST(recorder, is_made_or_says_that_an_allocation_failed)
{
	const struct fault_call call = { .call = call_new,
		                         .out = &compile.made,
		                         .release = free_new };

	fault_each_allocation(&call);
}
