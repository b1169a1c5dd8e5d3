/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_LABELS_H
#define TKBUNDLE_LABELS_H

#include <tkbundle/fleet.h>

#include "cli/args.h"

/* The labels of --label NAME=VALUE. The library checks them. */
struct labels {
	struct tkb_label *items; /* owned, and each name */
	size_t count;
};

/* @return 0, TKB_ERR_INVALID (one has no '=') or TKB_ERR_NOMEM */
TKB_NODISCARD int labels_read(const struct arguments *args, struct labels *out,
                              struct tkb_error *err);

/* For TKB_AUTO. */
void labels_release(struct labels *labels);

#endif
