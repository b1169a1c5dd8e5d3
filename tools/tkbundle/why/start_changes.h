/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_START_CHANGES_H
#define TKBUNDLE_START_CHANGES_H

#include "keys/facts.h"
#include "why/differences.h"

/*
 * Find the differences between two starts of one command: the probable cause of
 * a kernel's second key if nothing that its files record differs.
 *
 * For a ptxas, only its version is compared, and not its path. If one start
 * lacks a fact, that is not a difference; but a variable that it lacks was not
 * set.
 *
 * @param out  the most probable cause first; its names are borrowed from the
 *             facts
 * @return 0 or TKB_ERR_NOMEM
 */
TKB_NODISCARD int start_changes_find(const struct facts *before,
                                     const struct facts *here,
                                     struct differences *out,
                                     struct tkb_error *err);

#endif
