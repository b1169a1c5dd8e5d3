/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FACTS_H
#define TKBUNDLE_FACTS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What decides keys, as pairs of a name and a text, sorted by name:
 *
 *     capability       9.0
 *     driver           580.159.04
 *     engine           vllm 0.24.0
 *     env.VLLM_USE_V1  1                 variables that enter a key
 *     gpu              NVIDIA H200
 *     home             /home/serve
 *     libtriton        <first digits of its SHA-256>
 *     ptxas.torch      13.0.88 /opt/venv/lib/...
 *     ptxas.triton     12.8.93 /opt/venv/lib/...
 *     python           /opt/venv/bin/python3
 *     torch            2.11.0
 *     triton           3.6.0
 *
 * What is not known is not there. Values of variables that have secret names are
 * never taken: such a variable has a digest of its value.
 */
struct fact {
	char *name;
	char *value;
};

/* Zeroed is empty. */
struct facts {
	struct fact *items; /* owned, and the texts */
	size_t count;
	size_t capacity;
};

enum {
	FACTS_LIMIT = 128,
	FACT_SIZE = 512 /* of a value, with its zero; a longer one is cut */
};

/* What stands for a value that is kept secret, here and in bundles. */
#define FACTS_SECRET "hidden"

/* For TKB_AUTO. */
void facts_release(struct facts *facts);

/*
 * Set one; "" and NULL are not known, and set nothing. What does not fit, or has no
 * memory, is not there.
 */
void facts_set(struct facts *facts, const char *name, const char *value);

/* NULL: it is not known. */
const char *facts_find(const struct facts *facts, const char *name);

#endif
