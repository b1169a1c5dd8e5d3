/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_DOCUMENT_H
#define TKBUNDLE_RUN_DOCUMENT_H

#include <stdbool.h>

#include "config/trees.h"
#include "run/run_child.h"

/*
 * Tell of each entry in the document that a pull printed: which kind it is of, 0
 * for a kernel and 1 for a unit of the first of `trees`, its path, and whether the
 * pull put it there; else it was there before. What the ref has, and is not here,
 * is not told of. For tasks: it is parsed.
 *
 * @return whether there is a document
 */
bool run_document_each(const struct run_child *pull, const struct trees *trees,
                       void (*visit)(void *self, size_t kind, const char *path,
                                     bool is_emitted),
                       void *self);

#endif
