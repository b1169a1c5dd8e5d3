/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remote_fixture.h"
#include "server.h"

/* Stock Triton, from PyPI, against what we push for it. */

/*
 * Since 3.4 its own RedisRemoteCacheBackend dies before it has connected;
 * examples/triton says why, and helps.
 */
struct version {
	const char *path; /* of Python packages, before those of the venv */
	const char *backend;
	const char *parts; /* of a kernel that was compiled */
};

static const struct version stock = {
	.path = TKB_VENV "/triton-3.3.1",
	.backend = "triton.runtime.cache:RedisRemoteCacheBackend",
	.parts = "cubin llir ptx ttgir ttir",
};
static const struct version newer = {
	.path = TKB_EXAMPLES "/triton",
	.backend = "triton_redis:Backend",
	.parts = "cubin llir ptx source ttgir ttir",
};

static const char *const python = TKB_VENV "/bin/python3";

static void need_triton(const struct version *version)
{
	if (access(python, X_OK) == 0 && exists(version->path) &&
	    run(python, "-c",
	        "import importlib.util as i; "
	        "exit(None in map(i.find_spec, "
	        "('redis', 'triton')))",
	        NULL)
	                    .status == 0)
		return;
	print_message("Triton is not in " TKB_VENV ", or not for this user: "
	              "./bootstrap test puts it there\n");
	skip();
}

/* Triton in a home of its own; `port` is Redis', or 0: nothing remote. */
static struct outcome triton(const struct version *version, const char *home,
                             unsigned port, const char *verb,
                             const char *argument)
{
	const char *folder = test_folder();
	const char *path = text("PYTHONPATH=%s", version->path);
	const char *own = text("HOME=%s/%s", folder, home);
	const char *ptxas = text("TRITON_PTXAS_PATH=%s/ptxas", folder);
	/* Where Triton leaves the PTX that ptxas refused. */
	const char *tmp = text("TMPDIR=%s", folder);

	if (port == 0)
		return run("/usr/bin/env", "-i", "PYTHONDONTWRITEBYTECODE=1",
		           path, own, ptxas, tmp, python, TKB_SCRIPT, verb,
		           argument, NULL);
	return run("/usr/bin/env", "-i", "PYTHONDONTWRITEBYTECODE=1", path, own,
	           ptxas, tmp,
	           "TRITON_CACHE_MANAGER="
	           "triton.runtime.cache:RemoteCacheManager",
	           text("TRITON_REMOTE_CACHE_BACKEND=%s", version->backend),
	           "TRITON_REDIS_HOST=127.0.0.1",
	           text("TRITON_REDIS_PORT=%u", port), python, TKB_SCRIPT, verb,
	           argument, NULL);
}

/* A ptxas that writes down that it was called, and may refuse. */
static void make_ptxas(const struct version *version)
{
	const char *real = triton(version, ".", 0, "ptxas", NULL).out;

	write_text("ptxas", text("#!/bin/sh\n"
	                         "if [ \"$1\" != --version ]; then\n"
	                         "\techo called >>'%s/ptxas.log'\n"
	                         "\t[ ! -e '%s/refuse' ] || exit 1\n"
	                         "fi\n"
	                         "exec %.*s \"$@\"\n",
	                         test_folder(), test_folder(),
	                         (int)strcspn(real, "\n"), real));
	SYS(chmod("ptxas", 0755));
}

static void must_push(const struct server *redis, const char *root,
                      enum tkb_profile profile)
{
	const struct tkb_collect_options collect = {
		SIZED(collect),
		.profile = profile,
	};
	struct tkb_remote *remote = must_open_remote(
		text("redis://127.0.0.1:%u", redis->port), NULL);

	OK(tkb_push(remote, NULL, root,
	            &CHOSEN(tkb_push_options, .layout = TKB_PUSH_LAYOUT_TRITON,
	                    .collect = &collect),
	            NULL, ERR));
}

/* How often values were set, by whomever. */
static unsigned count_sets(const struct server *redis)
{
	const char *found =
		strstr(ask_redis(redis, "INFO", "commandstats", NULL),
	               "cmdstat_set:calls=");
	unsigned count = 0;

	if (found != NULL)
		(void)sscanf(found, "cmdstat_set:calls=%u", &count);
	return count;
}

static size_t count_kernels(const char *root)
{
	struct tkb_cache *cache = NULL;

	OK(tkb_cache_open(root, NULL, &cache, ERR));
	size_t count = tkb_cache_entry_count(cache);
	CHECK_INT(tkb_cache_left_out_count(cache), 0);
	tkb_cache_close(cache);
	return count;
}

static void check_kernels(const struct outcome *outcome, const char *word,
                          const char *parts)
{
	CHECK_STR(outcome->err, "");
	CHECK_STR(outcome->out, text("%s add_kernel of 4 warps: %s\n"
	                             "%s add_kernel of 8 warps: %s\n",
	                             word, parts, word, parts));
}

/* One machine compiles; from then on ptxas refuses. */
static void make_kernels(const struct version *version)
{
	make_ptxas(version);
	struct outcome maker = triton(version, "maker", 0, "compile", NULL);
	check_kernels(&maker, "compiled", version->parts);
	CHECK_STR(read_file("ptxas.log").data, "called\ncalled\n");
	SYS(remove("ptxas.log"));
	write_text("refuse", "");
}

static void check_finds(const struct version *version, enum tkb_profile profile,
                        const char *parts)
{
	struct server redis = start_redis("");

	make_kernels(version);
	/* Without the push it has to compile, and cannot. */
	CHECK(triton(version, "other", redis.port, "compile", NULL).status !=
	      0);
	CHECK(exists("ptxas.log"));
	SYS(remove("ptxas.log"));
	(void)ask_redis(&redis, "FLUSHALL", NULL);

	must_push(&redis, "maker/.triton/cache", profile);
	unsigned sets = count_sets(&redis);
	struct outcome reader =
		triton(version, "reader", redis.port, "compile", NULL);
	check_kernels(&reader, "found", parts);
	CHECK(!exists("ptxas.log"));
	CHECK_INT(count_sets(&redis), sets);
}

TEST(triton, stock_triton_finds_what_was_pushed_and_compiles_nothing)
{
	need_triton(&stock);
	check_finds(&stock, TKB_PROFILE_FULL, stock.parts);
}

TEST(triton, newer_triton_finds_what_was_pushed_and_compiles_nothing)
{
	need_triton(&newer);
	check_finds(&newer, TKB_PROFILE_FULL, newer.parts);
}

TEST(triton, lean_kernels_are_found)
{
	need_triton(&newer);
	check_finds(&newer, TKB_PROFILE_LEAN, "cubin");
}

/* What is not to be done for a newer Triton: if this fails, it is mended. */
TEST(triton, newer_triton_cannot_use_redis_by_itself)
{
	struct version bare = newer;

	need_triton(&newer);
	bare.backend = stock.backend;
	make_ptxas(&bare);
	struct outcome reader = triton(&bare, "reader", 1, "compile", NULL);
	CHECK(reader.status != 0);
	CHECK_CONTAINS(reader.err, "no attribute 'redis'");
}

static void check_cache(const struct version *version)
{
	struct server redis = start_redis("");
	struct outcome reader;

	make_kernels(version);
	must_push(&redis, "maker/.triton/cache", TKB_PROFILE_FULL);
	CHECK_INT(triton(version, "reader", redis.port, "compile", NULL).status,
	          0);
	stop_server(&redis, SIGKILL);

	CHECK_INT(count_kernels("reader/.triton/cache"), 2);
	SYS(remove("refuse"));
	reader = triton(version, "reader", 0, "compile", NULL);
	check_kernels(&reader, "compiled", version->parts);
}

TEST(triton, a_cache_filled_from_redis_can_be_collected_and_compiled_in)
{
	need_triton(&stock);
	check_cache(&stock);
}

TEST(triton, a_cache_that_newer_triton_filled_can_be_as_well)
{
	need_triton(&newer);
	check_cache(&newer);
}

TEST(triton, what_every_triton_since_3_made_is_found)
{
	static const struct {
		const char *fixture;
		unsigned count;
	} cases[] = {
		{ "triton-3.0.0-cpu", 3 }, { "triton-3.1.0-cpu", 3 },
		{ "triton-3.2.0-cpu", 3 }, { "triton-3.3.1-cpu", 3 },
		{ "triton-3.4.0-cpu", 5 }, { "triton-3.5.1-cpu", 5 },
		{ "triton-3.6.0-cpu", 5 }, { "triton-3.6.0-h100", 17 },
		{ "triton-3.7.1-cpu", 5 }, { "triton-3.8.0-cpu", 5 },
		{ "triton-3.9.0-cpu", 5 },
	};

	need_triton(&newer);
	struct server redis = start_redis("");
	make_ptxas(&newer);
	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		const char *root = text("%s/.triton/cache", cases[i].fixture);

		unpack(cases[i].fixture, cases[i].fixture);
		must_push(&redis, root, TKB_PROFILE_FULL);
		struct outcome reader = triton(&newer, text("reader%zu", i),
		                               redis.port, "groups", root);
		CHECK_STR(reader.err, "");
		CHECK_STR(reader.out, text("%u entries are as they were\n",
		                           cases[i].count));
	}
}
