/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "compile/pool/pool_inside.h"

/* What workers say, and what becomes of their tasks. */

enum {
	EXIT_MS = 500,   /* from the last word of a worker to its end */
	RESTART_MS = 100 /* behind a worker that was of no use */
};

static uint64_t after_ms(uint32_t ms)
{
	return tkb_pool_now_ns() + ms * TKB_NS_PER_MS;
}

bool tkb_seat_start(struct tkb_pool *pool, struct tkb_seat *seat)
{
	struct tkb_hand hand = TKB_HAND_INIT;
	struct tkb_error error = { 0 };
	int rc;

	(void)pthread_mutex_unlock(&pool->lock);
	rc = tkb_hand_start(&hand, &pool->crew, &error);
	(void)pthread_mutex_lock(&pool->lock);
	if (rc < 0) {
		seat->start_ns = after_ms(RESTART_MS);
		tkb_pool_note_start(pool, false, error.message);
		return false;
	}
	seat->hand = hand;
	seat->deadline_ns = after_ms(pool->start_timeout_ms);
	return true;
}

void tkb_seat_end(struct tkb_pool *pool, struct tkb_seat *seat)
{
	/* It takes a while to end a process. */
	(void)pthread_mutex_unlock(&pool->lock);
	tkb_hand_end(&seat->hand);
	(void)pthread_mutex_lock(&pool->lock);
	tkb_buf_reset(&seat->body);
	seat->head_size = 0;
	seat->sent = 0;
	seat->has_greeted = false;
	seat->has_worked = false;
	seat->is_closed = false;
}

/* Try a task again, or let it fail with what is known. */
static void retry(struct tkb_pool *pool, struct tkb_task *task,
                  const char *what, const char *line)
{
	const uint32_t tries = pool->limits.tries;
	struct tkb_error error = { 0 };
	char times[40] = "";

	if (pool->is_closing) {
		(void)tkb_fail(&error, TKB_ERR_CANCELLED, "cancelled");
		tkb_pool_finish(pool, task, TKB_ERR_CANCELLED, &error);
		return;
	}
	if (--task->tries > 0) {
		tkb_pool_line_up(pool, task, true);
		return;
	}
	if (tries > 1)
		(void)snprintf(times, sizeof(times), " at the last of %u tries",
		               tries);
	(void)tkb_fail(&error, TKB_ERR_UNAVAILABLE, "the worker %s%s%s%s", what,
	               times, line[0] == '\0' ? "" : ": ", line);
	tkb_pool_finish(pool, task, TKB_ERR_UNAVAILABLE, &error);
}

void tkb_seat_lose(struct tkb_pool *pool, struct tkb_seat *seat,
                   const char *what)
{
	struct tkb_task *task = seat->task;
	const bool has_greeted = seat->has_greeted;
	const bool was_of_use = task != NULL || seat->has_worked;
	const bool was_killed = seat->hand.was_killed;
	char failure[512];
	char line[256];

	tkb_output_first_line(&seat->hand.output, line);
	if (task != NULL) {
		tkb_output_read(&seat->hand.output, task->max_log_size,
		                tkb_task_log_end(task));
		seat->task = NULL;
		retry(pool, task, what, line);
	}
	tkb_seat_end(pool, seat);
	seat->start_ns = was_of_use ? 0 : after_ms(RESTART_MS);
	if (has_greeted)
		return;
	(void)snprintf(failure, sizeof(failure), "'%.128s' %s%s%s",
	               pool->crew.program, what, line[0] == '\0' ? "" : ": ",
	               line);
	tkb_pool_note_start(pool, was_killed, failure);
}

void tkb_seat_give(struct tkb_pool *pool, struct tkb_seat *seat,
                   struct tkb_task *task)
{
	seat->task = task;
	seat->job = ++pool->job_count;
	seat->sent = 0;
	seat->is_deaf = false;
	seat->deadline_ns = after_ms(task->timeout_ms);
	tkb_task_begin(task, seat->job);
	tkb_output_mark(&seat->hand.output);
	tkb_seat_write(seat);
}

/* A worker that does not take more will say why, or end, or be late. */
void tkb_seat_write(struct tkb_seat *seat)
{
	const struct tkb_bytes all = tkb_buf_bytes(&seat->task->message);

	while (seat->sent < all.size) {
		const ssize_t sent = send(
			seat->hand.socket, (const char *)all.data + seat->sent,
			all.size - seat->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (sent < 0) {
			seat->is_deaf = true;
			return;
		}
		seat->sent += (size_t)sent;
	}
}

/* It says no more, and gets no more. */
static void expect_end(struct tkb_seat *seat)
{
	seat->is_closed = true;
	seat->deadline_ns = after_ms(EXIT_MS);
}

static bool take_done(struct tkb_pool *pool, struct tkb_seat *seat)
{
	struct tkb_task *task = seat->task;
	struct tkb_message_done done;
	int rc;

	/* What it did not take of this job it would take for the next. */
	if (!tkb_message_read_done(tkb_buf_bytes(&seat->body), &done) ||
	    seat->sent < task->message.size)
		return false;
	rc = done.rc;
	if (rc == 0)
		rc = tkb_buf_check(&task->answer, &done.error);
	tkb_output_read(&seat->hand.output, task->max_log_size,
	                tkb_task_log_end(task));
	seat->has_worked = true;
	seat->task = NULL;
	if (seat->head.type == TKB_MESSAGE_LAST)
		expect_end(seat);
	tkb_pool_finish(pool, task, rc, &done.error);
	return true;
}

/* What came in whole. False: that is no message of a worker at this moment. */
static bool take_message(struct tkb_pool *pool, struct tkb_seat *seat)
{
	const struct tkb_bytes body = tkb_buf_bytes(&seat->body);

	if (seat->head.type == TKB_MESSAGE_HELLO) {
		if (seat->has_greeted || body.size != 0)
			return false;
		seat->has_greeted = true;
		pool->failed_starts = 0;
		return true;
	}
	if (seat->task == NULL ||
	    (seat->head.job != 0 && seat->head.job != seat->job))
		return false;
	if (seat->head.type == TKB_MESSAGE_DONE ||
	    seat->head.type == TKB_MESSAGE_LAST)
		return take_done(pool, seat);
	if (seat->head.type == TKB_MESSAGE_LOG)
		tkb_task_log(seat->task, body);
	else if (seat->head.type == TKB_MESSAGE_ANSWER)
		tkb_buf_add(&seat->task->answer, body);
	else
		return false;
	return true;
}

void *tkb_seat_room(struct tkb_seat *seat, size_t *size_out)
{
	if (seat->head_size < sizeof(seat->head)) {
		*size_out = sizeof(seat->head) - seat->head_size;
		return (char *)&seat->head + seat->head_size;
	}
	*size_out = (size_t)seat->head.size - seat->body.size;
	return tkb_buf_reserve(&seat->body, *size_out);
}

bool tkb_seat_take(struct tkb_pool *pool, struct tkb_seat *seat, size_t got)
{
	bool is_sound;

	if (seat->head_size < sizeof(seat->head))
		seat->head_size += got;
	else
		seat->body.size += got;
	if (seat->head_size < sizeof(seat->head))
		return true;
	if (!tkb_message_is_sound(&seat->head, TKB_MESSAGE_PIECE))
		return false;
	if (seat->body.size < seat->head.size)
		return true;
	is_sound = take_message(pool, seat);
	seat->head_size = 0;
	tkb_buf_reset(&seat->body);
	return is_sound;
}

void tkb_seat_read(struct tkb_pool *pool, struct tkb_seat *seat, size_t rounds)
{
	for (size_t i = 0; i < rounds && !seat->is_closed; i++) {
		size_t size = 0;
		void *place = tkb_seat_room(seat, &size);
		ssize_t got;

		if (place == NULL) {
			tkb_seat_lose(pool, seat,
			              "gave more than there is memory for");
			return;
		}
		got = recv(seat->hand.socket, place, size, MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (got <= 0) {
			expect_end(seat);
			return;
		}
		if (!tkb_seat_take(pool, seat, (size_t)got)) {
			tkb_seat_lose(pool, seat, "wrote what is no answer");
			return;
		}
	}
}
