/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <sys/socket.h>

#include "fake_http.h"
#include "fake_redis.h"
#include "slow_hosts.h"

/* How long HTTP and Redis wait for hosts and servers that say nothing. */

#define LATE "cannot connect: it was not done in time (connect-timeout)"

/* A get, or a put, that fails, and how long that must take. */
struct attempt {
	const char *scheme;
	const char *rest;                  /* of the URL, behind the port */
	const char *host;                  /* NULL: the fake server's */
	void (*serve)(int fd, void *self); /* the fake server */
	const char *words;                 /* what it says */
	int status;                        /* 0: TKB_ERR_UNAVAILABLE */
	const char *part;                  /* of the message */
	unsigned connect_ms;
	unsigned stall_ms;
	unsigned deadline_ms;
	unsigned cancel_ms; /* when it is cancelled; 0: never */
	size_t size;        /* of a blob to put; 0: get one */
	unsigned wanted_ms; /* 0: at once */
	const char *url;
};

static bool is_due(void *self)
{
	const uint64_t *when_ms = self;

	return *when_ms != 0 && now_ms() >= *when_ms;
}

/* Until everything is over, closing included. */
static uint64_t try_it(void *self)
{
	const struct attempt *attempt = self;
	const struct tkb_digest digest = made_up(1);
	BUF(got, BLOB_LIMIT);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct tkb_bytes bytes = { NULL, 0 };
	uint64_t cancel_ms = 0;

	if (attempt->size != 0)
		bytes = make_bytes(attempt->size, 1);
	handle.call.connect_ms = attempt->connect_ms;
	handle.call.stall_ms = attempt->stall_ms;
	handle.watch.is_cancelled = is_due;
	handle.watch.self = &cancel_ms;
	uint64_t start = now_ms();
	if (attempt->cancel_ms != 0)
		cancel_ms = start + attempt->cancel_ms;
	set_deadline(&handle,
	             attempt->deadline_ms != 0 ? attempt->deadline_ms : 60000);
	int rc = open_handle(attempt->url, &handle, ERR);
	if (rc == 0)
		rc = attempt->size != 0
		             ? put_blob(&handle, &digest, &bytes, ERR)
		             : get(&handle, &digest, 0, &got, ERR);
	CHECK_FAILS(rc,
	            attempt->status != 0 ? attempt->status
	                                 : TKB_ERR_UNAVAILABLE,
	            ERR, attempt->part);
	close_handle(&handle);
	return now_ms() - start;
}

static void check_attempt(struct attempt attempt)
{
	struct server server = { .port = 0 };

	if (attempt.serve != NULL)
		server = start_fake(attempt.serve,
		                    (void *)(uintptr_t)attempt.words);
	attempt.url = text("%s://%s:%u%s", attempt.scheme,
	                   attempt.host != NULL ? attempt.host : "127.0.0.1",
	                   attempt.serve != NULL ? server.port : free_port(),
	                   attempt.rest != NULL ? attempt.rest : "");
	if (attempt.wanted_ms != 0)
		check_in_time(try_it, &attempt, attempt.wanted_ms);
	else
		CHECK(try_it(&attempt) < 500);
	if (attempt.serve != NULL)
		stop_server(&server, SIGKILL);
}

#define CHECK_ATTEMPTS(...)                                                    \
	do {                                                                   \
		const struct attempt cases[] = { __VA_ARGS__ };                \
                                                                               \
		for (size_t i_ = 0; i_ < TKB_COUNT_OF(cases); i_++)            \
			check_attempt(cases[i_]);                              \
	} while (0)

/* Takes all that comes, and says its words once, if there are any. */
static void say_once(int fd, void *self)
{
	const char *words = self;
	char bytes[64 * 1024];

	while (recv(fd, bytes, sizeof(bytes), 0) > 0) {
		if (words != NULL)
			(void)send(fd, words, strlen(words), MSG_NOSIGNAL);
		words = NULL;
	}
}

/* Says its words, then a byte every 50 ms. */
static void drip(int fd, void *self)
{
	const char *words = self;

	if (!wait_for_bytes(fd))
		return;
	(void)send(fd, words, strlen(words), MSG_NOSIGNAL);
	while (send(fd, "1", 1, MSG_NOSIGNAL) == 1)
		nap_ms(50);
}

/* The same, with many bytes. */
static void stream(int fd, void *self)
{
	const char *words = self;
	char zeros[1000];

	if (!wait_for_bytes(fd))
		return;
	(void)send(fd, words, strlen(words), MSG_NOSIGNAL);
	memset(zeros, '0', sizeof(zeros));
	while (send(fd, zeros, sizeof(zeros), MSG_NOSIGNAL) > 0)
		nap_ms(20);
}

/* Takes little by little what has been in the sockets for long. */
static void sip(int fd, void *self)
{
	char bytes[64 * 1024];

	(void)self;
	while (recv(fd, bytes, sizeof(bytes), 0) > 0)
		nap_ms(100);
}

/* Takes nothing at all. */
static void ignore(int fd, void *self)
{
	(void)fd, (void)self;
	nap_ms(5000);
}

TEST(time, a_port_that_nobody_listens_on_is_told_at_once)
{
	static const char part[] = "cannot connect: Connection refused";

	CHECK_ATTEMPTS({ "http", .part = part }, { "redis", .part = part });
}

TEST(time, a_host_that_is_not_known_is_named_so)
{
	static const char host[] = "unknown.test";
	static const char part[] = "its host's name is not known";

	CHECK_ATTEMPTS({ "http", .host = host, .part = part },
	               { "redis", .host = host, .part = part });
}

TEST(time, a_look_up_that_hangs_ends_in_time)
{
	static const char host[] = "hangs.test";

	CHECK_ATTEMPTS({ "http", .host = host, .part = LATE, .connect_ms = 500,
	                 .wanted_ms = 500 },
	               { "redis", .host = host, .part = LATE, .connect_ms = 500,
	                 .wanted_ms = 500 });
	nap_ms(1500); /* the look-ups come back, to nobody */
}

TEST(time, an_address_that_does_not_answer_ends_in_time)
{
	static const char *const schemes[] = { "http", "redis" };

	for (size_t i = 0; i < TKB_COUNT_OF(schemes); i++) {
		struct full_queue queue = open_queue("127.0.0.1", 0);
		struct attempt attempt = {
			.part = LATE,
			.connect_ms = 500,
			.url = text("%s://127.0.0.1:%u", schemes[i],
			            queue.port),
		};

		check_in_time(try_it, &attempt, 500);
		close_queue(&queue);
	}
}

TEST(time, a_greeting_that_does_not_come_ends_in_time)
{
	CHECK_ATTEMPTS({ "https", "?verify=false", .serve = say_once,
	                 .part = LATE, .connect_ms = 500, .wanted_ms = 500 },
	               { "rediss", "?verify=false", .serve = say_once,
	                 .part = LATE, .connect_ms = 500, .wanted_ms = 500 },
	               { "redis", .serve = say_once,
	                 .part = "not done in time (connect-timeout)",
	                 .connect_ms = 500, .wanted_ms = 500 });
}

TEST(time, a_server_that_falls_silent_is_given_up_when_it_stalls)
{
	static const char part[] = "no byte moved for 400 ms (stall-timeout)";

	CHECK_ATTEMPTS({ "http", .serve = say_once, .part = part,
	                 .stall_ms = 400, .wanted_ms = 400 },
	               { "http", .serve = say_once,
	                 .words = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n"
	                          "\r\n01234567",
	                 .part = part, .stall_ms = 400, .wanted_ms = 400 },
	               { "redis", .serve = say_once, .words = TIME_ANSWER,
	                 .part = part, .stall_ms = 400, .wanted_ms = 400 });
}

/* A byte now and then keeps the stall time away, but not the deadline. */
TEST(time, a_trickle_ends_at_the_deadline)
{
	static const char part[] = "it was not done in time (timeout)";
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n"
				   "\r\n";

	CHECK_ATTEMPTS(
		{ "http", .serve = say_once, .part = part, .deadline_ms = 400,
	          .wanted_ms = 400 },
		{ "http", .serve = drip, .words = head, .part = part,
	          .stall_ms = 300, .deadline_ms = 1000, .wanted_ms = 1000 },
		{ "redis", .serve = drip, .words = TIME_ANSWER ":",
	          .part = part, .stall_ms = 10000, .deadline_ms = 500,
	          .wanted_ms = 500 },
		{ "redis", .serve = stream, .words = TIME_ANSWER "$900000\r\n",
	          .part = part, .stall_ms = 300, .deadline_ms = 1000,
	          .wanted_ms = 1000 });
}

/* What was given to the socket moves while the socket gets emptier. */
TEST(time, a_slow_upload_is_no_stall_and_one_that_nobody_takes_is)
{
	CHECK_ATTEMPTS({ "http", "?listing=index", .serve = sip,
	                 .part = "it was not done in time (timeout)",
	                 .stall_ms = 1000, .deadline_ms = 3000,
	                 .size = 6 * TKB_MIB, .wanted_ms = 3000 },
	               /* libcurl 8 may hand over more for half a second. */
	               { "http", "?listing=index", .serve = ignore,
	                 .part = "no byte moved for 4000 ms", .stall_ms = 4000,
	                 .size = 64 * TKB_MIB, .wanted_ms = 4000 });
}

/* Asked at least every tenth of a second. */
TEST(time, a_cancelled_call_ends_within_a_moment)
{
	const struct attempt base = { .scheme = "http",
		                      .status = TKB_ERR_CANCELLED,
		                      .part = "cancelled",
		                      .connect_ms = 60000,
		                      .cancel_ms = 500,
		                      .wanted_ms = 500 };
	struct attempt cases[5] = { base, base, base, base, base };

	cases[0].serve = say_once;
	cases[1].scheme = "https";
	cases[1].rest = "?verify=false";
	cases[1].serve = say_once;
	cases[2].host = "hangs.test";
	cases[3].scheme = "redis";
	cases[3].serve = say_once;
	cases[3].words = TIME_ANSWER;
	cases[4].scheme = "redis";
	cases[4].host = "hangs.test";
	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++)
		check_attempt(cases[i]);
	nap_ms(1500);
}

/* Those who wait for the same name do not wait for each other. */
static void *open_hanging(void *self)
{
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	uint64_t *took = self;
	const uint64_t start = now_ms();

	handle.call.connect_ms = 300;
	(void)open_handle("redis://hangs.test", &handle, NULL);
	*took = now_ms() - start;
	return NULL;
}

TEST(time, look_ups_of_several_threads_do_not_meet)
{
	uint64_t took[8];

	IN_THREADS(open_hanging, took);
	for (size_t i = 0; i < 8; i++)
		CHECK(took[i] >= 298 && took[i] < 1400);
	nap_ms(1500);
}

/* The first of them refuses, or says nothing. */
TEST(time, every_address_of_a_host_is_tried)
{
	struct server server = start_redis("");
	const char *url = text("redis://two.test:%u", server.port);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };

	must_open(url, &handle);
	close_handle(&handle);
	struct full_queue queue = open_queue("127.0.0.9", server.port);
	handle.call.connect_ms = 1000;
	must_open(url, &handle);
	close_handle(&handle);
	close_queue(&queue);
}

/* Each waits for its share of the answers, not for all before it. */
TEST(time, who_is_not_there_is_not_asked_again_and_again)
{
	struct server server = start_fake(say_once, NULL);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct tkb_digest digests[100];
	bool answers[100];

	for (uint32_t i = 0; i < 100; i++)
		digests[i] = made_up(i);
	handle.call.connect_ms = 300;
	must_open(text("https://127.0.0.1:%u?verify=false", server.port),
	          &handle);
	uint64_t start = now_ms();
	FAILS(ASK(&handle, has, digests, 100, answers, NULL, ERR),
	      TKB_ERR_UNAVAILABLE, "cannot connect");
	CHECK(now_ms() - start < 900);
}
