/* SPDX-License-Identifier: Apache-2.0 */
#include "format/manifest.h"

void tkb_manifest_release(struct tkb_manifest *manifest)
{
	tkb_arena_release(&manifest->arena);
	*manifest = (struct tkb_manifest){ 0 };
}
