/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote/net/wire.h"

/* Shared by the thread and who waits for it; the last of them frees it. */
struct lookup {
	atomic_int holders;
	atomic_bool is_done; /* what follows is there */
	struct addrinfo *found;
	int rc;        /* getaddrinfo()'s */
	int number;    /* errno, for EAI_SYSTEM */
	int done_fd;   /* the thread's; closed when it is done */
	char port[16]; /* decimal */
	char host[];
};

void tkb_resolve_release(struct addrinfo **addresses)
{
	if (*addresses != NULL)
		freeaddrinfo(*addresses);
	*addresses = NULL;
}

static void leave(struct lookup **lookup_at)
{
	struct lookup *lookup = tkb_take(*lookup_at);

	if (lookup == NULL || atomic_fetch_sub(&lookup->holders, 1) != 1)
		return;
	tkb_resolve_release(&lookup->found);
	free(lookup);
}

static int ask_system(const char *host, const char *port, int flags,
                      struct addrinfo **out)
{
	const struct addrinfo hints = { .ai_flags = flags | AI_NUMERICSERV,
		                        .ai_socktype = SOCK_STREAM };

	return getaddrinfo(host, port, &hints, out);
}

static void *look_up(void *argument)
{
	struct lookup *lookup = argument;
	const int done_fd = lookup->done_fd;

	lookup->rc = ask_system(lookup->host, lookup->port, 0, &lookup->found);
	lookup->number = errno;
	atomic_store(&lookup->is_done, true);
	(void)close(done_fd);
	leave(&lookup);
	return NULL;
}

static int start_thread(struct lookup *lookup)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all;
	sigset_t old;
	int rc;

	if (pthread_attr_init(&attributes) != 0)
		return -1;
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&thread, &attributes, look_up, lookup);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	(void)pthread_attr_destroy(&attributes);
	return rc == 0 ? 0 : -1;
}

static struct lookup *new_lookup(const char *host, const char *port)
{
	const size_t size = strlen(host) + 1;
	struct lookup *lookup = calloc(1, sizeof(*lookup) + size);

	if (lookup == NULL)
		return NULL;
	atomic_init(&lookup->holders, 1);
	memcpy(lookup->host, host, size);
	(void)snprintf(lookup->port, sizeof(lookup->port), "%s", port);
	return lookup;
}

/* The thread holds it, too, when this returns 0. */
static int start(struct lookup *lookup, struct tkb_wire *done,
                 struct tkb_error *err)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return tkb_wire_fail(err, "cannot look up its host");
	done->fd = fds[0];
	done->moved_ns = tkb_now_ns();
	lookup->done_fd = fds[1];
	atomic_store(&lookup->holders, 2);
	if (start_thread(lookup) == 0)
		return 0;
	atomic_store(&lookup->holders, 1);
	(void)close(fds[1]);
	return tkb_fail(err, TKB_ERR_UNAVAILABLE,
	                "the system gives no thread to look up its host");
}

static int explain(int rc, int number, struct tkb_error *err)
{
	char text[128] = "";

	if (rc == EAI_MEMORY)
		return tkb_fail_nomem(err);
	return tkb_fail(
		err, TKB_ERR_UNAVAILABLE, "its host's name is not known: %s",
		rc == EAI_SYSTEM ? strerror_r(number, text, sizeof(text))
				 : gai_strerror(rc));
}

static int look_up_in_thread(const char *host, const char *port,
                             const struct tkb_op_limits *call,
                             struct addrinfo **out, struct tkb_error *err)
{
	TKB_AUTO(leave) struct lookup *lookup = new_lookup(host, port);
	TKB_AUTO(tkb_wire_close) struct tkb_wire done = TKB_WIRE_INIT;
	int rc;

	if (lookup == NULL)
		return tkb_fail_nomem(err);
	rc = start(lookup, &done, err);
	if (rc < 0)
		return rc;
	rc = tkb_wire_wait(&done, POLLIN, call, err);
	if (rc < 0)
		return tkb_fail_while(err, rc, "looking up its host");
	if (!atomic_load(&lookup->is_done) || lookup->rc != 0)
		return explain(lookup->rc, lookup->number, err);
	*out = tkb_take(lookup->found);
	return 0;
}

int tkb_resolve(const char *host, uint32_t port,
                const struct tkb_op_limits *call, struct addrinfo **out,
                struct tkb_error *err)
{
	char digits[16];

	(void)snprintf(digits, sizeof(digits), "%u", (unsigned)port);
	if (ask_system(host, digits, AI_NUMERICHOST, out) == 0)
		return 0;
	return look_up_in_thread(host, digits, call, out, err);
}
