/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IR_H
#define TKBUNDLE_IR_H

#include <stdbool.h>
#include <stddef.h>

#include <tkbundle/entry.h>

/* Facts about a kernel that can be read from Triton's IR, PTX and cubin. */

/*
 * Copy Triton's IR without source locations, which are not part of keys. The
 * caller frees it; NULL: out of memory.
 */
char *ir_without_places(struct tkb_bytes ir, size_t *size_out);

/*
 * The lines and columns of the source locations in Triton's IR, "7:24 7:33
 * ...". The caller frees them; NULL: out of memory.
 */
char *ir_lines(struct tkb_bytes ir, size_t *size_out);

enum {
	IR_TEXT_SIZE = 64,
	IR_MODULE_SIZE = 55 /* size of the name of an Inductor module */
};

/* The line on which the function begins, in digits; false: unknown. */
bool ir_line(struct tkb_bytes ir, char out[IR_TEXT_SIZE]);

/*
 * The Inductor module that contains the function, "c5nsflqgsg....py", whose
 * name is a hash of its text; false: the function is in another file.
 */
bool ir_module(struct tkb_bytes ir, char out[IR_TEXT_SIZE]);

/*
 * The release of ptxas for which the PTX was written, "12.8", found by the
 * version of PTX that Triton chose for it; false: unknown.
 */
bool ir_ptxas_of_ptx(struct tkb_bytes ptx, char out[IR_TEXT_SIZE]);

/* The version that ptxas writes into a cubin, "13.0.88", since 12.9. */
bool ir_ptxas_of_cubin(struct tkb_bytes cubin, char out[IR_TEXT_SIZE]);

#endif
