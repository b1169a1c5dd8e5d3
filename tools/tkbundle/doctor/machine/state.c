/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/machine/state.h"

const char *doctor_engine(const struct doctor *doctor)
{
	const struct texts *const engines = &doctor->args->engines;

	return engines->count > 0 ? engines->items[0] : NULL;
}
