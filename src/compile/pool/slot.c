/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "compile/pool/pool_internal.h"

/* Handles messages from workers, and their effect on tasks. */

enum {
	EXIT_MS = 500,   /* maximum time from closing the socket to the exit */
	RESTART_MS = 100 /* delay after a worker that did no job */
};

static uint64_t after_ms(uint32_t ms)
{
	return tkb_now_ns() + ms * TKB_NS_PER_MS;
}

bool tkb_slot_start(struct tkb_pool *pool, struct tkb_slot *slot)
{
	struct tkb_worker_process process = TKB_WORKER_PROCESS_INIT;
	struct tkb_error error = { 0 };
	int rc;

	(void)pthread_mutex_unlock(&pool->lock);
	rc = tkb_worker_process_start(&process, &pool->spawn, &error);
	(void)pthread_mutex_lock(&pool->lock);
	if (rc < 0) {
		slot->start_ns = after_ms(RESTART_MS);
		tkb_pool_note_failed_start(pool, false, error.message);
		return false;
	}
	slot->process = process;
	slot->deadline_ns = after_ms(pool->start_timeout_ms);
	return true;
}

void tkb_slot_end(struct tkb_pool *pool, struct tkb_slot *slot)
{
	/* Ending a process takes a while: release the lock. */
	(void)pthread_mutex_unlock(&pool->lock);
	tkb_worker_process_end(&slot->process);
	(void)pthread_mutex_lock(&pool->lock);
	tkb_buf_reset(&slot->body);
	slot->head_size = 0;
	slot->sent = 0;
	slot->has_greeted = false;
	slot->has_worked = false;
	slot->is_closed = false;
}

/* Enqueue a task for another try, or fail it with the reason. */
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
		tkb_pool_enqueue(pool, task, true);
		return;
	}
	if (tries > 1)
		(void)snprintf(times, sizeof(times), " at the last of %u tries",
		               tries);
	(void)tkb_fail(&error, TKB_ERR_UNAVAILABLE, "the worker %s%s%s%s", what,
	               times, line[0] == '\0' ? "" : ": ", line);
	tkb_pool_finish(pool, task, TKB_ERR_UNAVAILABLE, &error);
}

void tkb_slot_fail(struct tkb_pool *pool, struct tkb_slot *slot,
                   const char *what)
{
	struct tkb_task *task = slot->task;
	const bool has_greeted = slot->has_greeted;
	const bool was_of_use = task != NULL || slot->has_worked;
	const bool was_killed = slot->process.was_killed;
	char failure[512];
	char line[256];

	tkb_output_first_line(&slot->process.output, line);
	if (task != NULL) {
		tkb_output_read(&slot->process.output, task->max_log_size,
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
	tkb_pool_note_failed_start(pool, was_killed, failure);
}

void tkb_slot_give(struct tkb_pool *pool, struct tkb_slot *slot,
                   struct tkb_task *task)
{
	slot->task = task;
	slot->job = ++pool->job_count;
	slot->sent = 0;
	slot->has_send_failed = false;
	slot->deadline_ns = after_ms(task->timeout_ms);
	tkb_task_begin(task, slot->job);
	tkb_output_mark(&slot->process.output);
	tkb_slot_write(slot);
}

/* After a failed send, the worker will send a reason, exit or time out. */
void tkb_slot_write(struct tkb_slot *slot)
{
	const struct tkb_bytes all = tkb_buf_bytes(&slot->task->message);

	while (slot->sent < all.size) {
		const ssize_t sent = send(slot->process.socket,
		                          (const char *)all.data + slot->sent,
		                          all.size - slot->sent,
		                          MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (sent < 0) {
			slot->has_send_failed = true;
			return;
		}
		slot->sent += (size_t)sent;
	}
}

/* The worker sends no more and gets no more. */
static void close_slot(struct tkb_slot *slot)
{
	slot->is_closed = true;
	slot->deadline_ns = after_ms(EXIT_MS);
}

static bool finish_task(struct tkb_pool *pool, struct tkb_slot *slot)
{
	struct tkb_task *task = slot->task;
	struct tkb_message_done done;
	int rc;

	/* The rest of a message would be read as the next job. */
	if (!tkb_message_read_done(tkb_buf_bytes(&slot->body), &done) ||
	    slot->sent < task->message.size)
		return false;
	rc = done.rc;
	if (rc == 0)
		rc = tkb_buf_check(&task->answer, &done.error);
	tkb_output_read(&slot->process.output, task->max_log_size,
	                tkb_task_log_end(task));
	slot->has_worked = true;
	slot->task = NULL;
	if (slot->head.type == TKB_MESSAGE_LAST)
		close_slot(slot);
	tkb_pool_finish(pool, task, rc, &done.error);
	return true;
}

/* Handle a complete message. False if it is not valid at this point. */
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
		return finish_task(pool, slot);
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
		void *room = tkb_slot_room(slot, &size);
		ssize_t got;

		if (room == NULL) {
			tkb_slot_fail(pool, slot,
			              "gave more than there is memory for");
			return;
		}
		got = recv(slot->process.socket, room, size, MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (got <= 0) {
			close_slot(slot);
			return;
		}
		if (!tkb_slot_take(pool, slot, (size_t)got)) {
			tkb_slot_fail(pool, slot,
			              "wrote something that is "
			              "not an answer");
			return;
		}
	}
}
