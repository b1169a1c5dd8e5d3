/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/auto.h"

enum {
	LOOK_S = 1,  /* from a signal to the check of its effect */
	BUSY_MS = 10 /* CPU time between two checks: the program still works */
};

/*
 * The only global variable of the program: a signal handler gets no pointer to
 * anything else. Any thread may receive the signal and write it, and other
 * threads read it, so its members are atomic as well.
 */
static struct {
	volatile _Atomic sig_atomic_t number;
	volatile _Atomic sig_atomic_t is_known; /* somebody has checked, and
	                                           will end */
	volatile _Atomic long cpu_ms;           /* CPU time used at the last
	                                           check */
} caught;

static long used_cpu_ms(void)
{
	struct timespec used = { 0 };

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

static void note_signal(int number)
{
	caught.cpu_ms = used_cpu_ms();
	caught.number = number;
	(void)alarm(LOOK_S);
}

static void die_of(int number)
{
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

/*
 * End a program that only waits: opening a pipe, for example, goes on waiting
 * for the other end after a signal.
 */
static void end_what_waits(int alarm_number)
{
	static const char words[] = "tkbundle: cancelled\n";
	const int saved = errno;
	const long cpu_ms = used_cpu_ms();

	(void)alarm_number;
	if (caught.is_known == 0 && cpu_ms - caught.cpu_ms < BUSY_MS) {
		if (write(STDERR_FILENO, words, sizeof(words) - 1) < 0)
			errno = saved; /* nobody reads it */
		die_of(caught.number);
	} else if (caught.is_known == 0) {
		caught.cpu_ms = cpu_ms;
		(void)alarm(LOOK_S);
	}
	errno = saved;
}

void signals_catch(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action;

	(void)memset(&action, 0, sizeof(action));
	action.sa_handler = note_signal;
	action.sa_flags = (int)((unsigned)SA_RESTART | SA_RESETHAND);
	(void)sigemptyset(&action.sa_mask);

	for (size_t i = 0; i < TKB_COUNT_OF(numbers); i++) {
		struct sigaction old;

		/* A signal that nohup(1) or a shell ignores stays ignored. */
		if (sigaction(numbers[i], NULL, &old) == 0 &&
		    old.sa_handler != SIG_IGN)
			(void)sigaction(numbers[i], &action, NULL);
	}

	action.sa_handler = end_what_waits;
	action.sa_flags = (int)SA_RESTART;
	(void)sigaction(SIGALRM, &action, NULL);
}

static void do_nothing(int number)
{
	(void)number;
}

void signals_let_writes_fail(void)
{
	struct sigaction action;
	struct sigaction old;

	(void)memset(&action, 0, sizeof(action));
	action.sa_handler = do_nothing;
	action.sa_flags = (int)SA_RESTART;
	(void)sigemptyset(&action.sa_mask);
	/* Use a handler: another program would inherit SIG_IGN. */
	if (sigaction(SIGXFSZ, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		(void)sigaction(SIGXFSZ, &action, NULL);
}

bool signals_is_caught(void)
{
	if (caught.number == 0)
		return false;
	caught.is_known = 1;
	return true;
}

void signals_die_if_caught(void)
{
	if (caught.number != 0)
		die_of(caught.number);
}
