/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_MEMORY_H
#define TKBUNDLE_MEMORY_H

#include <tkbundle/bundle.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/memory.h
 * Bytes in memory as a sink and as a source.
 *
 *     struct tkb_memory memory = { 0 };
 *     const struct tkb_sink sink = tkb_memory_sink(&memory);
 *
 *     rc = tkb_collect(root, NULL, &sink, NULL, &err);
 *     if (rc == 0)
 *             send_away(memory.data, memory.size);
 *     tkb_memory_release(&memory);
 *
 * Threads: a struct tkb_memory belongs to one thread at a time; a source may be
 * read by several.
 */

/** Growing memory. Zeroed, it is empty and without a limit. */
struct tkb_memory {
	unsigned char *data; /**< owned; NULL while it is empty */
	size_t size;         /**< bytes in use */
	size_t capacity;     /**< bytes allocated */
	size_t limit;        /**< the most bytes; 0: no limit */
};

/**
 * A sink that appends to `memory`, which must outlive it. The sink returns
 * TKB_ERR_TOO_LARGE if the limit would be exceeded, or TKB_ERR_NOMEM. What was
 * written before is kept.
 */
TKB_API struct tkb_sink tkb_memory_sink(struct tkb_memory *memory);

/** Free the bytes. The limit stays. */
TKB_API void tkb_memory_release(struct tkb_memory *memory);

/**
 * A source that reads `bytes`; the struct and its data must outlive the source.
 */
TKB_API struct tkb_source tkb_memory_source(const struct tkb_bytes *bytes);

#ifdef __cplusplus
}
#endif

#endif
