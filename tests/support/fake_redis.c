/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_redis.h"

#include <sys/socket.h>

bool wait_for_bytes(int fd)
{
	char bytes[65536];

	return recv(fd, bytes, sizeof(bytes), 0) > 0;
}

void answer(int fd, const char *text)
{
	(void)send(fd, text, strlen(text), 0);
}

void play(int fd, void *self)
{
	const struct script *script = self;

	for (size_t i = 0; script->answers[i] != NULL; i++) {
		if (!wait_for_bytes(fd))
			return;
		answer(fd, script->answers[i]);
	}
	while (script->is_silent && wait_for_bytes(fd))
		continue;
}

const char *redis_url(const struct server *server, const char *rest)
{
	return text("redis://127.0.0.1:%u%s", server->port, rest);
}
