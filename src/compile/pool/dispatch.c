/* SPDX-License-Identifier: Apache-2.0 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "compile/pool/pool_internal.h"

enum {
	READ_ROUNDS = 32, /* reads from one worker before the next one's turn */
	LAST_READ_ROUNDS = 65536, /* reads from a worker that has ended */
	FAILURE_WEIGHT = 20,
	KILL_WEIGHT = 1,
	FAILED_STARTS_LIMIT = 60, /* weighted count that makes a fault */
	EXIT_POLL_MS = 3,         /* between polls for the exit of a process */
	CHECK_MS = 200            /* between checks of busy workers */
};

static void pause_shortly(void)
{
	const struct timespec pause = { .tv_nsec = EXIT_POLL_MS *
		                                   (long)TKB_NS_PER_MS };

	(void)nanosleep(&pause, NULL);
}

static bool has_worker(const struct tkb_slot *slot)
{
	return slot->process.socket >= 0;
}

static size_t count_workers(const struct tkb_pool *pool, bool only_greeted)
{
	size_t count = 0;

	for (size_t i = 0; i < pool->slot_count; i++)
		count += has_worker(&pool->slots[i]) &&
		         (!only_greeted || pool->slots[i].has_greeted);
	return count;
}

/* Fail every queued task: no worker runs and none can be started. */
static void fail_queued(struct tkb_pool *pool)
{
	while (pool->first != NULL && count_workers(pool, false) == 0)
		tkb_pool_finish(pool, tkb_pool_dequeue(pool),
		                TKB_ERR_UNAVAILABLE, &pool->fault);
}

void tkb_pool_note_failed_start(struct tkb_pool *pool, bool was_killed,
                                const char *failure)
{
	pool->failed_starts += was_killed ? KILL_WEIGHT : FAILURE_WEIGHT;
	if (pool->failed_starts < FAILED_STARTS_LIMIT)
		return;
	(void)tkb_fail(&pool->fault, TKB_ERR_UNAVAILABLE,
	               "no worker can be had: %s", failure);
	fail_queued(pool);
}

/*
 * After a fault, start a worker only if a task is queued and every earlier
 * start has either greeted or failed.
 */
static bool may_start(const struct tkb_pool *pool)
{
	if (pool->fault.status == 0)
		return true;
	return pool->first != NULL && (count_workers(pool, true) != 0 ||
	                               count_workers(pool, false) == 0);
}

/* Is there a queued task without an idle or starting worker for it? */
static bool lacks_worker(const struct tkb_pool *pool)
{
	size_t idle = 0;

	if (!pool->is_started_late)
		return true;
	for (size_t i = 0; i < pool->slot_count; i++)
		idle += has_worker(&pool->slots[i]) &&
		        pool->slots[i].task == NULL;
	for (const struct tkb_task *task = pool->first; task != NULL;
	     task = task->next) {
		if (idle-- == 0)
			return true;
	}
	return false;
}

static void start_missing(struct tkb_pool *pool)
{
	struct tkb_slot *slots = pool->slots;
	size_t at = 0;

	if (!may_start(pool))
		return;
	if (pool->fault.status != 0) {
		pool->fault = (struct tkb_error){ 0 };
		pool->failed_starts = 0;
	}
	for (; at < pool->slot_count && !pool->is_closing; at++) {
		if (has_worker(&slots[at]) || tkb_now_ns() < slots[at].start_ns)
			continue;
		if (!lacks_worker(pool))
			return;
		if (!tkb_slot_start(pool, &slots[at]))
			break;
	}
	/* The cause of this failure would also prevent the other starts. */
	for (size_t i = at; i < pool->slot_count; i++)
		slots[i].start_ns = slots[at].start_ns;
}

/* Cancel queued tasks whose futures are all cancelled. */
static void cancel_queued(struct tkb_pool *pool, const struct tkb_error *error)
{
	struct tkb_task **link = &pool->first;

	while (*link != NULL) {
		struct tkb_task *task = *link;

		if (task->wanted != 0 && !pool->is_closing) {
			link = &task->next;
			continue;
		}
		*link = task->next;
		tkb_pool_finish(pool, task, TKB_ERR_CANCELLED, error);
	}
	pool->end = link;
}

/*
 * Cancel unwanted tasks. While the pool closes, their workers may finish on
 * their own instead of being killed at once.
 */
static void cancel_unwanted(struct tkb_pool *pool)
{
	struct tkb_error error = { 0 };

	if (!pool->has_unwanted && !pool->is_closing)
		return;
	pool->has_unwanted = false;
	(void)tkb_fail(&error, TKB_ERR_CANCELLED, "cancelled");
	cancel_queued(pool, &error);
	for (size_t i = 0; i < pool->slot_count; i++) {
		struct tkb_slot *slot = &pool->slots[i];
		struct tkb_task *task = slot->task;

		if (task == NULL || (task->wanted != 0 && !pool->is_closing))
			continue;
		slot->task = NULL;
		tkb_pool_finish(pool, task, TKB_ERR_CANCELLED, &error);
		if (!pool->is_closing)
			tkb_slot_end(pool, slot);
	}
}

static void assign(struct tkb_pool *pool)
{
	for (size_t i = 0; i < pool->slot_count && pool->first != NULL; i++) {
		struct tkb_slot *slot = &pool->slots[i];

		if (slot->task == NULL && slot->has_greeted && !slot->is_closed)
			tkb_slot_give(pool, slot, tkb_pool_dequeue(pool));
	}
}

static int64_t ms_until(uint64_t time_ns)
{
	const uint64_t now = tkb_now_ns();

	return time_ns <= now ? 0
	                      : (int64_t)((time_ns - now) / TKB_NS_PER_MS) + 1;
}

/* Milliseconds until the slot needs attention without an event; -1: never. */
static int64_t slot_time_left(const struct tkb_pool *pool,
                              const struct tkb_slot *slot)
{
	int64_t left;

	if (!has_worker(slot))
		return may_start(pool) ? ms_until(slot->start_ns) : -1;
	if (slot->is_closed)
		return EXIT_POLL_MS;
	if (slot->task == NULL && slot->has_greeted)
		return -1;
	left = ms_until(slot->deadline_ns);
	return left < CHECK_MS ? left : CHECK_MS;
}

static int time_left(const struct tkb_pool *pool)
{
	int64_t left = -1;

	for (size_t i = 0; i < pool->slot_count; i++) {
		const int64_t ms = slot_time_left(pool, &pool->slots[i]);

		if (ms >= 0 && (left < 0 || ms < left))
			left = ms;
	}
	return (int)left;
}

/* If the process has exited, read what it sent before and fail the slot. */
static void check_exit(struct tkb_pool *pool, struct tkb_slot *slot)
{
	char what[64];

	if (!tkb_worker_process_has_ended(&slot->process, what))
		return;
	tkb_slot_read(pool, slot, LAST_READ_ROUNDS);
	if (has_worker(slot))
		tkb_slot_fail(pool, slot, what);
}

static void check_deadline(struct tkb_pool *pool, struct tkb_slot *slot)
{
	char what[64] = "closed its connection";

	if (tkb_now_ns() < slot->deadline_ns)
		return;
	if (!slot->is_closed && !slot->has_greeted)
		(void)snprintf(what, sizeof(what), "did not greet in %u ms",
		               pool->start_timeout_ms);
	else if (!slot->is_closed)
		(void)snprintf(what, sizeof(what), "was not done after %u ms",
		               slot->task->timeout_ms);
	tkb_slot_fail(pool, slot, what);
}

/*
 * A worker that exits closes its socket, unless a child of it holds the socket
 * too, so busy workers are also polled for their exit.
 */
static void check_workers(struct tkb_pool *pool)
{
	const bool is_due = tkb_now_ns() >= pool->next_check_ns;

	if (is_due)
		pool->next_check_ns = tkb_now_ns() + CHECK_MS * TKB_NS_PER_MS;
	for (size_t i = 0; i < pool->slot_count; i++) {
		struct tkb_slot *slot = &pool->slots[i];

		if (!has_worker(slot))
			continue;
		if (is_due && slot->task != NULL)
			tkb_output_trim(&slot->process.output,
			                slot->task->max_log_size);
		if (is_due || slot->is_closed)
			check_exit(pool, slot);
		if (has_worker(slot) && (slot->task != NULL ||
		                         slot->is_closed || !slot->has_greeted))
			check_deadline(pool, slot);
	}
}

static struct pollfd poll_request(const struct tkb_slot *slot)
{
	struct pollfd fd = { .fd = slot->process.socket, .events = POLLIN };

	if (slot->task != NULL && !slot->has_send_failed &&
	    slot->sent < slot->task->message.size)
		fd.events = POLLIN | POLLOUT;
	return fd;
}

/*
 * Wait without the lock, then handle the events. Only running workers are
 * polled: poll() refuses more descriptors than the process may open.
 */
static void wait_for_work(struct tkb_pool *pool)
{
	struct pollfd fds[TKB_SLOTS_LIMIT + 1] = { { .fd = pool->wakeup,
		                                     .events = POLLIN } };
	struct tkb_slot *slots[TKB_SLOTS_LIMIT + 1] = { NULL };
	const int timeout_ms = time_left(pool);
	size_t count = 1;
	uint64_t wakeups;

	for (size_t i = 0; i < pool->slot_count; i++) {
		if (!has_worker(&pool->slots[i]) || pool->slots[i].is_closed)
			continue;
		slots[count] = &pool->slots[i];
		fds[count++] = poll_request(&pool->slots[i]);
	}
	(void)pthread_mutex_unlock(&pool->lock);
	(void)poll(fds, count, timeout_ms);
	(void)pthread_mutex_lock(&pool->lock);
	if (fds[0].revents != 0 &&
	    read(pool->wakeup, &wakeups, sizeof(wakeups)) < 0)
		wakeups = 0; /* nobody woke the dispatcher */
	for (size_t i = 1; i < count; i++) {
		if ((fds[i].revents & POLLOUT) != 0 && slots[i]->task != NULL)
			tkb_slot_write(slots[i]);
		if ((fds[i].revents & ~POLLOUT) != 0)
			tkb_slot_read(pool, slots[i], READ_ROUNDS);
	}
	check_workers(pool);
}

/* Drop what a worker still sends: a full socket would keep it running. */
static void drain(const struct tkb_slot *slot)
{
	char bytes[TKB_MESSAGE_PIECE];

	for (size_t i = 0; i < READ_ROUNDS; i++) {
		if (recv(slot->process.socket, bytes, sizeof(bytes),
		         MSG_DONTWAIT) <= 0)
			return;
	}
}

/* True if all workers have exited before the grace period is over. */
static bool wait_for_exits(struct tkb_pool *pool)
{
	const uint64_t end = tkb_now_ns() + pool->grace_ms * TKB_NS_PER_MS;
	char what[64];
	size_t left;

	for (;;) {
		left = 0;
		for (size_t i = 0; i < pool->slot_count; i++) {
			drain(&pool->slots[i]);
			left += !tkb_worker_process_has_ended(
				&pool->slots[i].process, what);
		}
		if (left == 0 || tkb_now_ns() >= end)
			return left == 0;
		(void)pthread_mutex_unlock(&pool->lock);
		pause_shortly();
		(void)pthread_mutex_lock(&pool->lock);
	}
}

static void shut_down(struct tkb_pool *pool)
{
	cancel_unwanted(pool);
	for (size_t i = 0; i < pool->slot_count; i++)
		tkb_worker_process_dismiss(&pool->slots[i].process);
	if (!wait_for_exits(pool)) {
		for (size_t i = 0; i < pool->slot_count; i++)
			tkb_worker_process_signal(&pool->slots[i].process,
			                          SIGTERM);
		(void)wait_for_exits(pool);
	}
	for (size_t i = 0; i < pool->slot_count; i++)
		tkb_slot_end(pool, &pool->slots[i]);
}

void *tkb_pool_dispatch(void *self)
{
	struct tkb_pool *pool = self;

	(void)pthread_mutex_lock(&pool->lock);
	while (!pool->is_closing) {
		start_missing(pool);
		cancel_unwanted(pool);
		assign(pool);
		if (!pool->is_closing)
			wait_for_work(pool);
	}
	shut_down(pool);
	(void)pthread_mutex_unlock(&pool->lock);
	return NULL;
}
