/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_MUTANT_H
#define TKB_TESTS_MUTANT_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * What mutants.py puts before the first line of a file that has mutants: they
 * ask whether they are the one that the variable TKB_MUTANT names. A file
 * that TKB_MUTANT_LOG names gets the numbers of those that ask.
 *
 * It calls nothing that a test replaces, and leaves errno to the line that
 * reads it next.
 */
#define TKB_MUTANTS_LIMIT 10000

static int mutant_chosen;
static const char *mutant_log;

__attribute__((constructor)) static void mutant_choose(void)
{
	const char *chosen = getenv("TKB_MUTANT");

	mutant_chosen = chosen != NULL ? atoi(chosen) : 0;
	mutant_log = getenv("TKB_MUTANT_LOG");
}

static void mutant_tell(int number)
{
	static _Atomic bool told[TKB_MUTANTS_LIMIT];
	int before = errno;
	long fd;

	if (mutant_log == NULL || told[number])
		return;

	fd = syscall(SYS_openat, AT_FDCWD, mutant_log,
	             O_WRONLY | O_APPEND | O_CLOEXEC, 0);
	if (fd >= 0) {
		told[number] =
			syscall(SYS_write, fd, &number, sizeof(number)) > 0;
		(void)syscall(SYS_close, fd);
	}
	errno = before;
}

static bool mutant_is(int number)
{
	mutant_tell(number);
	return number == mutant_chosen;
}

#endif
