/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_KERNEL_FACTS_H
#define TKBUNDLE_KERNEL_FACTS_H

#include "cli/json_out.h"
#include "report/source.h"

/* Facts about a kernel's launch from its files; zeroed: unknown. */
struct kernel_facts {
	struct tkb_c_facts numbers;
	char *signature; /* owned; NULL: unknown */
};

/* Is `file` the file of `kernel` with this suffix, as "add_kernel.ttir" is? */
bool kernel_file_is(const char *file, const char *kernel, const char *suffix);

/* Read the facts of entry `index`. Missing facts are not a failure. */
TKB_NODISCARD int kernel_facts_read(const struct source *source, size_t index,
                                    struct kernel_facts *out,
                                    struct tkb_error *err);

/*
 * Read the facts of every entry, decoding each frame once. Free them as a list.
 */
TKB_NODISCARD int kernel_facts_read_all(const struct source *source,
                                        struct kernel_facts **out,
                                        struct tkb_error *err);

/* For TKB_AUTO. */
void kernel_facts_release(struct kernel_facts *facts);

/* NULL is allowed. */
void kernel_facts_free(struct kernel_facts *list, size_t count);

/* Add the facts to the open object, as numbers and a text, or null. */
void kernel_facts_json(struct json_out *json, const struct kernel_facts *facts);

#endif
