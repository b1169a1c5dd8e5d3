/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "compile/message.h"

enum {
	OUTPUT_LIMIT = 1024 * 1024 /* more than that goes with the next job */
};

extern char **environ;

static void actions_release(posix_spawn_file_actions_t *actions)
{
	(void)posix_spawn_file_actions_destroy(actions);
}

static void attributes_release(posix_spawnattr_t *attributes)
{
	(void)posix_spawnattr_destroy(attributes);
}

/*
 * Standard input is empty, output and error are kept, the socket is at its
 * place, and nothing else of ours is open there. dup2() onto itself would leave
 * the socket closed on exec, so it comes from a number above.
 */
static int plan_files(posix_spawn_file_actions_t *actions, int socket,
                      int output)
{
	int number;

	number = posix_spawn_file_actions_addopen(actions, STDIN_FILENO,
	                                          "/dev/null", O_RDONLY, 0);
	if (number == 0)
		number = posix_spawn_file_actions_adddup2(actions, output,
		                                          STDOUT_FILENO);
	if (number == 0)
		number = posix_spawn_file_actions_adddup2(actions, output,
		                                          STDERR_FILENO);
	if (number == 0)
		number = posix_spawn_file_actions_adddup2(actions, socket,
		                                          TKB_MESSAGE_FD);
	if (number == 0)
		number = posix_spawn_file_actions_addclosefrom_np(
			actions, TKB_MESSAGE_FD + 1);
	return number;
}

/* No signal is blocked or ignored there, whatever is here. */
static int plan_attributes(posix_spawnattr_t *attributes)
{
	const short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
	                    POSIX_SPAWN_SETSIGDEF;
	sigset_t none;
	sigset_t all;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	(void)posix_spawnattr_setpgroup(attributes, 0);
	(void)posix_spawnattr_setsigmask(attributes, &none);
	(void)posix_spawnattr_setsigdefault(attributes, &all);
	return posix_spawnattr_setflags(attributes, flags);
}

/* A copy of `fd` that is above those that a worker has; closes `fd`. */
static int raise_fd(int fd)
{
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, TKB_MESSAGE_FD + 1);

	tkb_fd_close_at(&fd);
	return copy;
}

static int spawn(struct tkb_hand *hand, int socket, const char *program,
                 char *const *arguments, struct tkb_error *err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int number;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return tkb_fail_nomem(err);
	if (posix_spawnattr_init(&attributes) != 0) {
		actions_release(&actions);
		return tkb_fail_nomem(err);
	}
	number = plan_files(&actions, socket, hand->output);
	if (number == 0)
		number = plan_attributes(&attributes);
	if (number == 0)
		number = posix_spawn(&hand->pid, program, &actions, &attributes,
		                     arguments, environ);
	attributes_release(&attributes);
	actions_release(&actions);
	if (number == 0)
		return 0;
	hand->pid = 0;
	errno = number;
	return tkb_fail_errno(err, "cannot start '%s'", program);
}

int tkb_hand_start(struct tkb_hand *hand, const char *program,
                   char *const *arguments, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int theirs = -1;
	struct tkb_hand made = TKB_HAND_INIT;
	int pair[2];
	int rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return tkb_fail_errno(err, "cannot make a socket");
	theirs = raise_fd(pair[1]);
	made.socket = pair[0];
	made.output = memfd_create("tkbundle-worker", MFD_CLOEXEC);
	if (made.output >= 0)
		made.output = raise_fd(made.output);
	if (theirs < 0 || made.output < 0 ||
	    fcntl(made.socket, F_SETFL, O_NONBLOCK) < 0)
		rc = tkb_fail_errno(err, "cannot start a worker");
	else
		rc = spawn(&made, theirs, program, arguments, err);
	if (rc < 0) {
		tkb_fd_close_at(&made.socket);
		tkb_fd_close_at(&made.output);
		return rc;
	}
	*hand = made;
	return 0;
}

void tkb_hand_dismiss(struct tkb_hand *hand)
{
	if (hand->socket >= 0)
		(void)shutdown(hand->socket, SHUT_WR);
}

void tkb_hand_signal(const struct tkb_hand *hand, int signal)
{
	if (hand->pid > 0)
		(void)kill(-hand->pid, signal);
}

static void describe(const siginfo_t *info, char what[64])
{
	if (info->si_code == CLD_EXITED)
		(void)snprintf(what, 64, "exited with status %d",
		               info->si_status);
	else
		(void)snprintf(what, 64, "was killed by signal %d",
		               info->si_status);
}

/*
 * Has it ended? It is not reaped: as long as it is not, its number is that of
 * its group, and of nobody else's.
 */
static bool look(const struct tkb_hand *hand, char what[64])
{
	siginfo_t info = { .si_pid = 0 };
	int rc;

	do {
		rc = waitid(P_PID, (id_t)hand->pid, &info,
		            WEXITED | WNOHANG | WNOWAIT);
	} while (rc < 0 && errno == EINTR);
	if (rc == 0 && info.si_pid == 0)
		return false;
	if (rc == 0)
		describe(&info, what);
	else /* somebody ignores SIGCHLD, or reaps all children */
		(void)snprintf(what, 64, "ended");
	return true;
}

static void kill_and_reap(struct tkb_hand *hand)
{
	tkb_hand_signal(hand, SIGKILL);
	while (waitpid(hand->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	hand->pid = 0;
}

bool tkb_hand_has_ended(struct tkb_hand *hand, char what[64])
{
	if (hand->pid == 0)
		return true;
	if (!look(hand, what))
		return false;
	kill_and_reap(hand);
	return true;
}

void tkb_hand_end(struct tkb_hand *hand)
{
	if (hand->pid > 0)
		kill_and_reap(hand);
	tkb_fd_close_at(&hand->socket);
	tkb_fd_close_at(&hand->output);
}

void tkb_hand_mark(struct tkb_hand *hand)
{
	hand->output_start = lseek(hand->output, 0, SEEK_CUR);
	if (hand->output_start < OUTPUT_LIMIT ||
	    ftruncate(hand->output, 0) < 0 ||
	    lseek(hand->output, 0, SEEK_SET) < 0)
		return;
	hand->output_start = 0;
}

void tkb_hand_output(const struct tkb_hand *hand, size_t size,
                     struct tkb_buf *out)
{
	const off_t end = lseek(hand->output, 0, SEEK_CUR);
	off_t start = hand->output_start;
	unsigned char *place;
	ssize_t got;

	if (end <= start)
		return;
	if (end - start > (off_t)size)
		start = end - (off_t)size;
	place = tkb_buf_reserve(out, (size_t)(end - start));
	if (place == NULL)
		return;
	got = tkb_fd_pread_full(hand->output, place, (size_t)(end - start),
	                        (uint64_t)start);
	if (got > 0)
		out->size += (size_t)got;
}
