/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/pool/task.h"

#include <stdlib.h>
#include <string.h>

#include "compile/pool/message.h"

enum {
	DEFAULT_TIMEOUT_MS = 120000
};

#define REQUEST_LIMIT ((size_t)1024 * TKB_MIB)
#define LOG_LIMIT ((size_t)1024 * TKB_MIB)

TKB_AUTO_POINTER(free_at, struct tkb_task, tkb_task_free)

/* Sent with every job, with their values at the time of the submit. */
static const char *const sent_variables[] = { "TORCHINDUCTOR_CACHE_DIR",
	                                      "TRITON_CACHE_DIR" };

static int check_job(const struct tkb_job *job, struct tkb_error *err)
{
	for (const char *const *at = job->environment;
	     at != NULL && *at != NULL; at++) {
		if (**at == '\0' || **at == '=')
			return tkb_fail(err, TKB_ERR_INVALID,
			                "'%.80s' does not name a variable",
			                *at);
	}
	if (job->request.size > REQUEST_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "a job of %zu bytes, more than %zu",
		                job->request.size, REQUEST_LIMIT);
	return 0;
}

/* Write NUL-terminated texts. The job's own come last: they take precedence. */
static void write_environment(const struct tkb_job *job, struct tkb_buf *out)
{
	for (size_t i = 0; i < TKB_COUNT_OF(sent_variables); i++) {
		const char *value = getenv(sent_variables[i]);

		tkb_buf_add_text(out, sent_variables[i]);
		if (value != NULL)
			tkb_print(out, "=%s", value);
		tkb_buf_add_byte(out, '\0');
	}
	for (const char *const *at = job->environment;
	     at != NULL && *at != NULL; at++)
		tkb_buf_add(out, (struct tkb_bytes){ *at, strlen(*at) + 1 });
}

/* Write the message; a try sets the job number in its head. */
static int write_message(const struct tkb_job *job, struct tkb_buf *out,
                         struct tkb_error *err)
{
	struct tkb_message_head head;
	struct tkb_message_job about;
	const size_t start = sizeof(head) + sizeof(about);
	int rc;

	(void)tkb_buf_reserve(out, start);
	rc = tkb_buf_check(out, err);
	if (rc < 0)
		return rc;
	out->size = start;
	write_environment(job, out);
	about.environment_size = out->size - start;
	tkb_buf_add(out, job->request);
	rc = tkb_buf_check(out, err);
	if (rc < 0)
		return rc;
	head = tkb_message_head_of(TKB_MESSAGE_JOB, out->size - sizeof(head));
	memcpy(out->data, &head, sizeof(head));
	memcpy(out->data + sizeof(head), &about, sizeof(about));
	return 0;
}

int tkb_task_new(const struct tkb_job *job,
                 const struct tkb_task_limits *limits, struct tkb_task **out,
                 struct tkb_error *err)
{
	TKB_AUTO(free_at)
	struct tkb_task *task = tkb_alloc_array(1, sizeof(*task));
	int rc;

	if (task == NULL)
		return tkb_fail_nomem(err);
	task->message = (struct tkb_buf)TKB_BUF_INIT(SIZE_MAX / 2);
	task->answer =
		(struct tkb_buf)TKB_BUF_INIT((size_t)limits->max_answer_size);
	task->max_log_size = limits->max_log_size < LOG_LIMIT
	                             ? (size_t)limits->max_log_size
	                             : LOG_LIMIT;
	task->log = (struct tkb_buf)TKB_BUF_INIT(2 * task->max_log_size);
	task->tries = limits->tries;
	task->timeout_ms =
		job->timeout_ms != 0 ? job->timeout_ms : DEFAULT_TIMEOUT_MS;
	rc = check_job(job, err);
	if (rc < 0)
		return rc;
	task->key = job->key == NULL ? NULL : strdup(job->key);
	if (job->key != NULL && task->key == NULL)
		return tkb_fail_nomem(err);
	rc = write_message(job, &task->message, err);
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

void tkb_task_unref(struct tkb_task *task)
{
	if (--task->references == 0)
		tkb_task_free(task);
}

void tkb_task_begin(struct tkb_task *task, uint64_t job)
{
	struct tkb_message_head *head = (void *)task->message.data;

	head->job = job;
	tkb_buf_reset(&task->answer);
	tkb_buf_reset(&task->log);
	task->rc = 0;
	task->error = (struct tkb_error){ 0 };
}

/* Cut the log to its last bytes. */
static void cut_log(struct tkb_task *task)
{
	struct tkb_buf *log = &task->log;

	if (log->size <= task->max_log_size)
		return;
	memmove(log->data, log->data + (log->size - task->max_log_size),
	        task->max_log_size);
	log->size = task->max_log_size;
}

/* The buffer grows to twice the limit: each byte is moved at most once. */
void tkb_task_log(struct tkb_task *task, struct tkb_bytes bytes)
{
	const size_t limit = task->max_log_size;

	if (bytes.size > limit)
		bytes = tkb_bytes_slice(bytes, bytes.size - limit, bytes.size);
	if (bytes.size > 2 * limit - task->log.size)
		cut_log(task);
	tkb_buf_add(&task->log, bytes);
}

struct tkb_buf *tkb_task_log_end(struct tkb_task *task)
{
	cut_log(task);
	return &task->log;
}
