/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_REDIS_RESP_H
#define TKB_REMOTE_REDIS_RESP_H

/*
 * Redis' protocol over a connection: commands are queued, sent together, and
 * answered in their order. hiredis, 0.14 or 1.x, formats and reads it: RESP2, and
 * of RESP3 nothing, since nobody asks for that.
 *
 *     tkb_resp_queue(&resp, "STRLEN", key);
 *     tkb_resp_queue(&resp, "EXISTS", key);
 *     rc = tkb_resp_next(&resp, call, limit, &reply, err);
 *     rc = tkb_resp_next(&resp, call, limit, &reply, err);
 *
 * What queues returns nothing: a failure sticks, and is told by the next
 * function that sends. Who leaves early leaves answers behind; begin with
 * tkb_resp_drain() where somebody may have.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "remote/net/connection.h"

enum tkb_reply_kind {
	TKB_REPLY_NIL,
	TKB_REPLY_INTEGER,
	TKB_REPLY_STATUS, /* "OK" */
	TKB_REPLY_ERROR,  /* "NOAUTH Authentication required." */
	TKB_REPLY_STRING,
	TKB_REPLY_ARRAY
};

struct tkb_reply {
	enum tkb_reply_kind kind;
	int64_t integer;
	struct tkb_bytes
		text; /* of status, error, string; terminated by a zero */
	const struct tkb_reply **items; /* of an array */
	size_t count;
};

/* Must not move while it is open. */
struct tkb_resp {
	struct tkb_connection *connection; /* owned */
	struct redisReader *reader;        /* owned */
	struct tkb_buf out;                /* queued, not sent */
	size_t pending;                    /* answers not received yet */
	struct tkb_arena arena;            /* owns the last answer */
	size_t item_count; /* of the answer that is being parsed */
	bool has_too_many; /* items in the answer */
	bool is_foreign;   /* the answer has a type of RESP3 */
	bool is_broken;    /* no more operations are possible */
	void *chunk;       /* owned; buffer of CHUNK bytes */
};

TKB_NODISCARD int tkb_resp_open(struct tkb_resp *resp,
                                const struct tkb_peer *peer,
                                const struct tkb_op_limits *limits,
                                struct tkb_error *err);
/* Also after a failure to open, and if it is zeroed. */
void tkb_resp_close(struct tkb_resp *resp);

/* Queue a command, of words that are texts. */
#define tkb_resp_queue(resp, ...)                                              \
	tkb_resp_queue_words(resp, (const char *const[]){ __VA_ARGS__, NULL })
void tkb_resp_queue_words(struct tkb_resp *resp, const char *const *words);
/* The same, of any bytes: at most 16 words. */
void tkb_resp_queue_bytes(struct tkb_resp *resp, const struct tkb_bytes *words,
                          size_t count);

/*
 * Queue a command whose last word comes in pieces: begin with the words before
 * and its size, add the pieces, end. What is queued may be sent in between.
 */
void tkb_resp_begin(struct tkb_resp *resp, const char *const *words,
                    uint64_t size);
void tkb_resp_add(struct tkb_resp *resp, struct tkb_bytes piece);
void tkb_resp_end(struct tkb_resp *resp);

/* Send what is queued, if anything is. As tkb_connection_write(). */
TKB_NODISCARD int tkb_resp_send(struct tkb_resp *resp,
                                const struct tkb_op_limits *limits,
                                struct tkb_error *err);

/*
 * Send what is queued and give the next answer, of at most `limit` bytes. It
 * holds until the next call. As tkb_connection_read(), and TKB_ERR_UNAVAILABLE for
 * an answer that is too large or none of the protocol.
 */
TKB_NODISCARD int tkb_resp_next(struct tkb_resp *resp,
                                const struct tkb_op_limits *limits,
                                size_t limit, const struct tkb_reply **out,
                                struct tkb_error *err);

/* Move the last answer into `arena`, which is empty. */
void tkb_resp_keep_reply(struct tkb_resp *resp, struct tkb_arena *arena);

/* Send what is queued, and skip all pending answers. */
TKB_NODISCARD int tkb_resp_drain(struct tkb_resp *resp,
                                 const struct tkb_op_limits *limits,
                                 struct tkb_error *err);

#endif
