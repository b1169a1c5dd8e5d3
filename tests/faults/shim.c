/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Stands between a program and the C library (LD_PRELOAD), and lets one call
 * fail. The environment says which:
 *
 *   FAULT_CALL   its name; without it, none fails
 *   FAULT_N      which of its calls, from 1
 *   FAULT_ERRNO  a number; 0: no failure, but a read or write of one byte
 *   FAULT_LOG    a file that receives how many calls there were: "openat 12";
 *                "hit" if one was failed; "unlocked" if a file was moved into
 *                place, under its own name, while no lock was held
 *   FAULT_NEVER  a word for what this file system cannot do at all: "tmpfile",
 *                "noreplace"
 *
 * A close() that fails loses half of a file that was written to and not closed
 * since, as on NFS. Nobody sleeps: clock_nanosleep() returns at once.
 *
 * What the C library calls inside itself does not pass here.
 */

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* Every call that passes here. */
#define CALLS(X)                                                               \
	X(close)                                                               \
	X(faccessat)                                                           \
	X(fdopendir)                                                           \
	X(flock)                                                               \
	X(fstat)                                                               \
	X(fstatat)                                                             \
	X(fstatvfs)                                                            \
	X(futimens)                                                            \
	X(getcwd)                                                              \
	X(getrandom)                                                           \
	X(linkat)                                                              \
	X(madvise)                                                             \
	X(mkdir)                                                               \
	X(mkdirat)                                                             \
	X(mkostemp)                                                            \
	X(mmap)                                                                \
	X(open)                                                                \
	X(openat)                                                              \
	X(opendir)                                                             \
	X(pread)                                                               \
	X(pthread_create)                                                      \
	X(read)                                                                \
	X(readdir)                                                             \
	X(rename)                                                              \
	X(renameat)                                                            \
	X(renameat2)                                                           \
	X(sched_getaffinity)                                                   \
	X(stat)                                                                \
	X(syncfs)                                                              \
	X(unlink)                                                              \
	X(unlinkat)                                                            \
	X(utimensat)                                                           \
	X(write)

enum call {
#define X(name) CALL_##name,
	CALLS(X)
#undef X
	CALL_COUNT
};

static const char *const names[] = {
#define X(name) #name,
	CALLS(X)
#undef X
};

enum {
	DESCRIPTORS = 1024,
	DIRTY_FILES = 16
};

static atomic_ulong counts[CALL_COUNT];
static atomic_bool was_hit;
static atomic_bool was_unlocked;
static atomic_ulong dirty[DIRTY_FILES];    /* inodes; 0: none */
static atomic_bool is_locked[DESCRIPTORS]; /* of a root */
static int chosen = -1;
static unsigned long chosen_nth;
static int chosen_errno;
static const char *never = "";

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* A function's pointer is no object's: their bytes are what they share. */
#define REAL(name)                                                             \
	static __typeof__(&name) real;                                         \
	if (real == NULL) {                                                    \
		void *found = next(#name);                                     \
		memcpy(&real, &found, sizeof(real));                           \
	}

__attribute__((constructor)) static void begin(void)
{
	const char *name = getenv("FAULT_CALL");
	const char *nth = getenv("FAULT_N");
	const char *number = getenv("FAULT_ERRNO");

	/* What other libraries called while they were loaded is not ours. */
	for (size_t i = 0; i < CALL_COUNT; i++)
		atomic_store(&counts[i], 0);
	if (getenv("FAULT_NEVER") != NULL)
		never = getenv("FAULT_NEVER");
	for (int i = 0; i < CALL_COUNT && name != NULL; i++) {
		if (strcmp(names[i], name) == 0)
			chosen = i;
	}
	chosen_nth = nth == NULL ? 0 : strtoul(nth, NULL, 10);
	chosen_errno = number == NULL ? EIO : (int)strtol(number, NULL, 10);
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAULT_LOG");
	FILE *log = path == NULL ? NULL : fopen(path, "we");

	if (log == NULL)
		return;
	for (int i = 0; i < CALL_COUNT; i++)
		(void)fprintf(log, "%s %lu\n", names[i],
		              atomic_load(&counts[i]));
	if (atomic_load(&was_hit))
		(void)fprintf(log, "hit\n");
	if (atomic_load(&was_unlocked))
		(void)fprintf(log, "unlocked\n");
	(void)fclose(log);
}

/* Is it this call's turn? */
static bool is_chosen(enum call call)
{
	const unsigned long nth = atomic_fetch_add(&counts[call], 1) + 1;

	if ((int)call != chosen || nth != chosen_nth)
		return false;
	atomic_store(&was_hit, true);
	return true;
}

static bool fails(enum call call)
{
	if (!is_chosen(call))
		return false;
	errno = chosen_errno;
	return true;
}

/* How much may be read or written? -1: nothing, it fails. */
static ssize_t allowed(enum call call, size_t size)
{
	if (!is_chosen(call))
		return (ssize_t)size;
	errno = chosen_errno;
	if (chosen_errno != 0)
		return -1;
	return size == 0 ? 0 : 1;
}

#define PASS(type, name, failure, parameters, arguments)                       \
	type name parameters                                                   \
	{                                                                      \
		REAL(name)                                                     \
		return fails(CALL_##name) ? (failure) : real arguments;        \
	}

PASS(int, faccessat, -1, (int dir, const char *path, int mode, int flags),
     (dir, path, mode, flags))
PASS(DIR *, fdopendir, NULL, (int fd), (fd))
PASS(int, fstat, -1, (int fd, struct stat *status), (fd, status))
PASS(int, fstatat, -1,
     (int dir, const char *restrict path, struct stat *restrict status,
      int flags),
     (dir, path, status, flags))
PASS(int, fstatvfs, -1, (int fd, struct statvfs *status), (fd, status))
PASS(int, futimens, -1, (int fd, const struct timespec times[2]), (fd, times))
PASS(char *, getcwd, NULL, (char *out, size_t size), (out, size))
PASS(ssize_t, getrandom, -1, (void *out, size_t size, unsigned flags),
     (out, size, flags))
PASS(int, linkat, -1,
     (int from_dir, const char *from, int to_dir, const char *to, int flags),
     (from_dir, from, to_dir, to, flags))
PASS(int, madvise, -1, (void *start, size_t size, int advice),
     (start, size, advice))
PASS(int, mkdir, -1, (const char *path, mode_t mode), (path, mode))
PASS(int, mkdirat, -1, (int dir, const char *path, mode_t mode),
     (dir, path, mode))
PASS(int, mkostemp, -1, (char *path, int flags), (path, flags))
PASS(void *, mmap, MAP_FAILED,
     (void *start, size_t size, int protection, int flags, int fd,
      off_t offset),
     (start, size, protection, flags, fd, offset))
PASS(DIR *, opendir, NULL, (const char *path), (path))
PASS(struct dirent *, readdir, NULL, (DIR * dir), (dir))
PASS(int, rename, -1, (const char *from, const char *to), (from, to))
PASS(int, sched_getaffinity, -1, (pid_t process, size_t size, cpu_set_t *out),
     (process, size, out))
PASS(int, stat, -1, (const char *restrict path, struct stat *restrict status),
     (path, status))
PASS(int, syncfs, -1, (int fd), (fd))
PASS(int, unlink, -1, (const char *path), (path))
PASS(int, unlinkat, -1, (int dir, const char *path, int flags),
     (dir, path, flags))
PASS(int, utimensat, -1,
     (int dir, const char *path, const struct timespec times[2], int flags),
     (dir, path, times, flags))

static ino_t inode_of(int fd)
{
	REAL(fstat)
	struct stat status;

	return real(fd, &status) == 0 && S_ISREG(status.st_mode) ? status.st_ino
	                                                         : 0;
}

/* Let `to` stand in the list where `from` does; is it there? */
static bool replace_dirty(ino_t from, ino_t to)
{
	for (int i = 0; i < DIRTY_FILES; i++) {
		unsigned long expected = from;

		if (atomic_compare_exchange_strong(&dirty[i], &expected, to))
			return true;
	}
	return false;
}

static void note_written(int fd)
{
	const ino_t inode = inode_of(fd);

	if (inode != 0 && !replace_dirty(inode, inode))
		(void)replace_dirty(0, inode);
}

/* Is the file's end still on its way to a server? */
static bool take_dirty(int fd)
{
	const ino_t inode = inode_of(fd);

	return inode != 0 && replace_dirty(inode, 0);
}

static void lose_half(int fd)
{
	REAL(fstat)
	struct stat status;

	if (real(fd, &status) == 0)
		(void)!ftruncate(fd, status.st_size / 2);
}

static void note_lock(int fd, bool locked)
{
	if (fd >= 0 && fd < DESCRIPTORS)
		atomic_store(&is_locked[fd], locked);
}

/* A stage has a lock of its own, which says nothing of the root. */
static bool is_of_root(int fd)
{
	static const char name[] = "/.tkbundle/lock";
	char link[64];
	char path[4096];
	ssize_t size;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	size = readlink(link, path, sizeof(path));
	return size >= (ssize_t)sizeof(name) &&
	       memcmp(path + size - (sizeof(name) - 1), name,
	              sizeof(name) - 1) == 0;
}

static bool holds_lock(void)
{
	for (int fd = 0; fd < DESCRIPTORS; fd++) {
		if (atomic_load(&is_locked[fd]))
			return true;
	}
	return false;
}

int flock(int fd, int operation)
{
	REAL(flock)
	int rc;

	if (fails(CALL_flock))
		return -1;
	rc = real(fd, operation);
	if (rc == 0 && (operation & LOCK_UN) != 0)
		note_lock(fd, false);
	else if (rc == 0 && is_of_root(fd))
		note_lock(fd, true);
	return rc;
}

/* Linux has closed it all the same. */
int close(int fd)
{
	REAL(close)
	const bool is_dirty = take_dirty(fd);
	const bool must_fail = fails(CALL_close);
	int rc;

	if (must_fail && is_dirty)
		lose_half(fd);
	note_lock(fd, false);
	rc = real(fd);
	if (!must_fail)
		return rc;
	errno = chosen_errno;
	return -1;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	REAL(renameat)

	if (strcmp(from, to) == 0 && !holds_lock())
		atomic_store(&was_unlocked, true);
	return fails(CALL_renameat) ? -1 : real(from_dir, from, to_dir, to);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to,
              unsigned flags)
{
	REAL(renameat2)

	if (strcmp(never, "noreplace") == 0) {
		errno = EINVAL;
		return -1;
	}
	return fails(CALL_renameat2) ? -1
	                             : real(from_dir, from, to_dir, to, flags);
}

static bool is_never(int flags)
{
	if ((flags & O_TMPFILE) != O_TMPFILE || strcmp(never, "tmpfile") != 0)
		return false;
	errno = EOPNOTSUPP;
	return true;
}

static mode_t mode_of(int flags, va_list arguments)
{
	return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE
	               ? va_arg(arguments, mode_t)
	               : 0;
}

int open(const char *path, int flags, ...)
{
	REAL(open)
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	return fails(CALL_open) || is_never(flags) ? -1
	                                           : real(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	REAL(openat)
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	return fails(CALL_openat) || is_never(flags)
	               ? -1
	               : real(dir, path, flags, mode);
}

ssize_t read(int fd, void *data, size_t size)
{
	REAL(read)
	const ssize_t can = allowed(CALL_read, size);

	return can < 0 ? -1 : real(fd, data, (size_t)can);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
	REAL(pread)
	const ssize_t can = allowed(CALL_pread, size);

	return can < 0 ? -1 : real(fd, data, (size_t)can, offset);
}

ssize_t write(int fd, const void *data, size_t size)
{
	REAL(write)
	const ssize_t can = allowed(CALL_write, size);

	note_written(fd);
	return can < 0 ? -1 : real(fd, data, (size_t)can);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*start)(void *argument), void *argument)
{
	REAL(pthread_create)

	return fails(CALL_pthread_create)
	               ? EAGAIN
	               : real(thread, attributes, start, argument);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                    struct timespec *rest)
{
	(void)clock;
	(void)flags;
	(void)wanted;
	(void)rest;
	return 0;
}
