/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/machine.h>

/* From "PTX ISA", release history. CUDA 12.6 has the PTX version of 12.5. */
uint32_t tkb_ptx_of_cuda(uint32_t major, uint32_t minor)
{
	if (major == 11)
		return 70 + minor;
	if (major == 12)
		return 80 + minor - (minor > 5 ? 1 : 0);
	return major >= 13 ? 10 * (major - 4) + minor : 0;
}
