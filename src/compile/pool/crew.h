/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_CREW_H
#define TKB_COMPILE_POOL_CREW_H

/*
 * Worker processes. Each is started with a clean slate (signals, descriptors)
 * as the leader of a process group, ended with the whole group, and reaped.
 */

#include <sys/types.h>

#include "base/base.h"
#include "compile/pool/output.h"

/* What all workers of a pool have in common: the caller's state as of the start
 * of the pool, so that one that is started later finds the same. */
struct tkb_crew {
	char *program;      /* owned */
	char **arguments;   /* owned; the program first, NULL last */
	char **environment; /* owned */
	int folder;         /* owned; the working directory; -1: as it is */
};

TKB_NODISCARD int tkb_crew_init(struct tkb_crew *crew, const char *program,
                                const char *const *arguments,
                                struct tkb_error *err);

void tkb_crew_release(struct tkb_crew *crew);

struct tkb_hand {
	pid_t pid;                /* 0: none */
	bool was_killed;          /* somebody ended it, as it seems */
	int socket;               /* owned; does not block; -1: none */
	struct tkb_output output; /* owned */
};

#define TKB_HAND_INIT                                                          \
	{                                                                      \
		.socket = -1, .output = {.fd = -1 }                            \
	}

TKB_NODISCARD int tkb_hand_start(struct tkb_hand *hand,
                                 const struct tkb_crew *crew,
                                 struct tkb_error *err);

/* Tell it that no more work comes. */
void tkb_hand_dismiss(struct tkb_hand *hand);

/* Send `signal` to it and all that it started. */
void tkb_hand_signal(const struct tkb_hand *hand, int signal);

/*
 * Has it ended? Then what it started is killed, it is reaped, and `what` tells
 * in words how it ended.
 */
bool tkb_hand_has_ended(struct tkb_hand *hand, char what[64]);

/* Kill it with all that it started, reap it, close all. */
void tkb_hand_end(struct tkb_hand *hand);

#endif
