/* SPDX-License-Identifier: Apache-2.0 */
#include "base/disable.h"

#include <stdlib.h>
#include <string.h>

bool tkb_is_disabled(void)
{
	const char *value = getenv("TKBUNDLE_DISABLE");

	return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}
