/* SPDX-License-Identifier: Apache-2.0 */
#include "slow_hosts.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "remote_fixture.h"

static int look_up(const char *host, const char *port,
                   const struct addrinfo *hints, struct addrinfo **out)
{
	int (*real)(const char *host, const char *port,
	            const struct addrinfo *hints, struct addrinfo **out) = NULL;

	*(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
	return real(host, port, hints, out);
}

/* libcurl calls this one. */
int getaddrinfo(const char *host, const char *port,
                const struct addrinfo *hints, struct addrinfo **out)
{
	struct addrinfo *second = NULL;

	if (host != NULL && strcmp(host, "hangs.test") == 0) {
		nap_ms(1500);
		return EAI_AGAIN;
	}
	if (host != NULL && strcmp(host, "unknown.test") == 0)
		return EAI_NONAME;
	if (host == NULL || strcmp(host, "two.test") != 0)
		return look_up(host, port, hints, out);
	int rc = look_up("127.0.0.9", port, hints, out);
	if (rc == 0)
		rc = look_up("127.0.0.1", port, hints, &second);
	if (rc == 0)
		(*out)->ai_next = second;
	return rc;
}

struct full_queue open_queue(const char *host, unsigned port)
{
	const int type = SOCK_STREAM | SOCK_CLOEXEC;
	struct sockaddr_in address = { .sin_family = AF_INET,
		                       .sin_port = htons((uint16_t)port) };
	struct sockaddr *at = (struct sockaddr *)&address;
	struct full_queue queue = { .listener = socket(AF_INET, type, 0) };
	socklen_t size = sizeof(address);

	CHECK_INT(inet_pton(AF_INET, host, &address.sin_addr), 1);
	SYS(bind(queue.listener, at, size));
	CHECK_INT(getsockname(queue.listener, at, &size), 0);
	SYS(listen(queue.listener, 0));
	for (int i = 0; i < 2; i++) {
		queue.waiters[i] = socket(AF_INET, type | SOCK_NONBLOCK, 0);
		(void)connect(queue.waiters[i], at, size);
	}
	queue.port = ntohs(address.sin_port);
	nap_ms(50);
	return queue;
}

void close_queue(const struct full_queue *queue)
{
	for (int i = 0; i < 2; i++)
		(void)close(queue->waiters[i]);
	(void)close(queue->listener);
}
