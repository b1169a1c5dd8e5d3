/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_PTX_H
#define TKB_COMPILE_PTX_H

#include <tkbundle/tkbundle.h>

/*
 * The kernel of a PTX text: `wanted`, or where that is NULL the only one. Returns
 * 0 or TKB_ERR_INVALID, which names those that there are.
 */
int ptx_find_kernel(struct tkb_bytes ptx, const char *wanted, char kernel[1024],
                    struct tkb_error *err);

#endif
