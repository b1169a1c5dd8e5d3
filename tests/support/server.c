/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	START_TRIES = 2000, /* of 5 ms */
	PORT_TRIES = 20
};

static struct sockaddr_in loopback(unsigned port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		                       .sin_port = htons((uint16_t)port) };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

static int listen_on(unsigned port, unsigned *port_out)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in address = loopback(port);
	socklen_t size = sizeof(address);

	CHECK(fd >= 0);
	SYS(bind(fd, (struct sockaddr *)&address, size));
	CHECK_INT(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	*port_out = ntohs(address.sin_port);
	return fd;
}

unsigned free_port(void)
{
	unsigned port;

	(void)close(listen_on(0, &port));
	return port;
}

static bool answers(unsigned port)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const struct sockaddr_in address = loopback(port);

	CHECK(fd >= 0);
	bool is_there = connect(fd, (const struct sockaddr *)&address,
	                        sizeof(address)) == 0;
	(void)close(fd);
	return is_there;
}

/* A server that ends with the test, unless it was stopped before. */
struct life {
	struct life *next;
	pid_t pid; /* 0: it was stopped */
};

static struct life *lives;

static void end_last_life(void *self)
{
	struct server server = { .pid = lives->pid };

	(void)self;
	stop_server(&server, SIGKILL);
	lives = lives->next;
}

void end_with_test(const struct server *server)
{
	struct life *life = test_alloc(sizeof(*life));

	*life = (struct life){ lives, server->pid };
	lives = life;
	at_end(end_last_life, NULL);
}

static void execute(const char *log, char *const *words)
{
	const int in = open("/dev/null", O_RDONLY);
	const int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);

	if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(out, 2) < 0)
		_exit(127);
	(void)execvp(words[0], words);
	_exit(127);
}

bool start_server(struct server *out, unsigned port, const char *log,
                  const char *program, ...)
{
	char *const *words;
	va_list rest;

	va_start(rest, program);
	words = arguments_of(program, rest);
	va_end(rest);
	const pid_t pid = must_fork();

	if (pid == 0)
		execute(log, words);
	for (int i = 0; i < START_TRIES; i++) {
		int status;

		if (waitpid(pid, &status, WNOHANG) == pid)
			return false;
		if (answers(port)) {
			*out = (struct server){ .pid = pid, .port = port };
			return true;
		}
		nap_ms(5);
	}
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return false;
}

bool log_says(const struct server *server, const char *log, const char *words)
{
	for (int i = 0; i < START_TRIES; i++) {
		if (strstr(read_file(log).data, words) != NULL)
			return true;
		if (waitpid(server->pid, NULL, WNOHANG) == server->pid)
			return false;
		nap_ms(5);
	}
	return false;
}

struct server start_python(const char *script, const char *arguments)
{
	for (int i = 0; i < PORT_TRIES; i++) {
		const unsigned port = free_port();
		struct server server;

		if (start_server(&server, port, "python.log", "sh", "-c",
		                 text("exec python3 -B '%s' %u %s", script,
		                      port, arguments),
		                 NULL)) {
			end_with_test(&server);
			return server;
		}
	}
	fail_msg("'%s' does not start: %s", script,
	         (const char *)read_file("python.log").data);
	abort();
}

struct server start_redis(const char *configuration)
{
	const bool has_tls = strstr(configuration, "tls-cert-file") != NULL;
	struct server server;

	/* Another process may take the port before the server does. */
	for (int i = 0; i < PORT_TRIES; i++) {
		const unsigned port = free_port();
		const unsigned tls_port = has_tls ? free_port() : 0;
		const char *file = text("redis-%u.conf", port);
		const char *log = text("redis-%u.log", port);
		const char *path =
			text("%s/redis-%u.sock", test_folder(), port);

		write_text(file, text("bind 127.0.0.1\nport %u\ntls-port %u\n"
		                      "unixsocket %s\nsave \"\"\ndir %s\n%s",
		                      port, tls_port, path, test_folder(),
		                      configuration));
		if (start_server(&server, port, log, "redis-server", file,
		                 NULL) &&
		    log_says(&server, log, "Ready to accept")) {
			server.tls_port = tls_port;
			server.socket = path;
			end_with_test(&server);
			return server;
		}
		if (i == PORT_TRIES - 1)
			fail_msg("redis-server does not start: %s",
			         (const char *)read_file(log).data);
	}
	abort();
}

const char *ask_redis(const struct server *server, const char *word, ...)
{
	const char *words[8] = { word };
	size_t count = 1;
	va_list rest;

	va_start(rest, word);
	do {
		CHECK(count < 8);
		words[count] = va_arg(rest, const char *);
	} while (words[count++] != NULL);
	va_end(rest);
	struct outcome outcome =
		run("redis-cli", "-p", text("%u", server->port), words[0],
	            words[1], words[2], words[3], words[4], words[5], words[6],
	            words[7], NULL);
	CHECK_INT(outcome.status, 0);
	return outcome.out;
}

struct server start_listener(void (*work)(int listener, void *self), void *self)
{
	struct server server = { .tls_port = 0 };
	const int listener = listen_on(0, &server.port);

	SYS(listen(listener, SOMAXCONN));
	server.pid = must_fork();
	if (server.pid == 0) {
		(void)signal(SIGPIPE, SIG_IGN);
		work(listener, self);
		_exit(1);
	}
	(void)close(listener);
	end_with_test(&server);
	return server;
}

/* Serves one connection after another. */
struct host {
	void (*serve)(int fd, void *self);
	void *self;
};

static void serve_all(int listener, void *self)
{
	const struct host *host = self;

	for (;;) {
		const int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			return;
		host->serve(fd, host->self);
		(void)close(fd);
	}
}

struct server start_fake(void (*serve)(int fd, void *self), void *self)
{
	struct host host = { serve, self };

	return start_listener(serve_all, &host);
}

void stop_server(struct server *server, int number)
{
	if (server->pid == 0)
		return;
	(void)kill(server->pid, number);
	(void)end_of(server->pid);
	for (struct life *life = lives; life != NULL; life = life->next) {
		if (life->pid == server->pid)
			life->pid = 0;
	}
	server->pid = 0;
}

static void must_work(struct outcome outcome)
{
	if (outcome.status != 0)
		fail_msg("openssl: %s", outcome.err);
}

void make_authority(const char *name)
{
	must_work(run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
	              "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
	              "-keyout", text("%s.key", name), "-out",
	              text("%s.pem", name), "-subj", text("/CN=%s", name),
	              NULL));
}

void make_certificate(const char *name, const char *authority,
                      const char *names, int days)
{
	const char *request = text("%s.csr", name);
	const char *extensions = text("%s.ext", name);

	write_text(extensions, text("subjectAltName=%s\n", names));
	must_work(run("openssl", "req", "-newkey", "ec", "-pkeyopt",
	              "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
	              text("%s.key", name), "-out", request, "-subj",
	              text("/CN=%s", name), NULL));
	must_work(run("openssl", "x509", "-req", "-in", request, "-CA",
	              text("%s.pem", authority), "-CAkey",
	              text("%s.key", authority), "-set_serial", "1", "-days",
	              text("%d", days), "-extfile", extensions, "-out",
	              text("%s.pem", name), NULL));
}

void make_certified(const char *names, int days)
{
	make_authority("ca");
	make_certificate("server", "ca", names, days);
}
