/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_DISABLE_H
#define TKB_BASE_DISABLE_H

#include <stdbool.h>

/*
 * Did the user turn tkbundle off, with TKBUNDLE_DISABLE in the environment set,
 * not empty and not "0"? Library functions that do a whole job (a collect, an
 * emit) ask this where they begin; a caller that decides otherwise sets
 * `is_enabled` in its options.
 */
bool tkb_is_disabled(void);

#endif
