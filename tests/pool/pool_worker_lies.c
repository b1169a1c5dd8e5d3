/* SPDX-License-Identifier: Apache-2.0 */
#include "pool_worker.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "compile/pool/message.h"

/* What a worker says on its own, without the library. */
static void say_raw(uint32_t type, uint64_t size, struct tkb_bytes body)
{
	const struct tkb_message_head head = { .magic = TKB_MESSAGE_MAGIC,
		                               .type = type,
		                               .size = size };

	(void)!write(TKB_MESSAGE_FD, &head, sizeof(head));
	(void)!write(TKB_MESSAGE_FD, body.data, body.size);
}

/* A message without a body: it greets, or gives a job. */
static void say_type(uint32_t type)
{
	say_raw(type, 0, (struct tkb_bytes){ "", 0 });
}

static void say_done(int rc)
{
	const struct tkb_message_done done = { .rc = rc };

	say_raw(TKB_MESSAGE_DONE, sizeof(done),
	        (struct tkb_bytes){ &done, sizeof(done) });
}

int do_garbage(const struct call *call)
{
	(void)call;
	(void)!write(TKB_MESSAGE_FD, "this is not what a worker says, is it",
	             37);
	return hang();
}

int do_huge(const struct call *call)
{
	(void)call;
	say_raw(TKB_MESSAGE_ANSWER, UINT64_MAX - 7,
	        (struct tkb_bytes){ "", 0 });
	return hang();
}

int do_half(const struct call *call)
{
	(void)call;
	say_raw(TKB_MESSAGE_ANSWER, 1000, (struct tkb_bytes){ "half", 4 });
	_exit(3);
}

int do_odd_result(const struct call *call)
{
	say_done((int)strtol(call->rest, NULL, 10));
	return hang();
}

int do_greet_again(const struct call *call)
{
	(void)call;
	say_type(TKB_MESSAGE_HELLO);
	return hang();
}

int do_give_a_job(const struct call *call)
{
	(void)call;
	say_type(TKB_MESSAGE_JOB);
	return hang();
}

int do_other_job(const struct call *call)
{
	struct {
		struct tkb_message_head head;
		struct tkb_message_done done;
	} all = { .done = { .rc = 0 } };

	(void)call;
	all.head = tkb_message_head_of(TKB_MESSAGE_DONE, sizeof(all.done));
	all.head.job = 77; /* of another */
	(void)!write(TKB_MESSAGE_FD, &all, sizeof(all.head) + sizeof(all.done));
	return hang();
}

/* The end of the job and of the worker, which takes its time. */
int do_last(const struct call *call)
{
	const struct tkb_message_done done = { .rc = 0 };

	(void)say(call, "last");
	say_raw(TKB_MESSAGE_LAST, sizeof(done),
	        (struct tkb_bytes){ &done, sizeof(done) });
	nap_ms(100);
	_exit(1);
}

/* The library says it once more. */
int do_done_twice(const struct call *call)
{
	(void)call;
	say_done(0);
	return 0;
}

int do_done_and_die(const struct call *call)
{
	(void)say(call, "the answer");
	say_done(0);
	(void)raise(SIGKILL);
	return 0;
}

/* Many small messages, then the end: all are in the socket when it ends. */
int do_many_and_die(const struct call *call)
{
	for (int i = 0; i < 100; i++)
		(void)say(call, "ab");
	say_done(0);
	(void)raise(SIGKILL);
	return 0;
}

/* Programs that are no good workers. */
int be_odd(const char *how, const char *rest)
{
	if (strcmp(how, "--exit") == 0) {
		(void)fprintf(stderr, "no licence was found\n");
		return 5;
	}
	if (strcmp(how, "--mute") == 0)
		nap_ms(100000);
	if (strcmp(how, "--deaf") == 0) { /* it never reads a request */
		say_type(TKB_MESSAGE_HELLO);
		nap_ms(100000);
	}
	if (strcmp(how, "--half-deaf") == 0) { /* nor can it be written to */
		say_type(TKB_MESSAGE_HELLO);
		(void)shutdown(TKB_MESSAGE_FD, SHUT_RD);
		nap_ms(100000);
	}
	if (strcmp(how, "--hasty") ==
	    0) { /* done before it was asked in full */
		say_type(TKB_MESSAGE_HELLO);
		nap_ms(300);
		say_done(0);
		nap_ms(100000);
	}
	if (strcmp(how, "--brief") == 0) { /* it greets, and goes */
		say_type(TKB_MESSAGE_HELLO);
		(void)add_to(rest, '.');
		return 0;
	}
	if (strcmp(how, "--unruly") == 0) /* what it says before it greets */
		say_done(0);
	/* From the second start on it is well. */
	if (strcmp(how, "--once") == 0 && add_to(rest, '.') < 1)
		return 5;
	/* It is well as long as the file is there. */
	if (strcmp(how, "--while") == 0 && access(rest, F_OK) < 0)
		return 5;
	return -1;
}
