/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A recorder's life: what may follow what, and what finalises. */

/* The manifest of a bundle without anything: its id never changes. */
#define EMPTY_ID                                                               \
	"3a0b157e128a053564b4505b8b229217809c0e2aee646c789ff43ec1ac7f38e6"

/* Kernels of the H100's cache. */
#define ADD "7L6SDEJ5EARFW53EAUKXWJ3XWXHCWI4TI4SGVO6DXAZGV5QZWTSA"
#define MATMUL "D3PPX5GK7UQ4B5NHQFFX2XIJFDP56QMVFEZGVL5KZIPZ7ARB6EFQ"
#define SOFTMAX "D4QPSSO6MYNPQYWQ3TOI2FKSOEBYMCNACWK5X2E5YQVDBBIBG6GA"

static struct tkb_recorder *fresh(const struct tkb_recorder_options *options)
{
	struct tkb_recorder *recorder = NULL;

	OK(tkb_recorder_new(options, &recorder, ERR));
	return recorder;
}

static void begin(struct tkb_recorder *recorder)
{
	OK(tkb_recorder_begin_compile(recorder, ERR));
}

/* What a recorder collects from `root`: keys. */
static const char *collected_keys_of(struct tkb_recorder *recorder,
                                     const char *root)
{
	BUNDLE(bundle) = open_bytes(recorded(recorder, root));

	check_sound(bundle);
	return keys_in(bundle);
}

TEST(recorder, lives_from_begin_to_end_and_again)
{
	const char *root = h100();
	RECORDER(recorder) = fresh(NULL);
	struct tkb_collect_report report = { SIZED(report) };

	CHECK(!tkb_recorder_is_disabled(recorder));
	begin(recorder);
	put(recorder, ADD, 0);
	put(recorder, MATMUL, 0);
	put_winner(recorder, MATMUL);
	save(recorder, "conf", "payload", TKB_NEED_ALL, keys_of(1, SOFTMAX));
	OK(tkb_recorder_collect_to_file(recorder, root, NULL, "k.tkb", &report,
	                                ERR));
	tkb_recorder_end_compile(recorder);

	CHECK_INT(report.collected_count, 2);
	CHECK_INT(report.left_out_count, 0);
	CHECK_INT(report.launcher_count, 1);
	CHECK_INT(report.dropped_count, 0);
	CHECK_INT(report.file_count, 16);
	CHECK_INT(report.bundle_size, read_file("k.tkb").size);
	struct tkb_bundle *bundle = test_bundle("k.tkb");
	check_sound(bundle);
	CHECK_STR(keys_in(bundle), "D3PP D4QP");
	CHECK_STR(launchers_in(bundle), "conf=payload");
	CHECK(memcmp(&report.id, tkb_bundle_id(bundle), 32) == 0);

	begin(recorder);
	put(recorder, ADD, 0);
	CHECK_STR(collected_keys_of(recorder, root), "7L6S");
}

/*
 * Order
 */

enum phase {
	FRESH,
	BEGUN,
	COLLECTED,
	ENDED,
	PHASES
};

enum action {
	BEGIN,
	PUT,
	WINNER,
	LAUNCHER,
	COLLECT,
	COLLECT_TO_FILE,
	ACTIONS
};

static struct tkb_recorder *in_phase(enum phase phase, const char *root)
{
	struct tkb_recorder *recorder = fresh(NULL);

	if (phase == FRESH)
		return recorder;
	begin(recorder);
	put(recorder, ADD, 0);
	if (phase == BEGUN)
		return recorder;
	CHECK_STR(collected_keys_of(recorder, root), "7L6S");
	if (phase == ENDED)
		tkb_recorder_end_compile(recorder);
	return recorder;
}

static int drop_bytes(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)err;
	*(size_t *)self += bytes.size;
	return 0;
}

static int act(struct tkb_recorder *recorder, enum action action,
               const char *root, struct tkb_error *err)
{
	static const char *const needs[] = { SOFTMAX };
	static const struct tkb_launcher_spec launcher = {
		sizeof(launcher), "conf", "softmax", { "x", 1 },
		TKB_NEED_ALL,     needs,  1
	};
	size_t size = 0;
	const struct tkb_sink sink = { drop_bytes, &size };

	switch (action) {
	case BEGIN:
		return tkb_recorder_begin_compile(recorder, err);
	case PUT:
		return tkb_recorder_put(recorder, MATMUL, 0, err);
	case WINNER:
		return tkb_recorder_put_winner(recorder, MATMUL, err);
	case LAUNCHER:
		return tkb_recorder_put_launcher(recorder, &launcher, err);
	case COLLECT:
		return tkb_recorder_collect(recorder, root, NULL, &sink, NULL,
		                            err);
	default:
		return tkb_recorder_collect_to_file(recorder, root, NULL,
		                                    "x.tkb", NULL, err);
	}
}

/* Is the recorder still in the phase, with what was put in it? */
static void check_phase(struct tkb_recorder *recorder, enum phase phase,
                        const char *root)
{
	if (phase == COLLECTED) {
		FAILS(tkb_recorder_put(recorder, ADD, 0, ERR), TKB_ERR_INVALID,
		      "is collected already");
		tkb_recorder_end_compile(recorder);
	}
	if (phase != BEGUN) {
		FAILS(tkb_recorder_put(recorder, ADD, 0, ERR), TKB_ERR_INVALID,
		      "no compile has begun");
		begin(recorder);
	}
	CHECK_STR(collected_keys_of(recorder, root),
	          phase == BEGUN ? "7L6S" : "");
}

TEST(recorder, refuses_each_wrong_order_and_changes_nothing)
{
	static const char none[] = "no compile has begun";
	static const char begun[] = "a compile has begun and not ended";
	static const char done[] = "the compile is collected already";
	static const char *const wanted[PHASES][ACTIONS] = {
		[FRESH] = { NULL, none, none, none, none, none },
		[BEGUN] = { begun },
		[COLLECTED] = { begun, done, done, done, done, done },
		[ENDED] = { NULL, none, none, none, none, none },
	};
	const char *root = h100();

	for (size_t i = 0; i < (size_t)PHASES * ACTIONS; i++) {
		const enum phase phase = (enum phase)(i / ACTIONS);
		const enum action action = (enum action)(i % ACTIONS);
		const char *message = wanted[phase][action];
		RECORDER(recorder) = in_phase(phase, root);

		if (message == NULL) {
			OK(act(recorder, action, root, ERR));
			(void)unlink("x.tkb");
			continue;
		}
		CHECK_INT(act(recorder, action, root, ERR), TKB_ERR_INVALID);
		CHECK_STR(ERR->message, message);
		CHECK_INT(act(recorder, action, root, NULL), TKB_ERR_INVALID);
		check_phase(recorder, phase, root);
		CHECK(!exists("x.tkb"));
	}
}

TEST(recorder, may_end_at_any_time_and_twice)
{
	const char *root = h100();

	for (enum phase phase = FRESH; phase < PHASES; phase++) {
		RECORDER(recorder) = in_phase(phase, root);

		tkb_recorder_end_compile(recorder);
		tkb_recorder_end_compile(recorder);
		check_phase(recorder, ENDED, root);
		tkb_recorder_end_compile(recorder);
		tkb_recorder_end_compile(recorder);
	}
	tkb_recorder_free(NULL);
}

TEST(recorder, discards_what_was_not_collected_when_the_compile_ends)
{
	const char *root = h100();
	RECORDER(recorder) = recording();

	put(recorder, ADD, 0);
	put_winner(recorder, ADD);
	save(recorder, "old", "payload", TKB_NEED_ALL, keys_of(1, SOFTMAX));
	tkb_recorder_end_compile(recorder);
	begin(recorder);
	put(recorder, MATMUL, 0);

	BUNDLE(bundle) = open_bytes(recorded(recorder, root));
	CHECK_STR(keys_in(bundle), "D3PP");
	CHECK_STR(launchers_in(bundle), "");
}

TEST(recorder, may_be_freed_in_any_phase)
{
	const char *root = h100();

	for (enum phase phase = FRESH; phase < PHASES; phase++)
		tkb_recorder_free(in_phase(phase, root));
}

TEST(recorder, is_independent_of_another)
{
	const char *root = h100();
	RECORDER(one) = recording();
	RECORDER(other) = recording();

	put(one, ADD, 0);
	put(other, MATMUL, 0);
	put(one, SOFTMAX, 0);
	CHECK_STR(collected_keys_of(one, root), "7L6S D4QP");
	tkb_recorder_end_compile(one);
	put(other, SOFTMAX, 1);
	begin(one);
	CHECK_STR(collected_keys_of(other, root), "D3PP D4QP");
	CHECK_STR(collected_keys_of(one, root), "");
}

/*
 * While it collects. What another thread may do at any time, a watch does at
 * one time that is known.
 */

/* Calls an action, once, when collect asks whether to go on. */
struct intruder {
	struct tkb_watch watch;
	struct tkb_recorder *recorder;
	const char *root;
	enum action action;
	bool ends; /* call tkb_recorder_end_compile() instead */
	bool is_done;
	int rc;
	struct tkb_error err;
};

static bool intrude(void *self)
{
	struct intruder *intruder = self;

	if (intruder->is_done)
		return false;
	intruder->is_done = true;
	if (intruder->ends)
		tkb_recorder_end_compile(intruder->recorder);
	else
		intruder->rc = act(intruder->recorder, intruder->action,
		                   intruder->root, &intruder->err);
	return false;
}

static struct tkb_collect_options options_with(struct intruder *intruder)
{
	intruder->watch =
		(struct tkb_watch){ .struct_size = sizeof(intruder->watch),
		                    .self = intruder,
		                    .is_cancelled = intrude };
	return CHOSEN(tkb_collect_options, .threads = 1,
	              .watch = &intruder->watch);
}

TEST(recorder, refuses_all_but_the_end_while_it_collects)
{
	const char *root = h100();

	for (enum action action = BEGIN; action < ACTIONS; action++) {
		RECORDER(recorder) = in_phase(BEGUN, root);
		struct intruder intruder = { .recorder = recorder,
			                     .root = root,
			                     .action = action };
		const struct tkb_collect_options options =
			options_with(&intruder);
		BUNDLE(bundle) = open_bytes(
			recorded_with(recorder, root, &options, NULL));

		CHECK(intruder.is_done);
		CHECK_INT(intruder.rc, TKB_ERR_INVALID);
		CHECK_CONTAINS(intruder.err.message,
		               action == BEGIN ? "has begun and not ended"
		                               : "is being collected");
		CHECK_STR(keys_in(bundle), "7L6S");
		check_phase(recorder, COLLECTED, root);
	}
}

TEST(recorder, collects_to_its_end_though_the_compile_ends_meanwhile)
{
	const char *root = h100();
	RECORDER(recorder) = recording();
	struct intruder intruder = { .recorder = recorder, .ends = true };
	const struct tkb_collect_options options = options_with(&intruder);

	put(recorder, ADD, 3);
	save(recorder, "conf", "payload", TKB_NEED_ALL, keys_of(1, MATMUL));
	BUNDLE(bundle) =
		open_bytes(recorded_with(recorder, root, &options, NULL));

	CHECK(intruder.is_done);
	check_sound(bundle);
	CHECK_STR(keys_in(bundle), "7L6S D3PP");
	CHECK_STR(devices_of(bundle, ADD), "3");
	CHECK_STR(launchers_in(bundle), "conf=payload");
	check_phase(recorder, ENDED, root);
	check_phase(recorder, COLLECTED, root);
}

TEST(recorder,
     discards_what_it_failed_to_collect_if_the_compile_ended_meanwhile)
{
	const char *root = h100();
	RECORDER(recorder) = in_phase(BEGUN, root);
	struct intruder intruder = { .recorder = recorder, .ends = true };
	struct tkb_collect_options options = options_with(&intruder);

	options.is_strict = true;
	put(recorder, ABSENT, 0);
	CHECK_INT(failed_collect(recorder, root, &options, ERR),
	          TKB_ERR_LEFT_OUT);
	CHECK(intruder.is_done);
	check_phase(recorder, ENDED, root);
}

/* Ends the compile, begins another, and puts to it. */
static bool begin_another(void *self)
{
	struct intruder *intruder = self;
	struct tkb_recorder *recorder = intruder->recorder;

	if (intruder->is_done)
		return false;
	intruder->is_done = true;
	tkb_recorder_end_compile(recorder);
	begin(recorder);
	put(recorder, MATMUL, 0);
	CHECK_INT(
		failed_collect(recorder, intruder->root, NULL, &intruder->err),
		TKB_ERR_INVALID);
	CHECK_CONTAINS(intruder->err.message, "still being collected");
	tkb_recorder_end_compile(recorder);
	begin(recorder);
	put(recorder, SOFTMAX, 0);
	return false;
}

TEST(recorder, may_begin_another_compile_while_it_collects_one_that_ended)
{
	const char *root = h100();
	RECORDER(recorder) = in_phase(BEGUN, root);
	struct intruder intruder = { .recorder = recorder, .root = root };
	struct tkb_collect_options options = options_with(&intruder);

	intruder.watch.is_cancelled = begin_another;
	save(recorder, "conf", "payload", TKB_NEED_ALL, keys_of(1, ADD));
	BUNDLE(bundle) =
		open_bytes(recorded_with(recorder, root, &options, NULL));

	CHECK(intruder.is_done);
	CHECK_STR(keys_in(bundle), "7L6S");
	CHECK_STR(launchers_in(bundle), "conf=payload");
	CHECK_STR(collected_keys_of(recorder, root), "D4QP");
}

/*
 * What does not finalise
 */

static int fail_behind(void *self, struct tkb_bytes bytes,
                       struct tkb_error *err)
{
	size_t *left = self;

	(void)bytes;
	if (*left == 0)
		return tkb_fail(err, TKB_ERR_IO, "the sink is full");
	*left -= 1;
	return 0;
}

TEST(recorder, may_collect_again_after_a_failure)
{
	const char *root = h100();
	const struct keys keys = kernels_of(root);
	RECORDER(recorder) = recording();
	const struct tkb_collect_options cancelled = {
		SIZED(cancelled),
		.watch = &CHOSEN(tkb_watch, .is_cancelled = always)
	};
	struct tkb_collect_report report = { SIZED(report), .file_count = 77 };

	put_all(recorder, &keys, 0);
	for (size_t i = 0; i < 3; i++) {
		size_t left = i;
		const struct tkb_sink sink = { fail_behind, &left };

		FAILS(tkb_recorder_collect(recorder, root, NULL, &sink, &report,
		                           ERR),
		      TKB_ERR_IO, "the sink is full");
	}
	CHECK_INT(failed_collect(recorder, "no/root", NULL, ERR), TKB_MISS);
	CHECK_INT(failed_collect(recorder, root, &cancelled, ERR),
	          TKB_ERR_CANCELLED);
	FAILS(tkb_recorder_collect(recorder, root, NULL, NULL, &report, ERR),
	      TKB_ERR_INVALID, "there is no sink");
	CHECK_INT(tkb_recorder_collect_to_file(recorder, root, NULL,
	                                       "no/folder/k.tkb", &report, ERR),
	          TKB_ERR_IO);
	CHECK_INT(report.file_count, 77);

	CHECK(tkb_bytes_equal(recorded(recorder, root),
	                      collected_keys(root, &keys)));
	FAILS(tkb_recorder_put(recorder, ADD, 0, ERR), TKB_ERR_INVALID,
	      "is collected already");
}

TEST(recorder, may_be_put_to_after_a_failure)
{
	const char *root = h100();
	RECORDER(recorder) = recording();

	put(recorder, ADD, 0);
	CHECK_INT(failed_collect(recorder, "no/root", NULL, ERR), TKB_MISS);
	put(recorder, MATMUL, 0);

	CHECK_STR(collected_keys_of(recorder, root), "7L6S D3PP");
}

TEST(recorder, is_not_finalised_by_a_dry_run_which_tells_the_id)
{
	const struct tkb_collect_options dry = { SIZED(dry),
		                                 .is_dry_run = true };
	const char *root = h100();
	RECORDER(recorder) = recording();
	struct tkb_collect_report reports[2] = {
		{ .struct_size = sizeof(reports[0]) },
		{ .struct_size = sizeof(reports[1]) }
	};

	put(recorder, ADD, 0);
	save(recorder, "k", "kept", TKB_NEED_ALL, keys_of(1, MATMUL));
	OK(tkb_recorder_collect(recorder, root, &dry, NULL, &reports[0], ERR));
	OK(tkb_recorder_collect_to_file(recorder, root, &dry, "k.tkb",
	                                &reports[1], ERR));

	CHECK(!exists("k.tkb"));
	BUNDLE(bundle) = open_bytes(recorded(recorder, root));
	for (size_t i = 0; i < 2; i++) {
		CHECK_INT(reports[i].collected_count, 2);
		CHECK_INT(reports[i].launcher_count, 1);
		CHECK_INT(reports[i].bundle_size, 0);
		CHECK(memcmp(&reports[i].id, tkb_bundle_id(bundle), 32) == 0);
	}
}

/* What it tells is of before; what comes meanwhile is collected with the rest. */
TEST(recorder, may_be_put_to_while_a_dry_run_looks)
{
	static const char *const needs[] = { MATMUL };
	const struct tkb_launcher_spec launcher = {
		sizeof(launcher), "conf", "kernel", { "new", 3 },
		TKB_NEED_ALL,     needs,  1
	};
	const char *root = h100();

	for (enum action action = BEGIN; action < ACTIONS; action++) {
		RECORDER(recorder) = in_phase(BEGUN, root);
		struct intruder intruder = { .recorder = recorder,
			                     .root = root,
			                     .action = action };
		struct tkb_collect_options dry = options_with(&intruder);
		const bool is_put =
			action == PUT || action == WINNER || action == LAUNCHER;

		dry.is_dry_run = true;
		OK(tkb_recorder_collect(recorder, root, &dry, NULL, NULL, ERR));
		CHECK(intruder.is_done);
		CHECK_INT(intruder.rc, is_put ? 0 : TKB_ERR_INVALID);
		OK(tkb_recorder_put_launcher(recorder, &launcher, ERR));
		BUNDLE(bundle) = open_bytes(recorded(recorder, root));
		CHECK_STR(launchers_in(bundle), "conf=new");
	}
}

TEST(recorder, chooses_keys_and_devices_itself)
{
	static const char *const keys[] = { ADD };
	const struct tkb_collect_options by_key = { SIZED(by_key), .keys = keys,
		                                    .key_count = 1 };
	const struct tkb_collect_options by_device = { SIZED(by_device),
		                                       .has_device = true };
	const char *root = h100();
	RECORDER(recorder) = recording();

	put(recorder, MATMUL, 0);
	CHECK_INT(failed_collect(recorder, root, &by_key, ERR),
	          TKB_ERR_INVALID);
	CHECK_CONTAINS(ERR->message, "the recorder chooses");
	CHECK_INT(failed_collect(recorder, root, &by_device, ERR),
	          TKB_ERR_INVALID);
	FAILS(tkb_recorder_collect_to_file(recorder, root, &by_key, "k.tkb",
	                                   NULL, ERR),
	      TKB_ERR_INVALID, "the recorder chooses");

	CHECK(!exists("k.tkb"));
	CHECK_STR(collected_keys_of(recorder, root), "D3PP");
}

/*
 * Nothing to collect
 */

static void check_empty(struct tkb_bytes bytes)
{
	BUNDLE(bundle) = open_bytes(bytes);

	check_sound(bundle);
	CHECK_INT(tkb_bundle_entry_count(bundle), 0);
	CHECK_INT(tkb_bundle_launcher_count(bundle), 0);
	CHECK_INT(tkb_bundle_frame_count(bundle), 0);
	CHECK_STR(hex_of(tkb_bundle_id(bundle)), EMPTY_ID);
}

TEST(recorder, collects_an_empty_bundle_if_nothing_was_put)
{
	const struct tkb_collect_options strict = { SIZED(strict),
		                                    .is_strict = true };
	RECORDER(recorder) = recording();
	struct tkb_collect_report report = { SIZED(report), .size = 1,
		                             .left_out_count = 1 };

	check_empty(recorded_with(recorder, "no/such/root", &strict, &report));
	CHECK_INT(report.collected_count, 0);
	CHECK_INT(report.left_out_count, 0);
	CHECK_INT(report.unfinished_count, 0);
	CHECK_INT(report.size, 0);
}

/* A whole life of a recorder that is disabled. */
static void check_disabled(const struct tkb_recorder_options *options)
{
	RECORDER(recorder) = fresh(options);

	CHECK(tkb_recorder_is_disabled(recorder));
	FAILS(tkb_recorder_put(recorder, ADD, 0, ERR), TKB_ERR_INVALID,
	      "no compile has begun");
	begin(recorder);
	FAILS(tkb_recorder_begin_compile(recorder, ERR), TKB_ERR_INVALID,
	      "has begun");
	put(recorder, ADD, 0);
	put_winner(recorder, ADD);
	save(recorder, "k", "payload", TKB_NEED_ALL, keys_of(1, ADD));
	FAILS(tkb_recorder_put(recorder, "short", 0, ERR), TKB_ERR_INVALID,
	      "shape of a key");
	check_empty(recorded(recorder, "no/such/root"));
	FAILS(tkb_recorder_put(recorder, ADD, 0, ERR), TKB_ERR_INVALID,
	      "is collected already");
	tkb_recorder_end_compile(recorder);
}

TEST(recorder, notes_nothing_if_it_is_disabled)
{
	check_disabled(&CHOSEN(tkb_recorder_options, .is_disabled = true));
}

TEST(recorder, replaces_no_file_if_it_is_disabled)
{
	const struct tkb_recorder_options disabled = { SIZED(disabled),
		                                       .is_disabled = true };
	RECORDER(recorder) = fresh(&disabled);

	write_text("k.tkb", "a bundle");
	for (int i = 0; i < 2; i++) {
		begin(recorder);
		put(recorder, ADD, 0);
		OK(tkb_recorder_collect_to_file(recorder, "no/such/root", NULL,
		                                i == 0 ? "k.tkb" : "new.tkb",
		                                NULL, ERR));
		FAILS(tkb_recorder_put(recorder, ADD, 0, ERR), TKB_ERR_INVALID,
		      "is collected already");
		tkb_recorder_end_compile(recorder);
	}
	CHECK_STR((const char *)read_file("k.tkb").data, "a bundle");
	check_empty(read_file("new.tkb"));
}

TEST(recorder, sends_an_empty_bundle_through_a_pipe_if_it_is_disabled)
{
	const struct tkb_recorder_options disabled = { SIZED(disabled),
		                                       .is_disabled = true };
	RECORDER(recorder) = fresh(&disabled);
	unsigned char got[65536];

	SYS(mkfifo("pipe", 0666));
	int fd = open("pipe", O_RDONLY | O_NONBLOCK);
	CHECK(fd >= 0);
	begin(recorder);
	OK(tkb_recorder_collect_to_file(recorder, "no/such/root", NULL, "pipe",
	                                NULL, ERR));
	ssize_t size = read(fd, got, sizeof(got));
	SYS(close(fd));
	CHECK(size > 0);
	check_empty((struct tkb_bytes){ got, (size_t)size });
}

TEST(recorder, is_disabled_by_the_environment_when_it_is_made)
{
	static const char *const values[] = { "1", "yes", "00", " " };
	static const char *const others[] = { "", "0" };
	const struct tkb_recorder_options enabled = { SIZED(enabled) };

	EACH(i, values) {
		SYS(setenv("TKBUNDLE_DISABLE", values[i], 1));
		check_disabled(NULL);
		check_disabled(&enabled);
	}
	EACH(i, others) {
		SYS(setenv("TKBUNDLE_DISABLE", others[i], 1));
		RECORDER(recorder) = fresh(NULL);
		SYS(setenv("TKBUNDLE_DISABLE", "1", 1));
		CHECK(!tkb_recorder_is_disabled(recorder));
	}
	SYS(unsetenv("TKBUNDLE_DISABLE"));
}
