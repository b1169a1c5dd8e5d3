/* SPDX-License-Identifier: Apache-2.0 */
#ifndef C_LAUNCHER_CHECK_H
#define C_LAUNCHER_CHECK_H

/* The tests of one program that runs launchers: a line each, as "ok NAME". */

#include <stdio.h>
#include <string.h>

#include "fake.h"

static int check_failures;

#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			printf("# %s:%d: %s\n", __FILE__, __LINE__,            \
			       #condition);                                    \
			check_failures++;                                      \
		}                                                              \
	} while (0)

#define CHECK_CALLS(wanted)                                                    \
	do {                                                                   \
		if (strcmp(fake_calls(), (wanted)) != 0) {                     \
			printf("# %s:%d: calls were: %s\n", __FILE__,          \
			       __LINE__, fake_calls());                        \
			check_failures++;                                      \
		}                                                              \
	} while (0)

/* Run a test, and tell its name, which is a sentence that must hold. */
#define RUN(test)                                                              \
	do {                                                                   \
		const int before = check_failures;                             \
                                                                               \
		test();                                                        \
		printf("%s %s\n", check_failures == before ? "ok" : "not ok",  \
		       #test);                                                 \
	} while (0)

#endif
