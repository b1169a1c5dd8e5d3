/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/pool.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compile/pool/message.h"
#include "compile/pool/variables.h"

/* The worker's side of a pool. */

enum {
	POOL_POLL_MS = 500 /* between looks whether its process exists */
};

struct worker {
	const struct tkb_worker_handler *handler;
	struct tkb_buf message; /* of the current job */
	uint64_t job;           /* the job's number */
};

/* Send all bytes; fails if the pool is gone. */
static int send_to_pool(struct tkb_bytes bytes, struct tkb_error *err)
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

static int send_message(enum tkb_message_type type, uint64_t job,
                        struct tkb_bytes bytes, struct tkb_error *err)
{
	struct tkb_message_head head = tkb_message_head_of(type, bytes.size);
	int rc;

	head.job = job;
	rc = send_to_pool((struct tkb_bytes){ &head, sizeof(head) }, err);
	return rc < 0 ? rc : send_to_pool(bytes, err);
}

/* Receive `size` bytes. Returns TKB_MISS if the pool has closed the socket. */
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

/* Receive the next job; TKB_MISS if there are no more. */
static int receive_job(struct worker *worker, struct tkb_error *err)
{
	struct tkb_message_head head;
	unsigned char *room;
	int rc;

	rc = receive_all(&head, sizeof(head), err);
	if (rc != 0)
		return rc;
	if (!tkb_message_is_sound(&head, worker->message.limit) ||
	    head.type != TKB_MESSAGE_JOB ||
	    head.size < sizeof(struct tkb_message_job))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "descriptor 3 is not connected to a pool");
	worker->job = head.job;
	tkb_buf_reset(&worker->message);
	room = tkb_buf_reserve(&worker->message, (size_t)head.size);
	if (room == NULL)
		return tkb_fail_nomem(err);
	rc = receive_all(room, (size_t)head.size, err);
	worker->message.size = (size_t)head.size;
	return rc;
}

static int send_pieces(enum tkb_message_type type, const struct worker *worker,
                       struct tkb_bytes bytes, struct tkb_error *err)
{
	int rc = 0;

	while (bytes.size != 0 && rc == 0) {
		const size_t size = bytes.size < TKB_MESSAGE_PIECE
		                            ? bytes.size
		                            : (size_t)TKB_MESSAGE_PIECE;

		rc = send_message(type, worker->job,
		                  tkb_bytes_slice(bytes, 0, size), err);
		bytes = tkb_bytes_slice(bytes, size, bytes.size);
	}
	return rc;
}

static int send_answer(void *self, struct tkb_bytes bytes,
                       struct tkb_error *err)
{
	return send_pieces(TKB_MESSAGE_ANSWER, self, bytes, err);
}

static int send_log(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	return send_pieces(TKB_MESSAGE_LOG, self, bytes, err);
}

/* Split a job into its head, NUL-terminated variables, and the request. */
static int split_job(struct tkb_bytes all, struct tkb_bytes *environment_out,
                     struct tkb_bytes *request_out, struct tkb_error *err)
{
	struct tkb_message_job about = { 0 };
	const char *texts = (const char *)all.data + sizeof(about);
	size_t size;

	if (all.data != NULL)
		memcpy(&about, all.data, sizeof(about));
	size = (size_t)about.environment_size;
	if (size > all.size - sizeof(about) ||
	    (size != 0 && texts[size - 1] != '\0'))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "descriptor 3 is not connected to a pool");
	*environment_out = (struct tkb_bytes){ texts, size };
	*request_out = tkb_bytes_slice(all, sizeof(about) + size, all.size);
	return 0;
}

static int handle_job(struct worker *worker, struct tkb_bytes request,
                      struct tkb_error *err)
{
	const struct tkb_sink answer = { send_answer, worker };
	const struct tkb_sink log = { send_log, worker };
	int rc;

	rc = worker->handler->handle(worker->handler->self, request, &answer,
	                             &log, err);
	if (rc > 0 || rc < TKB_STATUS_LOWEST)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the worker's handler returned %d", rc);
	return rc;
}

static int do_job(struct worker *worker, struct tkb_error *err)
{
	struct tkb_message_done done = { 0 };
	struct tkb_variables replaced = { 0 };
	struct tkb_bytes environment = { NULL, 0 };
	struct tkb_bytes request = { NULL, 0 };
	int rc;

	rc = split_job(tkb_buf_bytes(&worker->message), &environment, &request,
	               err);
	if (rc < 0)
		return rc;
	done.rc = tkb_variables_set(&replaced, environment, &done.error);
	if (done.rc == 0)
		done.rc = handle_job(worker, request, &done.error);
	rc = tkb_variables_put_back(&replaced, err);
	if (rc < 0)
		return rc;
	(void)fflush(NULL); /* into the output file, for the log */
	return send_message(TKB_MESSAGE_DONE, worker->job,
	                    (struct tkb_bytes){ &done, sizeof(done) }, err);
}

/* The process that made the socket: the pool's process. */
static pid_t pool_pid(void)
{
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);

	if (getsockopt(TKB_MESSAGE_FD, SOL_SOCKET, SO_PEERCRED, &peer, &size) <
	    0)
		return 0;
	return peer.pid;
}

static void kill_group(pid_t pool_group)
{
	/* If the worker is in the pool's own group, it must exit alone. */
	if (getpgrp() == getpid() ||
	    (pool_group > 0 && pool_group != getpgrp()))
		(void)kill(0, SIGKILL);
	_exit(1);
}

/*
 * The pool's end of the socket closes when the pool is gone, unless a process
 * that it forked holds it too. So the pool's process is watched as well. It may
 * be gone before this begins. An orderly shutdown closes only one direction.
 */
static void *watch_pool(void *nothing)
{
	const pid_t pool = pool_pid();
	const pid_t group = pool > 0 ? getpgid(pool) : -1;
	struct pollfd fds[] = {
		{ .fd = TKB_MESSAGE_FD },
		{ .fd = pool > 0 ? (int)syscall(SYS_pidfd_open, pool, 0) : -1,
		  .events = POLLIN },
	};
	/* it is gone already, or the kernel is too old for a pidfd */
	const bool must_poll = pool > 0 && fds[1].fd < 0;

	(void)nothing;
	while (!must_poll || kill(pool, 0) == 0 || errno != ESRCH) {
		(void)poll(fds, TKB_COUNT_OF(fds),
		           must_poll ? POOL_POLL_MS : -1);
		if (fds[0].revents != 0 || fds[1].revents != 0)
			break;
	}
	kill_group(group);
	return NULL;
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
	/* A child of this worker must not keep its socket open. */
	(void)fcntl(TKB_MESSAGE_FD, F_SETFD, FD_CLOEXEC);
	rc = start_watching(err);
	if (rc == 0)
		rc = send_message(TKB_MESSAGE_HELLO, 0,
		                  (struct tkb_bytes){ NULL, 0 }, err);
	while (rc == 0) {
		rc = receive_job(&worker, err);
		if (rc == 0)
			rc = do_job(&worker, err);
	}
	return rc == TKB_MISS ? 0 : rc;
}
