/* SPDX-License-Identifier: Apache-2.0 */
#include "config/http_get.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/auto.h"
#include "cli/deadline.h"
#include "cli/fd.h"

#define PORT 80
#define PORT_LIMIT 65535
/*
 * Up to this size an answer is read to its end, so that the server can send all
 * of it.
 */
#define REST_LIMIT (64 * 1024)

static void add_ipv4(struct http_url *url, struct in_addr address,
                     in_port_t port)
{
	const struct sockaddr_in full = { .sin_family = AF_INET,
		                          .sin_port = htons(port),
		                          .sin_addr = address };

	(void)memcpy(&url->addresses[url->address_count], &full, sizeof(full));
	url->sizes[url->address_count++] = sizeof(full);
}

static void add_ipv6(struct http_url *url, const struct in6_addr *address,
                     in_port_t port)
{
	const struct sockaddr_in6 full = { .sin6_family = AF_INET6,
		                           .sin6_port = htons(port),
		                           .sin6_addr = *address };

	(void)memcpy(&url->addresses[url->address_count], &full, sizeof(full));
	url->sizes[url->address_count++] = sizeof(full);
}

/* Is it an address, such as "127.0.0.1" or "[::1]", or "localhost"? */
static bool add_host(struct http_url *url, const char *host, in_port_t port)
{
	const struct in_addr local = { htonl(INADDR_LOOPBACK) };
	const size_t length = strlen(host);
	struct in6_addr ipv6;
	struct in_addr ipv4;
	char text[64];

	if (strcmp(host, "localhost") == 0) {
		add_ipv4(url, local, port);
		add_ipv6(url, &in6addr_loopback, port);
		return true;
	}
	if (inet_pton(AF_INET, host, &ipv4) == 1) {
		add_ipv4(url, ipv4, port);
		return true;
	}
	if (length < 2 || length - 2 >= sizeof(text) || host[0] != '[' ||
	    host[length - 1] != ']')
		return false;
	(void)memcpy(text, host + 1, length - 2);
	text[length - 2] = '\0';
	if (inet_pton(AF_INET6, text, &ipv6) != 1)
		return false;
	add_ipv6(url, &ipv6, port);
	return true;
}

/*
 * Cut ":8000" off the end of `host`. A colon within brackets is part of an
 * address.
 */
static bool cut_port(char *host, in_port_t *out)
{
	char *const colon = strrchr(host, ':');
	unsigned long port;
	size_t digits;

	*out = PORT;
	if (colon == NULL || strchr(colon, ']') != NULL)
		return true;
	digits = strspn(colon + 1, "0123456789");
	if (digits == 0 || digits > 5 || colon[1 + digits] != '\0')
		return false;
	port = strtoul(colon + 1, NULL, 10);
	*out = (in_port_t)port;
	*colon = '\0';
	return port > 0 && port <= PORT_LIMIT;
}

/* Does the text contain no byte that would end the request line? */
static bool is_request_path(const char *path)
{
	for (; *path != '\0'; path++) {
		if (*path <= ' ' || *path > '~' || *path == '#')
			return false;
	}
	return true;
}

bool http_url_parse(const char *text, struct http_url *out)
{
	static const char scheme[] = "http://";
	const char *const host = text + strlen(scheme);
	char name[sizeof(out->host)];
	in_port_t port;
	size_t length;

	*out = (struct http_url){ .address_count = 0 };
	if (strncmp(text, scheme, strlen(scheme)) != 0)
		return false;
	length = strcspn(host, "/?");
	if (length == 0 || length >= sizeof(name))
		return false;
	(void)memcpy(name, host, length);
	name[length] = '\0';
	(void)memcpy(out->host, name, length + 1);
	if (snprintf(out->path, sizeof(out->path), "%s%s",
	             host[length] == '/' ? "" : "/",
	             host + length) >= (int)sizeof(out->path))
		return false;
	return is_request_path(out->path) && cut_port(name, &port) &&
	       add_host(out, name, port);
}

/* Wait for `events`; false if the time is over. */
static bool wait_for_events(int fd, short events, const struct deadline *end)
{
	struct pollfd item = { .fd = fd, .events = events };
	int count;

	do {
		const uint32_t left = deadline_left_ms(end, 1000);

		count = left > 0 ? poll(&item, 1, (int)left) : 0;
	} while ((count < 0 && errno == EINTR) ||
	         (count == 0 && !deadline_is_over(end)));
	errno = count == 0 ? ETIMEDOUT : errno;
	return count > 0;
}

static int connect_to(const struct http_url *url, size_t index,
                      const struct deadline *end)
{
	TKB_AUTO(fd_close)
	int fd = socket(url->addresses[index].ss_family,
	                SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t size = sizeof(int);
	int error = 0;
	int kept;

	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&url->addresses[index],
	            url->sizes[index]) < 0 &&
	    errno != EINPROGRESS)
		return -1;
	if (!wait_for_events(fd, POLLOUT, end))
		return -1;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		return -1;
	errno = error;
	if (error != 0)
		return -1;
	kept = fd;
	fd = -1;
	return kept;
}

static bool send_request(int fd, const struct http_url *url,
                         const struct deadline *end)
{
	char text[sizeof(url->path) + sizeof(url->host) + 128];
	const int length = snprintf(text, sizeof(text),
	                            "GET %s HTTP/1.1\r\nHost: %s\r\n"
	                            "User-Agent: tkbundle\r\nAccept: */*\r\n"
	                            "Connection: close\r\n\r\n",
	                            url->path, url->host);
	ssize_t got = 0;

	for (int at = 0; at < length; at += (int)got) {
		if (!wait_for_events(fd, POLLOUT, end))
			return false;
		got = send(fd, text + at, (size_t)(length - at), MSG_NOSIGNAL);
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		got = got < 0 ? 0 : got;
	}
	return true;
}

/*
 * Read at most `room` bytes. Returns their number, 0 at the end, -1 on failure.
 */
static ssize_t receive_bytes(int fd, char *out, size_t room,
                             const struct deadline *end)
{
	ssize_t got;

	do {
		if (!wait_for_events(fd, POLLIN, end))
			return -1;
		got = recv(fd, out, room, 0);
	} while (got < 0 && (errno == EAGAIN || errno == EINTR));
	return got;
}

/* The first line of the answer, without its end. */
static bool read_status_line(int fd, char out[HTTP_REASON_SIZE],
                             const struct deadline *end)
{
	char rest[4096];
	size_t size = 0;
	size_t dropped = 0;
	ssize_t got = 1;

	while (size < HTTP_REASON_SIZE - 1 && got > 0 &&
	       memchr(out, '\n', size) == NULL) {
		got = receive_bytes(fd, out + size, HTTP_REASON_SIZE - 1 - size,
		                    end);
		size += got > 0 ? (size_t)got : 0;
	}
	out[size] = '\0';
	out[strcspn(out, "\r\n")] = '\0';
	for (char *at = out; *at != '\0'; at++)
		*at = *at >= ' ' && *at <= '~' ? *at : '?';
	errno = got == 0 && size == 0 ? ECONNRESET : errno;
	while (got > 0 && dropped < REST_LIMIT) {
		got = receive_bytes(fd, rest, sizeof(rest), end);
		dropped += got > 0 ? (size_t)got : 0;
	}
	return size > 0;
}

/* "HTTP/1.1 200 OK" */
static int status_of(const char *line)
{
	const size_t version = strlen("HTTP/1.1 ");

	if (strncmp(line, "HTTP/1.", strlen("HTTP/1.")) != 0 ||
	    strlen(line) < version + 3 ||
	    strspn(line + version, "0123456789") != 3)
		return 0;
	return (int)strtol(line + version, NULL, 10);
}

int http_get(const struct http_url *url, uint64_t limit_ms,
             char reason_out[HTTP_REASON_SIZE])
{
	for (size_t i = 0; i < url->address_count; i++) {
		TKB_AUTO(fd_close) int fd = -1;
		char line[HTTP_REASON_SIZE] = "";
		struct deadline end;
		int status;

		deadline_begin(&end, limit_ms);
		fd = connect_to(url, i, &end);
		if (fd < 0 || !send_request(fd, url, &end) ||
		    !read_status_line(fd, line, &end)) {
			(void)snprintf(reason_out, HTTP_REASON_SIZE, "%s",
			               strerror(errno));
			continue;
		}
		status = status_of(line);
		(void)snprintf(reason_out, HTTP_REASON_SIZE, "%s",
		               status != 0 ? line : "no answer in HTTP");
		return status;
	}
	return 0;
}
