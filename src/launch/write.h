/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_WRITE_H
#define TKB_LAUNCH_WRITE_H

/* Parts of a launcher's source and header. */

#include "launch/c_launcher.h"

/* Print "CUresult add_kernel_9969bdda_0123(CUstream stream, ...)". */
void tkb_print_prototype(struct tkb_buf *out,
                         const struct tkb_c_launcher *launcher);

/* Print a comment that says where the kernel comes from. */
void tkb_print_origin(struct tkb_buf *out,
                      const struct tkb_c_launcher *launcher);

/*
 * True if the device must be prepared before a launch, for more shared memory
 * or larger clusters than every kernel may use.
 */
bool tkb_needs_preparing(const struct tkb_c_launcher *launcher);

/* True if an argument with this floating-point type is passed. */
bool tkb_passes_type(const struct tkb_c_launcher *launcher, const char *type);

/* Print the functions that load, unload, and prepare a device. */
void tkb_print_loading(struct tkb_buf *out,
                       const struct tkb_c_launcher *launcher);
void tkb_print_preparing(struct tkb_buf *out,
                         const struct tkb_c_launcher *launcher);

/* Print other functions that the launching one calls: packing, arithmetic. */
void tkb_print_helpers(struct tkb_buf *out,
                       const struct tkb_c_launcher *launcher);

#endif
