/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ACCEPTANCE_H
#define TKBUNDLE_ACCEPTANCE_H

#include "trust/policy.h"

/* Where signatures were made. Everything is borrowed. */
struct acceptance {
	const struct policy *policy;
	const struct remote_library *library;
	struct tkb_remote *remote;
	const char *ref;
	bool is_image; /* they are of an image, and so for no stage */
};

/*
 * With a policy, warn if it accepts none of these keys' signatures for the ref,
 * so that no server that follows it uses what they sign.
 *
 * @param signing  NULL: nothing was signed
 */
void acceptance_warn(const struct acceptance *of,
                     const struct tkb_signing *signing);

#endif
