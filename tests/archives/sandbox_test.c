/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sandbox.h"

/*
 * Which rights are left in the sandbox that tkbundle-archive enters. Each attempt is
 * made by a process that has entered it, and must fail there, and there alone.
 */

/* What the process has when it enters. */
struct place {
	int folder_fd; /* the folder that it gets, `inside` */
	int socket_fd; /* of TCP, not connected */
	struct sockaddr_in server;
};

static int fails_as(long result)
{
	return result >= 0 ? 0 : errno;
}

static int make_socket(const struct place *place)
{
	(void)place;
	return fails_as(socket(AF_INET, SOCK_STREAM, 0));
}

static int make_local_socket(const struct place *place)
{
	(void)place;
	return fails_as(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int connect_to_server(const struct place *place)
{
	return fails_as(connect(place->socket_fd,
	                        (const struct sockaddr *)&place->server,
	                        sizeof(place->server)));
}

static int read_outside(const struct place *place)
{
	(void)place;
	return fails_as(open("outside", O_RDONLY));
}

static int read_system_file(const struct place *place)
{
	(void)place;
	return fails_as(open("/etc/passwd", O_RDONLY));
}

static int read_above(const struct place *place)
{
	return fails_as(openat(place->folder_fd, "../outside", O_RDONLY));
}

static int read_by_a_link(const struct place *place)
{
	return fails_as(openat(place->folder_fd, "link", O_RDONLY));
}

static int write_outside(const struct place *place)
{
	(void)place;
	return fails_as(open("new", O_WRONLY | O_CREAT, 0600));
}

static int make_folder_outside(const struct place *place)
{
	return fails_as(mkdirat(place->folder_fd, "../new", 0700));
}

static int list_outside(const struct place *place)
{
	(void)place;
	return fails_as(open("/", O_RDONLY | O_DIRECTORY));
}

static int make_link(const struct place *place)
{
	return fails_as(symlinkat("/etc", place->folder_fd, "etc"));
}

static int make_hard_link(const struct place *place)
{
	return fails_as(linkat(AT_FDCWD, "outside", place->folder_fd, "x", 0));
}

static int make_pipe(const struct place *place)
{
	return fails_as(mknodat(place->folder_fd, "x", S_IFIFO | 0600, 0));
}

static int remove_file(const struct place *place)
{
	return fails_as(unlinkat(place->folder_fd, "link", 0));
}

static int move_file(const struct place *place)
{
	return fails_as(renameat(place->folder_fd, "link", AT_FDCWD, "moved"));
}

static int change_mode(const struct place *place)
{
	(void)place;
	return fails_as(chmod("outside", 04755));
}

static int start_program(const struct place *place)
{
	static char name[] = "/bin/true";
	char *const argv[] = { name, NULL };

	(void)place;
	return fails_as(execve(name, argv, NULL));
}

static int start_process(const struct place *place)
{
	const pid_t pid = fork();

	(void)place;
	if (pid == 0)
		_exit(0);
	return fails_as(pid);
}

static int send_signal(const struct place *place)
{
	(void)place;
	return fails_as(kill(getppid(), 0));
}

static int trace(const struct place *place)
{
	(void)place;
	return fails_as(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static int raise_limit(const struct place *place)
{
	const struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	(void)place;
	return fails_as(setrlimit(RLIMIT_FSIZE, &limit));
}

static int write_inside(const struct place *place)
{
	char bytes[3];
	const int fd = openat(place->folder_fd, "file",
	                      O_RDWR | O_CREAT | O_EXCL, 0600);

	if (fd < 0 || write(fd, "abc", 3) != 3 || ftruncate(fd, 2) != 0 ||
	    pread(fd, bytes, 3, 0) != 2)
		return errno != 0 ? errno : EIO;
	return fails_as(mkdirat(place->folder_fd, "folder", 0700)) +
	       fails_as(openat(place->folder_fd, "folder/file",
	                       O_WRONLY | O_CREAT, 0700));
}

enum guard {
	NOBODY,
	LANDLOCK,
	SECCOMP
};

static const struct attempt {
	const char *name;
	int (*make)(const struct place *place);
	enum guard guard; /* who must hinder it */
} attempts[] = {
	{ "make a socket", make_socket, SECCOMP },
	{ "make a local socket", make_local_socket, SECCOMP },
	{ "connect to a server", connect_to_server, SECCOMP },
	{ "read outside", read_outside, LANDLOCK },
	{ "read a file of the system", read_system_file, LANDLOCK },
	{ "read above", read_above, LANDLOCK },
	{ "read outside by a link", read_by_a_link, LANDLOCK },
	{ "write outside", write_outside, LANDLOCK },
	{ "make a folder outside", make_folder_outside, LANDLOCK },
	{ "list outside", list_outside, LANDLOCK },
	{ "make a link", make_link, SECCOMP },
	{ "make a hard link", make_hard_link, SECCOMP },
	{ "make a pipe", make_pipe, SECCOMP },
	{ "remove a file", remove_file, SECCOMP },
	{ "move a file", move_file, SECCOMP },
	{ "change a mode", change_mode, SECCOMP },
	{ "start a program", start_program, SECCOMP },
	{ "start a process", start_process, SECCOMP },
	{ "send a signal", send_signal, SECCOMP },
	{ "be traced", trace, SECCOMP },
	{ "raise a limit", raise_limit, SECCOMP },
	{ "write inside", write_inside, NOBODY },
};

/* What a process tells of an attempt. */
struct told {
	const struct place *place;
	const struct attempt *attempt;
	bool is_entered;
	int entered; /* what sandbox_enter() returned */
	struct sandbox sandbox;
	int result; /* 0, or why it failed */
};

static void stop_server(void *self)
{
	(void)close(*(const int *)self);
}

static struct place make_place(void)
{
	socklen_t size = sizeof(struct sockaddr_in);
	int *server = test_alloc(sizeof(*server));
	struct place place = { .server = { .sin_family = AF_INET } };

	place.server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	at_end(stop_server, server);
	SYS(bind(*server, (struct sockaddr *)&place.server, size));
	SYS(listen(*server, 8));
	CHECK_INT(getsockname(*server, (struct sockaddr *)&place.server, &size),
	          0);
	place.socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	SYS(mkdir("inside", 0700));
	SYS(symlink("../outside", "inside/link"));
	SYS(close(creat("outside", 0600)));
	place.folder_fd = open("inside", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(place.folder_fd >= 0);
	return place;
}

static void make_attempt(void *self)
{
	struct told *told = self;

	if (told->is_entered)
		told->entered = sandbox_enter(told->place->folder_fd,
		                              &told->sandbox, NULL);
	told->result = told->attempt->make(told->place);
}

static struct told let_attempt(const struct place *place,
                               const struct attempt *attempt, bool is_entered)
{
	struct told told = { .place = place,
		             .attempt = attempt,
		             .is_entered = is_entered };

	in_child(make_attempt, &told, sizeof(told));
	return told;
}

TEST(sandbox, holds_where_the_kernel_can)
{
	const struct place place = make_place();
	struct told told;

	EACH(i, attempts) {
		const struct attempt *attempt = &attempts[i];

		test_name_row(attempt->name);
		told = let_attempt(&place, attempt, true);
		CHECK_INT(told.entered, 0);
		if (attempt->guard == NOBODY)
			CHECK_INT(told.result, 0);
		if (attempt->guard == LANDLOCK && told.sandbox.has_landlock)
			CHECK_INT(told.result, EACCES);
		if (attempt->guard == SECCOMP && told.sandbox.has_seccomp)
			CHECK_INT(told.result, EPERM);
	}
	CHECK(access("new", F_OK) != 0);
}

TEST(sandbox, alone_hinders_what_a_process_may_otherwise)
{
	static const size_t possible[] = { 0, 1, 2, 3, 4, 5, 6, 9, 17, 18 };
	const struct place place = make_place();

	EACH(i, possible) {
		test_name_row(attempts[possible[i]].name);
		CHECK_INT(let_attempt(&place, &attempts[possible[i]], false)
		                  .result,
		          0);
	}
}
