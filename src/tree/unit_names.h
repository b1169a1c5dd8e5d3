/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_UNIT_NAMES_H
#define TKB_TREE_UNIT_NAMES_H

/*
 * Units that are called otherwise on each machine.
 *
 * A folder of DeepGEMM's is named after a hash that holds a path of this machine.
 * In a bundle it has the name that it would have where that path is a sentinel:
 *
 *     on disk      cache/kernel.gemm.0f3a...   -I/venv/lib/.../deep_gemm/include
 *     in a bundle  cache/kernel.gemm.97c1...   -I[REPLACE:deep_gemm-package]/include
 *
 * So it is one unit, whichever machine has compiled it. Only a folder whose own name
 * is reproduced first is called otherwise; any other one keeps the name it has.
 */

#include "base/base.h"
#include "tree/paths.h"
#include "tree/rules.h"

/* The file of such a unit from which its name is told. */
#define TKB_UNIT_CODE "kernel.cu"

/* Those of one root. NULL stands for a root in which all names are as they are. */
struct tkb_unit_names;

/*
 * Look at the folders in the root at `root_fd` (-1: it is not there) that the rules
 * say are so named. `named` are the trees and folders outside, kept by reference;
 * `*out` is NULL where none of them is the one in the names.
 */
TKB_NODISCARD int tkb_unit_names_open(int root_fd,
                                      const struct tkb_tree_rules *rules,
                                      const struct tkb_named_root *named,
                                      size_t named_count,
                                      struct tkb_unit_names **out,
                                      struct tkb_error *err);
void tkb_unit_names_close(struct tkb_unit_names *names);

/*
 * Where unit `name` of a bundle lies here. With `is_stale_out`, which may be NULL:
 * nobody looks for it there, since it has another name here.
 */
const char *tkb_unit_names_here(const struct tkb_unit_names *names,
                                const char *name, bool *is_stale_out);

/*
 * What the unit at `path` is called in a bundle; NULL: it lies elsewhere as well, and
 * that is the one that counts.
 */
const char *tkb_unit_names_bundled(const struct tkb_unit_names *names,
                                   const char *path);

/* May a unit that is not here have another name here? */
bool tkb_unit_names_concern(const struct tkb_unit_names *names,
                            const char *name);

/*
 * Find out, from the code in it, what unit `name` is called here. Threads may do so
 * at once.
 */
void tkb_unit_names_find(struct tkb_unit_names *names, const char *name,
                         struct tkb_bytes code, char *out, size_t size);

#endif
