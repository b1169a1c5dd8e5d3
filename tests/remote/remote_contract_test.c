/* SPDX-License-Identifier: Apache-2.0 */
#include "remote_contract.h"

#include <sys/stat.h>

#include "server.h"

static const char *name_memory(void)
{
	return "memory://contract";
}

static const struct remote_kind memory = {
	.start = name_memory,
};

REMOTE_CONTRACT(memory)

static const char *name_folder(void)
{
	return text("file://%s/remote", test_folder());
}

static const struct remote_kind dir = { name_folder, .is_shared = true,
	                                .has_clock = true };

REMOTE_CONTRACT(dir)

TEST(dir, list_passes_over_what_is_no_file)
{
	char hex[TKB_DIGEST_HEX_SIZE];
	struct handle *handle = must_connect(name_folder());
	struct tkb_digest digest = must_put(handle, make_bytes(100, 1));

	CHECK_INT(list_blobs(handle)->count, 1);
	tkb_digest_to_hex(&digest, hex);
	hex[63] = hex[63] == '0' ? '1' : '0';
	SYS(mkfifo(text("remote/cas/%.2s/%s", hex, hex), 0666));
	CHECK_INT(list_blobs(handle)->count, 1);
}

static const char *start_a_redis(void)
{
	const struct server redis_server = start_redis("");

	return text("redis://127.0.0.1:%u", redis_server.port);
}

static const struct remote_kind redis = { start_a_redis, .is_shared = true,
	                                  .has_clock = true };

REMOTE_CONTRACT(redis)
