/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_ORACLE_SAMPLE_H
#define TKB_TESTS_ORACLE_SAMPLE_H

/* Inputs of a kernel, and what a run leaves behind. */

#include "generate.h"
#include "machine_internal.h"

enum {
	SAMPLE_INPUTS = 4,
	SAMPLE_ALIASED = 2, /* from this input on, memory may be the same */
	SAMPLE_ARGUMENTS = GENERATE_POINTERS + 2
};

/* What a run leaves behind. */
struct outcome_of {
	enum machine_end end;
	const char *why;
	unsigned char bytes[GENERATE_POINTERS][GENERATE_SIZE];
	unsigned char poison[GENERATE_POINTERS][GENERATE_SIZE];
	unsigned char touched[GENERATE_POINTERS][GENERATE_SIZE];
	struct event *events; /* owned */
	size_t event_count;
	bool has_choices;
};

struct input {
	uint64_t state;
	uint64_t bases[GENERATE_POINTERS];
	int same_as[GENERATE_POINTERS]; /* whose memory it is, too; or -1 */
	struct lane arguments[SAMPLE_ARGUMENTS];
	bool is_shared[GENERATE_POINTERS];
};

/* One input, and what the original does with it. */
struct sample {
	struct input input;
	struct outcome_of then;
};

/* "a", "b" and so on. */
extern const char *const sample_names[GENERATE_POINTERS];

/* Input `number` of that kernel: the same each time. */
void sample_make_input(struct input *input, LLVMValueRef kernel,
                       unsigned number);

/* What the memory of pointer `which` holds before a run. */
void sample_fill(unsigned char *bytes, size_t size, unsigned which,
                 unsigned number);

/* Memory as it is before a run, which may touch no more than `limit` did. */
void sample_add_memory(struct machine *machine, const struct input *input,
                       unsigned number, const struct outcome_of *limit);

/* Some threads, one after the other. NULL for `limit`: there is none. */
void sample_run(struct machine *machine, const struct input *input,
                unsigned number, uint64_t seed, const struct outcome_of *limit,
                struct outcome_of *out);

#endif
