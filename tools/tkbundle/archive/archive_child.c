/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/archive_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/fd.h"
#include "cli/signals.h"
#include "cli/text.h"

#define PROGRAM "tkbundle-archive"
#define PATH_SIZE 4096
#define LISTEN_MS 100

/* The descriptors that the child expects. */
enum {
	MESSAGES_FD = 3,
	FOLDER_FD = 4,
	FIRST_FREE_FD = 10
};

/* The exit status of a loader, or a shell, that cannot start the program. */
#define EXIT_NOT_STARTED 127

/*
 * Find the child's program: beside this one, where it was built, or in libexec.
 */
static int find_program(char out[PATH_SIZE], struct tkb_error *err)
{
	static const char *const betweens[] = { "", TKB_LIBEXEC_FROM_BIN "/" };
	char own[PATH_SIZE];
	const ssize_t size = readlink("/proc/self/exe", own, sizeof(own) - 1);
	const char *slash;

	if (size > 0)
		own[size] = '\0';
	else /* where no /proc is mounted, by the name that it was given */
		(void)snprintf(own, sizeof(own), "%s",
		               (const char *)getauxval(AT_EXECFN));
	slash = strrchr(own, '/');
	for (size_t i = 0; slash != NULL && i < 2; i++) {
		const int length =
			snprintf(out, PATH_SIZE, "%.*s/%s" PROGRAM,
		                 (int)(slash - own), own, betweens[i]);

		if (length > 0 && length < PATH_SIZE && access(out, X_OK) == 0)
			return 0;
	}
	return cli_error(err, TKB_ERR_IO,
	                 "there is no " PROGRAM ", which reads and writes "
	                 "archives: wheels do not have it; install the Debian "
	                 "package " PROGRAM);
}

/*
 * Duplicate the descriptors that are not negative, to numbers above those that
 * the child gets. @return 0 or an errno
 */
static int lift_all(const int fds[4], int out[4])
{
	int rc = 0;

	for (size_t i = 0; i < 4; i++) {
		out[i] = fds[i] < 0 ? -1
		                    : fcntl(fds[i], F_DUPFD_CLOEXEC,
		                            FIRST_FREE_FD);
		if (fds[i] >= 0 && out[i] < 0)
			rc = EMFILE; /* EINVAL means that the limit leaves no
			                number at all */
	}
	return rc;
}

static int set_file(posix_spawn_file_actions_t *actions, int fd, int as)
{
	if (fd >= 0)
		return posix_spawn_file_actions_adddup2(actions, fd, as);
	return posix_spawn_file_actions_addopen(actions, as, "/dev/null",
	                                        O_RDWR, 0);
}

/*
 * The child gets no variables, which may be secrets, except those by which its
 * libraries are found.
 */
static int spawn_archive_child(pid_t *pid, const char *program,
                               char *const argv[],
                               const posix_spawn_file_actions_t *actions)
{
	static char name[] = "LD_LIBRARY_PATH=";
	const char *folders = getenv("LD_LIBRARY_PATH");
	TKB_AUTO(text_free) char *variable = NULL;
	char *environment[2] = { NULL };

	if (folders != NULL) {
		variable = text_format("%s%s", name, folders);
		if (variable == NULL)
			return ENOMEM;
	}
	environment[0] = variable;
	return posix_spawn(pid, program, actions, NULL, argv, environment);
}

/* Where both are missing, glibc's posix_spawn() fails instead of closing. */
static bool can_close_all(void)
{
	return syscall(SYS_close_range, ~0U, ~0U, 0) == 0 ||
	       access("/proc/self/fd", X_OK) == 0;
}

static int spawn_with(pid_t *pid, const char *program, char *const argv[],
                      const int fds[4])
{
	posix_spawn_file_actions_t actions;
	int rc;

	rc = posix_spawn_file_actions_init(&actions);
	if (rc != 0)
		return rc;
	rc = set_file(&actions, fds[0], STDIN_FILENO);
	if (rc == 0)
		rc = set_file(&actions, fds[1], STDOUT_FILENO);
	if (rc == 0)
		rc = set_file(&actions, -1, STDERR_FILENO);
	if (rc == 0)
		rc = set_file(&actions, fds[2], MESSAGES_FD);
	if (rc == 0)
		rc = set_file(&actions, fds[3], FOLDER_FD);
	if (rc == 0 && can_close_all())
		rc = posix_spawn_file_actions_addclosefrom_np(&actions,
		                                              FOLDER_FD + 1);
	if (rc == 0)
		rc = spawn_archive_child(pid, program, argv, &actions);
	(void)posix_spawn_file_actions_destroy(&actions);
	return rc;
}

static int cannot_start(const struct archive_child *child, int number,
                        struct tkb_error *err)
{
	return cli_error(err, TKB_ERR_IO,
	                 "cannot %s '%s': cannot start " PROGRAM ": %s",
	                 child->what, child->archive, strerror(number));
}

int archive_child_start(struct archive_child *child, char *const argv[],
                        const struct archive_child_files *files,
                        struct tkb_error *err)
{
	char program[PATH_SIZE];
	int pipe_fds[2];
	int fds[4];
	int rc;

	rc = find_program(program, err);
	if (rc < 0)
		return rc;
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return cannot_start(child, errno, err);
	rc = lift_all((int[]){ files->in_fd, files->out_fd, pipe_fds[1],
	                       files->folder_fd },
	              fds);
	if (rc == 0)
		rc = spawn_with(&child->pid, program, argv, fds);
	for (size_t i = 0; i < 4; i++)
		fd_close(&fds[i]);
	fd_close(&pipe_fds[1]);
	child->messages_fd = pipe_fds[0];
	progress_init(&child->progress, child->cli->log, child->cli->is_tty);
	if (rc == 0)
		return 0;
	child->pid = 0;
	fd_close(&pipe_fds[0]);
	return cannot_start(child, rc, err);
}

/*
 * Messages
 */

static void take_counts(struct archive_child *child, const char *text)
{
	char *end = NULL;

	child->file_count = strtoull(text, &end, 10);
	child->unpacked_size = strtoull(end, NULL, 10);
	child->is_done = true;
}

/* Accept only a status that the library has: it becomes our exit status. */
static void take_failure(struct archive_child *child, const char *text)
{
	char *end = NULL;
	const long status = strtol(text, &end, 10);

	(void)cli_error(&child->fault,
	                status < 0 && status >= TKB_ERR_TOO_LARGE
	                        ? (enum tkb_status)status
	                        : TKB_ERR_CORRUPT,
	                "%s", *end == ' ' ? end + 1 : end);
}

static void take_message(struct archive_child *child, const char *message)
{
	const char *text = message + 1;

	switch (message[0]) {
	case 'd':
		take_counts(child, text);
		break;
	case 'e':
		take_failure(child, text);
		break;
	case 'l':
		child->link_count++;
		if (child->is_verbose)
			cli_say(child->cli, "left out '%s': a link", text);
		break;
	case 'n':
		if (child->is_verbose)
			cli_say(child->cli, "%s", text);
		break;
	case 'p':
		if (child->size != 0)
			progress_update(&child->progress,
			                strtoull(text, NULL, 10), child->size);
		break;
	case 's':
		(void)snprintf(child->sum, sizeof(child->sum), "%s", text);
		break;
	default:
		(void)cli_error(&child->fault, TKB_ERR_CORRUPT,
		                PROGRAM " sent an unknown message");
		break;
	}
}

static void take_bytes(struct archive_child *child, const char *bytes,
                       size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (child->message_size == sizeof(child->message) - 1 &&
		    bytes[i] != '\0')
			continue; /* longer than a message can be: cut */
		child->message[child->message_size++] = bytes[i];
		if (bytes[i] != '\0')
			continue;
		take_message(child, child->message);
		child->message_size = 0;
	}
}

static bool is_child_cancelled(const struct archive_child *child)
{
	return signals_is_caught() ||
	       (child->deadline != NULL && deadline_is_over(child->deadline));
}

bool archive_child_listen(struct archive_child *child, int time_ms)
{
	struct pollfd poller = { .fd = child->messages_fd, .events = POLLIN };
	char bytes[4096];
	ssize_t got;

	if (is_child_cancelled(child))
		return false;
	if (poll(&poller, 1, time_ms) <= 0)
		return true; /* or it was interrupted */
	got = read(child->messages_fd, bytes, sizeof(bytes));
	if (got < 0)
		return errno == EINTR;
	take_bytes(child, bytes, (size_t)got);
	return got > 0;
}

/*
 * The end
 */

static int reap_archive_child(struct archive_child *child)
{
	int status = 0;

	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	child->pid = 0;
	(void)close(child->messages_fd);
	progress_erase(&child->progress);
	return status;
}

static int explain_death(const struct archive_child *child, int status,
                         struct tkb_error *err)
{
	const bool is_unstarted =
		WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_STARTED;
	struct rlimit memory;

	if (is_unstarted && getrlimit(RLIMIT_AS, &memory) == 0 &&
	    memory.rlim_cur != RLIM_INFINITY)
		return cli_error(err, TKB_ERR_IO,
		                 "cannot %s '%s': " PROGRAM
		                 " cannot start within %llu kB ('ulimit -v'), "
		                 "or without the package libarchive13",
		                 child->what, child->archive,
		                 (unsigned long long)memory.rlim_cur / 1024);
	if (is_unstarted)
		return cli_error(err, TKB_ERR_IO,
		                 PROGRAM " cannot start: install the package "
		                         "libarchive13");
	if (WIFSIGNALED(status))
		return cli_error(err, TKB_ERR_IO,
		                 "cannot %s '%s': " PROGRAM
		                 " was ended by signal %d",
		                 child->what, child->archive, WTERMSIG(status));
	return cli_error(err, TKB_ERR_IO, "cannot %s '%s': " PROGRAM " failed",
	                 child->what, child->archive);
}

int archive_child_finish(struct archive_child *child, struct tkb_error *err)
{
	int status;

	while (archive_child_listen(child, LISTEN_MS))
		continue;
	if (is_child_cancelled(child)) {
		archive_child_release(child);
		return cli_error(err, TKB_ERR_CANCELLED, "%s",
		                 signals_is_caught() ? "cancelled"
		                                     : "the deadline is over");
	}
	status = reap_archive_child(child);
	if (child->fault.status != 0 && child->output != NULL)
		return cli_error(err, child->fault.status,
		                 "cannot %s '%s' to '%s': %s", child->what,
		                 child->archive, child->output,
		                 child->fault.message);
	if (child->fault.status != 0)
		return cli_error(err, child->fault.status, "cannot %s '%s': %s",
		                 child->what, child->archive,
		                 child->fault.message);
	if (!child->is_done || status != 0)
		return explain_death(child, status, err);
	return 0;
}

void archive_child_release(struct archive_child *child)
{
	if (child->pid == 0)
		return;
	(void)kill(child->pid, SIGKILL);
	(void)reap_archive_child(child);
}
