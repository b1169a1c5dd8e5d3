/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_PROXY_H
#define TKB_TESTS_PROXY_H

/*
 * A proxy that does harm: a process between clients and a real server, which
 * moves bytes both ways, counts, and does to some of them what a table says.
 *
 *     static const struct fault faults[] = {
 *             { .harm = CUT, .request = "GETRANGE", .at = 1000 },
 *     };
 *     struct proxy proxy = start_proxy(redis.port, faults, 1);
 *
 *     pull(text("redis://127.0.0.1:%u", proxy.port));
 *     CHECK_INT(proxy.counts->struck[0], 1);
 *
 * What a client sends after the server's last word is a request; what comes
 * then is its answer. A request meets the first fault that is meant for it, and
 * that is not used up. Under TLS nothing of a request can be seen: there only
 * faults of whole connections make sense, which are those without `request`.
 */

#include <stdatomic.h>

#include "server.h"

enum harm {
	NONE,
	PASS,    /* none; requests are counted, and meet the next fault, too */
	DELAY,   /* byte `at` comes `ms` later, and so do those behind it */
	TRICKLE, /* one byte comes each `ms` */
	STALL,   /* byte `at` never comes, and the connection stays open */
	CUT,     /* the connection ends before byte `at` */
	RESET,   /* the same, but rudely */
	FLIP,    /* one bit of byte `at` is another */
	LIE,     /* the decimal number at byte `at` is told `by` too high */
	ANSWER,  /* the server is not asked; `answer` and an end come instead */
};

/* Where a number is not given, it is 0. */
struct fault {
	enum harm harm;
	const char *request; /* holds this; NULL: the whole connection */
	const char *behind;  /* `at` counts from behind this; NULL: from the
	                        first byte of the answer, or connection */
	uint64_t at;
	bool is_upload; /* harms what the client sends, not what it gets */
	int by;
	unsigned ms;
	const char *answer;
	unsigned skip;  /* lets so many requests pass before */
	unsigned times; /* harms so many, then no more; 0: all */
};

enum {
	FAULTS_LIMIT = 32
};

/* By the proxy's process, while it works. */
struct counts {
	atomic_ullong up;   /* bytes that went on to the server */
	atomic_ullong down; /* ... to clients */
	atomic_uint connections;
	atomic_uint requests;
	atomic_uint met[FAULTS_LIMIT];    /* that fit a fault */
	atomic_uint struck[FAULTS_LIMIT]; /* harm that was done */
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
