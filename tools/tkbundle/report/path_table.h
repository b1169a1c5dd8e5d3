/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PATH_TABLE_H
#define TKBUNDLE_PATH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tkbundle/entry.h>

/*
 * Distinct paths, and how often each occurs. Data from outside must not fill
 * the memory: when the table is full, new paths are counted, but not kept.
 *
 *     TKB_AUTO(path_table_release) struct path_table table = { 0 };
 *
 *     is_counted = path_table_add(&table, path);
 *     path_table_sort(&table);
 */

#define PATH_TABLE_LIMIT 65536            /* distinct paths */
#define PATH_TABLE_SIZE_LIMIT (16u << 20) /* bytes in them */

struct path_count {
	struct tkb_bytes path; /* owned: it points to `text` */
	uint64_t count;
	char text[]; /* ends with a zero */
};

/* Zeroed is empty. */
struct path_table {
	void *root;                /* root of a tree of the items' paths */
	struct path_count **items; /* owned */
	size_t count;
	size_t size;     /* bytes of the paths kept */
	uint64_t total;  /* occurrences, of all paths */
	uint64_t beyond; /* occurrences of paths that are not kept */
};

/* Count an occurrence. @return false if out of memory; then nothing changed */
bool path_table_add(struct path_table *table, struct tkb_bytes path);

/* Sort the items: the most frequent first, then by bytes. */
void path_table_sort(struct path_table *table);

/* For TKB_AUTO. */
void path_table_release(struct path_table *table);

#endif
