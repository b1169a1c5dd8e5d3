/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IR_H
#define TKBUNDLE_IR_H

#include <stdbool.h>
#include <stddef.h>

#include <tkbundle/entry.h>

/* What can be told of a kernel by its IR, which is Triton's, and by what was made. */

/*
 * Copy Triton's IR without the places in sources that it names, which are in no
 * key. The caller frees it; NULL: no memory.
 */
char *ir_without_places(struct tkb_bytes ir, size_t *size_out);

/*
 * The lines and columns of sources that Triton's IR names, "7:24 7:33 ...", which the
 * caller frees; NULL: no memory.
 */
char *ir_lines(struct tkb_bytes ir, size_t *size_out);

enum {
	IR_TEXT_SIZE = 64,
	IR_MODULE_SIZE = 55 /* of the name of a module of Inductor's */
};

/* The line on which the function begins, in digits; false: it is not told. */
bool ir_line(struct tkb_bytes ir, char out[IR_TEXT_SIZE]);

/*
 * The module of PyTorch's Inductor in which the function stands, "c5nsflqgsg....py", a
 * name that is a hash of its text; false: it stands in another file.
 */
bool ir_module(struct tkb_bytes ir, char out[IR_TEXT_SIZE]);

/*
 * The release of ptxas for which PTX was written, "12.8", by the version of PTX
 * that Triton took for it; false: it is not told.
 */
bool ir_ptxas_of_ptx(struct tkb_bytes ptx, char out[IR_TEXT_SIZE]);

/* The version that ptxas has put into a cubin, "13.0.88", as it does since 12.9. */
bool ir_ptxas_of_cubin(struct tkb_bytes cubin, char out[IR_TEXT_SIZE]);

#endif
