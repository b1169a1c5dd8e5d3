/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_KERNEL_FACTS_H
#define TKBUNDLE_KERNEL_FACTS_H

#include "cli/json_out.h"
#include "report/source.h"

/* What a kernel's files say about its launch; zeroed: nothing. */
struct kernel_facts {
	struct tkb_c_facts numbers;
	char *signature; /* owned; NULL: not told */
};

/* Is `file` the file of `kernel` with this suffix, as "add_kernel.ttir" is? */
bool kernel_file_is(const char *file, const char *kernel, const char *suffix);

/* The facts of entry `index`. Facts that are missing are no failure. */
TKB_NODISCARD int kernel_facts_read(const struct source *source, size_t index,
                                    struct kernel_facts *out,
                                    struct tkb_error *err);

/* Of every entry, decoding each frame once. To be freed as a list. */
TKB_NODISCARD int kernel_facts_read_all(const struct source *source,
                                        struct kernel_facts **out,
                                        struct tkb_error *err);

/* For TKB_AUTO. */
void kernel_facts_release(struct kernel_facts *facts);

/* NULL is allowed. */
void kernel_facts_free(struct kernel_facts *list, size_t count);

/* Add them to the open object, as numbers and a text, or null. */
void kernel_facts_json(struct json_out *json, const struct kernel_facts *facts);

#endif
