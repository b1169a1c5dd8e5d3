/* SPDX-License-Identifier: Apache-2.0 */
#include "registry.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	PORT_TRIES = 20
};

#define PROGRAM "/usr/bin/docker-registry"

static const char *storage(unsigned port)
{
	return text("storage:\n  filesystem:\n    rootdirectory: "
	            "%s/registry-%u\n  delete:\n    enabled: true\n",
	            test_folder(), port);
}

struct server start_registry(const char *more)
{
	struct server server;

	if (access(PROGRAM, X_OK) != 0)
		skip();
	for (int i = 0; i < PORT_TRIES; i++) {
		const unsigned port = free_port();
		const char *log = text("registry-%u.log", port);
		const char *file = text("registry-%u.yml", port);
		const bool has_storage = strstr(more, "storage:") != NULL;

		write_text(file,
		           text("version: 0.1\nlog:\n  level: info\n%s"
		                "http:\n  addr: 127.0.0.1:%u\n%s",
		                has_storage ? "" : storage(port), port, more));
		if (start_server(&server, port, log, PROGRAM, "serve", file,
		                 NULL) &&
		    log_says(&server, log, "listening on")) {
			end_with_test(&server);
			return server;
		}
		if (i == PORT_TRIES - 1)
			fail_msg("docker-registry does not start: %s",
			         (const char *)read_file(log).data);
	}
	abort();
}
