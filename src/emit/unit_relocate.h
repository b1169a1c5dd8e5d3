/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_UNIT_RELOCATE_H
#define TKB_EMIT_UNIT_RELOCATE_H

/* Rewrite the texts of a moved unit so that they contain its present path. */

#include "emit/destination.h"

/*
 * Rewrite the texts that name the tree's old root; `loader` has the roots of
 * the trees. All new texts are written to the stage before the first one is put
 * into place, and files that name others come last. If the process is killed in
 * between, some texts still name the old root, and the next call completes the
 * work.
 *
 * If a text could not be restored exactly, or its style cannot express the new
 * path, the call fails with TKB_REASON_SENTINEL, and nothing is replaced. If a
 * text changed meanwhile, the call fails with TKB_REASON_BUSY; the next call
 * replaces the rest.
 */
TKB_NODISCARD int tkb_unit_relocate(const struct tkb_destination *to,
                                    struct tkb_loader *loader,
                                    struct tkb_error *err);

#endif
