/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_DOCUMENT_H
#define TKBUNDLE_RUN_DOCUMENT_H

#include <stdbool.h>

#include "config/trees.h"
#include "run/run_child.h"

/* What a pull did with an entry. */
enum run_pulled {
	RUN_PULLED_NOTHING, /* it is not here; the engine may make it */
	RUN_PULLED_PRESENT, /* it was here */
	RUN_PULLED_EMITTED,
	RUN_PULLED_UNFIT /* it was built from other inputs than those here */
};

/*
 * Visit each entry in the document that a pull printed, with its kind (0: a
 * kernel; 1: a unit of the first of `trees`; ...) and its path. Call this only
 * in a child, since it parses.
 *
 * @return whether there is a document
 */
bool run_document_each(const struct run_child *pull, const struct trees *trees,
                       void (*visit)(void *self, size_t kind, const char *path,
                                     enum run_pulled what),
                       void *self);

/*
 * Has the pull found that the policy does not trust the ref, or a part of it?
 */
bool run_document_is_untrusted(const struct run_child *pull);

/*
 * Visit the units that the pull has skipped because they were tuned on another
 * GPU or driver: `platform` is "gpu NVIDIA H200, driver 580".
 */
void run_document_tuned(const struct run_child *pull,
                        void (*visit)(void *self, const char *name,
                                      const char *platform),
                        void *self);

#endif
