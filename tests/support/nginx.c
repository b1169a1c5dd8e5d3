/* SPDX-License-Identifier: Apache-2.0 */
#include "nginx.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	READY_TRIES = 2000, /* of 5 ms */
	PORT_TRIES = 20,
	CONNECTIONS_LIMIT = 4096
};

#define MODULE "/usr/lib/nginx/modules/ngx_http_dav_ext_module.so"
#define ACCESS_LOG "nginx/access.log"

const char *nginx_dav(void)
{
	return "location / {\n"
	       "dav_methods PUT DELETE MKCOL;\n"
	       "create_full_put_path on;\n"
	       "client_max_body_size 0;\n"
	       "autoindex on;\n"
	       "autoindex_format json;\n"
	       "}\n";
}

const char *nginx_dav_module(void)
{
	return exists(MODULE) ? "load_module " MODULE ";\n" : "";
}

const char *nginx_webdav(void)
{
	return "location / {\n"
	       "dav_methods PUT DELETE MKCOL;\n"
	       "dav_ext_methods PROPFIND OPTIONS;\n"
	       "client_max_body_size 0;\n"
	       "}\n";
}

const char *nginx_tls(const char *name)
{
	return text("ssl_certificate %s/%s.pem;\n"
	            "ssl_certificate_key %s/%s.key;\n",
	            test_folder(), name, test_folder(), name);
}

static const char *temporary_paths(void)
{
	static const char *const kinds[] = { "client_body", "proxy", "fastcgi",
		                             "uwsgi", "scgi" };
	const char *lines = "";

	for (size_t i = 0; i < TKB_COUNT_OF(kinds); i++)
		lines = text("%s%s_temp_path %s/nginx/temp/%s;\n", lines,
		             kinds[i], test_folder(), kinds[i]);
	return lines;
}

static void write_configuration(const char *more, const char *lines,
                                unsigned port, unsigned tls_port)
{
	const char *tls =
		tls_port == 0
			? ""
			: text("listen 127.0.0.1:%u ssl http2;\n", tls_port);

	write_text("nginx/nginx.conf",
	           text("%sdaemon off;\nmaster_process off;\n"
	                "pid %s/nginx/pid;\nerror_log %s/nginx/error.log;\n"
	                "events {}\nhttp {\n%s"
	                "log_format plain '$connection $server_protocol "
	                "$request_method $uri $status';\n"
	                "access_log %s/" ACCESS_LOG " plain;\n"
	                "server {\nlisten 127.0.0.1:%u;\n%s"
	                "root %s/nginx/www;\n%s}\n}\n",
	                more, test_folder(), test_folder(), temporary_paths(),
	                test_folder(), port, tls, test_folder(), lines));
}

/* Its pid is in the file once it has its ports. */
static bool is_ready(const struct server *server)
{
	for (int i = 0; i < READY_TRIES; i++) {
		if (exists("nginx/pid") && strtol(read_file("nginx/pid").data,
		                                  NULL, 10) == server->pid)
			return true;
		if (waitpid(server->pid, NULL, WNOHANG) == server->pid)
			return false;
		nap_ms(5);
	}
	return false;
}

/* Debian's path: not every user's PATH has it. */
static const char *find_nginx(void)
{
	static const char *const usual = "/usr/sbin/nginx";

	return access(usual, X_OK) == 0 ? usual : "nginx";
}

struct server start_nginx_with(const char *more, const char *lines)
{
	const bool has_tls = strstr(lines, "ssl_certificate ") != NULL;
	struct server server;

	(void)mkdir("nginx", 0777);
	(void)mkdir("nginx/www", 0777);
	(void)mkdir("nginx/temp", 0777);
	/* Another process may take the port before the server does. */
	for (int i = 0; i < PORT_TRIES; i++) {
		const unsigned port = free_port();
		const unsigned tls_port = has_tls ? free_port() : 0;

		(void)unlink("nginx/pid");
		(void)unlink(ACCESS_LOG);
		write_configuration(more, lines, port, tls_port);
		if (start_server(
			    &server, port, "nginx/log", find_nginx(), "-p",
			    text("%s/nginx/", test_folder()), "-e",
			    text("%s/nginx/error.log", test_folder()), "-c",
			    text("%s/nginx/nginx.conf", test_folder()), NULL) &&
		    is_ready(&server)) {
			server.tls_port = tls_port;
			end_with_test(&server);
			return server;
		}
	}
	fail_msg("nginx does not start: %s",
	         (const char *)read_file("nginx/log").data);
	abort();
}

struct server start_nginx(const char *lines)
{
	return start_nginx_with("", lines);
}

static size_t count_lines(const char *part)
{
	const char *at = read_file(ACCESS_LOG).data;
	size_t count = 0;

	for (const char *end; *at != '\0'; at = end + 1) {
		end = strchr(at, '\n');
		if (end == NULL)
			break;
		count += memmem(at, (size_t)(end - at), part, strlen(part)) !=
		         NULL;
	}
	return count;
}

size_t count_requests(const char *part, size_t wanted)
{
	for (int i = 0; i < 400 && count_lines(part) < wanted; i++)
		nap_ms(5);
	return count_lines(part);
}

size_t count_connections(void)
{
	const char *at = read_file(ACCESS_LOG).data;
	bool *seen = test_alloc(CONNECTIONS_LIMIT);
	size_t count = 0;

	memset(seen, 0, CONNECTIONS_LIMIT);
	for (; *at != '\0'; at++) {
		const unsigned long number = strtoul(at, NULL, 10);

		CHECK(number < CONNECTIONS_LIMIT);
		count += !seen[number];
		seen[number] = true;
		at += strcspn(at, "\n");
	}
	return count;
}
