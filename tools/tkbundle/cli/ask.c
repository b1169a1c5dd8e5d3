/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/deadline.h"

enum {
	ASKS_LIMIT = 64
};

/*
 * Start
 */

static bool add_files(posix_spawn_file_actions_t *actions, int fd)
{
	return posix_spawn_file_actions_addopen(
		       actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
	       posix_spawn_file_actions_adddup2(actions, fd, STDOUT_FILENO) ==
	               0 &&
	       posix_spawn_file_actions_addopen(actions, STDERR_FILENO,
	                                        "/dev/null", O_WRONLY, 0) == 0;
}

/*
 * Give the child its own process group, so that its own children can be killed
 * with it.
 */
static bool start_program(struct ask *ask, int fd)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	bool is_started;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return false;
	if (posix_spawnattr_init(&attributes) != 0) {
		(void)posix_spawn_file_actions_destroy(&actions);
		return false;
	}
	is_started =
		add_files(&actions, fd) &&
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP) ==
			0 &&
		posix_spawnp(&ask->child, ask->argv[0], &actions, &attributes,
	                     (char *const *)ask->argv, environ) == 0;
	(void)posix_spawnattr_destroy(&attributes);
	(void)posix_spawn_file_actions_destroy(&actions);
	return is_started;
}

static bool start_function(struct ask *ask, int fd)
{
	const int quiet = open("/dev/null", O_RDWR | O_CLOEXEC);

	ask->child = fork();
	if (ask->child == 0) {
		(void)setpgid(0, 0);
		(void)dup2(quiet, STDIN_FILENO);
		(void)dup2(quiet, STDOUT_FILENO);
		(void)dup2(quiet, STDERR_FILENO);
		_exit(ask->function(ask->self, fd) ? 0 : 1);
	}
	if (quiet >= 0)
		(void)close(quiet);
	return ask->child > 0;
}

static void begin_question(struct ask *ask)
{
	bool is_started;
	int ends[2];

	ask->out[0] = '\0';
	ask->length = 0;
	ask->child = -1;
	ask->fd = -1;
	ask->end = ASK_NONE;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	is_started = ask->argv != NULL ? start_program(ask, ends[1])
	                               : start_function(ask, ends[1]);
	(void)close(ends[1]);
	if (!is_started) {
		ask->child = -1;
		(void)close(ends[0]);
		return;
	}
	ask->fd = ends[0];
	ask->end = ASK_LATE;
}

void asks_begin(struct ask *asks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		begin_question(&asks[i]);
}

/*
 * Listen
 */

/* Reap the child. If it still runs, kill it: no program can ignore SIGKILL. */
static void reap_child(struct ask *ask)
{
	int status = -1;

	(void)close(ask->fd);
	ask->fd = -1;
	if (ask->end != ASK_DONE)
		(void)kill(-ask->child, SIGKILL);
	/* Do not wait for a late child: its system call may never return. */
	for (int i = 0; waitpid(ask->child, &status,
	                        ask->end == ASK_LATE ? WNOHANG : 0) < 0 &&
	                errno == EINTR && i < ASKS_LIMIT;
	     i++)
		;
	if (ask->end == ASK_DONE && status != 0)
		ask->end = ASK_FAILED;
}

static void read_child_answer(struct ask *ask)
{
	char rest;
	const size_t room = ask->size - 1 - ask->length;
	const ssize_t size =
		read(ask->fd, room > 0 ? ask->out + ask->length : &rest,
	             room > 0 ? room : 1);

	if (size < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (size > 0 && room > 0) {
		ask->length += (size_t)size;
		ask->out[ask->length] = '\0';
		return;
	}
	ask->end = size == 0 ? ASK_DONE : ASK_FAILED;
	reap_child(ask);
}

void asks_end(struct ask *asks, size_t count, uint64_t limit_ms)
{
	const uint64_t end_ms = deadline_now_ms() + limit_ms;
	struct pollfd polls[ASKS_LIMIT];
	size_t open_count = count;

	while (open_count > 0 && count <= ASKS_LIMIT) {
		const uint64_t now_ms = deadline_now_ms();

		open_count = 0;
		for (size_t i = 0; i < count; i++) {
			polls[i] = (struct pollfd){ .fd = asks[i].fd,
				                    .events = POLLIN };
			open_count += asks[i].fd >= 0;
		}
		if (open_count == 0 || now_ms >= end_ms)
			break;
		if (poll(polls, (nfds_t)count, (int)(end_ms - now_ms)) < 0 &&
		    errno != EINTR)
			break;
		for (size_t i = 0; i < count; i++) {
			if (asks[i].fd >= 0 && polls[i].revents != 0)
				read_child_answer(&asks[i]);
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (asks[i].fd >= 0)
			reap_child(&asks[i]);
	}
}
