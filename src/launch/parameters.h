/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_PARAMETERS_H
#define TKB_LAUNCH_PARAMETERS_H

/*
 * The parameters of a kernel, by what its files tell of them.
 *
 * A cubin has a table of them, in section `.nv.info.<kernel>`: a list of
 * records, of a format, an attribute, and a size and value. Record 0x17
 * (EIATTR_KPARAM_INFO) has, each of 4 bytes, an index, the ordinal and the
 * offset in 2 bytes each, and flags: bits 18 to 31 the size, bits 8 to 11 the
 * space that a pointer points to. Seen in the cubins of Triton 3.0 to 3.9; the
 * names are those that `cuobjdump -elf` prints.
 */

#include "base/arena.h"
#include "base/base.h"
#include "launch/signature.h"

enum {
	TKB_PARAMETER_LIMIT = 4096
};

struct tkb_parameter {
	uint32_t size;   /* bytes; 0: it is not in the table */
	bool is_pointer; /* it is known to be one */
	bool is_float;   /* the PTX says so */
	bool is_integer; /* likewise; it may say neither */
};

struct tkb_parameters {
	struct tkb_parameter *items;
	size_t count;
	bool knows_pointers; /* what is not known to be one is none */
};

/* From the cubin's table. Codes: 0, TKB_ERR_CORRUPT, TKB_ERR_NOMEM. */
TKB_NODISCARD int tkb_parameters_read_cubin(struct tkb_bytes cubin,
                                            const char *symbol,
                                            struct tkb_arena *arena,
                                            struct tkb_parameters *out,
                                            struct tkb_error *err);

/*
 * Add what the PTX tells. Where it tells nothing of this kernel, or of so many
 * parameters, nothing is added.
 */
void tkb_parameters_read_ptx(struct tkb_bytes ptx, const char *symbol,
                             struct tkb_parameters *parameters);

/* One argument, as Triton's IR has it. Empty is unknown. */
struct tkb_formal {
	struct tkb_bytes name; /* "x_ptr" */
	struct tkb_bytes type; /* "!tt.ptr<f32>" */
	bool is_divisible;     /* it is taken to be a multiple of 16 */
};

/*
 * What Triton's IR `ttir` tells of the `count` arguments of `symbol`: true, if
 * it has that function with so many.
 */
bool tkb_formals_read(struct tkb_bytes ttir, const char *symbol,
                      struct tkb_formal *out, size_t count);

/*
 * Append the signature that `ttir` tells of `symbol`, as tkb_c_facts_read() has
 * it: nothing where it tells none. A type that no signature has is appended as
 * it stands there.
 */
void tkb_formals_write(struct tkb_bytes ttir, const char *symbol,
                       struct tkb_buf *out);

/* Is `type`, in Triton's IR, what `argument` says? True where unknown. */
bool tkb_formal_fits(struct tkb_bytes type,
                     const struct tkb_argument *argument);

#endif
