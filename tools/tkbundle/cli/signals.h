/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SIGNALS_H
#define TKBUNDLE_SIGNALS_H

#include <stdbool.h>

/*
 * SIGINT, SIGTERM and SIGHUP end long work cleanly.
 *
 * They are caught only while work is done that asks signals_is_caught() between
 * its pieces. At any other time they kill the program at once, as usual. So
 * does a second signal of the same kind: being killed is safe, only less tidy.
 * And so does the first, a second later, if nobody has asked until then, and the
 * program only waits: for the other end of a pipe that it opens, say.
 */
void signals_catch(void);

/*
 * A write past the limit of `ulimit -f` fails with EFBIG, and does not kill the program.
 * What it starts is not concerned: there the signal does what it did before.
 */
void signals_let_writes_fail(void);

/* Has one come? */
bool signals_is_caught(void);

/* If a signal was caught, die of it, so that a shell notices. */
void signals_die_if_caught(void);

#endif
