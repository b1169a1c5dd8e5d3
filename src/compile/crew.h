/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_CREW_H
#define TKB_COMPILE_CREW_H

/*
 * One worker process: started with a clean slate (signals, descriptors) as the
 * leader of a process group, ended with the whole group, and reaped.
 */

#include <sys/types.h>

#include "base/base.h"
#include "base/buf.h"

struct tkb_hand {
	pid_t pid;  /* 0: none */
	int socket; /* owned; does not block; -1: none */
	int output; /* owned; what it writes to standard output and error */
	off_t output_start; /* of the job at hand */
};

#define TKB_HAND_INIT                                                          \
	{                                                                      \
		.socket = -1, .output = -1                                     \
	}

/* Start `program`, whose `arguments` begin with its name and end with NULL. */
TKB_NODISCARD int tkb_hand_start(struct tkb_hand *hand, const char *program,
                                 char *const *arguments, struct tkb_error *err);

/* Tell it that no more work comes. */
void tkb_hand_dismiss(struct tkb_hand *hand);

/* Send `signal` to it and all that it started. */
void tkb_hand_signal(const struct tkb_hand *hand, int signal);

/*
 * Has it ended? Then what it started is killed, it is reaped, and `what` tells in
 * words how it ended.
 */
bool tkb_hand_has_ended(struct tkb_hand *hand, char what[64]);

/* Kill it with all that it started, reap it, close all. */
void tkb_hand_end(struct tkb_hand *hand);

/* A job begins: what it wrote before does not count. */
void tkb_hand_mark(struct tkb_hand *hand);

/* The last `size` bytes at most of what it wrote since, into `out`. */
void tkb_hand_output(const struct tkb_hand *hand, size_t size,
                     struct tkb_buf *out);

#endif
