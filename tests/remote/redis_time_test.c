/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake_redis.h"
#include "remote/backends.h"

/* How long the Redis backend waits for hosts and servers that say nothing. */

/* A look-up that hangs, one that fails, and a host with two addresses. */
int __real_getaddrinfo(const char *host, const char *port,
                       const struct addrinfo *hints, struct addrinfo **out);
int __wrap_getaddrinfo(const char *host, const char *port,
                       const struct addrinfo *hints, struct addrinfo **out);

int __wrap_getaddrinfo(const char *host, const char *port,
                       const struct addrinfo *hints, struct addrinfo **out)
{
	struct addrinfo *second = NULL;
	int rc;

	if ((hints->ai_flags & AI_NUMERICHOST) != 0)
		return __real_getaddrinfo(host, port, hints, out);
	if (strcmp(host, "hangs.test") == 0) {
		nap_ms(1500);
		return EAI_AGAIN;
	}
	if (strcmp(host, "unknown.test") == 0)
		return EAI_NONAME;
	if (strcmp(host, "two.test") != 0)
		return __real_getaddrinfo(host, port, hints, out);
	rc = __real_getaddrinfo("127.0.0.9", port, hints, out);
	if (rc == 0)
		rc = __real_getaddrinfo("127.0.0.1", port, hints, &second);
	if (rc == 0)
		(*out)->ai_next = second;
	return rc;
}

/* Something that fails, for which it takes its time. */
struct attempt {
	const char *url;
	const char *part; /* of the message */
	unsigned stall_ms;
	unsigned deadline_ms;
};

/* In 500 ms. */
static uint64_t try_open(void *self)
{
	const struct attempt *attempt = self;
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	const uint64_t start = now_ms();
	struct tkb_error err = { 0 };

	handle.call.connect_ms = 500;
	CHECK_FAILS(open_redis(attempt->url, &handle, &err),
	            TKB_ERR_UNAVAILABLE, &err, attempt->part);
	return now_ms() - start;
}

static uint64_t try_get(void *self)
{
	const struct attempt *attempt = self;
	const struct tkb_digest digest = made_up(1);
	TKB_AUTO(tkb_buf_release) struct tkb_buf got = TKB_BUF_INIT(BLOB_LIMIT);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct tkb_error err = { 0 };
	uint64_t start;

	handle.call.stall_ms = attempt->stall_ms;
	CHECK_OK(open_redis(attempt->url, &handle, &err), &err);
	start = now_ms();
	set_deadline(&handle, attempt->deadline_ms);
	CHECK_FAILS(get(&handle, &digest, 0, &got, &err), TKB_ERR_UNAVAILABLE,
	            &err, attempt->part);
	return now_ms() - start;
}

TEST(redis_time, a_port_that_nobody_listens_on_is_told_at_once)
{
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	const uint64_t start = now_ms();
	struct tkb_error err = { 0 };

	CHECK_FAILS(open_redis(text("redis://127.0.0.1:%u", free_port()),
	                       &handle, &err),
	            TKB_ERR_UNAVAILABLE, &err,
	            "cannot connect: Connection refused");
	CHECK(now_ms() - start < 500);
}

/* Where the queue of those who wait is full, Linux answers no more. */
struct full_queue {
	int listener;
	int waiters[2];
	unsigned port;
};

static void open_queue(struct full_queue *queue, const char *host,
                       unsigned port)
{
	const int type = SOCK_STREAM | SOCK_CLOEXEC;
	struct sockaddr_in address = { .sin_family = AF_INET,
		                       .sin_port = htons((uint16_t)port) };
	struct sockaddr *at = (struct sockaddr *)&address;
	socklen_t size = sizeof(address);

	CHECK_INT(inet_pton(AF_INET, host, &address.sin_addr), 1);
	queue->listener = socket(AF_INET, type, 0);
	CHECK_INT(bind(queue->listener, at, size), 0);
	CHECK_INT(getsockname(queue->listener, at, &size), 0);
	CHECK_INT(listen(queue->listener, 0), 0);
	for (int i = 0; i < 2; i++) {
		queue->waiters[i] = socket(AF_INET, type | SOCK_NONBLOCK, 0);
		(void)connect(queue->waiters[i], at, size);
	}
	queue->port = ntohs(address.sin_port);
	nap_ms(50);
}

static void close_queue(const struct full_queue *queue)
{
	for (int i = 0; i < 2; i++)
		(void)close(queue->waiters[i]);
	(void)close(queue->listener);
}

TEST(redis_time, an_address_that_does_not_answer_ends_in_time)
{
	struct attempt attempt = { .part = "cannot connect: it was not "
		                           "done in time "
		                           "(connect-timeout)" };
	struct full_queue queue;

	open_queue(&queue, "127.0.0.1", 0);
	attempt.url = text("redis://127.0.0.1:%u", queue.port);
	check_in_time(try_open, &attempt, 500);
	close_queue(&queue);
}

TEST(redis_time, a_host_that_is_not_known_is_named_so)
{
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct tkb_error err = { 0 };

	CHECK_FAILS(open_redis("redis://unknown.test", &handle, &err),
	            TKB_ERR_UNAVAILABLE, &err, "host's name is not known");
}

TEST(redis_time, a_look_up_that_hangs_ends_in_time)
{
	struct attempt attempt = { .url = "redis://hangs.test",
		                   .part = "looking up its host" };

	check_in_time(try_open, &attempt, 500);
	nap_ms(1500); /* so that the resolver comes back, and cleans up */
}

/* Those who wait for the same name do not wait for each other. */
static void *open_hanging(void *self)
{
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	uint64_t *took = self;
	const uint64_t start = now_ms();

	handle.call.connect_ms = 300;
	(void)open_redis("redis://hangs.test", &handle, NULL);
	*took = now_ms() - start;
	return NULL;
}

TEST(redis_time, look_ups_of_several_threads_do_not_meet)
{
	pthread_t threads[8];
	uint64_t took[8];

	for (size_t i = 0; i < 8; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, open_hanging,
		                         &took[i]),
		          0);
	for (size_t i = 0; i < 8; i++) {
		CHECK_INT(pthread_join(threads[i], NULL), 0);
		CHECK(took[i] >= 298 && took[i] < 1400);
	}
	nap_ms(1500);
}

/* The first of them refuses, or says nothing. */
TEST(redis_time, every_address_of_a_host_is_tried)
{
	struct server server = start_redis("");
	const char *url = text("redis://two.test:%u", server.port);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct tkb_error err = { 0 };
	struct full_queue queue;

	CHECK_OK(open_redis(url, &handle, &err), &err);
	close_handle(&handle);
	open_queue(&queue, "127.0.0.9", server.port);
	handle.call.connect_ms = 1000;
	CHECK_OK(open_redis(url, &handle, &err), &err);
	close_handle(&handle);
	close_queue(&queue);
	stop_server(&server, SIGKILL);
}

TEST(redis_time, a_server_that_says_nothing_costs_the_connect_time)
{
	static const char *const answers[] = { NULL };
	struct script script = { answers, true };
	struct server server = start_fake(play, &script);
	struct attempt attempt = { .url = redis_url(&server, ""),
		                   .part = "not done in time "
		                           "(connect-timeout)" };

	check_in_time(try_open, &attempt, 500);
	stop_server(&server, SIGKILL);
}

TEST(redis_time, a_handshake_that_is_not_answered_does_too)
{
	static const char *const answers[] = { NULL };
	struct script script = { answers, true };
	struct server server = start_fake(play, &script);
	struct attempt attempt = { .part = "TLS handshake: it was not done in "
		                           "time (connect-timeout)" };

	make_authority("ca");
	attempt.url = text("rediss://127.0.0.1:%u?cafile=ca.pem", server.port);
	check_in_time(try_open, &attempt, 500);
	stop_server(&server, SIGKILL);
}

static const char *const only_time[] = { TIME_ANSWER, NULL };

TEST(redis_time, a_server_that_falls_silent_costs_the_stall_time)
{
	struct script script = { only_time, true };
	struct server server = start_fake(play, &script);
	struct attempt attempt = {
		.url = redis_url(&server, ""),
		.part = "no byte moved for 500 ms (stall-timeout)",
		.stall_ms = 500,
		.deadline_ms = 10000
	};

	check_in_time(try_get, &attempt, 500);
	stop_server(&server, SIGKILL);
}

/* A byte now and then keeps the stall time away, but not the deadline. */
static void drip(int fd, void *self)
{
	(void)self;
	if (!wait_for_bytes(fd))
		return;
	answer(fd, TIME_ANSWER ":");
	while (send(fd, "1", 1, 0) > 0)
		nap_ms(50);
}

/* So do many. */
static void stream(int fd, void *self)
{
	char zeros[1000];

	(void)self;
	if (!wait_for_bytes(fd))
		return;
	answer(fd, TIME_ANSWER "$900000\r\n");
	memset(zeros, '0', sizeof(zeros));
	while (send(fd, zeros, sizeof(zeros), 0) > 0)
		nap_ms(20);
}

TEST(redis_time, a_trickle_ends_at_the_deadline)
{
	void (*const serves[])(int fd, void *self) = { drip, stream };

	for (size_t i = 0; i < TKB_COUNT_OF(serves); i++) {
		struct server server = start_fake(serves[i], NULL);
		struct attempt attempt = { .url = redis_url(&server, ""),
			                   .part = "not done in time (timeout)",
			                   .stall_ms = 10000,
			                   .deadline_ms = 500 };

		check_in_time(try_get, &attempt, 500);
		stop_server(&server, SIGKILL);
	}
}

static bool is_past(void *self)
{
	const uint64_t *when = self;

	return now_ms() >= *when;
}

static uint64_t try_until_cancelled(void *self)
{
	const struct tkb_digest digest = made_up(2);
	TKB_AUTO(tkb_buf_release) struct tkb_buf got = TKB_BUF_INIT(BLOB_LIMIT);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct tkb_error err = { 0 };
	uint64_t when = UINT64_MAX;
	uint64_t start;

	handle.watch.is_cancelled = is_past;
	handle.watch.self = &when;
	CHECK_OK(open_redis(self, &handle, &err), &err);
	start = now_ms();
	when = start + 500;
	CHECK_FAILS(get(&handle, &digest, 0, &got, &err), TKB_ERR_CANCELLED,
	            &err, "cancelled");
	return now_ms() - start;
}

/* It is asked every 100 ms. */
TEST(redis_time, a_cancelled_call_ends_within_a_moment)
{
	struct script script = { only_time, true };
	struct server server = start_fake(play, &script);
	const char *url = redis_url(&server, "");

	check_in_time(try_until_cancelled, (void *)(uintptr_t)url, 500);
	stop_server(&server, SIGKILL);
}
