/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include "doctor/doctor.h"

static const struct option_spec options[] = {
	{ OPTION(TEXTS, "engine", "NAME", engines,
	         "check all caches of this engine, as vllm or torch") },
	ARGS_TREES,
	{ OPTION(TEXT, "ref", "REF", ref,
	         "check this ref of the remote; by default the configured") },
	ARGS_REMOTE,
	{ OPTION(TIME, "wait", "TIME", wait,
	         "give up on the remote after this time; default 2s"),
	  .min = 1, .max = ARGS_TIME_LIMIT_MS },
	{ OPTION(SWITCH, "deep", NULL, is_deep,
	         "read all of the cache, and import the engine") },
	ARGS_JSON,
};

const struct command command_doctor = {
	.name = "doctor",
	.operands = { "CACHE_ROOT|FILE" },
	.summary = "say whether a start here will be warm, and if not, why",
	.details =
		"Looks at this machine, its caches or a bundle, and the "
		"remote, if one is configured, and ends with a verdict and "
		"what to do. The exit status is 0 if it is warm, 4 if it is "
		"partly warm, 3 if it is cold. Without an operand it looks at "
		"the cache that collect uses. It changes nothing here, and "
		"removes what it writes to the remote as a test. It imports "
		"nothing without --deep, and shows no secret.",
	COMMAND_OPTIONS(options),
	.run = doctor_run,
};
