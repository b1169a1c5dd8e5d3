/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A worker for the tests: what it does with a job is the first word of the
 * request; the rest is for that.
 */

#include "pool_worker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compile/pool/message.h"

/* What was open when the program began, as "0 1 2 3 ". */
static char files_at_start[4096];

int say(const struct call *call, const char *text)
{
	return call->answer->write(call->answer->self,
	                           (struct tkb_bytes){ text, strlen(text) },
	                           call->err);
}

static int say_number(const struct call *call, long number)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%ld", number);
	return say(call, text);
}

void nap_ms(long ms)
{
	const struct timespec pause = { .tv_sec = ms / 1000,
		                        .tv_nsec = ms % 1000 * 1000000 };

	(void)nanosleep(&pause, NULL);
}

int hang(void)
{
	nap_ms(100000);
	return 0;
}

/* Publish a number in one step. */
static void tell_number(const char *path, long number)
{
	char draft[4096];
	FILE *file;

	(void)snprintf(draft, sizeof(draft), "%s.draft", path);
	file = fopen(draft, "we");
	if (file == NULL)
		_exit(9);
	(void)fprintf(file, "%ld\n", number);
	(void)fclose(file);
	(void)rename(draft, path);
}

/* Add a byte to the file; its size before. */
long add_to(const char *path, char byte)
{
	const int fd =
		open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	struct stat about = { 0 };

	if (fd < 0 || fstat(fd, &about) < 0 || write(fd, &byte, 1) != 1)
		_exit(9);
	(void)close(fd);
	return (long)about.st_size;
}

static void list_files(char *out, size_t size)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *item;

	for (int fd = 0; folder != NULL && fd < 4096; fd++) {
		char number[16];

		if (fd == dirfd(folder) || fcntl(fd, F_GETFD) < 0)
			continue;
		(void)snprintf(number, sizeof(number), "%d ", fd);
		(void)strncat(out, number, size - strlen(out) - 1);
	}
	for (item = folder == NULL ? NULL : readdir(folder); item != NULL;
	     item = readdir(folder)) {
		if (strtol(item->d_name, NULL, 10) >= 4096)
			(void)strncat(out, "high ", size - strlen(out) - 1);
	}
	if (folder != NULL)
		(void)closedir(folder);
}

static int do_echo(const struct call *call)
{
	return call->answer->write(call->answer->self, call->request,
	                           call->err);
}

static int do_variable(const struct call *call)
{
	const char *value = getenv(call->rest);

	return say(call, value == NULL ? "(unset)" : value);
}

/* What is open now: in a child too, whatever the worker opened for itself. */
static int do_files(const struct call *call)
{
	return say(call, files_at_start);
}

static int do_child_files(const struct call *call)
{
	char text[4096] = "";
	int ends[2];
	pid_t pid;

	if (pipe(ends) < 0)
		_exit(9);
	pid = fork();
	if (pid == 0) {
		(void)dup2(ends[1], STDOUT_FILENO);
		(void)close(ends[0]);
		(void)close(ends[1]);
		(void)setenv("POOL_WORKER_LIST", "1", 1);
		(void)execl("/proc/self/exe", "list", (char *)NULL);
		_exit(9);
	}
	(void)close(ends[1]);
	(void)!read(ends[0], text, sizeof(text) - 1);
	(void)close(ends[0]);
	(void)waitpid(pid, NULL, 0);
	return say(call, text);
}

static int do_pid(const struct call *call)
{
	return say_number(call, getpid());
}

static int do_folder(const struct call *call)
{
	char folder[4096] = "";

	return say(call, getcwd(folder, sizeof(folder)));
}

/* "<blocked> <ignored> <group>" */
static int do_signals(const struct call *call)
{
	char text[64];
	sigset_t blocked;
	int blocked_count = 0;
	int ignored_count = 0;

	(void)sigprocmask(SIG_SETMASK, NULL, &blocked);
	for (int number = 1; number < SIGRTMAX; number++) {
		struct sigaction action;

		blocked_count += sigismember(&blocked, number) == 1;
		if (sigaction(number, NULL, &action) == 0)
			ignored_count += action.sa_handler == SIG_IGN;
	}
	(void)snprintf(text, sizeof(text), "%d %d %d", blocked_count,
	               ignored_count, getpgrp() == getpid());
	return say(call, text);
}

static int do_read_input(const struct call *call)
{
	char byte;

	return say_number(call, read(STDIN_FILENO, &byte, 1));
}

static int do_fail(const struct call *call)
{
	call->err->status = TKB_ERR_CORRUPT;
	(void)snprintf(call->err->message, sizeof(call->err->message), "%s",
	               call->rest);
	return TKB_ERR_CORRUPT;
}

static int do_return(const struct call *call)
{
	return (int)strtol(call->rest, NULL, 10);
}

static int do_log(const struct call *call)
{
	return call->log->write(
		call->log->self,
		(struct tkb_bytes){ call->rest, strlen(call->rest) },
		call->err);
}

/* What it logs, then what it writes, buffered or not. */
static int do_speak(const struct call *call)
{
	(void)printf("printed %s\n", call->rest);
	(void)fprintf(stderr, "complained %s\n", call->rest);
	return do_log(call);
}

static int do_speak_and_crash(const struct call *call)
{
	(void)fprintf(stderr, "---\nlast words %s\nand more\n", call->rest);
	(void)do_log(call);
	abort();
}

static int do_log_and_fail(const struct call *call)
{
	(void)do_log(call);
	(void)fprintf(stderr, "complaint\n");
	return TKB_ERR_CORRUPT;
}

static int do_write_endlessly(const struct call *call)
{
	static char bytes[65536];

	(void)call;
	memset(bytes, 'e', sizeof(bytes));
	while (write(STDERR_FILENO, bytes, sizeof(bytes)) > 0)
		nap_ms(1); /* some 50 MiB a second are enough */
	return TKB_ERR_IO;
}

/* So many lines, to a sink. */
static int write_lines(const struct call *call, const struct tkb_sink *sink)
{
	const long count = strtol(call->rest, NULL, 10);
	int rc = 0;

	for (long i = 0; i < count && rc == 0; i++) {
		char line[64];
		const int length =
			snprintf(line, sizeof(line), "line %ld\n", i);

		rc = sink->write(sink->self,
		                 (struct tkb_bytes){ line, (size_t)length },
		                 call->err);
	}
	return rc;
}

static int write_to_stderr(void *self, struct tkb_bytes bytes,
                           struct tkb_error *err)
{
	(void)self;
	(void)err;
	(void)!write(STDERR_FILENO, bytes.data, bytes.size);
	return 0;
}

static int do_write_much(const struct call *call)
{
	const struct tkb_sink sink = { write_to_stderr, NULL };

	return write_lines(call, &sink);
}

static int do_log_much(const struct call *call)
{
	return write_lines(call, call->log);
}

static int do_answer_much(const struct call *call)
{
	const size_t size = strtoul(call->rest, NULL, 10);
	char *bytes = malloc(size + 1);
	int rc;

	if (bytes == NULL)
		_exit(9);
	memset(bytes, 'x', size);
	rc = call->answer->write(call->answer->self,
	                         (struct tkb_bytes){ bytes, size }, call->err);
	free(bytes);
	return rc;
}

/* The pid into the file, then more than a socket holds. */
static int do_talk_on(const struct call *call)
{
	const struct call much = { .rest = "8000000",
		                   .answer = call->answer,
		                   .err = call->err };

	tell_number(call->rest, getpid());
	nap_ms(100);
	return do_answer_much(&much);
}

static int do_sleep(const struct call *call)
{
	nap_ms(strtol(call->rest, NULL, 10));
	return say(call, "awake");
}

/* "note FILE BYTE": in which order did they begin? */
static int do_note(const struct call *call)
{
	char path[4096];
	char byte = '?';

	if (sscanf(call->rest, "%4000s %c", path, &byte) != 2)
		return TKB_ERR_INVALID;
	return say_number(call, add_to(path, byte));
}

/* Until the file is there. */
static int do_await(const struct call *call)
{
	while (access(call->rest, F_OK) < 0)
		nap_ms(2);
	return say(call, "seen");
}

/* The pid into the file, then a long sleep. */
static int do_hang(const struct call *call)
{
	tell_number(call->rest, getpid());
	return hang();
}

static int do_crash(const struct call *call)
{
	(void)call;
	(void)raise(SIGABRT); /* a sanitizer takes SIGSEGV for its own */
	return 0;
}

static int do_exit(const struct call *call)
{
	_exit((int)strtol(call->rest, NULL, 10));
}

/* "crash-times N FILE": the first N times. */
static int do_crash_times(const struct call *call)
{
	char *path;
	const long times = strtol(call->rest, &path, 10);

	if (add_to(path + 1, '.') < times)
		(void)raise(SIGKILL);
	return say(call, "survived");
}

/* A child that outlives a careless parent; its pid goes into the file. */
static pid_t start_child(const char *path, bool leaves)
{
	const pid_t pid = fork();

	if (pid == 0) {
		if (leaves)
			(void)setsid();
		tell_number(path, getpid());
		nap_ms(100000);
		_exit(0);
	}
	while (access(path, F_OK) < 0)
		nap_ms(1);
	return pid;
}

static int do_child(const struct call *call)
{
	(void)start_child(call->rest, false);
	return hang();
}

static int do_child_and_crash(const struct call *call)
{
	(void)start_child(call->rest, false);
	(void)raise(SIGKILL);
	return 0;
}

static int do_child_and_answer(const struct call *call)
{
	(void)start_child(call->rest, false);
	return say(call, "done");
}

static int do_leave_group(const struct call *call)
{
	tell_number(call->rest, getpid());
	if (fork() == 0) { /* so that the group still has a member */
		nap_ms(100000);
		_exit(0);
	}
	(void)setpgid(0, getppid());
	(void)setsid();
	return hang();
}

static int do_ignore_term(const struct call *call)
{
	(void)signal(SIGTERM, SIG_IGN);
	return do_hang(call);
}

static const char *term_path;

static void on_term(int number)
{
	(void)number;
	(void)close(open(term_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	_exit(0);
}

/* "heed-term FILE": FILE.term tells that SIGTERM came. */
static int do_heed_term(const struct call *call)
{
	static char path[4200];

	(void)snprintf(path, sizeof(path), "%s.term", call->rest);
	term_path = path;
	(void)signal(SIGTERM, on_term);
	return do_hang(call);
}

static int do_set(const struct call *call)
{
	(void)setenv(call->rest, "changed", 1);
	return 0;
}

static int do_close_socket(const struct call *call)
{
	(void)call;
	(void)shutdown(TKB_MESSAGE_FD, SHUT_WR);
	return hang();
}

static int do_flood(const struct call *call)
{
	int rc = 0;

	while (rc == 0)
		rc = call->log->write(
			call->log->self,
			(struct tkb_bytes){ "again and again ", 16 },
			call->err);
	return rc;
}

/* "sum N": what only a worker that did it would know. */
static int do_sum(const struct call *call)
{
	uint64_t sum = strtoul(call->rest, NULL, 10);

	for (int i = 0; i < 1000; i++)
		sum = sum * 6364136223846793005u + 1442695040888963407u;
	nap_ms((long)(sum >> 61));
	return say_number(call, (long)(sum >> 1));
}

/* The same, but it crashes as the number wants. */
static int do_mean_sum(const struct call *call)
{
	const char *path = strchr(call->rest, ' ') + 1;
	const unsigned long number = strtoul(call->rest, NULL, 10);

	if (add_to(path, '.') >= (long)(number % 4))
		return do_sum(call);
	switch (number / 4 % 6) {
	case 0:
		(void)raise(SIGSEGV);
		break;
	case 1:
		_exit(0);
	case 2:
		(void)say(call, "wrong");
		(void)raise(SIGKILL);
		break;
	case 3:
		return do_garbage(call);
	case 4:
		return do_half(call);
	default:
		return do_close_socket(call);
	}
	return 0;
}

static const struct {
	const char *word;
	int (*act)(const struct call *call);
} acts[] = {
	{ "answer-much", do_answer_much },
	{ "await", do_await },
	{ "child", do_child },
	{ "child-and-answer", do_child_and_answer },
	{ "child-and-crash", do_child_and_crash },
	{ "child-files", do_child_files },
	{ "close-socket", do_close_socket },
	{ "crash", do_crash },
	{ "crash-times", do_crash_times },
	{ "done-and-die", do_done_and_die },
	{ "done-twice", do_done_twice },
	{ "echo", do_echo },
	{ "exit", do_exit },
	{ "fail", do_fail },
	{ "files", do_files },
	{ "flood", do_flood },
	{ "folder", do_folder },
	{ "garbage", do_garbage },
	{ "give-a-job", do_give_a_job },
	{ "greet-again", do_greet_again },
	{ "half", do_half },
	{ "hang", do_hang },
	{ "heed-term", do_heed_term },
	{ "huge", do_huge },
	{ "ignore-term", do_ignore_term },
	{ "leave-group", do_leave_group },
	{ "last", do_last },
	{ "log", do_log },
	{ "log-and-fail", do_log_and_fail },
	{ "log-much", do_log_much },
	{ "many-and-die", do_many_and_die },
	{ "mean-sum", do_mean_sum },
	{ "note", do_note },
	{ "odd-result", do_odd_result },
	{ "other-job", do_other_job },
	{ "pid", do_pid },
	{ "read-input", do_read_input },
	{ "return", do_return },
	{ "set", do_set },
	{ "signals", do_signals },
	{ "sleep", do_sleep },
	{ "speak", do_speak },
	{ "speak-and-crash", do_speak_and_crash },
	{ "sum", do_sum },
	{ "talk-on", do_talk_on },
	{ "variable", do_variable },
	{ "write-endlessly", do_write_endlessly },
	{ "write-much", do_write_much },
};

static int handle(void *self, struct tkb_bytes request,
                  const struct tkb_sink *answer, const struct tkb_sink *log,
                  struct tkb_error *err)
{
	char text[4096] = "";
	struct call call = {
		.request = request, .answer = answer, .log = log, .err = err
	};
	char *rest;

	(void)self;
	if (request.size != 0)
		memcpy(text, request.data,
		       request.size < sizeof(text) ? request.size
		                                   : sizeof(text) - 1);
	rest = strchr(text, ' ');
	if (rest != NULL)
		*rest++ = '\0';
	call.rest = rest == NULL ? "" : rest;
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strcmp(acts[i].word, text) == 0)
			return acts[i].act(&call);
	}
	return TKB_ERR_INVALID;
}

int main(int argc, char **argv)
{
	const struct tkb_worker_handler handler = { handle, NULL };
	struct tkb_error err = { 0 };

	list_files(files_at_start, sizeof(files_at_start));
	if (getenv("POOL_WORKER_LIST") != NULL)
		return puts(files_at_start) < 0;
	if (argc > 1) {
		const int status = be_odd(argv[1], argc > 2 ? argv[2] : "");

		if (status >= 0)
			return status;
	}
	if (tkb_worker_serve(&handler, &err) == 0)
		return 0;
	(void)fprintf(stderr, "%s\n", err.message);
	return 1;
}
