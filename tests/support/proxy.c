/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "remote_fixture.h"

enum {
	CHUNK = 65536,
	ROOM = CHUNK + 32, /* a number may grow */
	LINES_LIMIT = 512,
	LOOK_MS = 5 /* between two looks whether a delay is over */
};

/* One direction of a connection. */
struct flow {
	char bytes[ROOM];
	size_t size;               /* bytes that have come */
	size_t ready;              /* of those, may be forwarded */
	const struct fault *fault; /* the fault to inject; NULL: none */
	uint64_t left;             /* bytes until the fault */
	uint64_t resume_ms;        /* nothing is forwarded before */
	bool is_marked;            /* `left` counts */
	bool is_stopped;           /* takes nothing more */
};

/* A connection, on both sides. */
struct line {
	int client;
	int server; /* -1: it has hung up */
	struct flow up;
	struct flow down;
	bool is_whole;     /* its fault is that of the whole connection */
	bool was_answered; /* the client's next bytes are a request */
	bool is_ending;    /* the client gets what is ready, and no more */
	bool is_rude;      /* it ends by a reset */
	bool is_ended;     /* the client has been told so */
	bool is_unreachable;
};

struct exchange {
	unsigned port;
	const struct fault *faults;
	size_t fault_count;
	struct counts *counts;
	struct line *lines[LINES_LIMIT];
	size_t line_count;
	struct pollfd items[2 * LINES_LIMIT + 1];
};

/* End the client's connection once it has what is ready. */
static void end(struct line *line)
{
	line->is_ending = true;
	line->up.is_stopped = false; /* further bytes are dropped */
	line->up.size = line->up.ready;
	line->down.is_stopped = true;
	line->down.size = line->down.ready;
}

/* False: the whole number is not here yet. */
static bool lie(struct flow *flow, int by)
{
	char *start = flow->bytes + flow->ready;
	const size_t here = flow->size - flow->ready;
	char number[32] = "";
	size_t old = 0;

	while (old < here && start[old] >= '0' && start[old] <= '9' && old < 20)
		old++;
	if (old == here)
		return false;
	memcpy(number, start, old);
	size_t new = (size_t)snprintf(number, sizeof(number), "%lld",
	                              atoll(number) + by);
	memmove(start + new, start + old, here - old);
	memcpy(start, number, new);
	flow->size += new - old;
	return true;
}

/* The next byte, when the last is gone. */
static bool trickle(struct flow *flow)
{
	if (flow->ready == 0 && flow->size != 0) {
		flow->ready = 1;
		flow->resume_ms = now_ms() + flow->fault->ms;
	}
	return false;
}

/* False: it is not over, or the byte to be harmed is not here yet. */
static bool strike(struct line *line, struct flow *flow)
{
	const struct fault *fault = flow->fault;

	switch (fault->harm) {
	case DELAY:
		flow->resume_ms = now_ms() + fault->ms;
		return true;
	case TRICKLE:
		return trickle(flow);
	case STALL:
		flow->is_stopped = true;
		flow->size = flow->ready;
		return true;
	case RESET:
		line->is_rude = true;
		end(line);
		return true;
	case CUT:
		end(line);
		return true;
	case FLIP:
		if (flow->ready == flow->size)
			return false;
		flow->bytes[flow->ready] ^= 4;
		return true;
	case LIE:
		return lie(flow, fault->by);
	default:
		return true;
	}
}

/* Find where the fault counts from. False: it may come yet. */
static bool find_mark(struct flow *flow)
{
	const char *mark = flow->fault->behind;
	const char *start = flow->bytes + flow->ready;
	const char *found;

	if (flow->is_marked)
		return true;
	if (mark != NULL) {
		found = memmem(start, flow->size - flow->ready, mark,
		               strlen(mark));
		if (found == NULL)
			return false;
		flow->ready += (size_t)(found - start) + strlen(mark);
	}
	flow->is_marked = true;
	return true;
}

/* Release what has come for forwarding, as far as the fault allows. */
static void release_ready(struct exchange *exchange, struct line *line,
                          struct flow *flow)
{
	const struct fault *fault = flow->fault;
	bool is_over;
	size_t step;

	if (fault != NULL) {
		if (!find_mark(flow))
			return;
		step = flow->size - flow->ready;
		if (step > flow->left)
			step = (size_t)flow->left;
		flow->ready += step;
		flow->left -= step;
		if (flow->left != 0)
			return;
		is_over = strike(line, flow);
		if (is_over || fault->harm == TRICKLE)
			exchange->counts->struck[fault - exchange->faults]++;
		if (!is_over)
			return;
		flow->fault = NULL;
	}
	flow->ready = flow->size;
}

/*
 * Does the fault match this request (NULL: this connection), and does it still
 * apply?
 */
static bool meets(struct exchange *exchange, size_t index, const char *request,
                  size_t size)
{
	const struct fault *fault = &exchange->faults[index];

	if ((request == NULL) != (fault->request == NULL))
		return false;
	if (request != NULL && memmem(request, size, fault->request,
	                              strlen(fault->request)) == NULL)
		return false;
	unsigned met = ++exchange->counts->met[index];
	return fault->harm > PASS && met > fault->skip &&
	       (fault->times == 0 || met <= fault->skip + fault->times);
}

static const struct fault *find_fault(struct exchange *exchange,
                                      const char *request, size_t size)
{
	for (size_t i = 0; i < exchange->fault_count; i++) {
		if (meets(exchange, i, request, size))
			return &exchange->faults[i];
	}
	return NULL;
}

static void answer_instead(struct exchange *exchange, struct line *line,
                           const struct fault *fault)
{
	const size_t size = strlen(fault->answer);

	CHECK(size <= CHUNK - line->down.size);
	memcpy(line->down.bytes + line->down.size, fault->answer, size);
	line->down.size += size;
	line->down.ready = line->down.size;
	exchange->counts->struck[fault - exchange->faults]++;
	end(line);
}

/* Something begins, which may have met a fault. */
static void begin(struct exchange *exchange, struct line *line,
                  const struct fault *fault)
{
	line->up.fault = NULL;
	line->down.fault = NULL;
	if (fault == NULL)
		return;
	if (fault->harm == ANSWER) {
		answer_instead(exchange, line, fault);
		return;
	}
	struct flow *flow = fault->is_upload ? &line->up : &line->down;
	flow->fault = fault;
	flow->left = fault->at;
	flow->is_marked = false;
	release_ready(exchange, line, flow);
}

/* The client has said something. */
static void begin_request(struct exchange *exchange, struct line *line)
{
	const struct flow *up = &line->up;

	if (!line->was_answered)
		return;
	line->was_answered = false;
	exchange->counts->requests++;
	if (!line->is_whole)
		begin(exchange, line,
		      find_fault(exchange, up->bytes + up->ready,
		                 up->size - up->ready));
}

/* Returns how many bytes came; 0: the peer has hung up; -1: none now. */
static ssize_t receive(struct flow *flow, int fd)
{
	const ssize_t got =
		recv(fd, flow->bytes + flow->size, CHUNK - flow->size, 0);

	if (got > 0)
		flow->size += (size_t)got;
	if (got < 0 && !(errno == EAGAIN || errno == EINTR))
		return 0;
	return got;
}

/* False: the peer takes nothing more. */
static bool send_ready(struct flow *flow, int fd, atomic_ullong *count)
{
	const ssize_t sent = send(fd, flow->bytes, flow->ready, MSG_NOSIGNAL);

	if (sent < 0)
		return errno == EAGAIN || errno == EINTR;
	*count += (unsigned long long)sent;
	flow->size -= (size_t)sent;
	flow->ready -= (size_t)sent;
	memmove(flow->bytes, flow->bytes + sent, flow->size);
	return true;
}

static void read_client(struct exchange *exchange, struct line *line)
{
	const ssize_t got = receive(&line->up, line->client);

	line->is_unreachable |= got == 0;
	if (got <= 0)
		return;
	if (line->is_ending) {
		line->up.size = line->up.ready;
		return;
	}
	begin_request(exchange, line);
	release_ready(exchange, line, &line->up);
}

static void lose_server(struct line *line)
{
	(void)close(line->server);
	line->server = -1;
	if (!line->down.is_stopped)
		end(line);
}

/* After "100 Continue", the request goes on. */
static bool is_answer(const char *bytes, size_t size)
{
	static const char go_on[] = "HTTP/1.1 100 ";

	return size < sizeof(go_on) - 1 ||
	       memcmp(bytes, go_on, sizeof(go_on) - 1) != 0;
}

static void read_server(struct exchange *exchange, struct line *line)
{
	const size_t had = line->down.size;
	const ssize_t got = receive(&line->down, line->server);

	if (got == 0)
		lose_server(line);
	if (got <= 0)
		return;
	line->was_answered |= is_answer(line->down.bytes + had, (size_t)got);
	release_ready(exchange, line, &line->down);
}

/* The client has all that it gets. */
static void finish(struct line *line)
{
	const struct linger rude = { .l_onoff = 1 };

	if (!line->is_ending || line->is_ended || line->down.ready != 0)
		return;
	line->is_ended = true;
	(void)shutdown(line->client, SHUT_WR);
	if (line->is_rude) {
		(void)setsockopt(line->client, SOL_SOCKET, SO_LINGER, &rude,
		                 sizeof(rude));
		line->is_unreachable = true;
	}
}

static short events_of(const struct line *line, const struct flow *in,
                       const struct flow *out)
{
	short events = 0;

	if (!in->is_stopped && in->size < CHUNK)
		events |= POLLIN;
	if (out->ready != 0 && now_ms() >= out->resume_ms)
		events |= POLLOUT;
	if (in == &line->up && in->is_stopped)
		events |= POLLRDHUP;
	return events;
}

static void serve_client(struct exchange *exchange, struct line *line,
                         short events)
{
	if ((events & (POLLERR | POLLHUP | POLLRDHUP)) != 0)
		line->is_unreachable = true;
	else if ((events & POLLIN) != 0)
		read_client(exchange, line);
	if ((events & POLLOUT) != 0 && !line->is_unreachable)
		line->is_unreachable |= !send_ready(&line->down, line->client,
		                                    &exchange->counts->down);
}

static void serve_server(struct exchange *exchange, struct line *line,
                         short events)
{
	if ((events & POLLIN) != 0)
		read_server(exchange, line);
	else if ((events & (POLLERR | POLLHUP)) != 0)
		lose_server(line);
	if ((events & POLLOUT) != 0 && line->server >= 0 &&
	    !send_ready(&line->up, line->server, &exchange->counts->up))
		lose_server(line);
}

static void serve(struct exchange *exchange, struct line *line, short client,
                  short server)
{
	serve_client(exchange, line, client);
	if (line->server >= 0 && !line->is_unreachable)
		serve_server(exchange, line, server);
	release_ready(exchange, line, &line->up);
	release_ready(exchange, line, &line->down);
	finish(line);
}

static int connect_to(unsigned port)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in address = { .sin_family = AF_INET,
		                       .sin_port = htons((uint16_t)port) };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd >= 0 &&
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

static void admit(struct exchange *exchange, int listener)
{
	const int fd =
		accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	struct line *line = calloc(1, sizeof(*line));
	if (line == NULL || exchange->line_count == LINES_LIMIT)
		_exit(1);
	line->client = fd;
	line->server = connect_to(exchange->port);
	line->was_answered = true;
	exchange->lines[exchange->line_count++] = line;
	exchange->counts->connections++;
	const struct fault *fault = find_fault(exchange, NULL, 0);
	line->is_whole = fault != NULL;
	begin(exchange, line, fault);
	if (line->server < 0)
		end(line);
	finish(line);
}

static void forget_dead(struct exchange *exchange)
{
	size_t kept = 0;

	for (size_t i = 0; i < exchange->line_count; i++) {
		struct line *line = exchange->lines[i];

		if (!line->is_unreachable) {
			exchange->lines[kept++] = line;
			continue;
		}
		(void)close(line->client);
		if (line->server >= 0)
			(void)close(line->server);
		free(line);
	}
	exchange->line_count = kept;
}

/* Wait until something can be done. */
static void wait_for_any(struct exchange *exchange, int listener)
{
	bool is_delayed = false;

	exchange->items[0] = (struct pollfd){ listener, POLLIN, 0 };
	for (size_t i = 0; i < exchange->line_count; i++) {
		const struct line *line = exchange->lines[i];

		exchange->items[2 * i + 1] = (struct pollfd){
			line->client, events_of(line, &line->up, &line->down), 0
		};
		exchange->items[2 * i + 2] = (struct pollfd){
			line->server, events_of(line, &line->down, &line->up), 0
		};
		is_delayed |=
			line->up.resume_ms != 0 || line->down.resume_ms != 0;
	}
	(void)poll(exchange->items, 2 * exchange->line_count + 1,
	           is_delayed ? LOOK_MS : -1);
}

static void work(int listener, void *self)
{
	struct exchange *exchange = self;

	for (;;) {
		const size_t count = exchange->line_count;

		wait_for_any(exchange, listener);
		for (size_t i = 0; i < count; i++)
			serve(exchange, exchange->lines[i],
			      exchange->items[2 * i + 1].revents,
			      exchange->items[2 * i + 2].revents);
		if (exchange->items[0].revents != 0)
			admit(exchange, listener);
		forget_dead(exchange);
	}
}

static void forget_counts(void *self)
{
	(void)munmap(self, sizeof(struct counts));
}

struct proxy start_proxy(unsigned port, const struct fault *faults,
                         size_t count)
{
	struct exchange *exchange = test_alloc(sizeof(*exchange));
	struct proxy proxy = { .port = 0 };

	CHECK(count <= FAULTS_LIMIT);
	proxy.counts = mmap(NULL, sizeof(*proxy.counts), PROT_READ | PROT_WRITE,
	                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(proxy.counts != MAP_FAILED);
	at_end(forget_counts, proxy.counts);
	exchange->port = port;
	exchange->faults = faults;
	exchange->fault_count = count;
	exchange->counts = proxy.counts;
	proxy.server = start_listener(work, exchange);
	proxy.port = proxy.server.port;
	return proxy;
}

void stop_proxy(struct proxy *proxy)
{
	stop_server(&proxy->server, SIGKILL);
}
