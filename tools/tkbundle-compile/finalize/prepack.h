/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_PREPACK_H
#define TKB_COMPILE_PREPACK_H

/*
 * Words of four bytes, as dp4a takes them, that the code puts together from four
 * loads, or has in a vector. Prepack reads them better, in one of two ways:
 *
 *   repack  the bytes come from a constant that the module owns, and that is read
 *           for nothing else: a new one takes its place, with the bytes of a word
 *           side by side, and the words in the order in which they are read: what
 *           neighbouring threads read lies side by side, four words of each;
 *   widen   four bytes lie side by side already, wherever that is, and the first
 *           is known to be aligned.
 */

#include <tkbundle/tkbundle.h>

#include "finalize/finalize_step.h"

enum {
	PREPACK_LANES = 4,
	PREPACK_TERMS = 4
};

/* How a value that is narrower than an address becomes one. */
enum prepack_extension {
	PREPACK_WHOLE, /* it is not narrower, and wraps as addresses do */
	PREPACK_SIGNED,
	PREPACK_UNSIGNED
};

struct prepack_term {
	LLVMValueRef value;
	enum prepack_extension extension;
	int64_t factor; /* bytes */
};

/* An address: base + factor * value + ... + offset. */
struct prepack_address {
	LLVMValueRef base;
	struct prepack_term terms[PREPACK_TERMS];
	size_t term_count;
	int64_t offset;
};

/* Take the address `pointer` apart. False where it is of no such form. */
bool prepack_address_of(LLVMTargetDataRef layout, LLVMValueRef pointer,
                        struct prepack_address *out);

/* Do they differ in nothing but the offset? */
bool prepack_is_same_place(const struct prepack_address *a,
                           const struct prepack_address *b);

/* What values a term can have: low, low + step, ..., high. */
struct prepack_range {
	int64_t low;
	int64_t high;
	int64_t step;
};

/* False where nothing is known. */
bool prepack_range_of(const struct prepack_term *term,
                      struct prepack_range *out);

/* A word that is put together from bytes, or some that are read at once. */
struct prepack_word {
	LLVMValueRef word;                 /* <4 x i8>, or the load itself */
	LLVMValueRef lanes[PREPACK_LANES]; /* loads; NULL: read at once */
	size_t count;                      /* of words: 1, or what is read */
	struct prepack_address address;    /* of the first lane */
	int64_t offsets[PREPACK_LANES];
	bool is_one_place; /* offsets are known: all else is the same */
	bool is_done;
};

struct prepack {
	struct finalize *finalize;
	LLVMTargetDataRef layout;
	struct prepack_word *words; /* owned; in the module's order */
	size_t count;
	size_t capacity;
	size_t table_count; /* what was done */
	size_t repacked_count;
	size_t widened_count;
};

/* Each returns 0 or TKB_ERR_NOMEM. */
int prepack_repack(struct prepack *prepack, struct tkb_error *err);
void prepack_widen(struct prepack *prepack);

/*
 * Do the lanes lie side by side, the first aligned, and is there one place in the
 * code where a word can be read for all of them? Then that place, else NULL.
 */
LLVMValueRef prepack_widen_at(const struct prepack_word *word);

/* Fill in the addresses of a word's lanes. */
void prepack_find_places(LLVMTargetDataRef layout, struct prepack_word *word);

/* Can it be seen that `instruction` writes no memory and comes to its end? */
bool prepack_is_harmless(LLVMValueRef instruction);

/* All bytes of a constant array of integers; NULL: it is none, or no memory. */
unsigned char *prepack_bytes_of(LLVMValueRef initializer, size_t size);

#endif
