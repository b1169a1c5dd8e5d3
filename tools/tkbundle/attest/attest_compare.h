/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ATTEST_COMPARE_H
#define TKBUNDLE_ATTEST_COMPARE_H

#include "report/source.h"

/* Why a kernel could not be compiled again. */
struct attest_reason {
	char *key; /* owned, like the text */
	char *text;
};

/* The results for a record's entries. Each entry that differs is printed. */
struct attest_verdict {
	struct cli *cli;
	const char *record; /* digits of the record's digest, for messages */
	const struct attest_reason *reasons;
	size_t reason_count;
	uint64_t same;
	uint64_t different;
	uint64_t other; /* not compiled again */
};

/*
 * Compare the recorded entries with those that were compiled. A specialisation
 * says how to make its kernel, so it is right if that kernel comes out the
 * same.
 */
TKB_NODISCARD int attest_compare(const struct source *recorded,
                                 const struct source *made,
                                 struct attest_verdict *verdict,
                                 struct tkb_error *err);

#endif
