/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_MESSAGE_H
#define TKB_COMPILE_POOL_MESSAGE_H

/*
 * What a pool and its workers say to each other over a socket: a head, and as
 * many bytes as it tells. Both are of one machine and one build, so numbers
 * stand as they do in memory; the magic word tells when they are not.
 */

#include "base/base.h"
#include "base/buf.h"

enum {
	TKB_MESSAGE_FD = 3, /* a worker's end */
	TKB_MESSAGE_MAGIC = 0x746b6232,
	TKB_MESSAGE_PIECE = 64 * 1024 /* at most, from a worker */
};

enum tkb_message_type {
	TKB_MESSAGE_HELLO = 1, /* from a worker that has begun; empty */
	TKB_MESSAGE_JOB,    /* struct tkb_message_job, environment, request */
	TKB_MESSAGE_LOG,    /* a piece of the log */
	TKB_MESSAGE_ANSWER, /* a piece of the answer */
	TKB_MESSAGE_DONE,   /* struct tkb_message_done: the job's end */
	TKB_MESSAGE_LAST    /* likewise, and the worker's */
};

struct tkb_message_head {
	uint32_t magic;
	uint32_t type;
	uint64_t job;  /* its number, another for each try; 0: that at hand */
	uint64_t size; /* of what follows */
};

/* Behind it so many bytes of texts, each with its NUL; the rest is request. */
struct tkb_message_job {
	uint64_t environment_size;
};

struct tkb_message_done {
	int32_t rc;
	struct tkb_error error;
};

struct tkb_message_head tkb_message_head_of(enum tkb_message_type type,
                                            size_t size);

/* Are type and magic known, and the size at most `limit`? */
bool tkb_message_is_sound(const struct tkb_message_head *head, uint64_t limit);

/*
 * Read the end of a job from a message's bytes: what a worker says there may be
 * anything. False: it makes no sense.
 */
bool tkb_message_read_done(struct tkb_bytes bytes,
                           struct tkb_message_done *out);

#endif
