/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_LAUNCHER_OUT_H
#define TKBUNDLE_LAUNCHER_OUT_H

#include "cli/cli.h"

/* How saved launchers are shown, in words and in JSON. */

/* Those of a bundle: a line each, or the array "launchers". */
void launcher_out_saved(struct cli *cli, const struct tkb_bundle *bundle);

/* What became of a bundle's launchers at a root. */
struct launcher_counts {
	uint64_t ready;
	uint64_t dropped;
	uint64_t damaged; /* of those dropped */
};

/*
 * Look which launchers of `bundle` can be used in `root`: the arrays
 * "launchers" and "dropped_launchers", and a line to the log for each that was
 * dropped.
 *
 * @return as tkb_launchers_open()
 */
TKB_NODISCARD int launcher_out_ready(struct cli *cli,
                                     const struct tkb_bundle *bundle,
                                     const char *root,
                                     struct launcher_counts *out,
                                     struct tkb_error *err);

#endif
