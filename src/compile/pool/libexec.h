/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_LIBEXEC_H
#define TKB_COMPILE_POOL_LIBEXEC_H

/* Programs of ours that nobody starts by hand. */

#include "base/base.h"

enum {
	TKB_LIBEXEC_PATH_SIZE = 4096
};

/*
 * Find `name` beside the running program, as after a build, or in libexec/tkbundle
 * as it lies from the running program or from this library, as after an
 * installation, wherever that was moved.
 *
 * @return 0, or TKB_ERR_IO: it is nowhere
 */
TKB_NODISCARD int tkb_libexec_find(const char *name,
                                   char out[TKB_LIBEXEC_PATH_SIZE],
                                   struct tkb_error *err);

#endif
