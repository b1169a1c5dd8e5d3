/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_RANDOM_H
#define TKB_BASE_RANDOM_H

#include "base/base.h"

/* The size of a random name: 16 hexadecimal digits and a zero. */
enum {
	TKB_RANDOM_NAME_SIZE = 17
};

/* A name that nobody else has or can guess. */
TKB_NODISCARD int tkb_random_name(char out[TKB_RANDOM_NAME_SIZE],
                                  struct tkb_error *err);

#endif
