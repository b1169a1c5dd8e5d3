/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_FAKE_REDIS_H
#define TKB_TESTS_FAKE_REDIS_H

/* Redis, and servers that pass for it until they misbehave. */

#include "remote_fixture.h"
#include "server.h"

/* To the TIME that greets a server. */
#define TIME_ANSWER "*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n"

/* Answers each request in turn with one of these. */
struct script {
	const char *const *answers; /* ends with NULL: then it hangs up */
	bool is_silent;             /* then it says nothing, instead */
};

/* `self` is a struct script. */
void play(int fd, void *self);

/* Some bytes came. False where the peer has hung up. */
bool wait_for_bytes(int fd);

/* All of `answer`, if the peer takes it. */
void answer(int fd, const char *answer);

/* In the clear, on its port, with `rest` behind. */
const char *redis_url(const struct server *server, const char *rest);

#endif
