/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TRUST_DATE_H
#define TKB_TRUST_DATE_H

/* Points of time as RFC 3339 writes them in UTC: "2027-02-21T12:00:00Z". */

#include <tkbundle/trust.h>

enum {
	TKB_TIME_TEXT_SIZE = 21 /* with its NUL */
};

/* 9999-12-31T23:59:59Z: the last time that fits. */
#define TKB_TIME_LIMIT_S UINT64_C(253402300799)

/* Write seconds since 1970. A time beyond the limit is written as the limit. */
void tkb_time_text(uint64_t seconds, char out[TKB_TIME_TEXT_SIZE]);

/* The time, in seconds since 1970. */
uint64_t tkb_time_now(void);

#endif
