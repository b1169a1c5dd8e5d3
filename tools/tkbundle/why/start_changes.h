/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_START_CHANGES_H
#define TKBUNDLE_START_CHANGES_H

#include "keys/facts.h"
#include "why/differences.h"

/*
 * What differs between two starts of one command: the probable cause of a kernel's
 * second key where nothing that its files record differs.
 *
 * Of a ptxas, its version counts, and not its place. A fact that one start does not
 * know is no difference, but a variable that it does not know was not set.
 *
 * @param out  the most probable cause first; its names are lent by the facts
 * @return 0 or TKB_ERR_NOMEM
 */
TKB_NODISCARD int start_changes_find(const struct facts *before,
                                     const struct facts *here,
                                     struct differences *out,
                                     struct tkb_error *err);

#endif
