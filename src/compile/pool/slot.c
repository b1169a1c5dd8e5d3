/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "compile/pool/pool_internal.h"

/* What workers say, and what becomes of their tasks. */

enum {
	EXIT_MS = 500,   /* from the last word of a worker to its end */
	RESTART_MS = 100 /* behind a worker that was of no use */
};

static uint64_t after_ms(uint32_t ms)
{
	return tkb_pool_now_ns() + ms * TKB_NS_PER_MS;
}

bool tkb_slot_start(struct tkb_pool *pool, struct tkb_slot *slot)
{
	struct tkb_worker_process hand = TKB_HAND_INIT;
	struct tkb_error error = { 0 };
	int rc;

	(void)pthread_mutex_unlock(&pool->lock);
	rc = tkb_worker_process_start(&hand, &pool->spawn, &error);
	(void)pthread_mutex_lock(&pool->lock);
	if (rc < 0) {
		slot->start_ns = after_ms(RESTART_MS);
		tkb_pool_note_start(pool, false, error.message);
		return false;
	}
	slot->hand = hand;
	slot->deadline_ns = after_ms(pool->start_timeout_ms);
	return true;
}

void tkb_slot_end(struct tkb_pool *pool, struct tkb_slot *slot)
{
	/* It takes a while to end a process. */
	(void)pthread_mutex_unlock(&pool->lock);
	tkb_worker_process_end(&slot->hand);
	(void)pthread_mutex_lock(&pool->lock);
	tkb_buf_reset(&slot->body);
	slot->head_size = 0;
	slot->sent = 0;
	slot->has_greeted = false;
	slot->has_worked = false;
	slot->is_closed = false;
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

void tkb_slot_lose(struct tkb_pool *pool, struct tkb_slot *slot,
                   const char *what)
{
	struct tkb_task *task = slot->task;
	const bool has_greeted = slot->has_greeted;
	const bool was_of_use = task != NULL || slot->has_worked;
	const bool was_killed = slot->hand.was_killed;
	char failure[512];
	char line[256];

	tkb_output_first_line(&slot->hand.output, line);
	if (task != NULL) {
		tkb_output_read(&slot->hand.output, task->max_log_size,
		                tkb_task_log_end(task));
		slot->task = NULL;
		retry(pool, task, what, line);
	}
	tkb_slot_end(pool, slot);
	slot->start_ns = was_of_use ? 0 : after_ms(RESTART_MS);
	if (has_greeted)
		return;
	(void)snprintf(failure, sizeof(failure), "'%.128s' %s%s%s",
	               pool->spawn.program, what, line[0] == '\0' ? "" : ": ",
	               line);
	tkb_pool_note_start(pool, was_killed, failure);
}

void tkb_slot_give(struct tkb_pool *pool, struct tkb_slot *slot,
                   struct tkb_task *task)
{
	slot->task = task;
	slot->job = ++pool->job_count;
	slot->sent = 0;
	slot->is_deaf = false;
	slot->deadline_ns = after_ms(task->timeout_ms);
	tkb_task_begin(task, slot->job);
	tkb_output_mark(&slot->hand.output);
	tkb_slot_write(slot);
}

/* A worker that does not take more will say why, or end, or be late. */
void tkb_slot_write(struct tkb_slot *slot)
{
	const struct tkb_bytes all = tkb_buf_bytes(&slot->task->message);

	while (slot->sent < all.size) {
		const ssize_t sent = send(
			slot->hand.socket, (const char *)all.data + slot->sent,
			all.size - slot->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (sent < 0) {
			slot->is_deaf = true;
			return;
		}
		slot->sent += (size_t)sent;
	}
}

/* It says no more, and gets no more. */
static void expect_end(struct tkb_slot *slot)
{
	slot->is_closed = true;
	slot->deadline_ns = after_ms(EXIT_MS);
}

static bool take_done(struct tkb_pool *pool, struct tkb_slot *slot)
{
	struct tkb_task *task = slot->task;
	struct tkb_message_done done;
	int rc;

	/* What it did not take of this job it would take for the next. */
	if (!tkb_message_read_done(tkb_buf_bytes(&slot->body), &done) ||
	    slot->sent < task->message.size)
		return false;
	rc = done.rc;
	if (rc == 0)
		rc = tkb_buf_check(&task->answer, &done.error);
	tkb_output_read(&slot->hand.output, task->max_log_size,
	                tkb_task_log_end(task));
	slot->has_worked = true;
	slot->task = NULL;
	if (slot->head.type == TKB_MESSAGE_LAST)
		expect_end(slot);
	tkb_pool_finish(pool, task, rc, &done.error);
	return true;
}

/* What came in whole. False: that is no message of a worker at this moment. */
static bool take_message(struct tkb_pool *pool, struct tkb_slot *slot)
{
	const struct tkb_bytes body = tkb_buf_bytes(&slot->body);

	if (slot->head.type == TKB_MESSAGE_HELLO) {
		if (slot->has_greeted || body.size != 0)
			return false;
		slot->has_greeted = true;
		pool->failed_starts = 0;
		return true;
	}
	if (slot->task == NULL ||
	    (slot->head.job != 0 && slot->head.job != slot->job))
		return false;
	if (slot->head.type == TKB_MESSAGE_DONE ||
	    slot->head.type == TKB_MESSAGE_LAST)
		return take_done(pool, slot);
	if (slot->head.type == TKB_MESSAGE_LOG)
		tkb_task_log(slot->task, body);
	else if (slot->head.type == TKB_MESSAGE_ANSWER)
		tkb_buf_add(&slot->task->answer, body);
	else
		return false;
	return true;
}

void *tkb_slot_room(struct tkb_slot *slot, size_t *size_out)
{
	if (slot->head_size < sizeof(slot->head)) {
		*size_out = sizeof(slot->head) - slot->head_size;
		return (char *)&slot->head + slot->head_size;
	}
	*size_out = (size_t)slot->head.size - slot->body.size;
	return tkb_buf_reserve(&slot->body, *size_out);
}

bool tkb_slot_take(struct tkb_pool *pool, struct tkb_slot *slot, size_t got)
{
	bool is_sound;

	if (slot->head_size < sizeof(slot->head))
		slot->head_size += got;
	else
		slot->body.size += got;
	if (slot->head_size < sizeof(slot->head))
		return true;
	if (!tkb_message_is_sound(&slot->head, TKB_MESSAGE_PIECE))
		return false;
	if (slot->body.size < slot->head.size)
		return true;
	is_sound = take_message(pool, slot);
	slot->head_size = 0;
	tkb_buf_reset(&slot->body);
	return is_sound;
}

void tkb_slot_read(struct tkb_pool *pool, struct tkb_slot *slot, size_t rounds)
{
	for (size_t i = 0; i < rounds && !slot->is_closed; i++) {
		size_t size = 0;
		void *place = tkb_slot_room(slot, &size);
		ssize_t got;

		if (place == NULL) {
			tkb_slot_lose(pool, slot,
			              "gave more than there is memory for");
			return;
		}
		got = recv(slot->hand.socket, place, size, MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (got <= 0) {
			expect_end(slot);
			return;
		}
		if (!tkb_slot_take(pool, slot, (size_t)got)) {
			tkb_slot_lose(pool, slot, "wrote what is no answer");
			return;
		}
	}
}
