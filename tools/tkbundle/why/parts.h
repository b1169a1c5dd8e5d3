/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PARTS_H
#define TKBUNDLE_PARTS_H

#include "keys/facts.h"
#include "report/source.h"
#include "why/reason.h"

/*
 * What decides the key of an entry, as far as its own files tell: each part with
 * its name, its value and the reason that it is when it differs.
 *
 *     TKB_AUTO(parts_release) struct parts parts = { .count = 0 };
 *
 *     rc = parts_read(&source, index, &parts, &err);
 *
 * Of a kernel these are members of its metadata (target, version of Triton, options,
 * variables), the ptxas that its cubin names or that its PTX has the version of, its
 * signature, the line on which its source begins, and its IR without locations; of one
 * that was compiled from CUDA C, LLVM IR or PTX, that text. Of
 * what vLLM compiled, cache_key_factors.json. Of Inductor's graphs, the lines that
 * PyTorch keeps in them for debugging. Values of secret names are among them: who shows
 * or keeps one asks tkb_secret_name() first.
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
	size_t capacity;
	bool is_read;
};

/* The name of the part that is IR. */
#define PARTS_CODE "code"

/* And the one that is the lines of the source on which that stands. */
#define PARTS_LINES "lines"
#define PARTS_FIRST_LINE "first line"

/* Of what `tkbundle compile` made: what of, with which options, and where. */
#define PARTS_INPUT "compiled from"
#define PARTS_OPTIONS "options of compile"
#define PARTS_PLACES "paths (a hash)"

/* And the one that is a graph of PyTorch's. */
#define PARTS_GRAPH "gm"

/* For TKB_AUTO. */
void parts_release(struct parts *parts);

/* Add one; `size` bytes of `value` are copied. */
TKB_NODISCARD int parts_add(struct parts *parts, enum reason reason,
                            const char *name, const char *value, size_t size,
                            struct tkb_error *err);

/* By name, as parts_find() and comparisons need them. */
void parts_sort(struct parts *parts);

/* The value of a part; NULL: it is not recorded. */
const char *parts_find(const struct parts *parts, const char *name);

/*
 * Read those of entry `index`. What is missing or makes no sense is not there.
 *
 * @return 0, or a failure to read: codes as of source_read()
 */
TKB_NODISCARD int parts_read(const struct source *source, size_t index,
                             struct parts *out, struct tkb_error *err);

/*
 * For parts_read(): those of a kernel's metadata, of vLLM's factors, and of a graph
 * of Inductor's.
 */
TKB_NODISCARD int parts_of_metadata(const struct json_t *metadata,
                                    struct parts *out, struct tkb_error *err);
TKB_NODISCARD int parts_of_factors(const struct json_t *factors,
                                   struct parts *out, struct tkb_error *err);
TKB_NODISCARD int parts_of_graph(struct tkb_bytes graph, struct parts *out,
                                 struct tkb_error *err);

#endif
