/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_SPAWN_H
#define TKB_COMPILE_POOL_SPAWN_H

/*
 * Worker processes. Each starts with default signals and no inherited
 * descriptors, leads a process group, is ended with the whole group, and is
 * reaped.
 */

#include <sys/types.h>

#include "base/base.h"
#include "compile/pool/output.h"

/*
 * State that all workers of a pool share: a copy of the caller's when the pool
 * was opened, so that workers started later get the same.
 */
struct tkb_spawn {
	char *program;      /* owned */
	char **arguments;   /* owned; the program first, NULL last */
	char **environment; /* owned */
	int folder;         /* owned; the working directory; -1: inherit it */
};

TKB_NODISCARD int tkb_spawn_init(struct tkb_spawn *spawn, const char *program,
                                 const char *const *arguments,
                                 struct tkb_error *err);

void tkb_spawn_release(struct tkb_spawn *spawn);

struct tkb_worker_process {
	pid_t pid;                /* 0: none */
	bool was_killed;          /* apparently by somebody else */
	int socket;               /* owned; non-blocking; -1: none */
	struct tkb_output output; /* owned */
};

#define TKB_WORKER_PROCESS_INIT                                                \
	{                                                                      \
		.socket = -1, .output = {.fd = -1 }                            \
	}

TKB_NODISCARD int tkb_worker_process_start(struct tkb_worker_process *process,
                                           const struct tkb_spawn *spawn,
                                           struct tkb_error *err);

/* Tell the worker that no more jobs come. */
void tkb_worker_process_dismiss(struct tkb_worker_process *process);

/* Send `signal` to the process group. */
void tkb_worker_process_signal(const struct tkb_worker_process *process,
                               int signal);

/*
 * Has the process exited? If so, kill the rest of its group, reap it, and
 * describe in `what` how it ended.
 */
bool tkb_worker_process_has_ended(struct tkb_worker_process *process,
                                  char what[64]);

/* Kill the process group, reap the process, close everything. */
void tkb_worker_process_end(struct tkb_worker_process *process);

#endif
