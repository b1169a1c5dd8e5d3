/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_PROXY_H
#define TKB_TESTS_PROXY_H

/*
 * A faulty proxy: a process between clients and a real server that forwards
 * bytes both ways, counts them, and injects the faults of a table.
 *
 *     static const struct fault faults[] = {
 *             { .harm = CUT, .request = "GETRANGE", .at = 1000 },
 *     };
 *     struct proxy proxy = start_proxy(redis.port, faults, 1);
 *
 *     pull(text("redis://127.0.0.1:%u", proxy.port));
 *     CHECK_INT(proxy.counts->struck[0], 1);
 *
 * What a client sends after the server's last byte is a request; what follows
 * is its answer. The first matching fault that is not used up applies. With
 * TLS, requests cannot be read, so only faults of whole connections make sense:
 * those without `request`.
 */

#include <stdatomic.h>

#include "server.h"

enum harm {
	NONE,
	PASS,  /* none; requests are counted, and the next fault applies, too */
	DELAY, /* byte `at` and those after it come `ms` later */
	TRICKLE, /* one byte comes every `ms` */
	STALL,   /* byte `at` never comes, and the connection stays open */
	CUT,     /* the connection ends before byte `at` */
	RESET,   /* the same, with a TCP reset */
	FLIP,    /* one bit of byte `at` is flipped */
	LIE,     /* the decimal number at byte `at` is increased by `by` */
	ANSWER, /* the server is not asked; the client gets `answer` and an end */
};

/* Numbers that are not given are 0. */
struct fault {
	enum harm harm;
	const char *request; /* contains this; NULL: the whole connection */
	const char *behind;  /* `at` counts from behind this; NULL: from the
	                        first byte of the answer, or connection */
	uint64_t at;
	bool is_upload; /* for what the client sends, not what it gets */
	int by;
	unsigned ms;
	const char *answer;
	unsigned skip;  /* does not apply to this many requests first */
	unsigned times; /* applies this often; 0: always */
};

enum {
	FAULTS_LIMIT = 32
};

/* Counted by the proxy's process. */
struct counts {
	atomic_ullong up;   /* bytes to the server */
	atomic_ullong down; /* ... to clients */
	atomic_uint connections;
	atomic_uint requests;
	atomic_uint met[FAULTS_LIMIT];    /* requests that match a fault */
	atomic_uint struck[FAULTS_LIMIT]; /* faults that were injected */
};

struct proxy {
	struct server server;
	unsigned port;
	struct counts *counts;
};

/* Before the server that listens on `port` of 127.0.0.1. */
struct proxy start_proxy(unsigned port, const struct fault *faults,
                         size_t count);
/* Otherwise it ends with the test; what it counted can be read until then. */
void stop_proxy(struct proxy *proxy);

#endif
