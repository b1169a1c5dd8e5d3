/* SPDX-License-Identifier: Apache-2.0 */
#include "why/reason.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *word;
	const char *text;
} names[REASON_COUNT] = {
	[REASON_TARGET] = { "target", "another target" },
	[REASON_TRITON] = { "triton", "another version of Triton" },
	[REASON_LIBTRITON] = { "libtriton", "another build of Triton" },
	[REASON_PTXAS] = { "ptxas", "another ptxas" },
	[REASON_COMPILER] = { "compiler", "another compiler" },
	[REASON_TORCH] = { "torch", "another version of PyTorch" },
	[REASON_ENGINE] = { "engine", "another version of the engine" },
	[REASON_GPU] = { "gpu", "another GPU" },
	[REASON_DRIVER] = { "driver", "another driver" },
	[REASON_HOME] = { "home", "another $HOME" },
	[REASON_PATH] = { "path", "another path" },
	[REASON_ENVIRONMENT] = { "environment", "another variable" },
	[REASON_OPTIONS] = { "options", "other options" },
	[REASON_SIGNATURE] = { "signature", "another signature" },
	[REASON_CONSTANTS] = { "constants", "other constants" },
	[REASON_SOURCE] = { "source", "another source" },
	[REASON_DEBUG_LINES] = { "debug-lines", "only debug lines differ" },
	[REASON_BYTES] = { "bytes", "other bytes under the same key" },
	[REASON_NOT_IN_BUNDLE] = { "not-in-bundle",
	                           "nothing like it was there" },
	[REASON_UNTRUSTED] = { "untrusted",
	                       "the policy did not trust what was there" },
	[REASON_NOT_PULLED] = { "not-pulled", "the pull did not bring it" },
	[REASON_DAMAGED] = { "damaged", "what was there was damaged" },
	[REASON_UNKNOWN] = { "unknown", "what decides it is not recorded" },
};

const char *reason_word(enum reason reason)
{
	return names[reason].word;
}

const char *reason_text(enum reason reason)
{
	return names[reason].text;
}

bool reason_find(const char *word, enum reason *out)
{
	for (size_t i = 0; i < REASON_COUNT; i++) {
		if (strcmp(names[i].word, word) == 0) {
			*out = (enum reason)i;
			return true;
		}
	}
	return false;
}
