/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_SLOW_HOSTS_H
#define TKB_TESTS_SLOW_HOSTS_H

/*
 * Hosts that do not answer. In a program that is linked with this, the look-up
 * of "hangs.test" takes 1500 ms and fails, that of "unknown.test" fails at once,
 * and "two.test" has the addresses 127.0.0.9 and 127.0.0.1.
 */

/* A port that takes no connection: the queue of those who wait is full. */
struct full_queue {
	int listener;
	int waiters[2];
	unsigned port;
};

/* `port` 0: any. */
struct full_queue open_queue(const char *host, unsigned port);
void close_queue(const struct full_queue *queue);

#endif
