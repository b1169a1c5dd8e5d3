/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_MACHINE_H
#define TKB_TESTS_MACHINE_H

/*
 * A machine that runs LLVM IR as its manual says, and knows poison. Each byte and
 * each lane is a number or poison; undef counts as poison. It is strict: a flag
 * that does not hold makes poison, an address that is not aligned as a load says,
 * or not in memory, ends the run, as all does that LLVM calls undefined.
 *
 * Threads run one after the other. Memory that others may write changes where a
 * thread could see that: at fences and calls of what is not known, and at barriers
 * once it has written itself, or could be seen: until then, no other thread of the
 * kernel need have. A volatile read of it gives what another has just written, or is
 * about to.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

enum machine_end {
	MACHINE_DONE,
	MACHINE_UNDEFINED,
	MACHINE_ENDLESS,
	MACHINE_OPEN,   /* what it does depends on what freeze chooses */
	MACHINE_UNKNOWN /* it has an instruction that is not known here */
};

/* What a byte is. */
enum machine_byte {
	MACHINE_NUMBER,
	MACHINE_POISON,
	MACHINE_CHOSEN /* by freeze */
};

struct lane {
	uint64_t bits;
	bool is_poison;
	bool is_open; /* freeze chose it, or a part of it */
};

enum shape_kind {
	SHAPE_NONE,
	SHAPE_INTEGER,
	SHAPE_FLOAT, /* of 16, 32 or 64 bits */
	SHAPE_POINTER,
	SHAPE_WIDE,  /* an integer of several words; a lane is one of them */
	SHAPE_STRUCT /* of lanes that are only moved */
};

struct shape {
	enum shape_kind kind;
	unsigned width; /* bits of a lane */
	unsigned count; /* lanes */
};

/* Memory that belongs together: a global, what a parameter points to. */
struct object {
	const char *name; /* "" where it has none; not owned */
	uint64_t base;
	size_t size;
	unsigned char *bytes;   /* owned */
	unsigned char *poison;  /* owned; for each byte a machine_byte */
	unsigned char *touched; /* owned; which were read or written */
	unsigned char *first;   /* owned; bytes as they are at first, or NULL */
	unsigned char *first_poison;
	bool is_constant;
	bool is_shared;  /* others write it, too */
	bool is_limited; /* no byte may be touched that was not, before */
};

/* What can be seen from outside: volatile and atomic accesses, and calls. */
struct event {
	uint64_t what; /* its kind, place and size */
	struct lane value;
};

struct code;

struct machine {
	LLVMModuleRef module;
	LLVMTargetDataRef layout;
	struct object *objects;
	size_t object_count;
	size_t object_capacity;
	struct code **codes; /* of functions that are defined, when called */
	size_t code_count;
	struct event *events;
	size_t event_count;
	size_t event_capacity;
	uint64_t seed;    /* of what freeze chooses */
	bool is_settled;  /* a run ends where that would decide its way */
	uint64_t choices; /* that it made */
	uint64_t strong;  /* events after which others may have written */
	bool is_seen;     /* this thread made an event that is no barrier */
	uint64_t begun;   /* what memory of others was when it began */
	uint64_t steps;
	uint64_t step_limit;
	unsigned depth;
	uint32_t thread;
	uint32_t block;
	const char *unknown; /* what was not known, in words */
	enum machine_end end;
};

/* Get ready to run kernels of `module`, which must live as long. */
void machine_open(struct machine *machine, LLVMModuleRef module);
void machine_close(struct machine *machine);

/* Everything but the globals goes; those are as they were at first. */
void machine_reset(struct machine *machine);

/* Memory for a parameter. The pointer is good until the next is added. */
struct object *machine_add_object(struct machine *machine, const char *name,
                                  uint64_t base, size_t size);

/* Run a function that returns nothing. */
enum machine_end machine_run(struct machine *machine, const char *name,
                             const struct lane *arguments);

#endif
