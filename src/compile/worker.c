/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/pool.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "compile/message.h"

/* The worker's side of a pool. */

struct worker {
	const struct tkb_worker_handler *handler;
	struct tkb_buf message; /* the job at hand */
};

/* All of `bytes`, or a failure: the pool is gone. */
static int send_all(struct tkb_bytes bytes, struct tkb_error *err)
{
	size_t done = 0;

	while (done < bytes.size) {
		const ssize_t sent =
			send(TKB_MESSAGE_FD, (const char *)bytes.data + done,
		             bytes.size - done, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return tkb_fail_errno(err, "the pool is gone");
		done += (size_t)sent;
	}
	return 0;
}

static int send_message(enum tkb_message_type type, struct tkb_bytes bytes,
                        struct tkb_error *err)
{
	const struct tkb_message_head head =
		tkb_message_head_of(type, bytes.size);
	int rc;

	rc = send_all((struct tkb_bytes){ &head, sizeof(head) }, err);
	return rc < 0 ? rc : send_all(bytes, err);
}

/* TKB_MISS at the end, where nothing was read. */
static int receive_all(void *data, size_t size, struct tkb_error *err)
{
	size_t done = 0;

	while (done < size) {
		const ssize_t got = recv(TKB_MESSAGE_FD, (char *)data + done,
		                         size - done, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno != ECONNRESET)
			return tkb_fail_errno(err, "cannot read from the pool");
		if (got <= 0)
			return TKB_MISS;
		done += (size_t)got;
	}
	return 0;
}

/* The next job; TKB_MISS where the pool wants nothing more. */
static int receive_job(struct worker *worker, struct tkb_error *err)
{
	struct tkb_message_head head;
	unsigned char *place;
	int rc;

	rc = receive_all(&head, sizeof(head), err);
	if (rc != 0)
		return rc;
	if (!tkb_message_is_sound(&head, worker->message.limit) ||
	    head.type != TKB_MESSAGE_JOB ||
	    head.size < sizeof(struct tkb_message_job))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "what is at descriptor 3 is no pool");
	tkb_buf_reset(&worker->message);
	place = tkb_buf_reserve(&worker->message, (size_t)head.size);
	if (place == NULL)
		return tkb_fail_nomem(err);
	rc = receive_all(place, (size_t)head.size, err);
	worker->message.size = (size_t)head.size;
	return rc;
}

static int send_answer(void *self, struct tkb_bytes bytes,
                       struct tkb_error *err)
{
	(void)self;
	return send_message(TKB_MESSAGE_ANSWER, bytes, err);
}

static int send_log(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)self;
	return send_message(TKB_MESSAGE_LOG, bytes, err);
}

/* What a job's environment replaces, to be put back. */
struct replaced {
	char *name;  /* owned */
	char *value; /* owned; NULL: was not set */
};

static void put_back(struct replaced *items, size_t count)
{
	for (size_t i = count; i > 0; i--) {
		struct replaced *item = &items[i - 1];

		if (item->value != NULL)
			(void)setenv(item->name, item->value, 1);
		else
			(void)unsetenv(item->name);
		free(item->name);
		free(item->value);
	}
	free(items);
}

/* "NAME=value" sets, "NAME" unsets. */
static int replace(const char *text, struct replaced *out,
                   struct tkb_error *err)
{
	const size_t length = strcspn(text, "=");
	const char *old;
	int failed;

	out->name = strndup(text, length);
	if (out->name == NULL)
		return tkb_fail_nomem(err);
	old = getenv(out->name);
	out->value = old == NULL ? NULL : strdup(old);
	if (old != NULL && out->value == NULL)
		return tkb_fail_nomem(err);
	if (text[length] == '=')
		failed = setenv(out->name, text + length + 1, 1);
	else
		failed = unsetenv(out->name);
	return failed ? tkb_fail_errno(err, "cannot set '%s'", out->name) : 0;
}

/* Set what the texts say; `count_out` of `items` are to be put back. */
static int set_environment(struct tkb_bytes texts, struct replaced **items_out,
                           size_t *count_out, struct tkb_error *err)
{
	struct replaced *items = NULL;
	size_t capacity = 0;
	size_t count = 0;
	int rc = 0;

	for (size_t at = 0; at < texts.size && rc == 0;) {
		const char *text = (const char *)texts.data + at;

		rc = tkb_grow(&items, &capacity, count, sizeof(*items), err);
		if (rc < 0)
			break;
		items[count] = (struct replaced){ 0 };
		rc = replace(text, &items[count++], err);
		at += strlen(text) + 1;
	}
	*items_out = items;
	*count_out = count;
	return rc;
}

static int do_job(struct worker *worker, struct tkb_error *err)
{
	const struct tkb_bytes all = tkb_buf_bytes(&worker->message);
	const struct tkb_sink answer = { send_answer, NULL };
	const struct tkb_sink log = { send_log, NULL };
	struct tkb_message_done done = { 0 };
	struct tkb_message_job job;
	struct replaced *replaced = NULL;
	size_t count = 0;
	size_t start;

	memcpy(&job, all.data, sizeof(job));
	start = sizeof(job) + (size_t)job.environment_size;
	if (job.environment_size > all.size - sizeof(job))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "what is at descriptor 3 is no pool");
	done.rc = set_environment(tkb_bytes_slice(all, sizeof(job), start),
	                          &replaced, &count, &done.error);
	if (done.rc == 0)
		done.rc = worker->handler->handle(
			worker->handler->self,
			tkb_bytes_slice(all, start, all.size), &answer, &log,
			&done.error);
	put_back(replaced, count);
	return send_message(TKB_MESSAGE_DONE,
	                    (struct tkb_bytes){ &done, sizeof(done) }, err);
}

/*
 * The pool's end is closed when the pool is gone, however that came to be. A
 * process that shuts its pool down in order closes only one direction.
 */
static void *watch_pool(void *nothing)
{
	struct pollfd pool = { .fd = TKB_MESSAGE_FD };

	(void)nothing;
	while (poll(&pool, 1, -1) < 0 || (pool.revents & POLLHUP) == 0)
		continue;
	if (getpgrp() == getpid())
		(void)kill(0, SIGKILL);
	_exit(1);
}

static int start_watching(struct tkb_error *err)
{
	pthread_t thread;
	sigset_t all;
	sigset_t old;
	int number;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	number = pthread_create(&thread, NULL, watch_pool, NULL);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = number;
	if (number != 0)
		return tkb_fail_errno(err, "cannot start a thread");
	(void)pthread_detach(thread);
	return 0;
}

static void worker_release(struct worker *worker)
{
	tkb_buf_release(&worker->message);
}

int tkb_worker_serve(const struct tkb_worker_handler *handler,
                     struct tkb_error *err)
{
	TKB_AUTO(worker_release)
	struct worker worker = { .handler = handler,
		                 .message = TKB_BUF_INIT(SIZE_MAX / 2) };
	int type = 0;
	socklen_t size = sizeof(type);
	int rc;

	if (getsockopt(TKB_MESSAGE_FD, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "this is a worker: a pool starts it");
	rc = start_watching(err);
	if (rc == 0)
		rc = send_message(TKB_MESSAGE_HELLO, (struct tkb_bytes){ 0 },
		                  err);
	while (rc == 0) {
		rc = receive_job(&worker, err);
		if (rc == 0)
			rc = do_job(&worker, err);
	}
	return rc == TKB_MISS ? 0 : rc;
}
