/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ATTEST_COMPARE_H
#define TKBUNDLE_ATTEST_COMPARE_H

#include "report/source.h"

/* What came of a record's entries; what is not the same is printed as it is found. */
struct attest_verdict {
	struct cli *cli;
	const char *record; /* its digits, for messages */
	uint64_t same;
	uint64_t different;
	uint64_t other; /* not compiled again */
};

/*
 * Hold what is recorded against what was made of it. A specialisation tells of what its
 * kernel is made, and is right if that kernel is the same.
 */
TKB_NODISCARD int attest_compare(const struct source *recorded,
                                 const struct source *made,
                                 struct attest_verdict *verdict,
                                 struct tkb_error *err);

#endif
