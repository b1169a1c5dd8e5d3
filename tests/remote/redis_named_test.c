/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>

#include "fake_redis.h"

/* Redis as a place for names that are not ours. */

static int put_three(const struct handle *handle, struct tkb_error *err)
{
	static const struct tkb_named items[] = { { "a", { "1", 1 } },
		                                  { "b", { "", 0 } },
		                                  { "c", { "3", 1 } } };

	return ASK(handle, put_named, items, 3, err);
}

TEST(redis_named, what_redis_would_not_answer_is_no_success)
{
	static const struct {
		const char *answer; /* to the transaction, but its start */
		const char *part;
	} cases[] = {
		{ "*2\r\n+OK\r\n+OK\r\n", "not one that Redis gives" },
		{ "*4\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n",
		  "not one that Redis gives" },
		{ "*-1\r\n", "not one that Redis gives" },
		{ "+OK\r\n", "not one that Redis gives" },
		{ "*3\r\n+OK\r\n-OOM out\r\n+OK\r\n", "its memory is full" },
		{ "*3\r\n+OK\r\n-ERR odd\r\n+OK\r\n", "did not store" },
		{ "*3\r\n+OK\r\n+OK\r\n$-1\r\n", "did not store" },
		{ "-EXECABORT discarded\r\n", "'EXECABORT discarded'" },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		const char *const answers[] = {
			TIME_ANSWER, "+OK\r\n",
			text("+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n%s",
			     cases[i].answer),
			NULL
		};
		struct script script = { .answers = answers };
		struct server server = start_fake(play, &script);
		struct handle *handle = must_connect(redis_url(&server, ""));

		FAILS(put_three(handle, ERR), TKB_ERR_UNAVAILABLE,
		      cases[i].part);
		stop_server(&server, SIGKILL);
	}
}

/* What was refused leaves answers behind. */
TEST(redis_named, a_connection_goes_on_after_a_refusal)
{
	struct server redis =
		start_redis("user poor on >s3cret ~* resetchannels -@all +time "
	                    "+multi +exec\n");
	struct handle *handle = must_connect(
		text("redis://poor:s3cret@127.0.0.1:%u", redis.port));

	for (int i = 0; i < 3; i++)
		FAILS(put_three(handle, ERR), TKB_ERR_DENIED,
		      "do not let this user use 'set'");
	(void)ask_redis(&redis, "ACL", "SETUSER", "poor", "+set", NULL);
	OK(put_three(handle, ERR));
	CHECK_STR(ask_redis(&redis, "MGET", "a", "b", "c", NULL), "1\n\n3\n");
	OK(put_three(handle, ERR));
}

/* Without a transaction each would be stored at once, and alone. */
TEST(redis_named, nothing_is_stored_where_transactions_are_not_allowed)
{
	struct server redis = start_redis(
		"user poor on >s3cret ~* resetchannels -@all +time +set\n");
	struct handle *handle = must_connect(
		text("redis://poor:s3cret@127.0.0.1:%u", redis.port));

	for (int i = 0; i < 2; i++)
		FAILS(put_three(handle, ERR), TKB_ERR_DENIED,
		      "do not let this user use 'multi'");
	CHECK_STR(ask_redis(&redis, "DBSIZE", NULL), "0\n");
}
