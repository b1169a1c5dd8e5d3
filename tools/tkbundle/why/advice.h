/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ADVICE_H
#define TKBUNDLE_ADVICE_H

#include "why/differences.h"
#include "keys/facts.h"

/* What to do about a reason. */

/* What the advice is made of. */
struct advice_case {
	const char *engine;        /* "vllm"; "" if it is unknown */
	const char *name;          /* of the part; NULL: none is known */
	const char *there;         /* its value there; "": it is not set */
	const char *here;          /* and here */
	const struct facts *facts; /* of this machine, or NULL */
};

/* One sentence without a full stop; "": there is nothing to do. */
void advice_write(enum reason reason, const struct advice_case *where,
                  char *out, size_t size);

#endif
