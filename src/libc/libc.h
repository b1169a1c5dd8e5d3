/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LIBC_LIBC_H
#define TKB_LIBC_LIBC_H

/*
 * Functions that we call and that a libc older than glibc 2.34 lacks. They need
 * only the kernel and glibc 2.17. If the libc is older, cmake/libc.cmake
 * includes this header before all others, so that other code can use the usual
 * names. The functions do what their manual pages say, except where a comment
 * here says otherwise.
 */
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Before Linux 3.17 by /dev/urandom, which heeds no flags. */
ssize_t tkb_libc_getrandom(void *out, size_t size, unsigned flags);
void tkb_libc_explicit_bzero(void *data, size_t size);
void *tkb_libc_reallocarray(void *items, size_t count, size_t size);
/* Before Linux 3.17 an unnamed file in $TMPDIR, which cannot be sealed. */
int tkb_libc_memfd_create(const char *name, unsigned flags);
int tkb_libc_renameat2(int from_fd, const char *from, int to_fd, const char *to,
                       unsigned flags);
int tkb_libc_statx(int folder_fd, const char *path, int flags, unsigned mask,
                   struct statx *out);
const char *tkb_libc_sigabbrev_np(int number);

/* May be called in a child of fork() or vfork(). */
void tkb_libc_closefrom(int first);

/*
 * posix_spawn(). In glibc it can close all descriptors since 2.34 and change
 * the folder since 2.29. There are only the actions that we use. The attributes
 * are glibc's; a process group, a mask, and signals to reset are supported.
 */
enum {
	TKB_LIBC_ACTION_COUNT = 16
};

struct tkb_libc_action {
	enum {
		TKB_LIBC_OPEN,
		TKB_LIBC_DUP2,
		TKB_LIBC_FCHDIR,
		TKB_LIBC_CLOSEFROM
	} kind;
	int fd; /* what to open, duplicate, change to or close first */
	int as; /* the new number of a duplicate */
	const char *path; /* not copied */
	int flags;
	mode_t mode;
};

struct tkb_libc_actions {
	struct tkb_libc_action items[TKB_LIBC_ACTION_COUNT];
	size_t count;
};

int tkb_libc_actions_init(struct tkb_libc_actions *actions);
int tkb_libc_actions_destroy(struct tkb_libc_actions *actions);
int tkb_libc_actions_open(struct tkb_libc_actions *actions, int fd,
                          const char *path, int flags, mode_t mode);
int tkb_libc_actions_dup2(struct tkb_libc_actions *actions, int fd, int as);
int tkb_libc_actions_fchdir(struct tkb_libc_actions *actions, int fd);
int tkb_libc_actions_closefrom(struct tkb_libc_actions *actions, int first);
int tkb_libc_spawn(pid_t *out, const char *path,
                   const struct tkb_libc_actions *actions,
                   const posix_spawnattr_t *attributes, char *const argv[],
                   char *const environment[]);
/* As tkb_libc_spawn(), but a name without a slash is searched in the PATH. */
int tkb_libc_spawnp(pid_t *out, const char *name,
                    const struct tkb_libc_actions *actions,
                    const posix_spawnattr_t *attributes, char *const argv[],
                    char *const environment[]);

#ifdef TKB_LIBC_LACKS
#if !__GLIBC_PREREQ(2, 25)
#define getrandom(...) tkb_libc_getrandom(__VA_ARGS__)
#define explicit_bzero(...) tkb_libc_explicit_bzero(__VA_ARGS__)
#endif
#if !__GLIBC_PREREQ(2, 26)
#define reallocarray(...) tkb_libc_reallocarray(__VA_ARGS__)
#endif
#if !__GLIBC_PREREQ(2, 27)
#define memfd_create(...) tkb_libc_memfd_create(__VA_ARGS__)
#endif
#if !__GLIBC_PREREQ(2, 28)
#define renameat2(...) tkb_libc_renameat2(__VA_ARGS__)
#define statx(...) tkb_libc_statx(__VA_ARGS__)
#endif
#if !__GLIBC_PREREQ(2, 32)
#define sigabbrev_np(...) tkb_libc_sigabbrev_np(__VA_ARGS__)
#endif
#define closefrom(...) tkb_libc_closefrom(__VA_ARGS__)
#define posix_spawn_file_actions_t struct tkb_libc_actions
#define posix_spawn_file_actions_init(...) tkb_libc_actions_init(__VA_ARGS__)
#define posix_spawn_file_actions_destroy(...)                                  \
	tkb_libc_actions_destroy(__VA_ARGS__)
#define posix_spawn_file_actions_addopen(...) tkb_libc_actions_open(__VA_ARGS__)
#define posix_spawn_file_actions_adddup2(...) tkb_libc_actions_dup2(__VA_ARGS__)
#define posix_spawn_file_actions_addfchdir_np(...)                             \
	tkb_libc_actions_fchdir(__VA_ARGS__)
#define posix_spawn_file_actions_addclosefrom_np(...)                          \
	tkb_libc_actions_closefrom(__VA_ARGS__)
#define posix_spawn(...) tkb_libc_spawn(__VA_ARGS__)
#define posix_spawnp(...) tkb_libc_spawnp(__VA_ARGS__)
#endif

#endif
