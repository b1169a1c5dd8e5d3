/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

void fuzz_must_fail(const char *what, const char *why, const char *file,
                    int line)
{
	(void)fprintf(stderr, "%s:%d: this must hold: %s\n  %s\n", file, line,
	              what, why);
	abort();
}

struct tkb_bytes fuzz_take(struct tkb_bytes *input, const char *separator)
{
	const size_t length = strlen(separator);
	const struct tkb_bytes all = *input;
	const char *found = memmem(all.data, all.size, separator, length);
	size_t end;

	if (found == NULL) {
		*input = tkb_bytes_slice(all, all.size, all.size);
		return all;
	}
	end = (size_t)(found - (const char *)all.data);
	*input = tkb_bytes_slice(all, end + length, all.size);
	return tkb_bytes_slice(all, 0, end);
}
