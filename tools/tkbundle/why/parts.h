/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PARTS_H
#define TKBUNDLE_PARTS_H

#include "keys/facts.h"
#include "report/source.h"
#include "why/reason.h"

/*
 * Read from the files of an entry what decides its key: parts, each with a
 * name, a value, and the reason that is given if the values differ.
 *
 *     TKB_AUTO(parts_release) struct parts parts = { .count = 0 };
 *
 *     rc = parts_read(&source, index, &parts, &err);
 *
 * The parts of a kernel are members of its metadata (target, version of Triton,
 * options, variables), the ptxas that its cubin names or whose version its PTX
 * has, its signature, the line on which its source begins, and its IR without
 * locations. If it was compiled from CUDA C, LLVM IR or PTX, that text is a
 * part. The parts of a graph of vLLM's are in cache_key_factors.json; those of
 * a graph of Inductor's are the lines that PyTorch keeps in it for debugging. A
 * part may have a secret name: call tkb_name_is_secret() before you show or
 * store its value.
 */
struct part {
	enum reason reason;
	char *name;
	char *value;
};

struct json_t; /* jansson's */

/* Zeroed is empty. */
struct parts {
	struct part *items; /* owned, and the texts; sorted by name */
	size_t count;
	bool is_read;
};

/* The name of the part that has the IR. */
#define PARTS_CODE "code"

/* Parts with the lines of the source that the IR is from. */
#define PARTS_LINES "lines"
#define PARTS_FIRST_LINE "first line"

/*
 * The name of the Inductor module that contains the kernel; it is a hash of the
 * module's text.
 */
#define PARTS_MODULE "module"

/*
 * The ptxas whose version is in the key; another ptxas may have made the code.
 */
#define PARTS_KEY_PTXAS "ptxas of the key"

/* The input of `tkbundle compile`, its options, and its paths. */
#define PARTS_INPUT "compiled from"
#define PARTS_OPTIONS "options of compile"
#define PARTS_PLACES "paths (a hash)"

/* vLLM's hash of PyTorch, Triton, CUDA and the GPU's name. */
#define PARTS_COMPILER "compiler (a hash)"

/* A graph of PyTorch's. */
#define PARTS_GRAPH "gm"

/* For TKB_AUTO. */
void parts_release(struct parts *parts);

/* Add a part; `size` bytes of `value` are copied. */
TKB_NODISCARD int parts_add(struct parts *parts, enum reason reason,
                            const char *name, const char *value, size_t size,
                            struct tkb_error *err);

/* Sort by name, for parts_find() and comparisons. */
void parts_sort(struct parts *parts);

/* The value of a part; NULL: it is not recorded. */
const char *parts_find(const struct parts *parts, const char *name);

/*
 * Read the parts of entry `index`. Those that are missing or invalid are left
 * out.
 *
 * @return 0, or a failure of source_read()
 */
TKB_NODISCARD int parts_read(const struct source *source, size_t index,
                             struct parts *out, struct tkb_error *err);

/*
 * For parts_read(): read the parts of a kernel's metadata, of vLLM's factors,
 * and of Inductor's graphs.
 */
TKB_NODISCARD int parts_of_metadata(const struct json_t *metadata,
                                    struct parts *out, struct tkb_error *err);
TKB_NODISCARD int parts_of_factors(const struct json_t *factors,
                                   struct parts *out, struct tkb_error *err);
TKB_NODISCARD int parts_of_graph(struct tkb_bytes graph, struct parts *out,
                                 struct tkb_error *err);

#endif
