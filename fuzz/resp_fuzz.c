/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"
#include "remote/redis/resp.h"

/*
 * Redis' protocol, from a server. The first byte is the size of the pieces in
 * which it arrives; in one piece it must mean the same.
 */

enum {
	LIMIT = 1024 * 1024, /* of an answer: more than any input has */
	DEPTH = 16,
	DUMP_LIMIT = 64 * 1024 * 1024
};

/* An answer that is being written as text, and what is still missing. */
struct level {
	const struct tkb_reply *reply;
	size_t done;
};

static void dump_one(const struct tkb_reply *reply, struct tkb_buf *out)
{
	MUST(reply != NULL && reply->kind <= TKB_REPLY_ARRAY);
	tkb_buf_add_byte(out, (char)('a' + (int)reply->kind));
	if (reply->kind == TKB_REPLY_INTEGER) {
		tkb_buf_add_number(out, (uint64_t)reply->integer);
	} else if (reply->kind == TKB_REPLY_ARRAY) {
		tkb_buf_add_number(out, reply->count);
	} else if (reply->kind != TKB_REPLY_NIL) {
		const char *text = reply->text.data;

		MUST(text != NULL && text[reply->text.size] == '\0');
		tkb_buf_add_number(out, reply->text.size);
		tkb_buf_add_byte(out, ':');
		tkb_buf_add(out, reply->text);
	}
	tkb_buf_add_byte(out, ';');
}

static void dump(const struct tkb_reply *reply, struct tkb_buf *out)
{
	struct level levels[DEPTH] = { { reply, 0 } };
	size_t depth = 1;

	dump_one(reply, out);
	while (depth != 0) {
		struct level *level = &levels[depth - 1];
		const struct tkb_reply *item;

		if (level->reply->kind != TKB_REPLY_ARRAY ||
		    level->done == level->reply->count) {
			depth--;
			continue;
		}
		item = level->reply->items[level->done++];
		dump_one(item, out);
		MUST(depth != DEPTH);
		levels[depth++] = (struct level){ item, 0 };
	}
}

static void read_all(struct tkb_bytes stream, size_t piece, struct tkb_buf *out)
{
	static const struct tkb_remote_url url = { .host = "peer" };
	const struct tkb_peer peer = { .url = &url, .port = 1 };
	const struct tkb_watch watch = { .struct_size = sizeof(watch) };
	const struct tkb_op_limits call = { .watch = &watch };
	struct tkb_resp resp;
	struct tkb_error err = { 0 };
	int rc;

	fuzz_peer_say(stream, piece);
	MUST_OK(tkb_resp_open(&resp, &peer, &call, &err), &err);
	do {
		const struct tkb_reply *reply = NULL;

		tkb_resp_queue(&resp, "PING");
		rc = tkb_resp_next(&resp, &call, LIMIT, &reply, &err);
		if (rc == 0)
			dump(reply, out);
	} while (rc == 0);
	MUST(rc == TKB_ERR_UNAVAILABLE && err.message[0] != '\0');
	MUST(tkb_resp_drain(&resp, &call, &err) == TKB_ERR_UNAVAILABLE);
	tkb_resp_close(&resp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf pieces = TKB_BUF_INIT(DUMP_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf whole = TKB_BUF_INIT(DUMP_LIMIT);

	if (size == 0)
		return 0;
	read_all((struct tkb_bytes){ data + 1, size - 1 },
	         data[0] == 0 ? 1 : data[0], &pieces);
	read_all((struct tkb_bytes){ data + 1, size - 1 }, size, &whole);
	MUST(tkb_bytes_equal(tkb_buf_bytes(&pieces), tkb_buf_bytes(&whole)));
	return 0;
}
