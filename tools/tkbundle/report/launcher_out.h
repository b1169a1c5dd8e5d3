/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_LAUNCHER_OUT_H
#define TKBUNDLE_LAUNCHER_OUT_H

#include "cli/cli.h"

/* Print saved launchers, as text and as JSON. */

/* Print the launchers of a bundle: a line each, or the array "launchers". */
void launcher_out_saved(struct cli *cli, const struct tkb_bundle *bundle);

/* How many of a bundle's launchers can be used in a root. */
struct launcher_counts {
	uint64_t ready;
	uint64_t dropped;
	uint64_t damaged; /* launchers that cannot be used */
};

/*
 * Find out which launchers of `bundle` can be used in `root`. Add the arrays
 * "launchers" and "dropped_launchers", and print a line to the log for each
 * that was dropped.
 *
 * @return a result of tkb_launchers_open()
 */
TKB_NODISCARD int launcher_out_ready(struct cli *cli,
                                     const struct tkb_bundle *bundle,
                                     const char *root,
                                     struct launcher_counts *out,
                                     struct tkb_error *err);

#endif
