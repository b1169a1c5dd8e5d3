/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libc/libc.h"

/* What an older libc lacks, held against what this machine's has. */

static char *const none[] = { NULL };

TEST(libc, random_bytes_differ)
{
	unsigned char a[32];
	unsigned char b[32];

	CHECK_INT(tkb_libc_getrandom(a, sizeof(a), 0), sizeof(a));
	CHECK_INT(tkb_libc_getrandom(b, sizeof(b), GRND_NONBLOCK), sizeof(b));
	CHECK(memcmp(a, b, sizeof(a)) != 0);
}

/* As Linux 3.10 answers. */
static void forbid_newer_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		         offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { TKB_COUNT_OF(code), code };

	SYS(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	SYS(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
}

TEST(libc, an_old_kernel_has_random_bytes_and_files_without_a_name)
{
	const pid_t pid = must_fork();

	if (pid == 0) {
		unsigned char random[2][32] = { 0 };
		int fd;

		forbid_newer_calls();
		SYS(setenv("TMPDIR", ".", 1));
		for (size_t i = 0; i < 2; i++)
			CHECK_INT(tkb_libc_getrandom(random[i], 32, 0), 32);
		CHECK(memcmp(random[0], random[1], 32) != 0);
		fd = tkb_libc_memfd_create("x", MFD_CLOEXEC);
		CHECK(fd >= 0);
		CHECK_INT(fcntl(fd, F_GETFD), FD_CLOEXEC);
		CHECK_INT(write(fd, "x", 1), 1);
		CHECK_INT(count_names("."), 0);
		_exit(0);
	}
	CHECK_INT(end_of(pid), 0);
}

TEST(libc, wipes_what_it_is_given_and_no_more)
{
	char data[] = "secret!";

	tkb_libc_explicit_bzero(data, 6);
	CHECK(memcmp(data, "\0\0\0\0\0\0!", 7) == 0);
}

TEST(libc, an_array_that_no_memory_can_hold_is_refused)
{
	int *items = tkb_libc_reallocarray(NULL, 4, sizeof(*items));

	CHECK(items != NULL);
	items[3] = 7;
	errno = 0;
	CHECK(tkb_libc_reallocarray(items, SIZE_MAX / 2, sizeof(*items)) ==
	      NULL);
	CHECK_INT(errno, ENOMEM);
	CHECK_INT(items[3], 7);
	free(items);
}

TEST(libc, a_file_in_memory_can_be_sealed)
{
	const int fd =
		tkb_libc_memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(fd >= 0);
	CHECK_INT(fcntl(fd, F_GETFD), FD_CLOEXEC);
	SYS(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW));
	CHECK_INT(write(fd, "x", 1), -1);
	SYS(close(fd));
}

TEST(libc, a_rename_replaces_nothing_if_so_asked)
{
	write_text("a", "a");
	write_text("b", "b");
	CHECK_INT(tkb_libc_renameat2(AT_FDCWD, "a", AT_FDCWD, "b",
	                             RENAME_NOREPLACE),
	          -1);
	CHECK_INT(errno, EEXIST);
	SYS(tkb_libc_renameat2(AT_FDCWD, "a", AT_FDCWD, "c", 0));
	CHECK(exists("c") && !exists("a"));
}

TEST(libc, tells_a_file_as_the_libc_does)
{
	struct statx own;
	struct statx libc;

	write_text("file", "four");
	SYS(tkb_libc_statx(AT_FDCWD, "file", AT_SYMLINK_NOFOLLOW,
	                   STATX_BASIC_STATS | STATX_BTIME, &own));
	SYS(statx(AT_FDCWD, "file", AT_SYMLINK_NOFOLLOW,
	          STATX_BASIC_STATS | STATX_BTIME, &libc));
	CHECK_INT(own.stx_size, 4);
	CHECK_INT(own.stx_ino, libc.stx_ino);
	CHECK_INT(own.stx_btime.tv_sec, libc.stx_btime.tv_sec);
}

TEST(libc, calls_each_signal_as_the_libc_does)
{
	for (int number = -1; number <= SIGSYS; number++) {
		const char *own = tkb_libc_sigabbrev_np(number);
		const char *libc = sigabbrev_np(number);

		CHECK((own == NULL) == (libc == NULL));
		if (own != NULL)
			CHECK_STR(own, libc);
	}
	CHECK(tkb_libc_sigabbrev_np(SIGRTMIN) == NULL);
	CHECK(tkb_libc_sigabbrev_np(INT_MAX) == NULL);
}

/* In a child, since the test has descriptors of its own. */
TEST(libc, closes_all_descriptors_from_the_first_on)
{
	const pid_t pid = must_fork();

	if (pid == 0) {
		const int low = dup2(STDIN_FILENO, 50);
		bool is_done;

		for (int fd = 51; fd < 400; fd += 3)
			(void)dup2(STDIN_FILENO, fd);
		tkb_libc_closefrom(51);
		is_done = fcntl(low, F_GETFD) >= 0;
		for (int fd = 51; fd < 1024; fd++)
			is_done = is_done && fcntl(fd, F_GETFD) < 0;
		_exit(is_done ? 0 : 1);
	}
	CHECK_INT(end_of(pid), 0);
}

static int start(const struct tkb_libc_actions *actions,
                 const posix_spawnattr_t *attributes, const char *script)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	pid_t pid = 0;

	CHECK_INT(tkb_libc_spawn(&pid, "/bin/sh", actions, attributes,
	                         (char *const *)argv, none),
	          0);
	return end_of(pid);
}

TEST(libc, a_program_gets_the_files_and_the_folder_of_its_actions)
{
	struct tkb_libc_actions actions;
	const int out = open("out", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	const int folder = open("/", O_PATH | O_CLOEXEC);

	CHECK(out >= 0 && folder >= 0);
	/* One that the program must not get, though nothing closes it. */
	SYS(dup2(out, 70) == 70 ? 0 : -1);
	CHECK_INT(tkb_libc_actions_init(&actions), 0);
	CHECK_INT(tkb_libc_actions_fchdir(&actions, folder), 0);
	CHECK_INT(tkb_libc_actions_open(&actions, 0, "/dev/null", O_RDONLY, 0),
	          0);
	CHECK_INT(tkb_libc_actions_dup2(&actions, out, 1), 0);
	CHECK_INT(tkb_libc_actions_dup2(&actions, out, out), 0);
	CHECK_INT(tkb_libc_actions_closefrom(&actions, out + 1), 0);
	CHECK_INT(start(&actions, NULL,
	                "pwd; ls /proc/self/fd | grep -c '^70$'"
	                "; readlink /proc/self/fd/0"),
	          0);
	CHECK_INT(fcntl(out, F_GETFD), FD_CLOEXEC);
	CHECK(fcntl(70, F_GETFD) >= 0);
	CHECK_STR((const char *)read_file("out").data, "/\n0\n/dev/null\n");
	CHECK_INT(tkb_libc_actions_destroy(&actions), 0);
	SYS(close(70));
	SYS(close(out));
	SYS(close(folder));
}

TEST(libc, a_descriptor_that_becomes_itself_stays_open)
{
	struct tkb_libc_actions actions;
	const int out = open("out", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	CHECK_INT(dup3(out, 7, O_CLOEXEC), 7);
	CHECK_INT(tkb_libc_actions_init(&actions), 0);
	CHECK_INT(tkb_libc_actions_dup2(&actions, 7, 7), 0);
	CHECK_INT(start(&actions, NULL, "echo heard >&7"), 0);
	CHECK_STR((const char *)read_file("out").data, "heard\n");
	SYS(close(7));
	SYS(close(out));
}

static void ignore(int number)
{
	(void)number;
}

TEST(libc, a_program_begins_with_the_signals_of_its_attributes)
{
	const char *const script =
		"! grep -qE '^Sig(Blk|Ign):.*[1-9a-f]' /proc/self/status && "
		"test \"$(cut -d' ' -f5 /proc/$$/stat)\" = $$";
	const struct sigaction handled = { .sa_handler = ignore };
	const struct sigaction ignored = { .sa_handler = SIG_IGN };
	posix_spawnattr_t attributes;
	sigset_t own;
	sigset_t none_of_them;
	sigset_t all;
	sigset_t after;

	SYS(sigemptyset(&none_of_them));
	SYS(sigfillset(&all));
	SYS(sigemptyset(&own));
	SYS(sigaddset(&own, SIGUSR2));
	SYS(sigprocmask(SIG_SETMASK, &own, NULL));
	SYS(sigaction(SIGUSR1, &handled, NULL));
	SYS(sigaction(SIGPIPE, &ignored, NULL));
	CHECK_INT(posix_spawnattr_init(&attributes), 0);
	CHECK_INT(posix_spawnattr_setflags(&attributes,
	                                   POSIX_SPAWN_SETPGROUP |
	                                           POSIX_SPAWN_SETSIGMASK |
	                                           POSIX_SPAWN_SETSIGDEF),
	          0);
	CHECK_INT(posix_spawnattr_setsigmask(&attributes, &none_of_them), 0);
	CHECK_INT(posix_spawnattr_setsigdefault(&attributes, &all), 0);
	CHECK_INT(start(NULL, &attributes, script), 0);
	SYS(sigprocmask(SIG_SETMASK, NULL, &after));
	CHECK(sigismember(&after, SIGUSR2) == 1);
	CHECK(sigismember(&after, SIGUSR1) == 0);
	CHECK_INT(posix_spawnattr_destroy(&attributes), 0);
	SYS(signal(SIGPIPE, SIG_DFL) == SIG_ERR ? -1 : 0);
}

TEST(libc, a_program_that_is_not_there_is_told_and_leaves_no_child)
{
	const char *const argv[] = { "x", NULL };
	pid_t pid = 7;

	CHECK_INT(tkb_libc_spawn(&pid, "/nowhere/x", NULL, NULL,
	                         (char *const *)argv, none),
	          ENOENT);
	CHECK_INT(pid, 7);
	CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_INT(errno, ECHILD);
}

TEST(libc, an_action_that_fails_starts_no_program)
{
	const char *const argv[] = { "sh", "-c", "touch started", NULL };
	struct tkb_libc_actions actions;
	pid_t pid = 0;

	CHECK_INT(tkb_libc_actions_init(&actions), 0);
	CHECK_INT(tkb_libc_actions_open(&actions, 0, "nowhere", O_RDONLY, 0),
	          0);
	CHECK_INT(tkb_libc_spawn(&pid, "/bin/sh", &actions, NULL,
	                         (char *const *)argv, none),
	          ENOENT);
	CHECK(!exists("started"));
	CHECK_INT(tkb_libc_actions_dup2(&actions, -1, 0), EBADF);
}

TEST(libc, a_name_without_a_slash_is_looked_for_in_the_path)
{
	const char *const argv[] = { "true", NULL };
	pid_t pid = 0;

	CHECK_INT(tkb_libc_spawnp(&pid, "true", NULL, NULL, (char *const *)argv,
	                          none),
	          0);
	CHECK_INT(end_of(pid), 0);
}
