/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_DOCUMENT_H
#define TKBUNDLE_RUN_DOCUMENT_H

#include <stdbool.h>

#include "run/run_child.h"

/*
 * Tell of each entry in the document that a pull printed: the folder of keys,
 * its key, and whether the pull put it there; else it was there before. What
 * the ref has, and is not here, is not told of. For tasks: it is parsed.
 *
 * @return whether there is a document
 */
bool run_document_each(const struct run_child *pull,
                       void (*visit)(void *self, const char *path,
                                     const char *key, bool is_emitted),
                       void *self);

#endif
