/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_GENERATE_INSIDE_H
#define TKB_TESTS_GENERATE_INSIDE_H

#include "generate.h"

enum {
	WEIGHT_COUNT = 3, /* globals of bytes */
	TEXT_SIZE = 48
};

/* A name, or a number. */
struct word {
	char text[TEXT_SIZE];
};

/* Bytes that are read one after the other. */
struct stream {
	char base[TEXT_SIZE]; /* a pointer, with its type */
	struct word index;    /* i64; "" is none */
	int start;
	int stride;
	bool is_inbounds;
};

struct generate {
	const struct generate_options *options;
	struct tkb_buf *out;
	uint64_t state;
	unsigned next;             /* number of a value or a block */
	unsigned noise;            /* of a hundred: how much stands between */
	char block[TEXT_SIZE + 2]; /* that is written */
	struct word counter;       /* i64 of a loop that goes on; or "" */
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
/* A new name. */
struct word name(struct generate *g, const char *prefix);
__attribute__((format(printf, 1, 2))) struct word word(const char *format, ...);

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
void generate_label(struct generate *g, struct word label);

/* A pointer parameter and its type: "ptr addrspace(1) %a". */
struct word generate_pointer(struct generate *g, unsigned which);
/* An address, and what is to be loaded or stored there. */
struct word generate_address(struct generate *g, const struct stream *stream,
                             int offset);
struct stream generate_stream(struct generate *g);
/* Bytes that are words, if an address is aligned as is said. */
struct stream generate_word_stream(struct generate *g);
/* The type of its pointers. */
const char *generate_space(const struct stream *stream);

/* Each writes some code; those with a result give an i32. */
struct word generate_sum(struct generate *g);
struct word generate_words(struct generate *g);
struct word generate_convolution(struct generate *g);
struct word generate_asm(struct generate *g);
struct word generate_copy(struct generate *g);
struct word generate_vector(struct generate *g);
struct word generate_bytes(struct generate *g);
struct word generate_plain(struct generate *g);
struct word generate_quantized(struct generate *g);
struct word generate_call(struct generate *g);
struct word generate_memory(struct generate *g);
struct word generate_open(struct generate *g);
struct word generate_loop(struct generate *g);
/* Any of them. */
struct word generate_value(struct generate *g);
void generate_store(struct generate *g, struct word value);

/* Globals, what is declared, and the functions that kernels call. */
void generate_globals(struct generate *g);
/* Metadata; its last line is the end of the module. */
void generate_metadata(struct generate *g);

#endif
