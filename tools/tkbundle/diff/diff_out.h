/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DIFF_OUT_H
#define TKBUNDLE_DIFF_OUT_H

#include <stdio.h>

#include "diff/diff_cubins.h"

/* Print what differs: "-" is only in A, "+" only in B, "~" in both. */
void diff_out_print(FILE *to, const struct diff *diff,
                    const struct diff_cubins *cubins);

#endif
