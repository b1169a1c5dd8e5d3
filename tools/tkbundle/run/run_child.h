/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_CHILD_H
#define TKBUNDLE_RUN_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A child of the supervisor's, which is never trusted to end: either this
 * program with another verb, or a fork that does one thing.
 *
 *     run_child_spawn(&child, "pull", argv, environment, end_ms);
 *     while (child.pid != 0) {
 *             run_child_tick(&child, deadline_now_ms());
 *             ... waitpid(); run_child_note(&child, state) ...
 *     }
 *     run_child_release(&child);
 *
 * Each has a process group of its own, so that Ctrl-C, which is meant for the
 * command, does not reach it, and holds none of the descriptors that we were
 * given. What a verb prints is kept in memory: it never has to wait for us.
 */
struct run_child {
	const char *name;  /* as the last line calls it */
	pid_t pid;         /* 0: it does not run */
	bool has_begun;    /* it was started, or that failed */
	int error;         /* why it could not be started */
	int out_fd;        /* what it prints; has_begun: or -1 */
	int err_fd;        /* its words */
	uint64_t begin_ms; /* of CLOCK_MONOTONIC */
	uint64_t end_ms;   /* when it is told to end, and then killed */
	bool is_told;      /* to end */
	uint64_t told_ms;  /* when it was */
	int state;         /* as of waitpid(), once it has ended */
};

#define RUN_NEVER UINT64_MAX
#define RUN_REASON_SIZE 512

/*
 * Start this program with `argv`, which ends with NULL.
 *
 * @return whether it runs; if not, child->error tells why
 */
bool run_child_spawn(struct run_child *child, const char *name,
                     char *const argv[], char *const environment[],
                     uint64_t end_ms);

/*
 * Start a fork that calls `task`, and then ends. Of descriptors it has those
 * of `other`, which may be NULL. It dies with us.
 */
bool run_child_fork(struct run_child *child, const char *name,
                    void (*task)(void *self), void *self,
                    const struct run_child *other, uint64_t end_ms);

/*
 * Let /dev/null be the standard files up to `last_fd`, and close all others
 * but those of `children`.
 */
void run_child_let_go(int last_fd, const struct run_child *children,
                      size_t count);

/* Tell it to end, or kill it, where it is time. */
void run_child_tick(struct run_child *child, uint64_t now_ms);

/* Tell it to end now. */
void run_child_stop(struct run_child *child, uint64_t now_ms);

/* Kill it now. */
void run_child_kill(struct run_child *child);

/* It has ended. */
void run_child_note(struct run_child *child, int state);

/* Has it run, and ended by itself, with an exit status? */
bool run_child_has_exited(const struct run_child *child, int *status_out);

/*
 * The number that the member `name` of the document has that it printed, not
 * far from its end. False if there is none.
 */
bool run_child_number(const struct run_child *child, const char *name,
                      uint64_t *out);

/* Why it failed: the last line that it wrote to its log, or how it ended. */
void run_child_reason(const struct run_child *child, char out[RUN_REASON_SIZE]);

/* The first line of its words that has `words` in it; false if none has. */
bool run_child_line(const struct run_child *child, const char *words,
                    char out[RUN_REASON_SIZE]);

/* Release its output. A child that still runs is not stopped. */
void run_child_release(struct run_child *child);

#endif
