/* SPDX-License-Identifier: Apache-2.0 */
#include "upkeep.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "emit/stage.h"

/* A root's lock in the hands of somebody who does not give it back. */

enum {
	KERNELS = 4,       /* of the fixture, which name their place */
	SOON_MS = 4000,    /* less than the wait for a lock */
	LATE_MS = 3 * 5000 /* much less than one wait for each kernel */
};

/* A cache that was moved to "moved": each kernel is to be rewritten. */
static void arrange_moved(void)
{
	arrange_emitted("triton-3.6.0-cpu");
	SYS(rename("out", "moved"));
}

static int emit_to(const char *root, const struct tkb_emit_options *options,
                   struct tkb_emit_report *report, struct tkb_error *err)
{
	struct tkb_bundle *bundle = NULL;

	CHECK_OK(tkb_bundle_open("a.tkb", &bundle, err), err);
	int rc = tkb_emit(bundle, root, options, report, err);
	tkb_bundle_close(bundle);
	return rc;
}

TEST(lock, that_is_never_given_back_delays_an_emit_once)
{
	const struct tkb_emit_options options = { SIZED(options),
		                                  .threads = 1 };
	struct tkb_emit_report report = { SIZED(report) };

	arrange_moved();
	int lock = lock_root("moved");
	uint64_t start = now_ms();
	OK(emit_to("moved", &options, &report, ERR));
	CHECK(now_ms() - start >= TKB_STAGE_LOCK_MS);
	CHECK(now_ms() - start < LATE_MS);
	CHECK_INT(report.repaired_count, KERNELS);
	CHECK_INT(look_at("moved").moved_count, 0);
	(void)close(lock);
}

TEST(lock, that_is_never_given_back_delays_a_relocate_once)
{
	struct tkb_relocate_report report = { SIZED(report) };

	arrange_moved();
	int lock = lock_root("moved");
	uint64_t start = now_ms();
	OK(tkb_relocate("moved", NULL, &report, ERR));
	CHECK(now_ms() - start < LATE_MS);
	CHECK_INT(report.relocated_count, KERNELS);
	(void)close(lock);
}

TEST(lock, is_not_waited_for_by_who_is_cancelled)
{
	struct tkb_relocate_options relocate = { SIZED(relocate) };
	struct tkb_emit_options options = { SIZED(options) };
	struct patience patience;

	arrange_moved();
	int lock = lock_root("moved");
	uint64_t start = now_ms();
	options.watch = end_in_ms(&patience, 200);
	CHECK_INT(emit_to("moved", &options, NULL, ERR), TKB_ERR_CANCELLED);
	relocate.watch = end_in_ms(&patience, 200);
	CHECK_INT(tkb_relocate("moved", &relocate, NULL, ERR),
	          TKB_ERR_CANCELLED);
	CHECK(now_ms() - start < SOON_MS);
	CHECK_INT(look_at("moved").moved_count, KERNELS);
	(void)close(lock);
}

TEST(lock, is_not_waited_for_behind_a_deadline)
{
	const struct tkb_relocate_options relocate = { SIZED(relocate),
		                                       .deadline_ms = 200 };
	const struct tkb_emit_options options = { SIZED(options),
		                                  .deadline_ms = 200 };
	const struct tkb_gc_options gc = { SIZED(gc), .has_max_entries = true,
		                           .deadline_ms = 200 };

	arrange_moved();
	int lock = lock_root("moved");
	uint64_t start = now_ms();
	FAILS(emit_to("moved", &options, NULL, ERR), TKB_ERR_CANCELLED,
	      "the deadline of 200 ms ended it");
	FAILS(tkb_relocate("moved", &relocate, NULL, ERR), TKB_ERR_CANCELLED,
	      "the deadline of 200 ms ended it");
	FAILS(tkb_gc("moved", &gc, NULL, ERR), TKB_ERR_CANCELLED,
	      "the deadline of 200 ms ended it");
	CHECK(now_ms() - start < SOON_MS);

	start = now_ms();
	struct outcome outcome = run(program(), "emit", "a.tkb", "moved",
	                             "--deadline", "200ms", NULL);
	CHECK_INT(outcome.status, 1);
	CHECK_CONTAINS(outcome.err, "the deadline of 200 ms ended it");
	outcome = run(program(), "relocate", "moved", "--deadline", "200ms",
	              NULL);
	CHECK_INT(outcome.status, 1);
	CHECK_CONTAINS(outcome.err, "the deadline of 200 ms ended it");
	CHECK(now_ms() - start < SOON_MS);
	CHECK_INT(look_at("moved").moved_count, KERNELS);
	(void)close(lock);
}

/* What somebody sends a signal to who waits for the lock. */
static void check_ends(pid_t child, int number)
{
	nap_ms(700);
	uint64_t start = now_ms();
	SYS(kill(child, number));
	CHECK_INT(end_of(child), 128 + number);
	CHECK(now_ms() - start < SOON_MS);
}

TEST(lock, is_not_waited_for_after_a_signal)
{
	arrange_moved();
	int lock = lock_root("moved");
	check_ends(start(program(), "emit", "a.tkb", "moved", NULL), SIGTERM);
	check_ends(start(program(), "relocate", "moved", NULL), SIGINT);
	(void)close(lock);
}

TEST(lock, is_not_waited_for_behind_a_pulls_deadline)
{
	arrange_moved();
	CHECK_INT(run(program(), "push", "ref", "unpacked/.triton/cache",
	              "--remote", text("%s/remote", test_folder()), NULL)
	                  .status,
	          0);
	int lock = lock_root("moved");
	uint64_t start = now_ms();
	struct outcome outcome = run(
		program(), "pull", "ref", "moved", "--remote",
		text("%s/remote", test_folder()), "--deadline", "500ms", NULL);
	CHECK_INT(outcome.status, 1);
	CHECK_CONTAINS(outcome.err, "the deadline of 500ms ended it");
	CHECK(now_ms() - start < SOON_MS);
	(void)close(lock);
}

/* A child that only waits, with all that this process has open. */
static pid_t fork_idle(void)
{
	const pid_t child = must_fork();

	if (child == 0) {
		for (;;)
			(void)pause();
	}
	return child;
}

static void end_idle(pid_t child)
{
	SYS(kill(child, SIGKILL));
	CHECK_INT(end_of(child), 128 + SIGKILL);
}

static struct tkb_stage stage_in(struct tkb_roots *roots)
{
	struct tkb_stage stage;

	OK(tkb_root_make("out", false, 0, true, roots, ERR));
	tkb_stage_init(&stage, &roots->items[0]);
	OK(tkb_stage_open(&stage, ERR));
	return stage;
}

TEST(lock, is_not_kept_by_a_child_that_was_forked_meanwhile)
{
	struct tkb_roots roots = { 0 };
	struct tkb_stage stage = stage_in(&roots);
	int lock = -1;

	OK(tkb_stage_lock(&stage, &lock, ERR));
	CHECK(lock >= 0);
	pid_t child = fork_idle();
	tkb_fd_unlock_at(&lock);
	uint64_t start = now_ms();
	OK(tkb_stage_lock(&stage, &lock, ERR));
	CHECK(lock >= 0);
	CHECK(now_ms() - start < SOON_MS);
	end_idle(child);
	tkb_fd_unlock_at(&lock);
	tkb_stage_close(&stage);
	tkb_roots_release(&roots);
}

TEST(lock, of_a_stage_is_not_kept_by_a_child_either)
{
	struct tkb_roots roots = { 0 };
	struct tkb_stage stage = stage_in(&roots);
	const int lock = openat(stage.fd, "lock", O_RDWR | O_CLOEXEC);

	CHECK(lock >= 0);
	CHECK(flock(lock, LOCK_EX | LOCK_NB) < 0);
	pid_t child = fork_idle();
	tkb_stage_close(&stage);
	SYS(flock(lock, LOCK_EX | LOCK_NB));
	end_idle(child);
	(void)close(lock);
	tkb_roots_release(&roots);
}

/* In a root that others may write, too. */
TEST(lock, that_is_a_fifo_holds_nobody_up)
{
	struct tkb_emit_report report = { SIZED(report) };
	const char *boot = read_file("/proc/sys/kernel/random/boot_id").data;

	arrange_moved();
	remove_folder("moved/.tkbundle");
	SYS(mkdir("moved/.tkbundle", 0777));
	SYS(mkdir("moved/.tkbundle/stage-1", 0777));
	SYS(mkfifo("moved/.tkbundle/lock", 0666));
	SYS(mkfifo("moved/.tkbundle/stage-1/lock", 0666));
	SYS(mkfifo(text("moved/.tkbundle/trusted-%.36s", boot), 0666));
	OK(emit_to("moved", NULL, &report, ERR));
	CHECK_INT(report.repaired_count, KERNELS);
}
