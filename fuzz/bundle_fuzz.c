/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

/* The input is a bundle as it stands, digests and compression and all. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_bundle((struct tkb_bytes){ data, size });
	return 0;
}
