/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A program that opens a pool, gives each of its workers a job that starts a
 * child, waits until all children are there unless it ends early, and then ends
 * as it is told:
 *
 *     pool_parent WORKER FOLDER HOW
 *
 * FOLDER gets a file of each child's pid, and `copy` of a forked process's.
 */

#include <tkbundle/pool.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	WORKERS = 3
};

static const char *how;

/* Nobody closes and frees them: that is the point. */
static struct tkb_pool *pool;
static struct tkb_future *futures[WORKERS];

static void nap_ms(long ms)
{
	const struct timespec pause = { .tv_sec = ms / 1000,
		                        .tv_nsec = ms % 1000 * 1000000 };

	(void)nanosleep(&pause, NULL);
}

static void await(const char *folder, int number)
{
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/%d", folder, number);
	while (access(path, F_OK) < 0)
		nap_ms(2);
}

static void *end_process(void *nothing)
{
	(void)nothing;
	if (strstr(how, "sigkill") != NULL)
		(void)kill(getpid(), SIGKILL);
	if (strstr(how, "abort") != NULL)
		abort();
	if (strstr(how, "_exit") != NULL)
		_exit(0);
	if (strstr(how, "segv") != NULL) {
		/* A sanitizer would report it, and exit. */
		(void)signal(SIGSEGV, SIG_DFL);
		(void)raise(SIGSEGV);
	}
	exit(0);
}

/* A pool's jobs begin; nothing of it is closed. */
static void *use_pool(void *argv)
{
	const char *const *arguments = argv;
	const struct tkb_pool_options options = { .struct_size =
		                                          sizeof(options),
		                                  .worker = arguments[1],
		                                  .worker_count = WORKERS };
	struct tkb_error err = { 0 };

	if (tkb_pool_open(&options, &pool, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.message);
		_exit(2);
	}
	for (int i = 0; i < WORKERS; i++) {
		char request[4096];
		struct tkb_job job = { .struct_size = sizeof(job) };

		(void)snprintf(request, sizeof(request), "child %s/%d",
		               arguments[2], i);
		job.request.data = request;
		job.request.size = strlen(request);
		if (tkb_pool_submit(pool, &job, &futures[i], &err) < 0)
			_exit(3);
	}
	for (int i = 0; i < WORKERS && strstr(how, "early") == NULL; i++)
		await(arguments[2], i);
	if (strstr(how, "close") != NULL)
		tkb_pool_close(pool);
	return NULL;
}

/* A process that holds all that the parent held, and lives on for a while. */
static void leave_a_copy(const char *folder)
{
	char draft[4096];
	char path[4096];
	FILE *file;

	if (fork() != 0)
		return;
	(void)snprintf(draft, sizeof(draft), "%s/copy.draft", folder);
	(void)snprintf(path, sizeof(path), "%s/copy", folder);
	file = fopen(draft, "we");
	if (file != NULL) {
		(void)fprintf(file, "%d\n", (int)getpid());
		(void)fclose(file);
		(void)rename(draft, path);
	}
	nap_ms(30000);
	_exit(0);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 4)
		return 1;
	how = argv[3];
	if (strstr(how, "opener-gone") != NULL) {
		if (pthread_create(&thread, NULL, use_pool, argv) != 0)
			return 1;
		(void)pthread_join(thread, NULL);
		nap_ms(300); /* nobody must have died by then */
	} else {
		(void)use_pool(argv);
	}
	if (strstr(how, "forked") != NULL)
		leave_a_copy(argv[2]);
	if (strstr(how, "thread") != NULL) {
		if (pthread_create(&thread, NULL, end_process, NULL) != 0)
			return 1;
		pthread_exit(NULL);
	}
	if (strstr(how, "wait") != NULL)
		nap_ms(100000);
	(void)end_process(NULL);
	return 0;
}
