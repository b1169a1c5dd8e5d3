/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/pool/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "compile/pool/message.h"

static void free_texts(char **texts)
{
	for (char **at = texts; at != NULL && *at != NULL; at++)
		free(*at);
	free(texts);
}

/* A copy of `texts`, preceded by `first` unless that is NULL. */
static char **copy_texts(const char *first, const char *const *texts)
{
	const size_t skip = first == NULL ? 0 : 1;
	size_t count = 0;
	char **copy;

	while (texts != NULL && texts[count] != NULL)
		count++;
	copy = tkb_alloc_array(count + skip + 1, sizeof(*copy));
	for (size_t i = 0; copy != NULL && i < count + skip; i++) {
		copy[i] = strdup(i < skip ? first : texts[i - skip]);
		if (copy[i] == NULL) {
			free_texts(copy);
			return NULL;
		}
	}
	return copy;
}

int tkb_spawn_init(struct tkb_spawn *spawn, const char *program,
                   const char *const *arguments, struct tkb_error *err)
{
	spawn->folder = tkb_output_raise(
		tkb_fd_open(AT_FDCWD, ".", O_PATH | O_DIRECTORY, 0));
	spawn->program = strdup(program);
	spawn->arguments = copy_texts(program, arguments);
	spawn->environment = copy_texts(NULL, (const char *const *)environ);
	if (spawn->program == NULL || spawn->arguments == NULL ||
	    spawn->environment == NULL)
		return tkb_fail_nomem(err);
	return 0;
}

void tkb_spawn_release(struct tkb_spawn *spawn)
{
	free(spawn->program);
	free_texts(spawn->arguments);
	free_texts(spawn->environment);
	tkb_fd_close_at(&spawn->folder);
}

static void actions_release(posix_spawn_file_actions_t *actions)
{
	(void)posix_spawn_file_actions_destroy(actions);
}

static void attributes_release(posix_spawnattr_t *attributes)
{
	(void)posix_spawnattr_destroy(attributes);
}

/*
 * Standard input is empty, output and error go to `output`, and no other
 * descriptor of ours stays open. dup2() of a descriptor onto itself would leave
 * it close-on-exec, so the socket comes from a higher number.
 */
static int plan_files(posix_spawn_file_actions_t *actions, int folder,
                      int socket, int output)
{
	int number = 0;

	if (folder >= 0)
		number = posix_spawn_file_actions_addfchdir_np(actions, folder);
	if (number == 0)
		number = posix_spawn_file_actions_addopen(
			actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (number == 0)
		number = posix_spawn_file_actions_adddup2(actions, output,
		                                          STDOUT_FILENO);
	if (number == 0)
		number = posix_spawn_file_actions_adddup2(actions, output,
		                                          STDERR_FILENO);
	if (number == 0)
		number = posix_spawn_file_actions_adddup2(actions, socket,
		                                          TKB_MESSAGE_FD);
	if (number == 0 && tkb_fd_can_close_all())
		number = posix_spawn_file_actions_addclosefrom_np(
			actions, TKB_MESSAGE_FD + 1);
	return number;
}

/* The worker starts with no signal blocked or ignored. */
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

static int spawn_process(struct tkb_worker_process *process, int socket,
                         const struct tkb_spawn *spawn, struct tkb_error *err)
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
	number =
		plan_files(&actions, spawn->folder, socket, process->output.fd);
	if (number == 0)
		number = plan_attributes(&attributes);
	if (number == 0)
		number = posix_spawn(&process->pid, spawn->program, &actions,
		                     &attributes, spawn->arguments,
		                     spawn->environment);
	attributes_release(&attributes);
	actions_release(&actions);
	if (number == 0)
		return 0;
	process->pid = 0;
	errno = number;
	return tkb_fail_errno(err, "cannot start '%s'", spawn->program);
}

static int make_socket(int *ours, int *theirs, struct tkb_error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return tkb_fail_errno(err, "cannot make a socket");
	*ours = tkb_output_raise(pair[0]);
	*theirs = tkb_output_raise(pair[1]);
	if (*ours < 0 || *theirs < 0 || fcntl(*ours, F_SETFL, O_NONBLOCK) < 0)
		return tkb_fail_errno(err, "cannot make a socket");
	return 0;
}

int tkb_worker_process_start(struct tkb_worker_process *process,
                             const struct tkb_spawn *spawn,
                             struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int theirs = -1;
	struct tkb_worker_process made = TKB_WORKER_PROCESS_INIT;
	int rc;

	rc = make_socket(&made.socket, &theirs, err);
	if (rc == 0)
		rc = tkb_output_open(&made.output, err);
	if (rc == 0)
		rc = spawn_process(&made, theirs, spawn, err);
	if (rc < 0) {
		tkb_fd_close_at(&made.socket);
		tkb_output_close(&made.output);
		return rc;
	}
	*process = made;
	return 0;
}

void tkb_worker_process_dismiss(struct tkb_worker_process *process)
{
	if (process->socket >= 0)
		(void)shutdown(process->socket, SHUT_WR);
}

void tkb_worker_process_signal(const struct tkb_worker_process *process,
                               int signal)
{
	if (process->pid > 0)
		(void)kill(-process->pid, signal);
}

static void describe_end(const siginfo_t *info, char what[64])
{
	const char *name = info->si_code == CLD_EXITED
	                           ? NULL
	                           : sigabbrev_np(info->si_status);

	if (info->si_code == CLD_EXITED)
		(void)snprintf(what, 64, "exited with status %d",
		               info->si_status);
	else if (name != NULL)
		(void)snprintf(what, 64, "was killed by SIG%s", name);
	else
		(void)snprintf(what, 64, "was killed by signal %d",
		               info->si_status);
}

/*
 * Has the process exited? It is not reaped here: until it is reaped, its
 * number, which is also that of its group, is not reused.
 */
static bool poll_exit(const struct tkb_worker_process *process, char what[64])
{
	siginfo_t info = { .si_pid = 0 };
	int rc;

	do {
		rc = waitid(P_PID, (id_t)process->pid, &info,
		            WEXITED | WNOHANG | WNOWAIT);
	} while (rc < 0 && errno == EINTR);
	if (rc == 0 && info.si_pid == 0)
		return false;
	if (rc == 0)
		describe_end(&info, what);
	else /* somebody ignores SIGCHLD, or reaped the process */
		(void)snprintf(what, 64, "ended");
	return true;
}

bool tkb_worker_process_has_ended(struct tkb_worker_process *process,
                                  char what[64])
{
	if (process->pid == 0)
		return true;
	if (!poll_exit(process, what))
		return false;
	process->was_killed = strcmp(what, "was killed by SIGKILL") == 0 ||
	                      strcmp(what, "was killed by SIGTERM") == 0;
	tkb_worker_process_signal(process, SIGKILL);
	while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	process->pid = 0;
	return true;
}

void tkb_worker_process_end(struct tkb_worker_process *process)
{
	char what[64];

	/*
	 * The process may have left its group, so kill it by its number, which
	 * is valid until it is reaped.
	 */
	if (process->pid > 0 && !poll_exit(process, what))
		(void)kill(process->pid, SIGKILL);
	tkb_worker_process_signal(process, SIGKILL);
	while (process->pid > 0 && waitpid(process->pid, NULL, 0) < 0 &&
	       errno == EINTR)
		continue;
	process->pid = 0;
	tkb_fd_close_at(&process->socket);
	tkb_output_close(&process->output);
}
