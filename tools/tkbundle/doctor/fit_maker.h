/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FIT_MAKER_H
#define TKBUNDLE_FIT_MAKER_H

#include <tkbundle/entry.h>

#include "doctor/machine/versions.h"

/*
 * Compare the maker of a graph of Inductor's or vLLM's with this machine:
 * versions of packages are part of its key.
 */
bool fit_maker_is_graph(const struct tkb_entry *entry);

/*
 * Was the graph made by another Triton, PyTorch or engine than those here?
 *
 * @param maker  a result of tkb_makers_find(); NULL: unknown
@param engine  the named engine; NULL: none
@param message  receives a sentence, if another one made it
@return the cause; NULL: the same ones made it, or it is unknown
 */
const char *fit_maker_judge(const char *maker, const struct versions *versions,
                            const char *engine, char *message, size_t size);

#endif
