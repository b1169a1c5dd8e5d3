/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_S3_S3_ASKING_H
#define TKB_REMOTE_S3_S3_ASKING_H

/* Asking others for credentials, for s3_roles.c and s3_machine.c alone. */

#include "remote/s3/s3_keys.h"

enum {
	TKB_S3_ASK_LIMIT = 64 * 1024, /* of a token, or of an answer */
	TKB_S3_REASON_SIZE = 160
};

struct tkb_s3_asking {
	const struct tkb_remote_url *url;
	const char *region; /* where STS is asked */
	const struct tkb_op_limits *limits;
	struct tkb_s3_keys keys;         /* the result */
	char reason[TKB_S3_REASON_SIZE]; /* why the machine gives none */
};

/* Refuse the URL of `whose` server if it has a user, as it stands in messages. */
TKB_NODISCARD int tkb_s3_check_server(const char *url, const char *whose,
                                      struct tkb_error *err);

/* Read keys from a JSON document. `who` gave it, for a message. */
TKB_NODISCARD int tkb_s3_read_answer(struct tkb_s3_asking *asking,
                                     const struct tkb_buf *text,
                                     const char *who, struct tkb_error *err);

/*
 * Append the token in a file to `out`, with a NUL that is not counted. Whoever
 * gives tokens changes the file, so it is read each time.
 */
TKB_NODISCARD int tkb_s3_read_token(const char *path, struct tkb_buf *out,
                                    struct tkb_error *err);

/* Ask the server that the environment of a container names. TKB_MISS: none. */
TKB_NODISCARD int tkb_s3_ask_container(struct tkb_s3_asking *asking,
                                       struct tkb_error *err);

/* Ask for the machine's role. TKB_MISS: it has none; `reason` tells why. */
TKB_NODISCARD int tkb_s3_ask_machine(struct tkb_s3_asking *asking,
                                     struct tkb_error *err);

#endif
