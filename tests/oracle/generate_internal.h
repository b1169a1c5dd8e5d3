/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_GENERATE_INSIDE_H
#define TKB_TESTS_GENERATE_INSIDE_H

#include "base/arena.h"
#include "generate.h"

enum {
	WEIGHT_COUNT = 3 /* globals of bytes */
};

/* Bytes that are read one after the other. */
struct stream {
	const char *base;  /* a pointer, with its type */
	const char *index; /* i64; NULL: none */
	int start;
	int stride;
	bool is_inbounds;
};

struct generate {
	const struct generate_options *options;
	struct tkb_buf *out;
	struct tkb_arena
		words; /* names, numbers, and what else is put together */
	uint64_t state;
	unsigned next;       /* number of a value or a block */
	unsigned noise;      /* of a hundred: how much stands between */
	const char *block;   /* that is written */
	const char *counter; /* i64 of a loop that goes on; or NULL */
	unsigned spaces[GENERATE_POINTERS];
	unsigned aligns[GENERATE_POINTERS];
	bool is_read_only[GENERATE_POINTERS];
	bool is_variable[WEIGHT_COUNT]; /* else it is a constant */
	unsigned between;               /* of a hundred: generate_between() */
	bool has_debug_data;
	bool has_table;
	unsigned used_weights; /* one after the other: each is read once */
};

/* From 0 to below `count`. */
unsigned pick(struct generate *g, unsigned count);
/* So often of a hundred. */
bool chance(struct generate *g, unsigned percent);
__attribute__((format(printf, 2, 3))) void emit(struct generate *g,
                                                const char *format, ...);
/* A text that lives as long as `g`; a new name is one. */
__attribute__((format(printf, 2, 3))) const char *word(struct generate *g,
                                                       const char *format, ...);
const char *name(struct generate *g, const char *prefix);
/* "  <a new name> = ...", and the name. */
__attribute__((format(printf, 3, 4))) const char *give(struct generate *g,
                                                       const char *prefix,
                                                       const char *format, ...);

/* Something that has nothing to do with the rest, or stands in its way. */
void generate_noise(struct generate *g);
/*
 * Between reads of what belongs together, in the same block: a write of those
 * bytes, by their own base or one that may be the same; or what may write.
 */
void generate_between(struct generate *g, const struct stream *stream,
                      int offset);
/* An access that is volatile or atomic, near to what others read. */
void generate_strong(struct generate *g);
/* Go on in a new block. */
void generate_block(struct generate *g);
void generate_label(struct generate *g, const char *label);

/* A pointer parameter and its type: "ptr addrspace(1) %a". */
const char *generate_pointer(struct generate *g, unsigned which);
/* An address, and what is to be loaded or stored there. */
const char *generate_address(struct generate *g, const struct stream *stream,
                             int offset);
struct stream generate_stream(struct generate *g);
/* Bytes that are words, if an address is aligned as is said. */
struct stream generate_word_stream(struct generate *g);
/* The type of its pointers. */
const char *generate_space(const struct stream *stream);

/* Each writes some code; those with a result give an i32. */
const char *generate_sum(struct generate *g);
const char *generate_words(struct generate *g);
const char *generate_convolution(struct generate *g);
const char *generate_asm(struct generate *g);
const char *generate_copy(struct generate *g);
const char *generate_vector(struct generate *g);
const char *generate_bytes(struct generate *g);
const char *generate_plain(struct generate *g);
const char *generate_quantized(struct generate *g);
const char *generate_call(struct generate *g);
const char *generate_memory(struct generate *g);
const char *generate_open(struct generate *g);
const char *generate_loop(struct generate *g);
/* Any of them. */
const char *generate_value(struct generate *g);
void generate_store(struct generate *g, const char *value);

/* Globals, what is declared, and the functions that kernels call. */
void generate_globals(struct generate *g);
/* Metadata; its last line is the end of the module. */
void generate_metadata(struct generate *g);

#endif
