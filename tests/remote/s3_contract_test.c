/* SPDX-License-Identifier: Apache-2.0 */
#include "remote_contract.h"
#include "s3_fixture.h"

static const char *start_a_bucket(void)
{
	start_s3();
	return s3_url(text("%s/team/kernels", new_bucket("contract")), "");
}

static const struct remote_kind s3 = {
	.start = start_a_bucket,
	.is_shared = true,
	.has_clock = true,
	.is_exact = true,
};

REMOTE_CONTRACT(s3)
