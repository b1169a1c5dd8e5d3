/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/redis/resp.h"

#include <inttypes.h>
#include <stdlib.h>

#include <hiredis/hiredis.h>

enum {
	WORDS_LIMIT = 16,
	CHUNK = 64 * 1024,
	ITEMS_LIMIT = 1024 * 1024,
	DEPTH_LIMIT = 8, /* nested arrays */
	OUT_LIMIT = 64 * 1024 * 1024
};

/* Limit of answers that are skipped: as large as any that is ever requested. */
#define SETTLE_LIMIT ((size_t)256 * TKB_MIB)

static void free_reader(struct redisReader **reader)
{
	if (*reader != NULL)
		redisReaderFree(*reader);
}

static void free_command(char **command)
{
	if (*command != NULL)
		redisFreeCommand(*command);
}

/* The type of hiredis' array counts. */
#if HIREDIS_MAJOR >= 1
typedef size_t array_count;
#else
typedef int array_count;
#endif

/*
 * Refuse the types of RESP3, which we never request. hiredis 0.14 does so
 * itself; in 1.x a missing callback would make it return an invalid pointer.
 */
static void *refuse_resp3_type(const redisReadTask *task)
{
	struct tkb_resp *resp = task->privdata;

	resp->is_foreign = true;
	return NULL;
}

/* Limit the depth: hiredis 0.14 does so itself, some versions of 1.x do not. */
static bool is_too_deep(const redisReadTask *task)
{
	size_t depth = 0;

	for (; task->parent != NULL; task = task->parent)
		depth++;
	return depth >= DEPTH_LIMIT;
}

/*
 * Replies are allocated in our arena, and their number is limited. hiredis' own
 * functions trust any count, and abort when out of memory.
 */
static struct tkb_reply *add_reply(const redisReadTask *task,
                                   enum tkb_reply_kind kind)
{
	struct tkb_resp *resp = task->privdata;
	const struct tkb_reply *parent =
		task->parent != NULL ? task->parent->obj : NULL;
	struct tkb_reply *reply =
		tkb_arena_alloc(&resp->arena, 1, sizeof(*reply));

	if (reply == NULL)
		return NULL;
	reply->kind = kind;
	if (parent != NULL)
		parent->items[task->idx] = reply;
	return reply;
}

static void *make_text(const redisReadTask *task, char *text, size_t size)
{
	void *const data = text;
	const struct tkb_bytes bytes = { data, size };
	struct tkb_resp *resp = task->privdata;
	enum tkb_reply_kind kind = TKB_REPLY_STRING;
	struct tkb_reply *reply;

	if (task->type == REDIS_REPLY_ERROR)
		kind = TKB_REPLY_ERROR;
	else if (task->type == REDIS_REPLY_STATUS)
		kind = TKB_REPLY_STATUS;
	else if (task->type != REDIS_REPLY_STRING)
		return refuse_resp3_type(task);
	reply = add_reply(task, kind);
	if (reply == NULL)
		return NULL;
	reply->text.size = size;
	reply->text.data = tkb_arena_string(&resp->arena, bytes);
	return reply->text.data == NULL ? NULL : reply;
}

static void *make_array(const redisReadTask *task, array_count items)
{
	struct tkb_resp *resp = task->privdata;
	const long long count = (long long)items;
	struct tkb_reply *reply;

	if (task->type != REDIS_REPLY_ARRAY || is_too_deep(task))
		return refuse_resp3_type(task);
	resp->has_too_many =
		count < 0 || (size_t)count > ITEMS_LIMIT - resp->item_count;
	if (resp->has_too_many)
		return NULL;
	resp->item_count += (size_t)count;
	reply = add_reply(task, TKB_REPLY_ARRAY);
	if (reply == NULL)
		return NULL;
	reply->count = (size_t)count;
	reply->items = tkb_arena_alloc(&resp->arena, reply->count,
	                               sizeof(*reply->items));
	return reply->items == NULL ? NULL : reply;
}

static void *make_integer(const redisReadTask *task, long long value)
{
	struct tkb_reply *reply = add_reply(task, TKB_REPLY_INTEGER);

	if (reply != NULL)
		reply->integer = value;
	return reply;
}

/* A null string or array; RESP3's null is another type. */
static void *make_nil(const redisReadTask *task)
{
	return task->type == REDIS_REPLY_NIL ? refuse_resp3_type(task)
	                                     : add_reply(task, TKB_REPLY_NIL);
}

#if HIREDIS_MAJOR >= 1
/* NOLINTNEXTLINE(readability-non-const-parameter): hiredis wants this type */
static void *refuse_double(const redisReadTask *task, double value, char *text,
                           size_t size)
{
	(void)value, (void)text, (void)size;
	return refuse_resp3_type(task);
}

static void *refuse_bool(const redisReadTask *task, int value)
{
	(void)value;
	return refuse_resp3_type(task);
}
#endif

static void leave_to_arena(void *reply)
{
	(void)reply;
}

int tkb_resp_open(struct tkb_resp *resp, const struct tkb_peer *peer,
                  const struct tkb_op_limits *limits, struct tkb_error *err)
{
	static const redisReplyObjectFunctions functions = {
		.createString = make_text,
		.createArray = make_array,
		.createInteger = make_integer,
		.createNil = make_nil,
#if HIREDIS_MAJOR >= 1
		.createDouble = refuse_double,
		.createBool = refuse_bool,
#endif
		.freeObject = leave_to_arena,
	};

	*resp = (struct tkb_resp){ .out = TKB_BUF_INIT(OUT_LIMIT) };
	resp->chunk = malloc(CHUNK);
	/* hiredis does not write to them. */
	resp->reader = redisReaderCreateWithFunctions(
		(redisReplyObjectFunctions *)(uintptr_t)&functions);
	if (resp->reader == NULL || resp->chunk == NULL)
		return tkb_fail_nomem(err);
	resp->reader->privdata = resp;
	return tkb_connection_open(peer, limits, &resp->connection, err);
}

void tkb_resp_close(struct tkb_resp *resp)
{
	if (resp->reader == NULL && resp->chunk == NULL)
		return;
	tkb_connection_close(resp->connection);
	free_reader(&resp->reader);
	tkb_buf_release(&resp->out);
	tkb_arena_release(&resp->arena);
	free(resp->chunk);
	*resp = (struct tkb_resp){ .connection = NULL };
}

void tkb_resp_queue_bytes(struct tkb_resp *resp, const struct tkb_bytes *words,
                          size_t count)
{
	TKB_AUTO(free_command) char *command = NULL;
	const char *texts[WORDS_LIMIT];
	size_t sizes[WORDS_LIMIT];
	long long size;

	for (size_t i = 0; i < count; i++) {
		texts[i] = words[i].data != NULL ? words[i].data : "";
		sizes[i] = words[i].size;
	}
	size = redisFormatCommandArgv(&command, (int)count, texts, sizes);
	if (size < 0)
		resp->out.failure = TKB_ERR_NOMEM;
	else
		tkb_buf_add(&resp->out,
		            (struct tkb_bytes){ command, (size_t)size });
	resp->pending++;
}

void tkb_resp_queue_words(struct tkb_resp *resp, const char *const *words)
{
	struct tkb_bytes bytes[WORDS_LIMIT];
	size_t count = 0;

	for (; words[count] != NULL; count++)
		bytes[count] = tkb_text(words[count]);
	tkb_resp_queue_bytes(resp, bytes, count);
}

/*
 * Format the command with an empty last word, then replace the size of that
 * word.
 */
void tkb_resp_begin(struct tkb_resp *resp, const char *const *words,
                    uint64_t size)
{
	static const char empty[] = "$0\r\n\r\n";
	struct tkb_bytes bytes[WORDS_LIMIT];
	size_t count = 0;

	for (; words[count] != NULL; count++)
		bytes[count] = tkb_text(words[count]);
	bytes[count++] = tkb_text("");
	tkb_resp_queue_bytes(resp, bytes, count);
	if (resp->out.failure != 0)
		return;
	resp->out.size -= strlen(empty);
	tkb_print(&resp->out, "$%" PRIu64 "\r\n", size);
}

void tkb_resp_add(struct tkb_resp *resp, struct tkb_bytes piece)
{
	tkb_buf_add(&resp->out, piece);
}

void tkb_resp_end(struct tkb_resp *resp)
{
	tkb_buf_add_text(&resp->out, "\r\n");
}

int tkb_resp_send(struct tkb_resp *resp, const struct tkb_op_limits *limits,
                  struct tkb_error *err)
{
	int rc;

	if (resp->is_broken)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "the connection was broken off");
	rc = tkb_buf_check(&resp->out, err);
	if (rc == 0)
		rc = tkb_connection_write(resp->connection, limits,
		                          tkb_buf_bytes(&resp->out), err);
	resp->is_broken |= rc < 0;
	tkb_buf_reset(&resp->out);
	return rc;
}

/* Sets `*out` if an answer is complete. */
static int parse_reply(struct tkb_resp *resp, const struct tkb_reply **out,
                       struct tkb_error *err)
{
	void *reply = NULL;

	if (redisReaderGetReply(resp->reader, &reply) == REDIS_OK) {
		*out = reply;
		return 0;
	}
	if (resp->has_too_many)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "its answer has more than %d items",
		                ITEMS_LIMIT);
	if (resp->reader->err == REDIS_ERR_OOM && !resp->is_foreign)
		return tkb_fail_nomem(err);
	return tkb_fail(err, TKB_ERR_UNAVAILABLE,
	                "its answer is not Redis' protocol");
}

/* How many bytes are received but not parsed. */
static size_t unread(const struct tkb_resp *resp)
{
	return resp->reader->len - resp->reader->pos;
}

static int read_reply(struct tkb_resp *resp, const struct tkb_op_limits *limits,
                      size_t limit, const struct tkb_reply **out,
                      struct tkb_error *err)
{
	size_t fed = unread(resp);
	int rc;

	for (;;) {
		size_t got = 0;

		rc = parse_reply(resp, out, err);
		if (rc < 0 || *out != NULL)
			return rc;
		if (fed > limit)
			return tkb_fail(err, TKB_ERR_UNAVAILABLE,
			                "its answer has more than %zu bytes",
			                limit);
		rc = tkb_connection_read(resp->connection, limits, resp->chunk,
		                         CHUNK, &got, err);
		if (rc < 0)
			return rc;
		fed += got;
		if (redisReaderFeed(resp->reader, resp->chunk, got) != REDIS_OK)
			return tkb_fail_nomem(err);
	}
}

int tkb_resp_next(struct tkb_resp *resp, const struct tkb_op_limits *limits,
                  size_t limit, const struct tkb_reply **out,
                  struct tkb_error *err)
{
	const struct tkb_reply *reply = NULL;
	int rc;

	rc = tkb_resp_send(resp, limits, err);
	if (rc < 0)
		return rc;
	tkb_arena_release(&resp->arena);
	resp->item_count = 0;
	rc = read_reply(resp, limits, limit, &reply, err);
	resp->is_broken |= rc < 0;
	if (rc < 0)
		return rc;
	resp->pending--;
	*out = reply;
	return 0;
}

void tkb_resp_keep_reply(struct tkb_resp *resp, struct tkb_arena *arena)
{
	*arena = resp->arena;
	resp->arena = (struct tkb_arena){ 0 };
}

int tkb_resp_drain(struct tkb_resp *resp, const struct tkb_op_limits *limits,
                   struct tkb_error *err)
{
	const struct tkb_reply *reply = NULL;
	int rc = 0;

	if (resp->is_broken)
		return tkb_resp_send(resp, limits, err);
	while (resp->pending != 0 && rc == 0)
		rc = tkb_resp_next(resp, limits, SETTLE_LIMIT, &reply, err);
	return rc;
}
