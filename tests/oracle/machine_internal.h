/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_MACHINE_INSIDE_H
#define TKB_TESTS_MACHINE_INSIDE_H

#include "machine.h"

/* A part of an address: so much for each of a value. */
struct step {
	uint32_t slot;
	unsigned width;
	int64_t scale;
};

/*
 * A read that is written as PTX, or a copy to shared memory; numbers are those of its
 * operands.
 */
struct read {
	unsigned count;   /* of outputs; of a copy's words */
	unsigned width;   /* of each */
	int fallbacks[4]; /* what they are without it; -1: zero */
	int address;
	int predicate; /* -1: always */
	int64_t offset;
	int to; /* -1: it is no copy */
	int64_t to_offset;
	int size; /* in bytes */
};

/* One instruction, with all that its run asks for. */
struct op {
	LLVMOpcode opcode;
	LLVMValueRef value;
	struct shape shape; /* of what it gives */
	struct shape from;  /* of its first operand */
	uint32_t out;       /* where its lanes are */
	uint32_t *in;       /* owned; where those of its operands are */
	unsigned in_count;
	uint32_t flags;  /* nsw and so on: those that make poison */
	unsigned math;   /* fast-math flags */
	unsigned detail; /* a predicate, an intrinsic, an offset in lanes */
	unsigned align;
	bool is_wide;   /* it takes or gives an integer of several words */
	bool is_strong; /* volatile or atomic: to be seen */
	bool is_fence;  /* ... and others' writes are seen after it */
	int64_t offset;
	struct step *steps; /* owned; of an address */
	unsigned step_count;
	int *mask;         /* owned; of a shuffle; -1 is poison */
	uint32_t *targets; /* owned; blocks: of a branch, or a phi's */
	unsigned target_count;
	struct read *read; /* owned; of a call of PTX */
};

struct code {
	LLVMValueRef function;
	struct op *ops; /* owned */
	size_t op_count;
	uint32_t *blocks; /* owned; the first op of each */
	size_t block_count;
	struct lane *lanes; /* owned; constants stand in them */
	size_t lane_count;
	uint32_t *parameters;           /* owned */
	struct shape *parameter_shapes; /* owned */
	unsigned parameter_count;
};

/* What is out of memory ends the program: these are tests. */
void *machine_alloc(size_t size);
void *machine_realloc(void *old, size_t size);

/* The run ends, for a reason. */
void machine_stop(struct machine *machine, enum machine_end end,
                  const char *why);

/* A type's lanes; SHAPE_NONE where it is not known here. */
struct shape machine_shape(const struct machine *machine, LLVMTypeRef type);

/* Make code of a function; the run ends where it has what is not known. */
struct code *machine_code(struct machine *machine, LLVMValueRef function);
void machine_release_code(struct code *code);

/* A constant's lanes; false where it is not known. */
bool machine_constant(struct machine *machine, LLVMValueRef constant,
                      struct lane *out);

/* Offsets of an address, constant and not. */
bool machine_address_parts(const struct machine *machine, LLVMValueRef gep,
                           struct op *op);

struct object *machine_find(struct machine *machine, uint64_t address);
struct object *machine_find_name(struct machine *machine, const char *name);
void machine_load(struct machine *machine, const struct op *op,
                  struct shape shape, struct lane address, struct lane *out);
void machine_store(struct machine *machine, const struct op *op,
                   struct shape shape, struct lane address,
                   const struct lane *in);
/* A value decides what the run does next. */
void machine_decide(struct machine *machine, struct lane lane);
/* Bytes at `address`, which are read or written: NULL, and the run ends. */
struct object *machine_touch(struct machine *machine, uint64_t address,
                             uint64_t size, bool is_write);

void machine_note(struct machine *machine, uint64_t kind, uint64_t address,
                  struct lane value);
enum {
	MACHINE_BARRIER = 'b' /* a kind of event */
};

/* Others write what they may. */
void machine_let_others_write(struct machine *machine);

/* A number for all memory that others write, too. */
uint64_t machine_sum_up(const struct machine *machine);
uint64_t machine_mix(uint64_t a, uint64_t b);

/* Numbers. */
uint64_t scalar_mask(unsigned width);
int64_t scalar_signed(uint64_t bits, unsigned width);
double scalar_float(uint64_t bits, unsigned width);
uint64_t scalar_float_bits(double value, unsigned width);
struct lane scalar_binary(struct machine *machine, const struct op *op,
                          struct lane a, struct lane b);
struct lane scalar_compare(const struct op *op, struct lane a, struct lane b);
struct lane scalar_cast(const struct op *op, struct lane value);
struct lane scalar_number(uint64_t bits, unsigned width);
struct lane scalar_poison(void);
struct lane scalar_real(double value, unsigned width);
uint64_t scalar_combine(LLVMAtomicRMWBinOp kind, uint64_t a, uint64_t b,
                        unsigned width);
/* The same bits in other lanes; one that is poison spreads over all it touches. */
void scalar_bitcast(struct shape to, struct shape from, const struct lane *in,
                    struct lane *out);

/* Integers of several words: false where the instruction is not known. */
bool wide_is_known(const struct op *op);
void wide_run(const struct op *op, struct lane *lanes);

/* Take PTX apart; false where it is neither a read nor a copy. */
bool asm_decode(struct op *op);
void asm_run(struct machine *machine, const struct op *op, struct lane *lanes);

/* Which intrinsic it is; 0 where it is not known. */
unsigned intrinsic_of(const char *name);
void intrinsic_run(struct machine *machine, const struct op *op,
                   struct lane *lanes);

#endif
