/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_FAKE_REDIS_H
#define TKB_TESTS_FAKE_REDIS_H

/* Redis, and fake servers that misbehave. */

#include "remote_fixture.h"
#include "server.h"

/* The answer to TIME, the first command of a connection. */
#define TIME_ANSWER "*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n"

/* Answers each request in turn with one of these. */
struct script {
	const char *const
		*answers; /* ends with NULL: then it closes the connection */
	bool is_silent;   /* then it does not answer any more, instead */
};

/* `self` is a struct script. */
void play(int fd, void *self);

/* Wait for bytes. False if the peer has closed the connection. */
bool wait_for_bytes(int fd);

/* Send all of `answer`, if the peer takes it. */
void answer(int fd, const char *answer);

/* The URL without TLS, with its port, followed by `rest`. */
const char *redis_url(const struct server *server, const char *rest);

#endif
