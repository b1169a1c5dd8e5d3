/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_UNIT_NAMES_H
#define TKB_TREE_UNIT_NAMES_H

/*
 * Units that have another name on each machine.
 *
 * DeepGEMM names a folder after a hash that depends on a path of this machine.
 * In a bundle, the folder has the name that it would have if that path were a
 * sentinel:
 *
 *     on disk      cache/kernel.gemm.0f3a...   -I/venv/lib/.../deep_gemm/include
 *     in a bundle  cache/kernel.gemm.97c1...   -I[REPLACE:deep_gemm-package]/include
 *
 * So it is the same unit, whichever machine compiled it. A folder is renamed
 * only if its present name can be reproduced first; any other folder keeps its
 * name.
 */

#include "base/base.h"
#include "tree/paths.h"
#include "tree/rules.h"

/* The file of such a unit that determines its name. */
#define TKB_UNIT_CODE "kernel.cu"

/*
 * The names in one root. NULL stands for a root in which units have the same
 * names as in a bundle.
 */
struct tkb_unit_names;

/*
 * Examine the folders in the root at `root_fd` (-1: it does not exist) that the
 * rules describe as named so. `named` has the trees and the folders outside,
 * and is kept by reference. `*out` is NULL if none of these paths is part of
 * the names.
 */
TKB_NODISCARD int tkb_unit_names_open(int root_fd,
                                      const struct tkb_tree_rules *rules,
                                      const struct tkb_named_root *named,
                                      size_t named_count,
                                      struct tkb_unit_names **out,
                                      struct tkb_error *err);
void tkb_unit_names_close(struct tkb_unit_names *names);

/*
 * The path of a bundle's unit `name` here. `is_stale_out` may be NULL;
 * otherwise it tells whether the unit is still at its path in a bundle, where
 * the engine does not look for it, because its name here is another.
 */
const char *tkb_unit_names_here(const struct tkb_unit_names *names,
                                const char *name, bool *is_stale_out);

/*
 * The name in a bundle of the unit at `path`; NULL if the same unit is also at
 * another path, which is the one to use.
 */
const char *tkb_unit_names_bundled(const struct tkb_unit_names *names,
                                   const char *path);

/* May a unit that does not exist here get another name here? */
bool tkb_unit_names_concern(const struct tkb_unit_names *names,
                            const char *name);

/*
 * Compute from its code the path of unit `name` here. Several threads may call
 * this at once.
 */
void tkb_unit_names_find(struct tkb_unit_names *names, const char *name,
                         struct tkb_bytes code, char *out, size_t size);

#endif
