/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_UNIT_RELOCATE_H
#define TKB_EMIT_UNIT_RELOCATE_H

/* Let the texts of a unit that was moved name the place where it lies. */

#include "emit/destination.h"

/*
 * Write the texts anew that name the root which the tree had; `loader` knows the
 * trees' roots. All are written into the stage before the first is replaced, and
 * files that name others come last: whoever is killed in between leaves a unit
 * that still names its old place there, and the next call makes right.
 *
 * A text that does not come back as it was, or whose style cannot hold the new
 * path, fails with TKB_REASON_SENTINEL, and none is replaced. One that was changed
 * meanwhile fails with TKB_REASON_BUSY; the next call replaces the rest.
 */
TKB_NODISCARD int tkb_unit_relocate(const struct tkb_destination *to,
                                    struct tkb_loader *loader,
                                    struct tkb_error *err);

#endif
