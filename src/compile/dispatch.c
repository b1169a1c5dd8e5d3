/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "compile/pool_inside.h"

enum {
	SEATS_LIMIT = 256,
	PIECE = 64 * 1024, /* read at once */
	STARTS_LIMIT = 3,  /* workers in a row that never greeted */
	NAP_MS = 5,        /* between two looks whether one has ended */
	EXIT_MS = 200,     /* from the last word of a worker to its end */
	RESTART_MS = 100,
	OUTPUT_SIZE = 16 * 1024
};

#define NS_PER_MS ((uint64_t)1000000)

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 * NS_PER_MS + (uint64_t)now.tv_nsec;
}

static void nap(void)
{
	const struct timespec pause = { .tv_nsec = NAP_MS * (long)NS_PER_MS };

	(void)nanosleep(&pause, NULL);
}

/* The seat's process is gone, and what it said so far with it. */
static void clear_seat(struct tkb_seat *seat)
{
	tkb_hand_end(&seat->hand);
	tkb_buf_reset(&seat->body);
	seat->head_size = 0;
	seat->sent = 0;
	seat->task = NULL;
	seat->has_greeted = false;
}

/* A worker that never worked: what starts it will not get better. */
static void note_failed_start(struct tkb_pool *pool, const char *what)
{
	if (++pool->failed_starts < STARTS_LIMIT)
		return;
	(void)tkb_fail(&pool->fault, TKB_ERR_UNAVAILABLE,
	               "no worker can be had: '%s' %s", pool->program, what);
}

/* Try a task again, or let it fail with what is known. */
static void retry(struct tkb_pool *pool, struct tkb_task *task,
                  const char *what)
{
	struct tkb_error error = { 0 };

	if (--task->tries > 0 && !pool->is_closing) {
		tkb_pool_line_up(pool, task, true);
		return;
	}
	(void)tkb_fail(&error, TKB_ERR_UNAVAILABLE,
	               "the worker %s, each of %u times", what, pool->tries);
	tkb_pool_finish(pool, task, TKB_ERR_UNAVAILABLE, &error);
}

static void lose(struct tkb_pool *pool, struct tkb_seat *seat, const char *what)
{
	struct tkb_buf output = TKB_BUF_INIT(OUTPUT_SIZE);
	struct tkb_task *task = seat->task;

	if (!seat->has_greeted)
		note_failed_start(pool, what);
	if (task != NULL) {
		tkb_hand_output(&seat->hand, OUTPUT_SIZE, &output);
		tkb_task_log(task, tkb_buf_bytes(&output));
		tkb_buf_release(&output);
	}
	clear_seat(seat);
	if (task != NULL)
		retry(pool, task, what);
}

/* Its end of the socket is closed: it is about to end, or is not in order. */
static void lose_ended(struct tkb_pool *pool, struct tkb_seat *seat)
{
	const uint64_t end = now_ns() + EXIT_MS * NS_PER_MS;
	char what[64] = "closed its connection";

	while (!tkb_hand_has_ended(&seat->hand, what) && now_ns() < end)
		nap();
	lose(pool, seat, what);
}

static void finish(struct tkb_pool *pool, struct tkb_seat *seat)
{
	struct tkb_task *task = seat->task;
	struct tkb_message_done done;
	int rc;

	memcpy(&done, seat->body.data, sizeof(done));
	done.error.message[sizeof(done.error.message) - 1] = '\0';
	rc = done.rc;
	if (rc == 0)
		rc = tkb_buf_check(&task->answer, &done.error);
	seat->task = NULL;
	tkb_pool_finish(pool, task, rc, &done.error);
}

/* What came in whole. False: that is no message of a worker at this moment. */
static bool take_message(struct tkb_pool *pool, struct tkb_seat *seat)
{
	const struct tkb_bytes body = tkb_buf_bytes(&seat->body);

	switch ((enum tkb_message_type)seat->head.type) {
	case TKB_MESSAGE_HELLO:
		pool->failed_starts = 0;
		seat->has_greeted = true;
		return seat->task == NULL && body.size == 0;
	case TKB_MESSAGE_LOG:
		if (seat->task == NULL)
			return false;
		tkb_task_log(seat->task, body);
		return true;
	case TKB_MESSAGE_ANSWER:
		if (seat->task == NULL)
			return false;
		tkb_buf_add(&seat->task->answer, body);
		return true;
	case TKB_MESSAGE_DONE:
		if (seat->task == NULL ||
		    body.size != sizeof(struct tkb_message_done) ||
		    ((const struct tkb_message_done *)body.data)->rc > 0)
			return false;
		finish(pool, seat);
		return true;
	case TKB_MESSAGE_JOB:
		break;
	}
	return false;
}

/* Where the next bytes go, and how many. NULL: there is no memory. */
static void *room_for(struct tkb_seat *seat, size_t *size_out)
{
	uint64_t missing;

	if (seat->head_size < sizeof(seat->head)) {
		*size_out = sizeof(seat->head) - seat->head_size;
		return (char *)&seat->head + seat->head_size;
	}
	missing = seat->head.size - seat->body.size;
	*size_out = missing < PIECE ? (size_t)missing : PIECE;
	return tkb_buf_reserve(&seat->body, *size_out);
}

/* So many bytes came. False: they make no sense. */
static bool take_bytes(struct tkb_pool *pool, struct tkb_seat *seat, size_t got)
{
	bool is_sound = true;

	if (seat->head_size < sizeof(seat->head))
		seat->head_size += got;
	else
		seat->body.size += got;
	if (seat->head_size < sizeof(seat->head))
		return true;
	if (!tkb_message_is_sound(&seat->head, pool->max_answer_size + PIECE))
		return false;
	if (seat->body.size < seat->head.size)
		return true;
	is_sound = take_message(pool, seat);
	seat->head_size = 0;
	tkb_buf_reset(&seat->body);
	return is_sound;
}

static void read_seat(struct tkb_pool *pool, struct tkb_seat *seat)
{
	for (;;) {
		size_t size = 0;
		void *place = room_for(seat, &size);
		ssize_t got;

		if (place == NULL) {
			lose(pool, seat, "gave more than there is memory for");
			return;
		}
		got = recv(seat->hand.socket, place, size, MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (got <= 0) {
			lose_ended(pool, seat);
			return;
		}
		if (!take_bytes(pool, seat, (size_t)got)) {
			lose(pool, seat, "wrote what is no answer");
			return;
		}
	}
}

/* A worker that does not take more will say why, or end. */
static void write_seat(struct tkb_seat *seat)
{
	const struct tkb_bytes all = tkb_buf_bytes(&seat->task->message);

	while (seat->sent < all.size) {
		const ssize_t sent = send(
			seat->hand.socket, (const char *)all.data + seat->sent,
			all.size - seat->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return;
		seat->sent += (size_t)sent;
	}
}

static void start_missing(struct tkb_pool *pool)
{
	struct tkb_error fault = { 0 };

	for (size_t i = 0; i < pool->seat_count; i++) {
		struct tkb_seat *seat = &pool->seats[i];

		if (seat->hand.pid != 0 || pool->fault.status != 0)
			continue;
		if (tkb_hand_start(&seat->hand, pool->program, pool->arguments,
		                   &fault) < 0) {
			note_failed_start(pool, fault.message);
			return;
		}
	}
}

/* Tasks that nobody wants any more, waiting or at work. */
static void drop_unwanted(struct tkb_pool *pool)
{
	struct tkb_task **link = &pool->first;
	struct tkb_error error = { 0 };

	(void)tkb_fail(&error, TKB_ERR_CANCELLED, "cancelled");
	while (*link != NULL) {
		struct tkb_task *task = *link;

		if (task->wanted != 0 && !pool->is_closing) {
			link = &task->next;
			continue;
		}
		*link = task->next;
		tkb_pool_finish(pool, task, TKB_ERR_CANCELLED, &error);
	}
	for (size_t i = 0; i < pool->seat_count; i++) {
		struct tkb_task *task = pool->seats[i].task;

		if (task == NULL || (task->wanted != 0 && !pool->is_closing))
			continue;
		if (!pool->is_closing)
			clear_seat(&pool->seats[i]);
		pool->seats[i].task = NULL;
		tkb_pool_finish(pool, task, TKB_ERR_CANCELLED, &error);
	}
}

static void fail_all(struct tkb_pool *pool)
{
	while (pool->first != NULL) {
		struct tkb_task *task = pool->first;

		pool->first = task->next;
		tkb_pool_finish(pool, task, TKB_ERR_UNAVAILABLE, &pool->fault);
	}
}

static void assign(struct tkb_pool *pool)
{
	for (size_t i = 0; i < pool->seat_count && pool->first != NULL; i++) {
		struct tkb_seat *seat = &pool->seats[i];
		struct tkb_task *task = pool->first;

		if (seat->task != NULL || !seat->has_greeted)
			continue;
		pool->first = task->next;
		task->state = TKB_TASK_RUNNING;
		tkb_task_begin(task);
		tkb_hand_mark(&seat->hand);
		seat->task = task;
		seat->sent = 0;
		seat->deadline_ns = now_ns() + task->timeout_ms * NS_PER_MS;
		write_seat(seat);
	}
}

/* In ms, until something is to be done unasked; -1: never. */
static int time_left(const struct tkb_pool *pool)
{
	const uint64_t now = now_ns();
	int64_t left = -1;

	for (size_t i = 0; i < pool->seat_count; i++) {
		const struct tkb_seat *seat = &pool->seats[i];
		int64_t ms = 0;

		if (seat->hand.pid == 0 && pool->fault.status == 0)
			ms = RESTART_MS;
		else if (seat->task == NULL)
			continue;
		else if (seat->deadline_ns > now)
			ms = (int64_t)((seat->deadline_ns - now) / NS_PER_MS) +
			     1;
		if (left < 0 || ms < left)
			left = ms;
	}
	return (int)(left > INT32_MAX ? INT32_MAX : left);
}

static void check_deadlines(struct tkb_pool *pool)
{
	const uint64_t now = now_ns();

	for (size_t i = 0; i < pool->seat_count; i++) {
		struct tkb_seat *seat = &pool->seats[i];
		char what[64];

		if (seat->task == NULL || now < seat->deadline_ns)
			continue;
		(void)snprintf(what, sizeof(what), "was not done after %u ms",
		               seat->task->timeout_ms);
		lose(pool, seat, what);
	}
}

/* Wait outside of the lock, and take care of what happened. */
static void wait_for_work(struct tkb_pool *pool)
{
	struct pollfd fds[SEATS_LIMIT + 1] = { { .fd = pool->bell,
		                                 .events = POLLIN } };
	const size_t count = pool->seat_count;
	const int timeout_ms = time_left(pool);
	uint64_t rung;

	for (size_t i = 0; i < count; i++) {
		const struct tkb_seat *seat = &pool->seats[i];
		const bool has_more = seat->task != NULL &&
		                      seat->sent < seat->task->message.size;

		fds[i + 1].fd = seat->hand.socket;
		fds[i + 1].events = has_more ? POLLIN | POLLOUT : POLLIN;
	}
	(void)pthread_mutex_unlock(&pool->lock);
	(void)poll(fds, count + 1, timeout_ms);
	(void)pthread_mutex_lock(&pool->lock);
	if (fds[0].revents != 0 && read(pool->bell, &rung, sizeof(rung)) < 0)
		rung = 0; /* somebody else heard it */
	for (size_t i = 0; i < count; i++) {
		struct tkb_seat *seat = &pool->seats[i];

		if ((fds[i + 1].revents & POLLOUT) != 0 && seat->task != NULL)
			write_seat(seat);
		if ((fds[i + 1].revents & ~POLLOUT) != 0)
			read_seat(pool, seat);
	}
	check_deadlines(pool);
}

/* What it still says is for nobody, but must not keep it from ending. */
static void drain(const struct tkb_seat *seat)
{
	char bytes[PIECE];
	ssize_t got;

	do {
		got = recv(seat->hand.socket, bytes, sizeof(bytes),
		           MSG_DONTWAIT);
	} while (got > 0);
}

/* True when all have ended before the time is over. */
static bool all_end(struct tkb_pool *pool)
{
	const uint64_t end = now_ns() + pool->grace_ms * NS_PER_MS;
	char what[64];
	size_t left;

	for (;;) {
		left = 0;
		for (size_t i = 0; i < pool->seat_count; i++) {
			drain(&pool->seats[i]);
			left += !tkb_hand_has_ended(&pool->seats[i].hand, what);
		}
		if (left == 0 || now_ns() >= end)
			return left == 0;
		(void)pthread_mutex_unlock(&pool->lock);
		nap();
		(void)pthread_mutex_lock(&pool->lock);
	}
}

static void shut_down(struct tkb_pool *pool)
{
	drop_unwanted(pool);
	for (size_t i = 0; i < pool->seat_count; i++)
		tkb_hand_dismiss(&pool->seats[i].hand);
	if (!all_end(pool)) {
		for (size_t i = 0; i < pool->seat_count; i++)
			tkb_hand_signal(&pool->seats[i].hand, SIGTERM);
		(void)all_end(pool);
	}
	for (size_t i = 0; i < pool->seat_count; i++)
		clear_seat(&pool->seats[i]);
}

void *tkb_pool_dispatch(void *self)
{
	struct tkb_pool *pool = self;

	(void)pthread_mutex_lock(&pool->lock);
	while (!pool->is_closing) {
		start_missing(pool);
		drop_unwanted(pool);
		if (pool->fault.status != 0)
			fail_all(pool);
		assign(pool);
		wait_for_work(pool);
	}
	shut_down(pool);
	(void)pthread_mutex_unlock(&pool->lock);
	return NULL;
}
