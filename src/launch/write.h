/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_WRITE_H
#define TKB_LAUNCH_WRITE_H

/* Parts of a launcher's source and header. */

#include "launch/c_launcher.h"

/* Which memory the caller provides: an index of tkb_scratch_words. */
unsigned tkb_scratch_of(const struct tkb_facts *facts);

/* "CUresult add_kernel_9969bdda_0123(CUstream stream, ...)" */
void tkb_print_prototype(struct tkb_buf *out,
                         const struct tkb_c_launcher *launcher);

/* A comment: where the kernel comes from. */
void tkb_print_origin(struct tkb_buf *out,
                      const struct tkb_c_launcher *launcher);

/*
 * Does a device have to be asked before a launch, for more shared memory or
 * wider clusters than every kernel has?
 */
bool tkb_needs_asking(const struct tkb_c_launcher *launcher);

/* Is a number of this type passed? */
bool tkb_passes(const struct tkb_c_launcher *launcher, const char *type);

/* The functions that load and unload, and the one that asks a device. */
void tkb_print_loading(struct tkb_buf *out,
                       const struct tkb_c_launcher *launcher);
void tkb_print_preparing(struct tkb_buf *out,
                         const struct tkb_c_launcher *launcher);

/* What else the launching function calls: packing, and division. */
void tkb_print_helpers(struct tkb_buf *out,
                       const struct tkb_c_launcher *launcher);

#endif
