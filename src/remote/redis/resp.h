/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_REDIS_RESP_H
#define TKB_REMOTE_REDIS_RESP_H

/*
 * The Redis protocol over a connection: commands are queued, sent together, and
 * answered in order. hiredis, 0.14 or 1.x, formats and parses RESP2. RESP3 is
 * never requested, and is refused.
 *
 *     tkb_resp_queue(&resp, "STRLEN", key);
 *     tkb_resp_queue(&resp, "EXISTS", key);
 *     rc = tkb_resp_next(&resp, call, limit, &reply, err);
 *     rc = tkb_resp_next(&resp, call, limit, &reply, err);
 *
 * Functions that queue return nothing: the next function that sends reports
 * their failure. A caller that returns early leaves unread answers: call
 * tkb_resp_drain() first if that may have happened.
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
		text; /* of a status, an error or a string; ends with NUL */
	const struct tkb_reply **items; /* of an array */
	size_t count;
};

/* A connection to Redis. The struct must not move while it is open. */
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
/* Allowed after a failed open, and on a zeroed struct. */
void tkb_resp_close(struct tkb_resp *resp);

/* Queue a command; all words are C strings. */
#define tkb_resp_queue(resp, ...)                                              \
	tkb_resp_queue_words(resp, (const char *const[]){ __VA_ARGS__, NULL })
void tkb_resp_queue_words(struct tkb_resp *resp, const char *const *words);
/* The same for words of any bytes: at most 16 words. */
void tkb_resp_queue_bytes(struct tkb_resp *resp, const struct tkb_bytes *words,
                          size_t count);

/*
 * Queue a command whose last word comes in pieces: begin with the other words
 * and the size of the last one, add the pieces, then end. tkb_resp_send() may
 * be called in between.
 */
void tkb_resp_begin(struct tkb_resp *resp, const char *const *words,
                    uint64_t size);
void tkb_resp_add(struct tkb_resp *resp, struct tkb_bytes piece);
void tkb_resp_end(struct tkb_resp *resp);

/* Send all queued commands, if any. Fails like tkb_connection_write(). */
TKB_NODISCARD int tkb_resp_send(struct tkb_resp *resp,
                                const struct tkb_op_limits *limits,
                                struct tkb_error *err);

/*
 * Send all queued commands, and return the next answer, of at most `limit` bytes.
 * It is valid until the next call. Fails like tkb_connection_read(), and with
 * TKB_ERR_UNAVAILABLE if the answer is too large or violates the protocol.
 */
TKB_NODISCARD int tkb_resp_next(struct tkb_resp *resp,
                                const struct tkb_op_limits *limits,
                                size_t limit, const struct tkb_reply **out,
                                struct tkb_error *err);

/* Move the last answer into `arena`, which is empty. */
void tkb_resp_keep_reply(struct tkb_resp *resp, struct tkb_arena *arena);

/* Send all queued commands, and skip all pending answers. */
TKB_NODISCARD int tkb_resp_drain(struct tkb_resp *resp,
                                 const struct tkb_op_limits *limits,
                                 struct tkb_error *err);

#endif
