/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A worker for the tests: what it does with a job is the first word of the
 * request.
 */

#include <tkbundle/pool.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int say(const struct tkb_sink *sink, const char *text,
               struct tkb_error *err)
{
	return sink->write(sink->self, (struct tkb_bytes){ text, strlen(text) },
	                   err);
}

static int fail(struct tkb_error *err, const char *message)
{
	err->status = TKB_ERR_CORRUPT;
	(void)snprintf(err->message, sizeof(err->message), "%s", message);
	return TKB_ERR_CORRUPT;
}

/* The value of a variable; "(unset)". */
static int tell_variable(const char *name, const struct tkb_sink *answer,
                         struct tkb_error *err)
{
	const char *value = getenv(name);

	return say(answer, value == NULL ? "(unset)" : value, err);
}

/* The open descriptors, as "0 1 2 3". */
static int tell_files(const struct tkb_sink *answer, struct tkb_error *err)
{
	char text[1024] = "";

	for (int fd = 0; fd < 200; fd++) {
		char number[16];

		if (fcntl(fd, F_GETFD) < 0)
			continue;
		(void)snprintf(number, sizeof(number), "%d ", fd);
		(void)strncat(text, number, sizeof(text) - strlen(text) - 1);
	}
	return say(answer, text, err);
}

static int tell_pid(const struct tkb_sink *answer, struct tkb_error *err)
{
	char number[16];

	(void)snprintf(number, sizeof(number), "%d", (int)getpid());
	return say(answer, number, err);
}

/* The first time it is asked it crashes: a file tells. */
static int crash_once(const char *path, const struct tkb_sink *answer,
                      struct tkb_error *err)
{
	const int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		(void)raise(SIGSEGV);
	return say(answer, "survived", err);
}

/* A child that outlives a careless parent; its pid goes into a file. */
static int start_child(const char *path)
{
	const pid_t pid = fork();

	if (pid == 0) {
		FILE *file = fopen(path, "we");

		if (file != NULL) {
			(void)fprintf(file, "%d\n", (int)getpid());
			(void)fclose(file);
		}
		(void)sleep(100);
		_exit(0);
	}
	while (access(path, F_OK) < 0)
		(void)usleep(1000);
	(void)sleep(100);
	return 0;
}

static int answer_much(const struct tkb_sink *answer, size_t size,
                       struct tkb_error *err)
{
	static char bytes[65536];
	int rc = 0;

	memset(bytes, 'x', sizeof(bytes));
	for (size_t done = 0; done < size && rc == 0; done += sizeof(bytes))
		rc = answer->write(answer->self,
		                   (struct tkb_bytes){ bytes, sizeof(bytes) },
		                   err);
	return rc;
}

static int handle(void *self, struct tkb_bytes request,
                  const struct tkb_sink *answer, const struct tkb_sink *log,
                  struct tkb_error *err)
{
	char verb[4096] = "";
	const char *rest;

	(void)self;
	memcpy(verb, request.data,
	       request.size < sizeof(verb) ? request.size : sizeof(verb) - 1);
	rest = strchr(verb, ' ');
	rest = rest == NULL ? "" : rest + 1;
	if (strncmp(verb, "echo", 4) == 0)
		return answer->write(answer->self, request, err);
	if (strncmp(verb, "variable ", 9) == 0)
		return tell_variable(rest, answer, err);
	if (strcmp(verb, "files") == 0)
		return tell_files(answer, err);
	if (strcmp(verb, "pid") == 0)
		return tell_pid(answer, err);
	if (strncmp(verb, "fail ", 5) == 0)
		return fail(err, rest);
	if (strncmp(verb, "log ", 4) == 0)
		return say(log, rest, err);
	if (strncmp(verb, "crash-once ", 11) == 0)
		return crash_once(rest, answer, err);
	if (strncmp(verb, "child ", 6) == 0)
		return start_child(rest);
	if (strncmp(verb, "much ", 5) == 0)
		return answer_much(answer, strtoul(rest, NULL, 10), err);
	if (strncmp(verb, "sleep ", 6) == 0)
		return usleep((unsigned)strtoul(rest, NULL, 10) * 1000) < 0;
	if (strcmp(verb, "crash") == 0) {
		(void)fprintf(stderr, "last words\n");
		abort();
	}
	if (strcmp(verb, "exit") == 0)
		_exit(7);
	if (strcmp(verb, "garbage") == 0)
		(void)!write(3, "this is not what a worker says", 30);
	if (strcmp(verb, "ignore-term") == 0) {
		(void)signal(SIGTERM, SIG_IGN);
		(void)sleep(100);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct tkb_worker_handler handler = { handle, NULL };
	struct tkb_error err = { 0 };

	/* A program that is no worker. */
	if (argc > 1 && strcmp(argv[1], "--exit") == 0)
		return 5;
	if (tkb_worker_serve(&handler, &err) == 0)
		return 0;
	(void)fprintf(stderr, "%s\n", err.message);
	return 1;
}
