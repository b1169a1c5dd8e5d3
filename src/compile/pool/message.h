/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_MESSAGE_H
#define TKB_COMPILE_POOL_MESSAGE_H

/*
 * The protocol between a pool and its workers over a socket: a head, then as
 * many bytes as the head says. Both ends run on one machine and come from one
 * build, so numbers are sent as they are in memory; the magic word detects a
 * mismatch.
 */

#include "base/base.h"
#include "base/buf.h"

enum {
	TKB_MESSAGE_FD = 3, /* the worker's end of the socket */
	TKB_MESSAGE_MAGIC = 0x746b6232,
	TKB_MESSAGE_PIECE = 64 * 1024 /* largest message from a worker */
};

enum tkb_message_type {
	TKB_MESSAGE_HELLO = 1, /* the worker is ready; empty */
	TKB_MESSAGE_JOB,    /* struct tkb_message_job, environment, request */
	TKB_MESSAGE_LOG,    /* a piece of the log */
	TKB_MESSAGE_ANSWER, /* a piece of the answer */
	TKB_MESSAGE_DONE,   /* struct tkb_message_done: the job is done */
	TKB_MESSAGE_LAST    /* the same, and the worker exits */
};

struct tkb_message_head {
	uint32_t magic;
	uint32_t type;
	uint64_t job;  /* number of the try; 0: the current one */
	uint64_t size; /* number of bytes that follow */
};

/*
 * Followed by the environment, which has that many bytes of NUL-terminated
 * texts, then the request.
 */
struct tkb_message_job {
	uint64_t environment_size;
};

struct tkb_message_done {
	int32_t rc;
	struct tkb_error error;
};

struct tkb_message_head tkb_message_head_of(enum tkb_message_type type,
                                            size_t size);

/* True if type and magic are known and the size is at most `limit`. */
bool tkb_message_is_sound(const struct tkb_message_head *head, uint64_t limit);

/* Read the end of a job from a message. False if it is malformed. */
bool tkb_message_read_done(struct tkb_bytes bytes,
                           struct tkb_message_done *out);

#endif
