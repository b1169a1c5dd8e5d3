/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_SERVER_H
#define TKB_TESTS_SERVER_H

/*
 * Servers for tests: real ones, and functions of a test. Each listens on a free
 * port of 127.0.0.1, ends with its test, and dies with the test program,
 * however that ends.
 *
 *     struct server redis = start_redis("maxmemory 10mb\n");
 *
 *     open_remote(text("redis://127.0.0.1:%u", redis.port));
 */

#include <sys/types.h>

#include "harness.h"

struct server {
	pid_t pid; /* 0: stopped */
	unsigned port;
	unsigned tls_port;  /* 0: none */
	const char *socket; /* a unix socket's path */
};

/* A port that nobody listens on now. */
unsigned free_port(void);

/*
 * Start a program, whose arguments end with NULL, in the test's folder; its
 * output goes to the file `log` there. Wait until something listens on `port`.
 * False if it ends before. It ends with the test only if that is asked for.
 */
bool start_server(struct server *out, unsigned port, const char *log,
                  const char *program, ...) __attribute__((sentinel));

/*
 * Another server may answer on the port; the log shows that ours is ready. Wait
 * until it says so; false if the server ends before.
 */
bool log_says(const struct server *server, const char *log, const char *words);

void end_with_test(const struct server *server);

/*
 * Start a server that is a script of Python: it gets its port, and `arguments`, as
 * a shell reads them.
 */
struct server start_python(const char *script, const char *arguments);

/*
 * Start redis-server with these lines of configuration: on `port`, on `socket`
 * and, where they name tls-cert-file, on `tls_port`.
 */
struct server start_redis(const char *configuration);

/* What redis-cli prints for a command, whose words end with NULL. */
const char *ask_redis(const struct server *server, const char *word, ...)
	__attribute__((sentinel));

/* A process of the test's own, that calls `work` with a socket to accept on. */
struct server start_listener(void (*work)(int listener, void *self),
                             void *self);

/*
 * A server of the test's own: a process that calls `serve` with each
 * connection, one after another, and closes it afterwards.
 */
struct server start_fake(void (*serve)(int fd, void *self), void *self);

/* End it now, with `signal`, and wait until it is gone. */
void stop_server(struct server *server, int signal);

/* Make <name>.pem and <name>.key: an authority for certificates. */
void make_authority(const char *name);

/*
 * Make <name>.pem and <name>.key, certified by `authority`, for `names` as in
 * "DNS:localhost,IP:127.0.0.1", valid for `days` from now, which may be less
 * than 0.
 */
void make_certificate(const char *name, const char *authority,
                      const char *names, int days);

/* The same of "server" by the new authority "ca". */
void make_certified(const char *names, int days);

#endif
