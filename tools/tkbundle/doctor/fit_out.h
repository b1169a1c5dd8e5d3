/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FIT_OUT_H
#define TKBUNDLE_FIT_OUT_H

#include "config/root.h"
#include "doctor/fit.h"

/* Advice for a damaged bundle. */
#define FIT_OUT_BUNDLE_ADVICE "make the bundle again, or fetch it again"

/*
 * Print what fits and what does not. Long lists are summed up by cause, with
 * the first names; the document contains all.
 */
void fit_out_print(const struct fits *fits, const struct source *source,
                   struct cli *cli);

/* Note a fault for each cause, with advice. */
void fit_out_note(const struct fits *fits, const struct fit_facts *facts,
                  const struct root *root, struct findings *findings);

#endif
