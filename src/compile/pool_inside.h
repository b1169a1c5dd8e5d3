/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_INSIDE_H
#define TKB_COMPILE_POOL_INSIDE_H

/*
 * What stands behind struct tkb_pool. One thread, the dispatcher, starts workers,
 * gives them tasks, reads what they say and ends them; everybody else only puts
 * tasks into the line and waits. All of it is under one lock, which the
 * dispatcher leaves while it waits.
 */

#include <pthread.h>

#include "compile/crew.h"
#include "compile/message.h"
#include "compile/task.h"

struct tkb_seat {
	struct tkb_hand hand;
	struct tkb_task *task; /* at work on it; NULL: idle */
	size_t sent;           /* of the task's message */
	uint64_t deadline_ns;  /* of the task */
	bool has_greeted;
	struct tkb_message_head head; /* of the message that comes in */
	size_t head_size;             /* so much of it is here */
	struct tkb_buf body;          /* so much of the rest */
};

struct tkb_pool {
	pthread_mutex_t lock;
	pthread_cond_t moved; /* a task is done; CLOCK_MONOTONIC */
	size_t held;          /* by its owner, and by futures */
	int bell;             /* owned; an eventfd: the dispatcher is wanted */
	pthread_t thread;
	bool has_thread;
	bool is_closing;
	char *program;    /* owned */
	char **arguments; /* owned, and what each points to */
	uint32_t tries;
	uint32_t grace_ms;
	uint64_t max_answer_size;
	struct tkb_seat *seats; /* owned */
	size_t seat_count;
	struct tkb_task *first; /* waiting, in order */
	size_t task_count;      /* waiting or running */
	uint32_t failed_starts; /* workers in a row that never greeted */
	struct tkb_error fault; /* why no worker can be had; status 0: none */
};

/* The dispatcher. */
void *tkb_pool_dispatch(void *pool);

/* The task has its result; who waits is told. Under the lock. */
void tkb_pool_finish(struct tkb_pool *pool, struct tkb_task *task, int rc,
                     const struct tkb_error *error);

/* One that held the task does not any more. Under the lock. */
void tkb_pool_let_go(struct tkb_task *task);

/* Put a task into the line, at its end or its beginning. Under the lock. */
void tkb_pool_line_up(struct tkb_pool *pool, struct tkb_task *task,
                      bool is_first);

#endif
