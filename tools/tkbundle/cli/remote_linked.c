/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/remote_library.h"

#define FUNCTION(member, function) .member = (function),

/* For a program that contains the library. */
int remote_library_load(struct remote_library *out, struct tkb_error *err)
{
	(void)err;
	*out = (struct remote_library){ REMOTE_FUNCTIONS(FUNCTION) };
	return 0;
}
