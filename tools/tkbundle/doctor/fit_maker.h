/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FIT_MAKER_H
#define TKBUNDLE_FIT_MAKER_H

#include <tkbundle/entry.h>

#include "doctor/machine/versions.h"

/* A graph of Inductor's or vLLM's: versions of packages enter its key. */
bool fit_maker_is_graph(const struct tkb_entry *entry);

/*
 * Was the graph made by another Triton, PyTorch or engine than those here?
 *
 * @param maker    as tkb_makers_find() has it; NULL: nobody knows
 * @param engine   the engine that is asked for; NULL: none
 * @param message  receives a sentence, if it was
 * @return the cause; NULL: it was not, or nobody knows
 */
const char *fit_maker_judge(const char *maker, const struct versions *versions,
                            const char *engine, char *message, size_t size);

#endif
