/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake_http.h"
#include "remote/backends.h"

/* How long the HTTP backend waits for hosts and servers that say nothing. */

/* libcurl calls this one: a look-up that hangs. */
int getaddrinfo(const char *host, const char *port,
                const struct addrinfo *hints, struct addrinfo **out)
{
	int (*real)(const char *host, const char *port,
	            const struct addrinfo *hints, struct addrinfo **out) = NULL;

	if (host != NULL && strcmp(host, "hangs.test") == 0) {
		nap_ms(1500);
		return EAI_AGAIN;
	}
	if (host != NULL && strcmp(host, "unknown.test") == 0)
		return EAI_NONAME;
	*(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
	return real(host, port, hints, out);
}

/* Something that fails, for which it takes its time. */
struct attempt {
	const char *url;
	const char *part; /* of the message */
	int status;
	unsigned connect_ms;
	unsigned stall_ms;
	unsigned deadline_ms;
	uint64_t cancel_ms; /* when it is cancelled; 0: never */
	size_t size;        /* of a blob to put; 0: get one */
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
	TKB_AUTO(tkb_buf_release) struct tkb_buf got = TKB_BUF_INIT(BLOB_LIMIT);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct tkb_bytes bytes = { NULL, 0 };
	struct tkb_error err = { 0 };
	uint64_t cancel_ms = 0;
	uint64_t start;
	int rc;

	if (attempt->size != 0)
		bytes = make_bytes(attempt->size, 1);
	handle.call.connect_ms = attempt->connect_ms;
	handle.call.stall_ms = attempt->stall_ms;
	handle.watch.is_cancelled = is_due;
	handle.watch.self = &cancel_ms;
	CHECK_OK(open_http(attempt->url, &handle, &err), &err);
	start = now_ms();
	if (attempt->cancel_ms != 0)
		cancel_ms = start + attempt->cancel_ms;
	set_deadline(&handle, attempt->deadline_ms);
	rc = attempt->size != 0 ? put_blob(&handle, &digest, &bytes, &err)
	                        : get(&handle, &digest, 0, &got, &err);
	CHECK_FAILS(rc, attempt->status, &err, attempt->part);
	close_handle(&handle);
	return now_ms() - start;
}

TEST(http_time, a_port_that_nobody_listens_on_is_told_at_once)
{
	struct attempt attempt = {
		.url = text("http://127.0.0.1:%u", free_port()),
		.part = "cannot connect: Connection refused",
		.status = TKB_ERR_UNAVAILABLE,
		.deadline_ms = 60000,
	};

	CHECK(try_it(&attempt) < 500);
}

TEST(http_time, a_host_that_is_not_known_is_named_so)
{
	struct attempt attempt = {
		.url = "http://unknown.test:1",
		.part = "its host's name is not known",
		.status = TKB_ERR_UNAVAILABLE,
		.deadline_ms = 60000,
	};

	CHECK(try_it(&attempt) < 500);
}

TEST(http_time, a_lookup_that_hangs_ends_in_time)
{
	struct attempt attempt = {
		.url = "http://hangs.test:1",
		.part = "cannot connect: it was not done in time "
			"(connect-timeout)",
		.status = TKB_ERR_UNAVAILABLE,
		.connect_ms = 500,
		.deadline_ms = 60000,
	};

	check_in_time(try_it, &attempt, 500);
	nap_ms(1500); /* the look-ups come back, to nobody */
}

/* Where the queue of those who wait is full, Linux answers no more. */
TEST(http_time, an_address_that_does_not_answer_ends_in_time)
{
	const int type = SOCK_STREAM | SOCK_CLOEXEC;
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct sockaddr *at = (struct sockaddr *)&address;
	const int listener = socket(AF_INET, type, 0);
	struct attempt attempt = {
		.part = "cannot connect: it was not done in time "
			"(connect-timeout)",
		.status = TKB_ERR_UNAVAILABLE,
		.connect_ms = 500,
		.deadline_ms = 60000,
	};
	socklen_t size = sizeof(address);
	int waiters[2];

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK_INT(bind(listener, at, size), 0);
	CHECK_INT(getsockname(listener, at, &size), 0);
	CHECK_INT(listen(listener, 0), 0);
	for (int i = 0; i < 2; i++) {
		waiters[i] = socket(AF_INET, type | SOCK_NONBLOCK, 0);
		(void)connect(waiters[i], at, size);
	}
	nap_ms(50);
	attempt.url = text("http://127.0.0.1:%u", ntohs(address.sin_port));
	check_in_time(try_it, &attempt, 500);
	for (int i = 0; i < 2; i++)
		(void)close(waiters[i]);
	(void)close(listener);
}

static struct server start_silent(void)
{
	static const struct web_answer silence = { "", NULL, true };

	return start_script(&(struct web_script){ &silence, 1 });
}

TEST(http_time, a_greeting_of_tls_that_does_not_come_ends_in_time)
{
	struct server server = start_silent();
	struct attempt attempt = {
		.url = text("https://127.0.0.1:%u?verify=false", server.port),
		.part = "cannot connect: it was not done in time "
			"(connect-timeout)",
		.status = TKB_ERR_UNAVAILABLE,
		.connect_ms = 500,
		.deadline_ms = 60000,
	};

	check_in_time(try_it, &attempt, 500);
	stop_server(&server, SIGKILL);
}

TEST(http_time, a_server_that_says_nothing_is_given_up_when_it_stalls)
{
	struct server server = start_silent();
	struct attempt attempt = {
		.url = http_url(&server, ""),
		.part = "no byte moved for 400 ms (stall-timeout)",
		.status = TKB_ERR_UNAVAILABLE,
		.stall_ms = 400,
		.deadline_ms = 60000,
	};

	check_in_time(try_it, &attempt, 400);
	stop_server(&server, SIGKILL);
}

TEST(http_time, a_server_that_stalls_in_the_middle_is_given_up)
{
	static const struct web_answer half = {
		"", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n01234567",
		true
	};
	struct server server = start_script(&(struct web_script){ &half, 1 });
	struct attempt attempt = {
		.url = http_url(&server, ""),
		.part = "no byte moved for 400 ms (stall-timeout)",
		.status = TKB_ERR_UNAVAILABLE,
		.stall_ms = 400,
		.deadline_ms = 60000,
	};

	check_in_time(try_it, &attempt, 400);
	stop_server(&server, SIGKILL);
}

TEST(http_time, the_deadline_counts_more_than_the_rest)
{
	struct server server = start_silent();
	struct attempt attempt = {
		.url = http_url(&server, ""),
		.part = "it was not done in time (timeout)",
		.status = TKB_ERR_UNAVAILABLE,
		.deadline_ms = 400,
	};

	check_in_time(try_it, &attempt, 400);
	stop_server(&server, SIGKILL);
}

/* A byte every 50 ms is no stall; it is the deadline that ends it. */
static void drip(int fd, void *self)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n"
				   "\r\n";

	(void)self;
	(void)send(fd, head, strlen(head), MSG_NOSIGNAL);
	while (send(fd, "x", 1, MSG_NOSIGNAL) == 1)
		nap_ms(50);
}

TEST(http_time, a_server_that_drips_is_given_up_at_the_deadline)
{
	struct server server = start_fake(drip, NULL);
	struct attempt attempt = {
		.url = http_url(&server, ""),
		.part = "it was not done in time (timeout)",
		.status = TKB_ERR_UNAVAILABLE,
		.stall_ms = 300,
		.deadline_ms = 1000,
	};

	check_in_time(try_it, &attempt, 1000);
	stop_server(&server, SIGKILL);
}

/* Takes little by little what lies in the sockets since long. */
static void sip(int fd, void *self)
{
	char bytes[64 * 1024];

	(void)self;
	for (;;) {
		const ssize_t got = recv(fd, bytes, sizeof(bytes), 0);

		if (got <= 0)
			return;
		nap_ms(20);
	}
}

/* What was given to the socket is on its way while the socket gets emptier. */
TEST(http_time, a_slow_upload_is_no_stall)
{
	struct server server = start_fake(sip, NULL);
	struct attempt attempt = {
		.url = http_url(&server, "?listing=index"),
		.part = "it was not done in time (timeout)",
		.status = TKB_ERR_UNAVAILABLE,
		.stall_ms = 300,
		.deadline_ms = 1500,
		.size = 6 * TKB_MIB,
	};

	check_in_time(try_it, &attempt, 1500);
	stop_server(&server, SIGKILL);
}

/* Takes nothing at all. */
static void ignore(int fd, void *self)
{
	(void)fd, (void)self;
	nap_ms(5000);
}

TEST(http_time, an_upload_that_nobody_takes_is_a_stall)
{
	struct server server = start_fake(ignore, NULL);
	struct attempt attempt = {
		.url = http_url(&server, "?listing=index"),
		.part = "no byte moved for 500 ms",
		.status = TKB_ERR_UNAVAILABLE,
		.stall_ms = 500,
		.deadline_ms = 60000,
		.size = 64 * TKB_MIB,
	};

	check_in_time(try_it, &attempt, 500);
	stop_server(&server, SIGKILL);
}

static void check_cancelled(const char *url)
{
	struct attempt attempt = {
		.url = url,
		.part = "cancelled",
		.status = TKB_ERR_CANCELLED,
		.connect_ms = 60000,
		.deadline_ms = 60000,
		.cancel_ms = 200,
	};
	uint64_t took = 0;

	for (int i = 0; i < 5; i++) {
		took = try_it(&attempt);
		CHECK(took >= 200);
		if (took < 300)
			return;
	}
	fail_msg("it took %llu ms", (unsigned long long)took);
}

TEST(http_time, whoever_cancels_waits_at_most_a_tenth_of_a_second)
{
	struct server server = start_silent();

	check_cancelled(http_url(&server, ""));
	check_cancelled(text("https://127.0.0.1:%u?verify=false", server.port));
	check_cancelled("http://hangs.test:1");
	stop_server(&server, SIGKILL);
	nap_ms(1500);
}

/* Each waits for its share of the answers, not for all before it. */
TEST(http_time, who_is_not_there_is_not_asked_again_and_again)
{
	struct server server = start_silent();
	const char *const url =
		text("https://127.0.0.1:%u?verify=false", server.port);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct tkb_digest digests[100];
	bool answers[100];
	struct tkb_error err = { 0 };
	uint64_t start;

	for (uint32_t i = 0; i < 100; i++)
		digests[i] = made_up(i);
	handle.call.connect_ms = 300;
	CHECK_OK(open_http(url, &handle, &err), &err);
	start = now_ms();
	CHECK_FAILS(tkb_backend_http.has(handle.self, &handle.call, digests,
	                                 100, answers, NULL, &err),
	            TKB_ERR_UNAVAILABLE, &err, "cannot connect");
	CHECK(now_ms() - start < 900);
	stop_server(&server, SIGKILL);
}
