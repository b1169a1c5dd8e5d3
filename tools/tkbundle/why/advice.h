/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ADVICE_H
#define TKBUNDLE_ADVICE_H

#include "why/differences.h"
#include "keys/facts.h"

/* Advice for a reason. */

/* The facts that the advice may name. */
struct advice_case {
	const char *engine;        /* "vllm"; "" if it is unknown */
	const char *name;          /* name of the part; NULL: unknown */
	const char *there;         /* its value on the other side; "": not
	                              set */
	const char *here;          /* its value here */
	const struct facts *facts; /* facts about this machine, or NULL */
};

/* Write one sentence without a full stop; "": there is nothing to do. */
void advice_write(enum reason reason, const struct advice_case *where,
                  char *out, size_t size);

#endif
