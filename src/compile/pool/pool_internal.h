/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_POOL_INTERNAL_H
#define TKB_COMPILE_POOL_POOL_INTERNAL_H

/*
 * What stands behind struct tkb_pool. One thread, the dispatcher, starts
 * workers, gives them tasks, reads what they say and ends them; everybody else
 * only puts tasks into the line and waits. All of it is under one lock, which
 * the dispatcher leaves while it waits, for whatever it waits. Seats are the
 * dispatcher's; others only look for the task in one.
 */

#include <pthread.h>

#include "compile/pool/spawn.h"
#include "compile/pool/message.h"
#include "compile/pool/task.h"

enum {
	TKB_SEATS_LIMIT = 256
};

#define TKB_NS_PER_MS ((uint64_t)1000000)

struct tkb_slot {
	struct tkb_worker_process hand;
	struct tkb_task *task; /* at work on it; NULL: idle */
	uint64_t job;          /* the task's number, this time */
	size_t sent;           /* of the task's message */
	uint64_t deadline_ns;  /* of the task; to greet; or, closed, to end */
	uint64_t start_ns;     /* no new worker before */
	bool has_greeted;
	bool has_worked;              /* a job of it was done */
	bool is_deaf;                 /* it takes no more of the message */
	bool is_closed;               /* it says no more: it is to end */
	struct tkb_message_head head; /* of the message that comes in */
	size_t head_size;             /* so much of it is here */
	struct tkb_buf body;          /* so much of the rest */
};

struct tkb_pool {
	pthread_mutex_t lock;
	pthread_cond_t moved; /* a task is done; CLOCK_MONOTONIC */
	size_t held;          /* by its owner, and by futures */
	int wakeup;           /* owned; an eventfd: the dispatcher is wanted */
	pthread_t thread;
	bool has_thread;
	bool is_closing;
	struct tkb_spawn spawn;
	uint32_t grace_ms;
	uint32_t start_timeout_ms;
	struct tkb_task_limits limits;
	struct tkb_slot *slots; /* owned */
	size_t slot_count;
	struct tkb_task *first; /* waiting, in order */
	struct tkb_task **end;  /* where the last one's successor goes */
	size_t task_count;      /* waiting or running */
	bool has_unwanted;      /* a future was cancelled */
	uint64_t job_count;     /* so many were given to workers */
	uint64_t look_ns;       /* when to look after the workers again */
	uint32_t failed_starts; /* in a row, weighed */
	struct tkb_error fault; /* why no worker can be had; status 0: none */
};

/* The dispatcher. */
void *tkb_pool_dispatch(void *pool);

/* The dispatcher is wanted. */
void tkb_pool_ring(const struct tkb_pool *pool);

/* The task has its result; who waits is told. Under the lock. */
void tkb_pool_finish(struct tkb_pool *pool, struct tkb_task *task, int rc,
                     const struct tkb_error *error);

/* One that held the task does not any more. Under the lock. */
void tkb_pool_let_go(struct tkb_task *task);

/* One that held the pool does not any more. Leaves the lock. */
void tkb_pool_leave(struct tkb_pool *pool);

/* Put a task into the line, at its end or its beginning. Under the lock. */
void tkb_pool_line_up(struct tkb_pool *pool, struct tkb_task *task,
                      bool is_first);

/* Take the first task of the line, which is not empty. Under the lock. */
struct tkb_task *tkb_pool_next(struct tkb_pool *pool);

/* Of CLOCK_MONOTONIC. */
uint64_t tkb_pool_now_ns(void);

/*
 * A worker never greeted, or cannot be started at all. When that happened some
 * times in a row, that is the pool's fault; one that somebody killed weighs
 * less.
 */
void tkb_pool_note_start(struct tkb_pool *pool, bool was_killed,
                         const char *failure);

/*
 * The dispatcher's dealings with one worker (slot.c). Under the lock, which all
 * that take the pool may leave for a moment.
 */

/* Start it. False: it cannot be. */
bool tkb_slot_start(struct tkb_pool *pool, struct tkb_slot *slot);

/* Give it a task. */
void tkb_slot_give(struct tkb_pool *pool, struct tkb_slot *slot,
                   struct tkb_task *task);

/* Send what fits of the task's message. */
void tkb_slot_write(struct tkb_slot *slot);

/* Read what is there, at most so many times: others want their turn too. */
void tkb_slot_read(struct tkb_pool *pool, struct tkb_slot *slot, size_t rounds);

/* Where the bytes go that come next, and how many fit. NULL: no memory. */
void *tkb_slot_room(struct tkb_slot *slot, size_t *size_out);

/* So many came, and are in that room. False: they make no sense. */
TKB_NODISCARD bool tkb_slot_take(struct tkb_pool *pool, struct tkb_slot *slot,
                                 size_t got);

/* It has ended, or has to: `what` tells why. Its task is tried again or fails.
 * */
void tkb_slot_lose(struct tkb_pool *pool, struct tkb_slot *slot,
                   const char *what);

/* End its process. It has no task. */
void tkb_slot_end(struct tkb_pool *pool, struct tkb_slot *slot);

#endif
