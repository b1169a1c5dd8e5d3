/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_POOL_INTERNAL_H
#define TKB_COMPILE_POOL_POOL_INTERNAL_H

/*
 * The parts of struct tkb_pool. One thread, the dispatcher, starts workers,
 * gives them tasks, reads their messages and ends them; all other threads only
 * enqueue tasks and wait. Everything is under one lock, which the dispatcher
 * releases whenever it waits. Slots belong to the dispatcher; other threads
 * only read a slot's task.
 */

#include <pthread.h>

#include "compile/pool/spawn.h"
#include "compile/pool/message.h"
#include "compile/pool/task.h"

enum {
	TKB_SLOTS_LIMIT = 256
};

struct tkb_slot {
	struct tkb_worker_process process;
	struct tkb_task *task; /* running; NULL: idle */
	uint64_t job;          /* the task's number for this try */
	size_t sent;           /* bytes of the task's message */
	uint64_t deadline_ns;  /* deadline of the task, the greeting or the
	                          exit */
	uint64_t start_ns;     /* earliest time of the next start */
	bool has_greeted;
	bool has_worked;      /* it has finished a job */
	bool has_send_failed; /* it accepts no more of the message */
	bool is_closed;       /* it sends no more and is expected to exit */
	struct tkb_message_head head; /* header of the incoming message */
	size_t head_size;             /* bytes of the head received */
	struct tkb_buf body;          /* bytes of the rest received */
};

struct tkb_pool {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* signalled: a task is done, or a future
	                           cancelled */
	size_t references;      /* the owner and all futures */
	int wakeup; /* owned; an eventfd that wakes the dispatcher */
	pthread_t thread;
	bool has_thread;
	bool is_closing;
	bool is_started_late;   /* workers are started only when jobs wait
	                           for one */
	struct tkb_watch watch; /* polled by waiting callers */
	struct tkb_spawn spawn;
	uint32_t grace_ms;
	uint32_t start_timeout_ms;
	struct tkb_task_limits limits;
	struct tkb_slot *slots; /* owned */
	size_t slot_count;
	struct tkb_task *first; /* the queue */
	struct tkb_task **end;  /* the next pointer of the queue's last task */
	size_t task_count;      /* queued or running */
	bool has_unwanted;      /* a task lost its last future */
	uint64_t job_count;     /* tries given to workers so far */
	uint64_t next_check_ns; /* time of the next check of busy workers */
	uint32_t failed_starts; /* weighted count, reset by a greeting */
	struct tkb_error fault; /* why no worker starts; status 0: none */
};

/* The dispatcher's thread. */
void *tkb_pool_dispatch(void *pool);

/* Wake the dispatcher. */
void tkb_pool_wake(const struct tkb_pool *pool);

/* Set the task's result and wake those who wait for it. Lock held. */
void tkb_pool_finish(struct tkb_pool *pool, struct tkb_task *task, int rc,
                     const struct tkb_error *error);

/* Drop one reference to the pool. Lock held; released on return. */
void tkb_pool_unref(struct tkb_pool *pool);

/* Enqueue a task, at the end or in front. Lock held. */
void tkb_pool_enqueue(struct tkb_pool *pool, struct tkb_task *task,
                      bool is_first);

/* Take the first task off the queue, which is not empty. Lock held. */
struct tkb_task *tkb_pool_dequeue(struct tkb_pool *pool);

/*
 * Record a start that failed before the greeting. After several in a row the
 * pool has a fault, and queued tasks fail. A worker that was killed by somebody
 * counts less.
 */
void tkb_pool_note_failed_start(struct tkb_pool *pool, bool was_killed,
                                const char *failure);

/*
 * The dispatcher's side of one worker (slot.c). Lock held; functions that take
 * the pool may release it for a moment.
 */

/* Start a worker. False if it cannot be started. */
bool tkb_slot_start(struct tkb_pool *pool, struct tkb_slot *slot);

/* Assign a task to the worker. */
void tkb_slot_give(struct tkb_pool *pool, struct tkb_slot *slot,
                   struct tkb_task *task);

/* Send as much of the task's message as the socket takes. */
void tkb_slot_write(struct tkb_slot *slot);

/* Read messages, at most `rounds` times: other workers get their turn. */
void tkb_slot_read(struct tkb_pool *pool, struct tkb_slot *slot, size_t rounds);

/* Where the next bytes go, and how many fit. NULL: no memory. */
void *tkb_slot_room(struct tkb_slot *slot, size_t *size_out);

/* Process `got` received bytes. False if they are malformed. */
TKB_NODISCARD bool tkb_slot_take(struct tkb_pool *pool, struct tkb_slot *slot,
                                 size_t got);

/* The worker has exited or must be killed; its task is retried or fails. */
void tkb_slot_fail(struct tkb_pool *pool, struct tkb_slot *slot,
                   const char *what);

/* End the process of a worker without a task. */
void tkb_slot_end(struct tkb_pool *pool, struct tkb_slot *slot);

#endif
