/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/task.h"

#include <stdlib.h>
#include <string.h>

#include "compile/message.h"

enum {
	DEFAULT_TIMEOUT_MS = 120000,
	LOG_LIMIT = 64 * 1024
};

#define REQUEST_LIMIT ((size_t)1024 * TKB_MIB)

static void free_at(struct tkb_task **task)
{
	tkb_task_free(*task);
}

/* The environment's texts, each with its NUL. */
static size_t environment_size(const char *const *environment)
{
	size_t size = 0;

	for (; environment != NULL && *environment != NULL; environment++)
		size += strlen(*environment) + 1;
	return size;
}

static int check_job(const struct tkb_job *job, struct tkb_error *err)
{
	for (const char *const *at = job->environment;
	     at != NULL && *at != NULL; at++) {
		if (**at == '\0' || **at == '=')
			return tkb_fail(err, TKB_ERR_INVALID,
			                "'%.80s' names no variable", *at);
	}
	if (job->request.size > REQUEST_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "a job of %zu bytes, more than %zu",
		                job->request.size, REQUEST_LIMIT);
	return 0;
}

static void write_message(const struct tkb_job *job, struct tkb_buf *out)
{
	const struct tkb_message_job about = {
		.environment_size = environment_size(job->environment),
	};
	const struct tkb_message_head head = tkb_message_head_of(
		TKB_MESSAGE_JOB, sizeof(about) +
					 (size_t)about.environment_size +
					 job->request.size);

	tkb_buf_add(out, (struct tkb_bytes){ &head, sizeof(head) });
	tkb_buf_add(out, (struct tkb_bytes){ &about, sizeof(about) });
	for (const char *const *at = job->environment;
	     at != NULL && *at != NULL; at++)
		tkb_buf_add(out, (struct tkb_bytes){ *at, strlen(*at) + 1 });
	tkb_buf_add(out, job->request);
}

int tkb_task_new(const struct tkb_job *job, uint64_t max_answer_size,
                 uint32_t tries, struct tkb_task **out, struct tkb_error *err)
{
	TKB_AUTO(free_at)
	struct tkb_task *task = tkb_alloc_array(1, sizeof(*task));
	int rc;

	if (task == NULL)
		return tkb_fail_nomem(err);
	task->message = (struct tkb_buf)TKB_BUF_INIT(SIZE_MAX / 2);
	task->answer = (struct tkb_buf)TKB_BUF_INIT((size_t)max_answer_size);
	task->log = (struct tkb_buf)TKB_BUF_INIT((size_t)2 * LOG_LIMIT);
	task->tries = tries;
	task->timeout_ms =
		job->timeout_ms != 0 ? job->timeout_ms : DEFAULT_TIMEOUT_MS;
	rc = check_job(job, err);
	if (rc < 0)
		return rc;
	task->key = job->key == NULL ? NULL : strdup(job->key);
	if (job->key != NULL && task->key == NULL)
		return tkb_fail_nomem(err);
	write_message(job, &task->message);
	rc = tkb_buf_check(&task->message, err);
	if (rc < 0)
		return rc;
	*out = tkb_take(task);
	return 0;
}

void tkb_task_free(struct tkb_task *task)
{
	if (task == NULL)
		return;
	free(task->key);
	tkb_buf_release(&task->message);
	tkb_buf_release(&task->answer);
	tkb_buf_release(&task->log);
	free(task);
}

void tkb_task_begin(struct tkb_task *task)
{
	tkb_buf_reset(&task->answer);
	tkb_buf_reset(&task->log);
	task->rc = 0;
	task->error = (struct tkb_error){ 0 };
}

void tkb_task_log(struct tkb_task *task, struct tkb_bytes bytes)
{
	struct tkb_buf *log = &task->log;

	if (bytes.size > LOG_LIMIT)
		bytes = tkb_bytes_slice(bytes, bytes.size - LOG_LIMIT,
		                        bytes.size);
	tkb_buf_add(log, bytes);
	if (log->size > LOG_LIMIT) {
		memmove(log->data, log->data + (log->size - LOG_LIMIT),
		        LOG_LIMIT);
		log->size = LOG_LIMIT;
	}
}
