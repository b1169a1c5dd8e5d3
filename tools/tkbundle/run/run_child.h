/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_CHILD_H
#define TKBUNDLE_RUN_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A child of the supervisor, which may hang: either this program with another
 * verb, or a fork that does one task.
 *
 *     run_child_spawn(&child, "pull", argv, environment, end_ms);
 *     while (child.pid != 0) {
 *             run_child_tick(&child, deadline_now_ms());
 *             ... waitpid(); run_child_note(&child, state) ...
 *     }
 *     run_child_release(&child);
 *
 * Each has its own process group, so that Ctrl-C, which is meant for the
 * command, does not reach it. It inherits none of our descriptors. Its output
 * goes to a file in memory, so it never waits for us to read.
 */
struct run_child {
	const char *name;  /* its name in messages */
	pid_t pid;         /* 0: it is not running */
	bool has_begun;    /* it was started, or failed to start */
	int error;         /* why it failed to start */
	int out_fd;        /* what it prints, or -1; valid if has_begun */
	int err_fd;        /* what it writes to standard error */
	uint64_t begin_ms; /* of CLOCK_MONOTONIC */
	uint64_t end_ms;   /* when to tell it to end, and later to kill it */
	bool is_told;      /* it was told to end */
	uint64_t told_ms;  /* when it was told */
	int state;         /* as from waitpid(), once it has ended */
};

#define RUN_NEVER UINT64_MAX
#define RUN_REASON_SIZE 512

/*
 * Start this program with `argv`, which ends with NULL.
 *
 * @return whether it is running; if not, child->error says why
 */
bool run_child_spawn(struct run_child *child, const char *name,
                     char *const argv[], char *const environment[],
                     uint64_t end_ms);

/*
 * Start a fork that calls `task` and then ends. It keeps the descriptors of
 * `other` (may be NULL). It is killed when we die.
 */
bool run_child_fork(struct run_child *child, const char *name,
                    void (*task)(void *self), void *self,
                    const struct run_child *other, uint64_t end_ms);

/*
 * Replace the standard files up to `last_fd` by /dev/null, and close all other
 * descriptors except those of `children`.
 */
void run_child_let_go(int last_fd, const struct run_child *children,
                      size_t count);

/* If its time is over, tell it to end, or, later, kill it. */
void run_child_tick(struct run_child *child, uint64_t now_ms);

/* Tell it to end now. */
void run_child_stop(struct run_child *child, uint64_t now_ms);

/* Kill it now. */
void run_child_kill(struct run_child *child);

/* Note that it has ended. */
void run_child_note(struct run_child *child, int state);

/* Was it started, and did it end by itself with an exit status? */
bool run_child_has_exited(const struct run_child *child, int *status_out);

/*
 * Did it end because there was nothing, as for a pull of a ref without a record?
 * A pull that lacks a file, such as the policy's, does not name its ref.
 */
bool run_child_found_nothing(const struct run_child *child);

/*
 * The number in member `name` of the JSON document that it printed. Only the
 * end of the document is searched. False if there is none.
 */
bool run_child_number(const struct run_child *child, const char *name,
                      uint64_t *out);

/*
 * The reason of its failure: its last line on standard error, or how it ended.
 */
void run_child_reason(const struct run_child *child, char out[RUN_REASON_SIZE]);

/*
 * The first line on its standard error that contains `words`; false if none
 * does.
 */
bool run_child_line(const struct run_child *child, const char *words,
                    char out[RUN_REASON_SIZE]);

/* Release its output. This does not stop a child that still runs. */
void run_child_release(struct run_child *child);

#endif
