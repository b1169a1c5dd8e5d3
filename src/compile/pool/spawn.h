/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_SPAWN_H
#define TKB_COMPILE_POOL_SPAWN_H

/*
 * Worker processes. Each is started with a clean slate (signals, descriptors)
 * as the leader of a process group, ended with the whole group, and reaped.
 */

#include <sys/types.h>

#include "base/base.h"
#include "compile/pool/output.h"

/* What all workers of a pool have in common: the caller's state as of the start
 * of the pool, so that one that is started later finds the same. */
struct tkb_spawn {
	char *program;      /* owned */
	char **arguments;   /* owned; the program first, NULL last */
	char **environment; /* owned */
	int folder;         /* owned; the working directory; -1: as it is */
};

TKB_NODISCARD int tkb_spawn_init(struct tkb_spawn *spawn, const char *program,
                                 const char *const *arguments,
                                 struct tkb_error *err);

void tkb_spawn_release(struct tkb_spawn *spawn);

struct tkb_worker_process {
	pid_t pid;                /* 0: none */
	bool was_killed;          /* somebody ended it, as it seems */
	int socket;               /* owned; does not block; -1: none */
	struct tkb_output output; /* owned */
};

#define TKB_HAND_INIT                                                          \
	{                                                                      \
		.socket = -1, .output = {.fd = -1 }                            \
	}

TKB_NODISCARD int tkb_worker_process_start(struct tkb_worker_process *hand,
                                           const struct tkb_spawn *spawn,
                                           struct tkb_error *err);

/* Tell it that no more work comes. */
void tkb_worker_process_dismiss(struct tkb_worker_process *hand);

/* Send `signal` to it and all that it started. */
void tkb_worker_process_signal(const struct tkb_worker_process *hand,
                               int signal);

/*
 * Has it ended? Then what it started is killed, it is reaped, and `what` tells
 * in words how it ended.
 */
bool tkb_worker_process_has_ended(struct tkb_worker_process *hand,
                                  char what[64]);

/* Kill it with all that it started, reap it, close all. */
void tkb_worker_process_end(struct tkb_worker_process *hand);

#endif
