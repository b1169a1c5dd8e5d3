/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_CUBIN_DIFF_H
#define TKBUNDLE_CUBIN_DIFF_H

#include <tkbundle/cubin.h>

/*
 * Find out which parts of two cubins differ.
 *
 *     struct cubin_diff diff = { 0 };
 *
 *     rc = cubin_diff_compare(a, b, "add_kernel.cubin", &diff, &err);
 *     for (size_t i = 0; i < diff.count; i++)
 *             puts(diff.parts[i].name);
 *     cubin_diff_release(&diff);
 *
 * Parts with the same name are compared in the order of the file.
 */

/* Not a section: all bytes outside of sections. */
#define CUBIN_DIFF_HEADERS "(headers)"

enum cubin_diff_state {
	CUBIN_ONLY_A,
	CUBIN_ONLY_B,
	CUBIN_DIFFERS
};

struct cubin_diff_part {
	char *name; /* owned */
	enum cubin_diff_state state;
	uint64_t a_size; /* bytes */
	uint64_t b_size;
	uint64_t different; /* bytes that differ, or that only one has */
	uint64_t first;     /* offset of the first of these in the part */
};

/* Zeroed is empty. */
struct cubin_diff {
	struct cubin_diff_part *parts; /* owned; parts that differ, sorted by
	                                  name */
	size_t count;
};

/*
 * Compare the cubins `a` and `b`. If every section is equal and the files are
 * not, the only part is CUBIN_DIFF_HEADERS, for the whole files.
 *
 * @param name  for messages; not kept
 * @param out   empty; filled in on success
 * @return 0, TKB_ERR_CORRUPT (not an ELF file, or not whole) or TKB_ERR_NOMEM
 */
TKB_NODISCARD int cubin_diff_compare(struct tkb_bytes a, struct tkb_bytes b,
                                     const char *name, struct cubin_diff *out,
                                     struct tkb_error *err);

/* For TKB_AUTO. */
void cubin_diff_release(struct cubin_diff *diff);

#endif
