/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

/* The input is a whole bundle, with digests and compression. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_bundle((struct tkb_bytes){ data, size });
	return 0;
}
