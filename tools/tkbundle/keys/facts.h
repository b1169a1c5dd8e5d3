/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FACTS_H
#define TKBUNDLE_FACTS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Facts that decide keys, as pairs of a name and a text, sorted by name:
 *
 *     capability       9.0
 *     driver           580.159.04
 *     engine           vllm 0.24.0
 *     env.VLLM_USE_V1  1 variables that are part of a key
 *     gpu              NVIDIA H200
 *     home             /home/serve
 *     libtriton        <first digits of its SHA-256>
 *     ptxas.torch      13.0.88 /opt/venv/lib/...
 *     ptxas.triton     12.8.93 /opt/venv/lib/...
 *     python           /opt/venv/bin/python3
 *     torch            2.11.0
 *     triton           3.6.0
 *
 * Unknown facts are left out. A variable with a secret name has a digest
 * instead of its value.
 */
struct fact {
	char *name;
	char *value;
};

/* Zeroed is empty. */
struct facts {
	struct fact *items; /* owned, and the texts */
	size_t count;
};

enum {
	FACTS_LIMIT = 128,
	FACT_SIZE = 512 /* size of a value, with its zero; a longer one is
	                   cut */
};

/* The text in place of a secret value, here and in bundles. */
#define FACTS_SECRET "hidden"

/* For TKB_AUTO. */
void facts_release(struct facts *facts);

/*
 * Set a fact. "" and NULL mean unknown, and set nothing. A fact that does not
 * fit is left out, and so is one for which there is no memory.
 */
void facts_set(struct facts *facts, const char *name, const char *value);

/* The value of a fact; NULL: unknown. */
const char *facts_find(const struct facts *facts, const char *name);

#endif
