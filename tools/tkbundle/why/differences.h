/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DIFFERENCES_H
#define TKBUNDLE_DIFFERENCES_H

#include "why/parts.h"

/*
 * Find out which parts of two entries differ.
 *
 * Differences that follow from another one are dropped: options that a target,
 * a version of Triton or a variable brings with it, IR that another Triton or a
 * setting such as `debug` makes. A part that only one entry has recorded is
 * listed only if its absence means something: a variable that is not recorded
 * is not set. Values of secret names are not shown.
 *
 * If nothing differs between two kernels of the same Inductor module, the ptxas
 * in the key differs: the name of a module is a hash of the kernel's text and
 * of Triton's build.
 */

enum {
	DIFFERENCE_TEXT_SIZE = 160
};

struct difference {
	enum reason reason;
	const char *name;             /* borrowed from the parts */
	char a[DIFFERENCE_TEXT_SIZE]; /* its value; "" if it is not set */
	char b[DIFFERENCE_TEXT_SIZE];
};

/* A zeroed struct has no differences. */
struct differences {
	struct difference *items; /* owned; the most important first */
	size_t count;
	uint64_t cost;      /* how different the entries are */
	bool knows_builds;  /* it is known which Triton builds made both */
	bool is_one_module; /* both are in the same Inductor module */
	char equal
		[DIFFERENCE_TEXT_SIZE]; /* names of parts that both have: "code,
		                           ..." */
};

/* Below this cost, the same kernel was compiled in another environment. */
#define DIFFERENCES_OTHER_KERNEL 100

/* From this cost on, the two kernels are unrelated. */
#define DIFFERENCES_OTHER_GRAPH 1000000

/* For TKB_AUTO. */
void differences_release(struct differences *differences);

/*
 * @param a  already read, like `b`; both must live until `out` is released
 * @return 0 or TKB_ERR_NOMEM
 */
TKB_NODISCARD int differences_find(const struct parts *a, const struct parts *b,
                                   struct differences *out,
                                   struct tkb_error *err);

/*
 * A sentence about two kernels without recorded differences: what is equal, and
 * what may differ.
 */
void differences_left(const struct differences *differences, char *out,
                      size_t size);

/* The reason of the most important one. */
enum reason differences_reason(const struct differences *differences);

/*
 * Write a difference as text, such as "ptxas: 13.0.88 there, 12.8 here".
 *
 * @param where  names of the sides: "in A", "in B"
 */
void differences_show(const struct difference *difference,
                      const char *const where[2], char *out, size_t size);

/*
 * Functions of difference_values.c, for differences.c: how two values are
 * shown.
 */

/*
 * Copy the part's value; for one that may be secret, copy only a note that it
 * is hidden.
 */
void difference_copy_value(const struct part *part,
                           char out[DIFFERENCE_TEXT_SIZE]);

/*
 * Find the first number that differs. False: the texts do not only differ in
 * numbers.
 */
bool difference_find_number(const char *a, const char *b,
                            struct difference *out);

/* The first line that differs. */
void difference_copy_lines(const char *a, const char *b,
                           struct difference *out);

/* The reason for a variable with these values. */
enum reason difference_reason_of_variable(const char *a, const char *b);

#endif
