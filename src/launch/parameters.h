/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_PARAMETERS_H
#define TKB_LAUNCH_PARAMETERS_H

/*
 * The parameters of a kernel, as its files describe them.
 *
 * A cubin has a table of them in the section `.nv.info.<kernel>`: a list of
 * records with a format, an attribute, and a size and value. Record 0x17
 * (EIATTR_KPARAM_INFO) has an index (4 bytes), the ordinal and the offset (2
 * bytes each), and flags (4 bytes): bits 18 to 31 are the size, bits 8 to 11
 * the address space of a pointer. Observed in the cubins of Triton 3.0 to 3.9;
 * the names are those that `cuobjdump -elf` prints.
 */

#include "base/arena.h"
#include "base/base.h"
#include "launch/signature.h"

enum {
	TKB_PARAMETER_LIMIT = 4096
};

struct tkb_parameter {
	uint32_t size;   /* bytes; 0: not in the table */
	bool is_pointer; /* known to be a pointer */
	bool is_float;   /* according to the PTX */
	bool is_integer; /* according to the PTX, which may leave both open */
};

struct tkb_parameters {
	struct tkb_parameter *items;
	size_t count;
	bool knows_pointers; /* all pointers are known */
};

/* Read the cubin's table. Returns 0, TKB_ERR_CORRUPT or TKB_ERR_NOMEM. */
TKB_NODISCARD int tkb_parameters_read_cubin(struct tkb_bytes cubin,
                                            const char *symbol,
                                            struct tkb_arena *arena,
                                            struct tkb_parameters *out,
                                            struct tkb_error *err);

/*
 * Add facts from the PTX, unless it does not have this kernel, or has another
 * number of parameters.
 */
void tkb_parameters_read_ptx(struct tkb_bytes ptx, const char *symbol,
                             struct tkb_parameters *parameters);

/* An argument in Triton's IR. Empty members are unknown. */
struct tkb_formal {
	struct tkb_bytes name; /* "x_ptr" */
	struct tkb_bytes type; /* "!tt.ptr<f32>" */
	bool is_divisible;     /* assumed to be a multiple of 16 */
};

/*
 * Read the `count` arguments of `symbol` in Triton's IR. False if it does not
 * have that function with that many.
 */
bool tkb_formals_read(struct tkb_bytes ttir, const char *symbol,
                      struct tkb_formal *out, size_t count);

/*
 * Append the signature of `symbol` according to `ttir`, as for
 * tkb_c_facts_read(), or nothing if that has none. A type that signatures do
 * not have is copied verbatim.
 */
void tkb_formals_write(struct tkb_bytes ttir, const char *symbol,
                       struct tkb_buf *out);

/* True if `type`, in Triton's IR, matches `argument`, or is unknown. */
bool tkb_formal_fits(struct tkb_bytes type,
                     const struct tkb_argument *argument);

#endif
