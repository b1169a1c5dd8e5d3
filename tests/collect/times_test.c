/* SPDX-License-Identifier: Apache-2.0 */
#include "collecting.h"

#include <tkbundle/times.h>

/* How long entries took to compile, as it is noted beside them. */

#define ONE "7L6SDEJ5EARFW53EAUKXWJ3XWXHCWI4TI4SGVO6DXAZGV5QZWTSA"

static void check_time(const char *name, uint32_t wanted)
{
	struct tkb_times *times = NULL;

	OK(tkb_times_open(".", &times, ERR));
	CHECK_INT(tkb_times_find(times, NULL, name), wanted);
	tkb_times_close(times);
}

TEST(times, are_told_however_long_they_are_and_the_first_stays)
{
	const struct tkb_time longest = { NULL, ONE, UINT32_MAX };
	const struct tkb_time later = { NULL, ONE, 1 };

	OK(tkb_times_note(".", &longest, 1, ERR));
	check_time(ONE, UINT32_MAX);
	OK(tkb_times_note(".", &later, 1, ERR));
	check_time(ONE, UINT32_MAX);
}
