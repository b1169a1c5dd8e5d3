/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_POOL_WORKER_H
#define TKB_TESTS_POOL_WORKER_H

/* The parts of a worker for the tests. */

#include <tkbundle/pool.h>

struct call {
	const char *rest; /* of the request, behind the first word */
	struct tkb_bytes request;
	const struct tkb_sink *answer;
	const struct tkb_sink *log;
	struct tkb_error *err;
};

int say(const struct call *call, const char *text);
void nap_ms(long ms);

/* Do nothing more; somebody kills it. */
int hang(void);

/* Add a byte to the file; its size before. */
long add_to(const char *path, char byte);

/* What a worker says that lies, or ends in mid-word (pool_worker_lies.c). */
int do_garbage(const struct call *call);
int do_huge(const struct call *call);
int do_half(const struct call *call);
int do_odd_result(const struct call *call);
int do_greet_again(const struct call *call);
int do_give_a_job(const struct call *call);
int do_other_job(const struct call *call);
int do_last(const struct call *call);
int do_done_twice(const struct call *call);
int do_done_and_die(const struct call *call);
int do_many_and_die(const struct call *call);

/* Be a program that is no good worker; its exit status, or -1: be a good one. */
int be_odd(const char *how, const char *rest);

#endif
