/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

int tkb_random_name(char out[TKB_RANDOM_NAME_SIZE], struct tkb_error *err)
{
	uint64_t number = 0;
	ssize_t got;

	do {
		got = getrandom(&number, sizeof(number), 0);
	} while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof(number))
		return tkb_fail_errno(err, "the system gives no random bytes");

	(void)snprintf(out, TKB_RANDOM_NAME_SIZE, "%016" PRIx64, number);
	return 0;
}
