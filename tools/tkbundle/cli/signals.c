/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/signals.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

/*
 * The only variable of the program outside a function: a signal handler is
 * given nothing by which it could reach another. It is written in whichever
 * thread the signal comes to, and read in others: therefore atomic as well.
 */
static volatile _Atomic sig_atomic_t caught_signal;

static void note_signal(int number)
{
	caught_signal = number;
}

void signals_catch(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action;

	(void)memset(&action, 0, sizeof(action));
	action.sa_handler = note_signal;
	action.sa_flags = (int)((unsigned)SA_RESTART | SA_RESETHAND);
	(void)sigemptyset(&action.sa_mask);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction old;

		/* A signal that nohup(1) or a shell ignores stays ignored. */
		if (sigaction(numbers[i], NULL, &old) == 0 &&
		    old.sa_handler != SIG_IGN)
			(void)sigaction(numbers[i], &action, NULL);
	}
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
	/* A handler, which another program does not inherit, as it would SIG_IGN. */
	if (sigaction(SIGXFSZ, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		(void)sigaction(SIGXFSZ, &action, NULL);
}

bool signals_is_caught(void)
{
	return caught_signal != 0;
}

void signals_die_if_caught(void)
{
	const int number = caught_signal;

	if (number == 0)
		return;

	(void)signal(number, SIG_DFL);
	(void)raise(number);
}
