/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_FAULTS_ALLOC_H
#define TKB_TESTS_FAULTS_ALLOC_H

/*
 * An allocator that counts, and fails where it is told to.
 *
 * It stands in for malloc(), calloc(), realloc() and their kin, and for
 * pthread_create(), in the whole process: what libarchive, libzstd, OpenSSL
 * and the C library itself allocate is counted with what we do.
 *
 *     alloc_arm(7, false, NULL);
 *     rc = call();
 *     was_hit = alloc_disarm();
 *
 * Nor does anybody sleep: clock_nanosleep() returns at once.
 *
 * glibc alone can be stood in for like this; a sanitizer does so itself.
 */

#include <stdbool.h>
#include <stddef.h>

/* Can allocations be made to fail in this build? */
bool alloc_is_available(void);

/* Who asked for an allocation: the innermost first. */
struct alloc_trace {
	int depth;
	void *addresses[16];
};

/*
 * From here on, let allocation `nth` fail, from 1, and with `all_later` each
 * behind it too. 0: none; they are just counted. Of the first that fails,
 * `trace` receives who asked for it; it may be NULL.
 */
void alloc_arm(size_t nth, bool all_later, struct alloc_trace *trace);

/* For a while: let none fail, and count none. */
void alloc_hold(bool holds);

/* Let none fail any more. Did any? */
bool alloc_disarm(void);

/* How many there were between arm and disarm. */
size_t alloc_count(void);

/* How many are there that were not freed yet. */
long alloc_live(void);

#endif
