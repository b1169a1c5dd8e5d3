/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FINDING_H
#define TKBUNDLE_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/cli.h"

/*
 * The problems that doctor has found, each with advice.
 *
 * A risk may slow a start or hide a fault; it does not change the verdict. With
 * a fault, a start must compile something; with a cold finding, everything.
 */
enum finding_level {
	FINDING_RISK,
	FINDING_FAULT,
	FINDING_COLD
};

enum verdict {
	VERDICT_WARM,
	VERDICT_PARTLY,
	VERDICT_COLD
};

struct finding {
	enum finding_level level;
	const char *cause; /* a word */
	char *what;        /* owned; a sentence */
	char *advice;      /* owned; what to do; "": nothing */
};

struct findings {
	struct finding *items; /* owned */
	size_t count;
	bool has_failed; /* out of memory */
};

/*
 * Add a finding. The format contains both texts, separated by a tab:
 * "what\tadvice". The same sentence is kept only once.
 *
 * @param cause  static storage
 */
__attribute__((format(printf, 4, 5))) void findings_add(
	struct findings *findings, enum finding_level level, const char *cause,
	const char *format, ...);

/* The verdict: the worst finding decides. */
enum verdict findings_verdict(const struct findings *findings);

/* "warm", "partly" or "cold". */
const char *verdict_word(enum verdict verdict);

/* Print the findings, the worst first, or add them to the document. */
void findings_print(const struct findings *findings, struct cli *cli);

void findings_release(struct findings *findings);

#endif
