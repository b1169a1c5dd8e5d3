/* SPDX-License-Identifier: Apache-2.0 */
#include "libc/libc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A folder's entry as the kernel writes it, with a name of any length. */
struct entry {
	uint64_t inode;
	int64_t next;
	unsigned short size;
	unsigned char type;
	char name[];
};

ssize_t tkb_libc_getrandom(void *out, size_t size, unsigned flags)
{
	ssize_t got = syscall(SYS_getrandom, out, size, flags);
	int fd;

	if (got >= 0 || errno != ENOSYS)
		return got;
	fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	got = read(fd, out, size);
	(void)close(fd);
	return got;
}

void tkb_libc_explicit_bzero(void *data, size_t size)
{
	/* The pointer is volatile, so the compiler cannot see the call's
	   target and remove the call. */
	static void *(*const volatile set)(void *, int, size_t) = memset;

	(void)set(data, 0, size);
}

void *tkb_libc_reallocarray(void *items, size_t count, size_t size)
{
	if (size != 0 && count > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	/* NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): as glibc does */
	return realloc(items, count * size);
}

int tkb_libc_memfd_create(const char *name, unsigned flags)
{
	const char *folder = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd = (int)syscall(SYS_memfd_create, name, flags);

	if (fd >= 0 || errno != ENOSYS)
		return fd;
	if (folder == NULL || folder[0] == '\0')
		folder = "/tmp";
	if (snprintf(path, sizeof(path), "%s/.tkbundle-XXXXXX", folder) >=
	    PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, (flags & MFD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
	if (fd >= 0)
		(void)unlink(path);
	return fd;
}

int tkb_libc_renameat2(int from_fd, const char *from, int to_fd, const char *to,
                       unsigned flags)
{
	return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
}

int tkb_libc_statx(int folder_fd, const char *path, int flags, unsigned mask,
                   struct statx *out)
{
	return (int)syscall(SYS_statx, folder_fd, path, flags, mask, out);
}

const char *tkb_libc_sigabbrev_np(int number)
{
	static const char *const names[] = {
		[SIGABRT] = "ABRT",     [SIGALRM] = "ALRM", [SIGBUS] = "BUS",
		[SIGCHLD] = "CHLD",     [SIGCONT] = "CONT", [SIGFPE] = "FPE",
		[SIGHUP] = "HUP",       [SIGILL] = "ILL",   [SIGINT] = "INT",
		[SIGKILL] = "KILL",     [SIGPIPE] = "PIPE", [SIGPOLL] = "POLL",
		[SIGPROF] = "PROF",     [SIGPWR] = "PWR",   [SIGQUIT] = "QUIT",
		[SIGSEGV] = "SEGV",     [SIGSTOP] = "STOP", [SIGSYS] = "SYS",
		[SIGSTKFLT] = "STKFLT", [SIGTERM] = "TERM", [SIGTRAP] = "TRAP",
		[SIGTSTP] = "TSTP",     [SIGTTIN] = "TTIN", [SIGTTOU] = "TTOU",
		[SIGURG] = "URG",       [SIGUSR1] = "USR1", [SIGUSR2] = "USR2",
		[SIGVTALRM] = "VTALRM", [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ",
		[SIGWINCH] = "WINCH",
	};

	if (number < 0 || (size_t)number >= sizeof(names) / sizeof(names[0]))
		return NULL;
	return names[number];
}

/* The descriptor that a name in /proc/self/fd stands for; -1 if it is none. */
static int descriptor_of(const char *name)
{
	int number = 0;

	for (; *name >= '0' && *name <= '9' && number < INT_MAX / 10 - 1;
	     name++)
		number = number * 10 + (*name - '0');
	return *name == '\0' ? number : -1;
}

/*
 * Close the descriptors that /proc lists. opendir() would allocate memory.
 * False if /proc cannot be read.
 */
static bool close_listed(int first)
{
	_Alignas(struct entry) char entries[1024];
	const int folder =
		open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long size = -1;

	while (folder >= 0 && (size = syscall(SYS_getdents64, folder, entries,
	                                      sizeof(entries))) > 0) {
		const struct entry *entry;

		for (long at = 0; at < size; at += entry->size) {
			int fd;

			entry = (const struct entry *)(entries + at);
			fd = entry->name[0] == '.' ? -1
			                           : descriptor_of(entry->name);
			if (fd >= first && fd != folder)
				(void)close(fd);
		}
	}
	if (folder >= 0)
		(void)close(folder);
	return size == 0;
}

void tkb_libc_closefrom(int first)
{
	struct rlimit limit = { .rlim_cur = 0 };

	if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0 ||
	    close_listed(first))
		return;
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	for (int fd = first; (rlim_t)fd < limit.rlim_cur && fd < INT_MAX; fd++)
		(void)close(fd);
}
