/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ENGINE_KEYS_H
#define TKBUNDLE_ENGINE_KEYS_H

#include "doctor/machine/state.h"
#include "report/source.h"

/*
 * vLLM writes the parts of a graph's key into cache_key_factors.json beside the
 * graph. If no graph here was made with the variables that are set here, note
 * the first variable that differs.
 */
void engine_keys_note(struct doctor *doctor, const struct source *source);

/*
 * Note kernels that are only in an engine's trees. Inductor made Triton keep
 * them there during one start, but the next start looks for them in the
 * kernels' root.
 */
void engine_kernels_note(struct doctor *doctor, const struct source *source);

#endif
