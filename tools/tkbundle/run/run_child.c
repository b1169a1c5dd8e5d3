/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/deadline.h"
#include "cli/status.h"

#define GRACE_MS 1000 /* between SIGTERM and SIGKILL */
#define FD_LIMIT 1024 /* our descriptors are below it */

#define DOCUMENT_END 16384 /* bytes of its end in which numbers are */

/* The file uses memory only for what is printed. */
#define OUT_SIZE ((off_t)64 << 20) /* a document with 100,000 entries */
#define ERR_SIZE ((off_t)1 << 20)

/* @return a descriptor, or -1 */
static int make_output_file(const char *name, off_t size)
{
	const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	if (ftruncate(fd, size) < 0) {
		(void)close(fd);
		return -1;
	}
	/* Fails where the kernel has no files in memory: it is on a disk. */
	(void)fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK);
	return fd;
}

static bool prepare_child(struct run_child *child, const char *name)
{
	run_child_release(child);
	*child =
		(struct run_child){ .name = name,
		                    .has_begun = true,
		                    .out_fd = make_output_file("out", OUT_SIZE),
		                    .err_fd =
		                            make_output_file("err", ERR_SIZE) };
	if (child->out_fd < 0 || child->err_fd < 0)
		child->error = errno;
	return child->error == 0;
}

void run_child_let_go(int last_fd, const struct run_child *children,
                      size_t count)
{
	const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	bool is_kept[FD_LIMIT] = { false };

	for (size_t i = 0; i < count; i++) {
		const int fds[] = { children[i].out_fd, children[i].err_fd };

		for (size_t k = 0; children[i].has_begun && k < 2; k++) {
			if (fds[k] >= 0 && fds[k] < FD_LIMIT)
				is_kept[fds[k]] = true;
		}
	}

	for (int fd = STDIN_FILENO; null_fd >= 0 && fd <= last_fd; fd++)
		(void)dup2(null_fd, fd);
	for (int fd = STDERR_FILENO + 1; fd < FD_LIMIT; fd++) {
		if (!is_kept[fd])
			(void)close(fd);
	}
	/* Where both are missing, glibc's closefrom() ends the process. */
	if (syscall(SYS_close_range, FD_LIMIT, ~0U, 0) < 0 &&
	    access("/proc/self/fd", X_OK) == 0)
		closefrom(FD_LIMIT);
}

/* In a fork: make a process group, and restore the default signals. */
static void seclude(const struct run_child *other)
{
	sigset_t none;

	(void)setpgid(0, 0);
	run_child_let_go(STDERR_FILENO, other, other != NULL ? 1 : 0);
	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * Execute the running program again, even if its file was removed or replaced.
 * Not by posix_spawn(), which waits until the file has been read: that may be
 * on a dead mount.
 */
static void become_verb(const struct run_child *child, char *const argv[],
                        char *const environment[])
{
	seclude(child);
	if (dup2(child->out_fd, STDOUT_FILENO) >= 0 &&
	    dup2(child->err_fd, STDERR_FILENO) >= 0) {
		(void)execve("/proc/self/exe", argv, environment);
		/* where no /proc is mounted, by the name that it was given */
		(void)execve((const char *)getauxval(AT_EXECFN), argv,
		             environment);
	}
	(void)dprintf(STDERR_FILENO, "cannot be started: %s\n",
	              strerror(errno));
}

bool run_child_spawn(struct run_child *child, const char *name,
                     char *const argv[], char *const environment[],
                     uint64_t end_ms)
{
	pid_t pid;

	if (!child->has_begun && !prepare_child(child, name))
		return false;

	child->begin_ms = deadline_now_ms();
	child->end_ms = end_ms;
	pid = fork();
	if (pid == 0) {
		become_verb(child, argv, environment);
		_exit(EXIT_FAILURE);
	}
	child->error = pid < 0 ? errno : 0;
	child->pid = pid > 0 ? pid : 0;
	return pid > 0;
}

bool run_child_fork(struct run_child *child, const char *name,
                    void (*task)(void *self), void *self,
                    const struct run_child *other, uint64_t end_ms)
{
	const pid_t parent = getpid();
	pid_t pid;

	run_child_release(child);
	*child = (struct run_child){ .name = name,
		                     .has_begun = true,
		                     .out_fd = -1,
		                     .err_fd = -1,
		                     .begin_ms = deadline_now_ms(),
		                     .end_ms = end_ms };
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		seclude(other);
		if (getppid() == parent)
			task(self);
		_exit(0);
	}
	child->error = pid < 0 ? errno : 0;
	child->pid = pid > 0 ? pid : 0;
	return pid > 0;
}

void run_child_stop(struct run_child *child, uint64_t now_ms)
{
	if (child->pid == 0 || child->is_told)
		return;
	(void)kill(child->pid, SIGTERM);
	child->is_told = true;
	child->told_ms = now_ms;
	child->end_ms = now_ms + GRACE_MS;
}

void run_child_kill(struct run_child *child)
{
	if (child->pid == 0)
		return;
	(void)kill(child->pid, SIGKILL);
	child->told_ms = child->is_told ? child->told_ms : deadline_now_ms();
	child->is_told = true;
	child->end_ms = RUN_NEVER;
}

void run_child_tick(struct run_child *child, uint64_t now_ms)
{
	if (child->pid == 0 || now_ms < child->end_ms)
		return;
	if (child->is_told)
		run_child_kill(child);
	else
		run_child_stop(child, now_ms);
}

void run_child_note(struct run_child *child, int state)
{
	child->pid = 0;
	child->state = state;
}

bool run_child_has_exited(const struct run_child *child, int *status_out)
{
	if (!child->has_begun || child->error != 0 || child->pid != 0 ||
	    !WIFEXITED(child->state))
		return false;
	*status_out = WEXITSTATUS(child->state);
	return true;
}

/*
 * Read the end of the child's output as a string. We share the file offset with
 * the child, so it is the size of the output.
 */
static void read_end(int fd, char *out, size_t size)
{
	const off_t length = fd >= 0 ? lseek(fd, 0, SEEK_CUR) : 0;
	const size_t wanted = length > 0 && (size_t)length < size - 1
	                              ? (size_t)length
	                              : size - 1;
	ssize_t got = 0;

	if (length > 0)
		got = pread(fd, out, wanted, length - (off_t)wanted);
	out[got > 0 ? got : 0] = '\0';
}

/* The value of a member in the end of the child's output; NULL: it has none. */
static const char *find_member(const struct run_child *child, const char *name,
                               char text[DOCUMENT_END])
{
	char member[64];
	const char *found;

	/*
	 * This finds only a member: within a JSON string, quotes are escaped.
	 */
	(void)snprintf(member, sizeof(member), "\"%s\":", name);
	read_end(child->out_fd, text, DOCUMENT_END);
	found = strstr(text, member);
	if (found == NULL)
		return NULL;
	found += strlen(member);
	return found + strspn(found, " ");
}

bool run_child_found_nothing(const struct run_child *child)
{
	char text[DOCUMENT_END];
	int status = 0;

	return run_child_has_exited(child, &status) &&
	       status == STATUS_ABSENT &&
	       find_member(child, "ref", text) != NULL;
}

bool run_child_number(const struct run_child *child, const char *name,
                      uint64_t *out)
{
	char text[DOCUMENT_END];
	const char *const found = find_member(child, name, text);
	char *end;

	if (found == NULL)
		return false;
	*out = strtoull(found, &end, 10);
	return *found >= '0' && *found <= '9' && end != found;
}

/* Drop "tkbundle: " or "tkbundle pull: ", and the hint about help. */
static void trim_message(const char *line, const char *name, char *out,
                         size_t size)
{
	static const char program[] = "tkbundle";
	char prefix[64];
	char *tail;

	(void)snprintf(prefix, sizeof(prefix), "%s %s: ", program, name);
	if (strncmp(line, prefix, strlen(prefix)) == 0)
		line += strlen(prefix);
	else if (strncmp(line, "tkbundle: ", strlen("tkbundle: ")) == 0)
		line += strlen("tkbundle: ");

	(void)snprintf(out, size, "%s", line);
	tail = strstr(out, "; see 'tkbundle help ");
	if (tail != NULL)
		*tail = '\0';
}

/* The last complete line that the child wrote; false if there is none. */
static bool last_line(const struct run_child *child, char *out, size_t size)
{
	char text[2048];
	size_t length;
	char *line;

	read_end(child->err_fd, text, sizeof(text));
	length = strlen(text);
	while (length > 0 && text[length - 1] == '\n')
		text[--length] = '\0';
	line = strrchr(text, '\n');
	line = line != NULL ? line + 1 : text;
	if (*line == '\0')
		return false;
	trim_message(line, child->name, out, size);
	return true;
}

void run_child_reason(const struct run_child *child, char out[RUN_REASON_SIZE])
{
	if (child->error != 0)
		(void)snprintf(out, RUN_REASON_SIZE, "cannot be started: %s",
		               strerror(child->error));
	else if (WIFSIGNALED(child->state))
		(void)snprintf(out, RUN_REASON_SIZE, "killed by signal %d",
		               WTERMSIG(child->state));
	else if (!last_line(child, out, RUN_REASON_SIZE))
		(void)snprintf(out, RUN_REASON_SIZE, "exited with status %d",
		               WEXITSTATUS(child->state));
}

bool run_child_line(const struct run_child *child, const char *words,
                    char out[RUN_REASON_SIZE])
{
	char text[4096];
	const ssize_t got =
		child->has_begun && child->err_fd >= 0
			? pread(child->err_fd, text, sizeof(text) - 1, 0)
			: 0;
	char *found;

	text[got > 0 ? got : 0] = '\0';
	found = strstr(text, words);
	if (found == NULL)
		return false;

	found[strcspn(found, "\n")] = '\0';
	while (found > text && found[-1] != '\n')
		found--;
	trim_message(found, child->name, out, RUN_REASON_SIZE);
	return true;
}

void run_child_release(struct run_child *child)
{
	if (!child->has_begun)
		return;
	if (child->out_fd >= 0)
		(void)close(child->out_fd);
	if (child->err_fd >= 0)
		(void)close(child->err_fd);
	child->has_begun = false;
	child->out_fd = -1;
	child->err_fd = -1;
}
