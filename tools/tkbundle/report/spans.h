/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SPANS_H
#define TKBUNDLE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tkbundle/times.h>

/*
 * When entries were compiled, and how long that kept the command.
 *
 * Kernels are compiled at once by several workers, and graphs while their kernels
 * are. So that all times together are what passed on the clock, what two took at
 * the same time is that of the one that ended first.
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
	size_t capacity;
};

void spans_release(struct spans *spans);

/* What ends before it begins is passed over, and without memory any. */
void spans_add(struct spans *spans, const char *tree, const char *name,
               int64_t begin_ns, int64_t end_ns);

/* Note the times in the cache, where they are long enough to be told. */
TKB_NODISCARD int spans_note(struct spans *spans, const char *cache_root,
                             struct tkb_error *err);

/*
 * When the folder or file `name` was made, in nanoseconds since 1970; where the
 * file system does not tell, when the oldest file in it was written.
 */
int64_t spans_begin(int dir_fd, const char *name);

#endif
