/* SPDX-License-Identifier: Apache-2.0 */
#include "pool_fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

const char *worker_program(void)
{
	return TKB_TEST_POOL_WORKER;
}

const char *parent_program(void)
{
	return TKB_TEST_POOL_PARENT;
}

struct tkb_pool *open_pool(struct tkb_pool_options options)
{
	struct tkb_pool *pool = NULL;

	if (options.worker == NULL)
		options.worker = worker_program();
	OK(tkb_pool_open(&options, &pool, ERR));
	return pool;
}

struct tkb_pool *open_pool_of(uint32_t worker_count)
{
	return open_pool_with(.worker_count = worker_count);
}

struct tkb_future *give_job(struct tkb_pool *pool, struct tkb_job job)
{
	struct tkb_future *future = NULL;

	OK(tkb_pool_submit(pool, &job, &future, ERR));
	return future;
}

struct tkb_future *give(struct tkb_pool *pool, const char *request)
{
	return give_with(pool, .request = tkb_text(request));
}

const char *answer_of(struct tkb_future *future)
{
	struct tkb_bytes answer = { NULL, 0 };
	const char *got;

	OK(tkb_future_wait(future, PATIENCE_MS, &answer, ERR));
	got = test_bytes(answer);
	tkb_future_free(future);
	return got;
}

void check_job_fails(struct tkb_future *future, int status, const char *part)
{
	struct tkb_bytes answer = { "untouched", 9 };

	FAILS(tkb_future_wait(future, PATIENCE_MS, &answer, ERR), status, part);
	CHECK_INT(ERR->status, status);
	CHECK_INT(answer.size, 9);
	tkb_future_free(future);
}

const char *ask(struct tkb_pool *pool, const char *request)
{
	return answer_of(give(pool, request));
}

void check_fails(struct tkb_pool *pool, const char *request, int status,
                 const char *part)
{
	check_job_fails(give(pool, request), status, part);
}

const char *log_of(struct tkb_future *future)
{
	return test_bytes(tkb_future_log(future));
}

/* Parent and state of a process; false: there is none. */
static bool read_stat(pid_t pid, int *parent, char *state)
{
	char path[64];
	char line[512] = "";
	FILE *file;
	const char *rest;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	(void)!fgets(line, sizeof(line), file);
	(void)fclose(file);
	rest = strrchr(line, ')');
	return rest != NULL && sscanf(rest, ") %c %d", state, parent) == 2;
}

size_t children(pid_t pids[CHILDREN_LIMIT])
{
	DIR *folder = opendir("/proc");
	const struct dirent *item;
	size_t count = 0;

	CHECK(folder != NULL);
	for (item = readdir(folder); item != NULL && count < CHILDREN_LIMIT;
	     item = readdir(folder)) {
		const pid_t pid = (pid_t)strtol(item->d_name, NULL, 10);
		char state = 'Z';
		int parent = 0;

		if (pid > 0 && read_stat(pid, &parent, &state) &&
		    parent == (int)getpid() && state != 'Z')
			pids[count++] = pid;
	}
	(void)closedir(folder);
	return count;
}

size_t child_count(void)
{
	pid_t pids[CHILDREN_LIMIT];

	return children(pids);
}

bool is_alive(pid_t pid)
{
	char state = 'Z';
	int parent;

	return read_stat(pid, &parent, &state) && state != 'Z';
}

void await_end_of(pid_t pid)
{
	const uint64_t end = now_ms() + PATIENCE_MS;

	while (is_alive(pid) && now_ms() < end)
		nap_ms(5);
	CHECK(!is_alive(pid));
}

void await_file(const char *path)
{
	const uint64_t end = now_ms() + PATIENCE_MS;

	while (!exists(path) && now_ms() < end)
		nap_ms(2);
	CHECK(exists(path));
}

pid_t pid_from(const char *path)
{
	await_file(path);
	return (pid_t)strtol(read_file(path).data, NULL, 10);
}
