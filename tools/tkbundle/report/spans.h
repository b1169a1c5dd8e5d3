/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SPANS_H
#define TKBUNDLE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tkbundle/times.h>

/*
 * When entries were compiled, and how long each took.
 *
 * Several workers compile kernels at the same time, and a graph is compiled
 * while its kernels are. To make the sum of all times equal to the time that
 * passed, overlapping time counts only for the entry that ended first.
 *
 *     TKB_AUTO(spans_release) struct spans spans = { .items = NULL };
 *
 *     spans_add(&spans, NULL, key, begin_ns, end_ns);
 *     spans_note(&spans, cache_root, &err);
 */
struct span {
	char *tree; /* owned; NULL for a kernel */
	char *name; /* owned */
	int64_t begin_ns;
	int64_t end_ns;
};

struct spans {
	struct span *items; /* owned */
	size_t count;
};

void spans_release(struct spans *spans);

/*
 * Add a span. One that ends before it begins is ignored; so is any span if out
 * of memory.
 */
void spans_add(struct spans *spans, const char *tree, const char *name,
               int64_t begin_ns, int64_t end_ns);

/* Note the times in the cache, if they are long enough to be known. */
TKB_NODISCARD int spans_note(struct spans *spans, const char *cache_root,
                             struct tkb_error *err);

/*
 * The time when the folder or file `name` was created, in nanoseconds since
 * 1970; if the file system does not record that, the time when the oldest file
 * in it was written.
 */
int64_t spans_begin(int dir_fd, const char *name);

#endif
