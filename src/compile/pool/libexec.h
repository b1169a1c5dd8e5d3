/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_LIBEXEC_H
#define TKB_COMPILE_POOL_LIBEXEC_H

/* Finds helper programs, which users do not start by hand. */

#include "base/base.h"

enum {
	TKB_LIBEXEC_PATH_SIZE = 4096
};

/*
 * Find `name` next to the running program (as after a build), or in
 * libexec/tkbundle relative to the running program or to this library (as after
 * an installation, which may have been moved).
 *
 * @return 0, or TKB_ERR_IO if it is in none of these folders
 */
TKB_NODISCARD int tkb_libexec_find(const char *name,
                                   char out[TKB_LIBEXEC_PATH_SIZE],
                                   struct tkb_error *err);

#endif
