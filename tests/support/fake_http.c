/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_http.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The state of the server, which is a process of its own. */

struct file {
	struct file *next;
	char *path;
	char *data;
	size_t size;
	unsigned version;
	time_t modified;
};

static struct {
	pthread_mutex_t lock;
	struct file *files;
	unsigned version;
	unsigned flags;
} store = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct request {
	char method[16];
	char path[2048];
	char if_match[128];
	char if_none_match[128];
	char range[64];
	char *body; /* owned */
	size_t size;
};

struct reply {
	int status;
	const char *etag; /* NULL: none */
	char etag_text[64];
	time_t modified; /* 0: none */
	char *body;      /* owned */
	size_t size;
};

static struct file **find(const char *path)
{
	struct file **link = &store.files;

	while (*link != NULL && strcmp((*link)->path, path) != 0)
		link = &(*link)->next;
	return link;
}

static void name_version(const struct file *file, char out[64])
{
	(void)snprintf(out, 64, "%s\"v%u\"",
	               (store.flags & WEB_WEAK) != 0 ? "W/" : "",
	               (store.flags & WEB_STALE) != 0 ? 1 : file->version);
}

/* RFC 9110: If-Match compares strongly, unless WEB_LAX. */
static bool holds(const struct request *request, const struct file *file)
{
	char etag[64];

	if ((store.flags & WEB_BLIND) != 0)
		return true;
	if (file != NULL)
		name_version(file, etag);
	if (request->if_match[0] != '\0' &&
	    (file == NULL || (etag[0] == 'W' && (store.flags & WEB_LAX) == 0) ||
	     strcmp(request->if_match, etag) != 0))
		return false;
	return strcmp(request->if_none_match, "*") != 0 || file == NULL;
}

static int store_file(struct request *request, struct file **link)
{
	struct file *file = *link;
	const int status = file == NULL ? 201 : 204;

	if (!holds(request, file))
		return 412;
	if (file == NULL) {
		file = calloc(1, sizeof(*file));
		if (file == NULL)
			abort();
		file->path = strdup(request->path);
		*link = file;
	}
	if ((store.flags & WEB_DIGEST) == 0 ||
	    !tkb_bytes_equal(
		    (struct tkb_bytes){ file->data, file->size },
		    (struct tkb_bytes){ request->body, request->size }))
		file->version = ++store.version;
	free(file->data);
	file->data = tkb_take(request->body);
	file->size = request->size;
	file->modified = time(NULL);
	return status;
}

/* A folder is a file whose path ends with a slash. */
static bool has_folder(const char *path)
{
	const size_t length = strlen(path);
	size_t size = length - (path[length - 1] == '/');
	char folder[2048];

	while (size != 0 && path[size - 1] != '/')
		size--;
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)size, path);
	return (store.flags & WEB_STRICT) == 0 || size <= 1 ||
	       *find(folder) != NULL;
}

static int remove_file(struct file **link)
{
	struct file *file = *link;

	if (file == NULL)
		return 404;
	*link = file->next;
	free(file->path);
	free(file->data);
	free(file);
	return 204;
}

static void fetch(const struct request *request, const struct file *file,
                  struct reply *reply)
{
	size_t offset = 0;

	if (file == NULL) {
		reply->status = 404;
		return;
	}
	reply->status = 200;
	if (sscanf(request->range, "bytes=%zu-", &offset) == 1)
		reply->status = offset < file->size ? 206 : 416;
	if (reply->status == 416)
		return;
	name_version(file, reply->etag_text);
	reply->etag = reply->etag_text;
	reply->modified = file->modified;
	reply->size = file->size - offset;
	reply->body = malloc(reply->size + 1);
	if (reply->body == NULL)
		abort();
	if (reply->size != 0)
		memcpy(reply->body, file->data + offset, reply->size);
}

static bool is_method(const struct request *request, const char *method)
{
	return strcmp(request->method, method) == 0;
}

static void answer(struct request *request, struct reply *reply)
{
	const size_t length = strlen(request->path);
	const bool is_folder = request->path[length - 1] == '/';

	if ((store.flags & WEB_SLOW) != 0)
		nap_ms(50);
	(void)pthread_mutex_lock(&store.lock);
	struct file **link = find(request->path);
	reply->status = 405;
	if ((store.flags & WEB_SECRET) != 0 && is_folder)
		reply->status = 403;
	else if (is_method(request, "GET") || is_method(request, "HEAD"))
		fetch(request, is_folder ? NULL : *link, reply);
	else if (is_method(request, "DELETE"))
		reply->status = remove_file(link);
	else if (is_method(request, "PUT") ||
	         (is_method(request, "MKCOL") && *link == NULL))
		reply->status = has_folder(request->path)
		                        ? store_file(request, link)
		                        : 409;
	(void)pthread_mutex_unlock(&store.lock);
}

static void write_date(FILE *out, const char *name, time_t when)
{
	struct tm parts;
	char text[64];

	(void)gmtime_r(&when, &parts);
	(void)strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts);
	(void)fprintf(out, "%s: %s\r\n", name, text);
}

static bool write_reply(FILE *out, const struct request *request,
                        const struct reply *reply)
{
	(void)fprintf(out, "HTTP/1.1 %d Whatever\r\n", reply->status);
	write_date(out, "Date", time(NULL));
	if (reply->modified != 0)
		write_date(out, "Last-Modified", reply->modified);
	if (reply->etag != NULL)
		(void)fprintf(out, "ETag: %s\r\n", reply->etag);
	if (reply->status == 206)
		(void)fprintf(out, "Content-Range: %.6s %s%zu/*\r\n", "bytes",
		              strchr(request->range, '=') + 1, reply->size);
	if (reply->status != 204)
		(void)fprintf(out, "Content-Length: %zu\r\n", reply->size);
	(void)fprintf(out, "\r\n");
	if (strcmp(request->method, "HEAD") != 0 && reply->size != 0)
		(void)fwrite(reply->body, 1, reply->size, out);
	return fflush(out) == 0;
}

static void read_header(struct request *request, const char *line)
{
	static const char format[] = " %127[^\r\n]";

	if (strncasecmp(line, "If-Match:", 9) == 0)
		(void)sscanf(line + 9, format, request->if_match);
	else if (strncasecmp(line, "If-None-Match:", 14) == 0)
		(void)sscanf(line + 14, format, request->if_none_match);
	else if (strncasecmp(line, "Range:", 6) == 0)
		(void)sscanf(line + 6, " %63[^\r\n]", request->range);
	else if (strncasecmp(line, "Content-Length:", 15) == 0)
		request->size = strtoul(line + 15, NULL, 10);
}

static bool read_request(FILE *in, struct request *request)
{
	char line[8192];

	if (fgets(line, sizeof(line), in) == NULL ||
	    sscanf(line, "%15s %2047s", request->method, request->path) != 2)
		return false;
	for (;;) {
		if (fgets(line, sizeof(line), in) == NULL)
			return false;
		if (line[0] == '\r' || line[0] == '\n')
			break;
		read_header(request, line);
	}
	request->body = malloc(request->size + 1);
	return request->body != NULL &&
	       fread(request->body, 1, request->size, in) == request->size;
}

static void *serve(void *argument)
{
	const int fd = (int)(intptr_t)argument;
	FILE *in = fdopen(fd, "r");
	FILE *out = fdopen(dup(fd), "w");
	bool goes_on = in != NULL && out != NULL;

	while (goes_on) {
		struct request request = { .size = 0 };
		struct reply reply = { .status = 0 };

		goes_on = read_request(in, &request);
		if (goes_on) {
			answer(&request, &reply);
			goes_on = write_reply(out, &request, &reply);
		}
		free(request.body);
		free(reply.body);
	}
	if (in != NULL)
		(void)fclose(in);
	if (out != NULL)
		(void)fclose(out);
	return NULL;
}

static void in_thread(void *(*body)(void *argument), void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attributes, body, argument) != 0)
		abort();
	(void)pthread_attr_destroy(&attributes);
}

/* The connection outlives this call. */
static void serve_in_thread(int fd, void *self)
{
	(void)self;
	in_thread(serve, (void *)(intptr_t)dup(fd));
}

struct server start_web(unsigned flags)
{
	store.flags = flags; /* the server's process has it from here */
	return start_fake(serve_in_thread, NULL);
}

/* Of the server that is started next. */
static const struct web_answer *script;
static size_t script_count;

static void note_request(const char *head)
{
	const int fd = open("requests", O_WRONLY | O_CREAT | O_APPEND, 0666);

	if (fd < 0 || write(fd, head, strlen(head)) < 0)
		abort();
	(void)close(fd);
}

static bool read_head(int fd, char *head, size_t size)
{
	size_t used = 0;

	while (used < size - 1) {
		const ssize_t got = recv(fd, head + used, 1, 0);

		if (got <= 0)
			return false;
		head[++used] = '\0';
		if (strstr(head, "\r\n\r\n") != NULL)
			return true;
	}
	return false;
}

static void send_text(int fd, const char *what)
{
	size_t left = strlen(what);

	while (left != 0) {
		const ssize_t sent = send(fd, what, left, MSG_NOSIGNAL);

		if (sent <= 0)
			return;
		what += sent;
		left -= (size_t)sent;
	}
}

static void play(int fd, const char *head)
{
	static const struct web_answer none = {
		"", "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", false
	};
	const struct web_answer *answer = &none;
	char bytes[4096];

	for (size_t i = script_count; i-- > 0;) {
		if (strstr(head, script[i].when) != NULL)
			answer = &script[i];
	}
	if (answer->what != NULL)
		send_text(fd, answer->what);
	if (answer->what == NULL || answer->hangs) {
		while (recv(fd, bytes, sizeof(bytes), 0) > 0)
			continue;
	}
}

static void *serve_script(void *argument)
{
	const int fd = (int)(intptr_t)argument;
	char head[16384] = "";
	char bytes[4096];

	if (read_head(fd, head, sizeof(head))) {
		note_request(head);
		play(fd, head);
		/*
		 * Read the rest: closing with unread bytes would reset the
		 * connection.
		 */
		(void)shutdown(fd, SHUT_WR);
		while (recv(fd, bytes, sizeof(bytes), 0) > 0)
			continue;
	}
	(void)close(fd);
	return NULL;
}

static void serve_script_in_thread(int fd, void *self)
{
	(void)self;
	in_thread(serve_script, (void *)(intptr_t)dup(fd));
}

const char *okay(const char *body)
{
	return text("HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
	            strlen(body), body);
}

struct server start_script(const struct web_answer *answers, size_t count)
{
	write_text("requests", "");
	script = answers;
	script_count = count;
	return start_fake(serve_script_in_thread, NULL);
}

struct server start_answer(const char *when, const char *what)
{
	return start_script(&(struct web_answer){ when, what, false }, 1);
}

const char *requests_so_far(void)
{
	return read_file("requests").data;
}

const char *http_url(const struct server *server, const char *rest)
{
	return text("http://127.0.0.1:%u%s", server->port, rest);
}
