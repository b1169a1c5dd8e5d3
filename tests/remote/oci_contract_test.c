/* SPDX-License-Identifier: Apache-2.0 */
#include "registry.h"
#include "remote_contract.h"

static const char *start_open(void)
{
	const struct server server = start_registry("");

	return text("oci://127.0.0.1:%u/team/kernels", server.port);
}

static const struct remote_kind oci = {
	.start = start_open,
	.is_shared = true,
	.has_clock = true,
	.is_exact = true,
};

REMOTE_CONTRACT(oci)
