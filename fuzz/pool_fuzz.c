/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "compile/pool/pool_internal.h"
#include "fuzz.h"

/*
 * What a worker sends to its pool. The first byte of the input has flags, the
 * second the size of the pieces in which the rest arrives. The rest is the data
 * from the socket, or with FLAG_MENDED a list of records that become messages:
 *
 *     type    one byte
 *     job     one byte: 0, 1 (the right number) or another
 *     size    two bytes, the low one first
 *     body    so many bytes
 */

enum {
	FLAG_MENDED = 1 << 0,
	FLAG_GREETED = 1 << 1, /* and has a job */
	FLAG_UNSENT = 1 << 2,  /* which it was not given in full */
	FLAG_LAST_TRY = 1 << 3
};

enum {
	RECORD_HEAD = 4,
	ANSWER_LIMIT = 4096,
	LOG_LIMIT = 512,
	STREAM_LIMIT = 1 << 20
};

struct scene {
	struct tkb_pool pool;
	struct tkb_slot slot;
	struct tkb_task *task; /* held, as by a future */
	char program[8];
};

static void set_up(struct scene *scene, unsigned flags)
{
	const struct tkb_job job = { .struct_size = sizeof(job),
		                     .request = tkb_text("request") };
	struct tkb_pool *pool = &scene->pool;
	struct tkb_slot *slot = &scene->slot;
	struct tkb_error err = { 0 };

	(void)pthread_mutex_init(&pool->lock, NULL);
	(void)pthread_cond_init(&pool->changed, NULL);
	pool->spawn.program = scene->program;
	pool->end = &pool->first;
	pool->slots = slot;
	pool->slot_count = 1;
	pool->limits = (struct tkb_task_limits){
		.max_answer_size = ANSWER_LIMIT,
		.max_log_size = LOG_LIMIT,
		.tries = (flags & FLAG_LAST_TRY) != 0 ? 1 : 2,
	};
	slot->process = (struct tkb_worker_process)TKB_WORKER_PROCESS_INIT;
	slot->body = (struct tkb_buf)TKB_BUF_INIT(TKB_MESSAGE_PIECE);
	MUST_OK(tkb_task_new(&job, &pool->limits, &scene->task, &err), &err);
	scene->task->references = 2;
	scene->task->wanted = 1;
	pool->task_count = 1;
	if ((flags & FLAG_GREETED) == 0) {
		tkb_pool_enqueue(pool, scene->task, false);
		return;
	}
	slot->has_greeted = true;
	slot->task = scene->task;
	slot->job = 1;
	tkb_task_begin(scene->task, slot->job);
	if ((flags & FLAG_UNSENT) == 0)
		slot->sent = scene->task->message.size;
}

/* One record becomes a message. False: there is none. */
static bool mend(struct tkb_bytes *input, struct tkb_buf *out)
{
	const unsigned char *bytes = input->data;
	struct tkb_message_head head;
	size_t size;

	if (input->size < RECORD_HEAD)
		return false;
	size = (size_t)bytes[2] | (size_t)bytes[3] << 8;
	if (size > input->size - RECORD_HEAD)
		size = input->size - RECORD_HEAD;
	head = tkb_message_head_of((enum tkb_message_type)bytes[0], size);
	head.job = bytes[1];
	tkb_buf_add(out, (struct tkb_bytes){ &head, sizeof(head) });
	tkb_buf_add(out,
	            tkb_bytes_slice(*input, RECORD_HEAD, RECORD_HEAD + size));
	*input = tkb_bytes_slice(*input, RECORD_HEAD + size, input->size);
	return true;
}

static bool is_a_sentence(const char *message)
{
	for (const char *at = message; *at != '\0'; at++) {
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return false;
	}
	return message[0] != '\0';
}

/* The invariants of a task. */
static void check_task(const struct scene *scene)
{
	const struct tkb_task *task = scene->task;
	const bool is_done = task->is_done;

	MUST(scene->pool.task_count == (is_done ? 0 : 1));
	MUST(task->references == (is_done ? 1 : 2));
	MUST(!is_done || scene->slot.task == NULL);
	MUST(task->answer.size <= ANSWER_LIMIT);
	MUST(task->log.size <= (is_done ? 1 : 2) * (size_t)LOG_LIMIT);
	if (!is_done)
		return;
	MUST(task->rc <= 0);
	MUST(task->rc == 0 || task->error.status == task->rc);
	MUST(task->rc == 0 || is_a_sentence(task->error.message));
	MUST(scene->pool.first == NULL);
}

/* Send pieces of this size. False: the pool gave up on the worker. */
static bool feed(struct scene *scene, struct tkb_bytes stream, size_t piece)
{
	struct tkb_slot *slot = &scene->slot;

	while (stream.size != 0 && !slot->is_closed) {
		size_t size = 0;
		void *room = tkb_slot_room(slot, &size);

		MUST(room != NULL && size > 0);
		if (size > piece)
			size = piece;
		if (size > stream.size)
			size = stream.size;
		memcpy(room, stream.data, size);
		stream = tkb_bytes_slice(stream, size, stream.size);
		if (!tkb_slot_take(&scene->pool, slot, size))
			return false;
		check_task(scene);
	}
	return true;
}

static void tear_down(struct scene *scene)
{
	struct tkb_pool *pool = &scene->pool;

	if (pool->first != NULL)
		tkb_task_unref(tkb_pool_dequeue(pool));
	tkb_task_unref(scene->task);
	tkb_buf_release(&scene->slot.body);
	(void)pthread_cond_destroy(&pool->changed);
	(void)pthread_mutex_destroy(&pool->lock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf mended = TKB_BUF_INIT(STREAM_LIMIT);
	struct scene scene = { .program = "worker" };
	struct tkb_bytes input = { data, size };
	bool was_done;

	if (size < 2 || size > STREAM_LIMIT / 8)
		return 0;
	input = tkb_bytes_slice(input, 2, size);
	while ((data[0] & FLAG_MENDED) != 0 && mend(&input, &mended))
		continue;
	if ((data[0] & FLAG_MENDED) != 0)
		input = tkb_buf_bytes(&mended);
	set_up(&scene, data[0]);
	(void)pthread_mutex_lock(&scene.pool.lock);
	(void)feed(&scene, input, data[1] == 0 ? SIZE_MAX : data[1]);
	was_done = scene.task->is_done;
	tkb_slot_fail(&scene.pool, &scene.slot, "ended");
	check_task(&scene);
	/* It is tried again, or reported as failed; a finished task stays
	 * finished. */
	MUST(scene.task->is_done ||
	     (!was_done && scene.pool.first == scene.task));
	MUST((data[0] & (FLAG_LAST_TRY | FLAG_GREETED)) !=
	             (FLAG_LAST_TRY | FLAG_GREETED) ||
	     scene.task->is_done);
	(void)pthread_mutex_unlock(&scene.pool.lock);
	tear_down(&scene);
	return 0;
}
