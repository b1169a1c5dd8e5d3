/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SIGNALS_H
#define TKBUNDLE_SIGNALS_H

#include <stdbool.h>

/*
 * SIGINT, SIGTERM and SIGHUP end long work cleanly.
 *
 * They are caught only during work that calls signals_is_caught() between its
 * steps. At any other time they kill the program at once, as usual. A second
 * signal of the same kind also kills it: that is safe, but leaves things to
 * clean up. The first signal kills it after a second if nobody has called
 * signals_is_caught() until then, and the program only waits, for example for
 * the other end of a pipe that it opens.
 */
void signals_catch(void);

/*
 * Let a write past the limit of `ulimit -f` fail with EFBIG instead of killing
 * the program. Programs that it starts are not affected.
 */
void signals_let_writes_fail(void);

/* Has one come? */
bool signals_is_caught(void);

/* If a signal was caught, die of it, so that the shell notices. */
void signals_die_if_caught(void);

#endif
