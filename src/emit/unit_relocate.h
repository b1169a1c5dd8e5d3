/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_UNIT_RELOCATE_H
#define TKB_EMIT_UNIT_RELOCATE_H

/* Rewrite the texts of a moved unit so that they name its present place. */

#include "emit/destination.h"

/*
 * Rewrite the texts that name the tree's old root; `loader` knows the trees'
 * roots. All are staged before the first is replaced, and files that name
 * others come last. A process that is killed in between leaves a unit that
 * partly names its old place, and the next call completes it.
 *
 * A text that would not come back as it was, or whose style cannot express the
 * new path, fails with TKB_REASON_SENTINEL, and nothing is replaced. A text
 * that changed meanwhile fails with TKB_REASON_BUSY; the next call replaces the
 * rest.
 */
TKB_NODISCARD int tkb_unit_relocate(const struct tkb_destination *to,
                                    struct tkb_loader *loader,
                                    struct tkb_error *err);

#endif
