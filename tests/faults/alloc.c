/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness.h"

#if defined(__GLIBC__) && !IS_SANITIZED
#define IS_OURS 1
#else
#define IS_OURS 0
#endif

static atomic_bool is_armed;
static atomic_bool was_hit;
static atomic_size_t counted;
static atomic_long live;
static size_t fail_at;
static bool fail_later;
static struct alloc_trace *first;

bool alloc_is_available(void)
{
	void *warm[1];

	/* What is freed stays ours: to ask the system anew takes longer. */
	(void)mallopt(M_MMAP_THRESHOLD, 64 * 1024 * 1024);
	(void)mallopt(M_TRIM_THRESHOLD, 512 * 1024 * 1024);
	/* The first backtrace loads a library. */
	return backtrace(warm, 1) >= 0 && IS_OURS;
}

void alloc_arm(size_t nth, bool all_later, struct alloc_trace *trace)
{
	fail_at = nth;
	fail_later = all_later;
	first = trace;
	atomic_store(&counted, 0);
	atomic_store(&was_hit, false);
	atomic_store(&is_armed, true);
}

void alloc_hold(bool holds)
{
	atomic_store(&is_armed, !holds);
}

bool alloc_disarm(void)
{
	atomic_store(&is_armed, false);
	return atomic_load(&was_hit);
}

size_t alloc_count(void)
{
	return atomic_load(&counted);
}

long alloc_live(void)
{
	return atomic_load(&live);
}

#if IS_OURS

/* What glibc's own functions are called besides. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t align, size_t size);
extern void __libc_free(void *memory);

static _Thread_local bool is_tracing;

/* Is it this one's turn to fail? */
static bool fails(void)
{
	size_t nth;

	if (!atomic_load(&is_armed) || is_tracing)
		return false;
	nth = atomic_fetch_add(&counted, 1) + 1;
	if (fail_at == 0 || nth < fail_at || (nth > fail_at && !fail_later))
		return false;
	if (!atomic_exchange(&was_hit, true) && first != NULL) {
		is_tracing = true;
		first->depth = backtrace(first->addresses,
		                         sizeof(first->addresses) /
		                                 sizeof(*first->addresses));
		is_tracing = false;
	}
	errno = ENOMEM;
	return true;
}

static void *noted(void *memory)
{
	if (memory != NULL)
		(void)atomic_fetch_add(&live, 1);
	return memory;
}

void *malloc(size_t size)
{
	return fails() ? NULL : noted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : noted(__libc_calloc(count, size));
}

void free(void *memory)
{
	if (memory != NULL)
		(void)atomic_fetch_sub(&live, 1);
	__libc_free(memory);
}

void *realloc(void *memory, size_t size)
{
	if (memory == NULL)
		return malloc(size);
	if (size == 0) {
		free(memory);
		return NULL;
	}
	if (fails())
		return NULL;
	return __libc_realloc(memory, size);
}

void *memalign(size_t align, size_t size)
{
	return fails() ? NULL : noted(__libc_memalign(align, size));
}

void *aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
	void *memory = memalign(align, size);

	if (memory == NULL)
		return ENOMEM;
	*out = memory;
	return 0;
}

/* A thread needs memory too; the system says so with another word. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*start)(void *argument), void *argument)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
	            void *) = NULL;
	void *found;

	if (fails())
		return EAGAIN;
	found = dlsym(RTLD_NEXT, "pthread_create");
	memcpy(&real, &found, sizeof(real));
	return real(thread, attributes, start, argument);
}

/* A loop with a second's wait in it would take minutes. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                    struct timespec *rest)
{
	(void)clock;
	(void)flags;
	(void)wanted;
	(void)rest;
	return 0;
}

#endif
