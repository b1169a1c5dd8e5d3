/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_PREPACK_H
#define TKB_COMPILE_PREPACK_H

/*
 * Handles words of four bytes for dp4a, which the code assembles from four loads
 * or has in a vector, and floats. Prepack loads them faster, in one of two ways:
 *
 *   repack  the bytes come from a constant that only the module uses, and only
 *           for this: a new constant replaces it, with the bytes
 *           of each word adjacent, and the words in the order of their use, so
 *           that neighbouring threads read adjacent groups of up to four words;
 *   widen   four bytes are adjacent already, anywhere in memory, and the first
 *           is known to be aligned.
 */

#include <tkbundle/tkbundle.h>

#include "finalize/finalize_step.h"

enum {
	PREPACK_LANES = 4,
	PREPACK_TERMS = 4
};

/* How a value narrower than an address is extended to one. */
enum prepack_extension {
	PREPACK_WHOLE, /* not narrower; wraps like an address */
	PREPACK_SIGNED,
	PREPACK_UNSIGNED
};

struct prepack_term {
	LLVMValueRef value;
	enum prepack_extension extension;
	int64_t factor; /* in bytes */
};

/* An address: base + factor * value + ... + offset. */
struct prepack_address {
	LLVMValueRef base;
	struct prepack_term terms[PREPACK_TERMS];
	size_t term_count;
	int64_t offset;
};

/* Decompose the address `pointer`. False if it does not have that form. */
bool prepack_address_of(LLVMTargetDataRef layout, LLVMValueRef pointer,
                        struct prepack_address *out);

/* True if the two addresses differ at most in the offset. */
bool prepack_differ_by_offset(const struct prepack_address *a,
                              const struct prepack_address *b);

/* The possible values of a term: low, low + step, ..., high. */
struct prepack_range {
	int64_t low;
	int64_t high;
	int64_t step;
};

/* Find the range of a term. False if it is unknown. */
bool prepack_range_of(const struct prepack_term *term,
                      struct prepack_range *out);

/* A word assembled from bytes, or words loaded at once. */
struct prepack_word {
	LLVMValueRef word;                 /* a <4 x i8>, or the load itself */
	LLVMValueRef lanes[PREPACK_LANES]; /* loads; NULL: loaded at once */
	size_t count; /* number of words: 1, or those loaded at once */
	struct prepack_address address; /* of the first lane */
	int64_t offsets[PREPACK_LANES];
	bool has_offsets; /* the lanes' addresses differ only in known
	                     offsets */
	bool is_done;
};

struct prepack {
	struct finalize *finalize;
	LLVMTargetDataRef layout;
	struct prepack_word *words; /* owned; in the order of the module */
	size_t count;
	size_t capacity;
	size_t table_count; /* statistics for the log */
	size_t repacked_count;
	size_t widened_count;
};

/* These return 0 or TKB_ERR_NOMEM. */
int prepack_repack(struct prepack *prepack, struct tkb_error *err);
void prepack_widen(struct prepack *prepack);

/*
 * If the lanes are adjacent and the first is aligned, the position in the code
 * where one load can replace them; else NULL.
 */
LLVMValueRef prepack_widen_at(const struct prepack_word *word);

/* Fill in the addresses of a word's lanes. */
void prepack_find_offsets(LLVMTargetDataRef layout, struct prepack_word *word);

/* True if `instruction` writes no memory and always completes. */
bool prepack_is_harmless(LLVMValueRef instruction);

/* The bytes of a constant array of numbers; NULL: unknown or no memory. */
unsigned char *prepack_bytes_of(LLVMValueRef initializer, size_t size);

#endif
