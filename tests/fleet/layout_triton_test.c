/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <tkbundle/fleet.h>

#include "remote_fixture.h"
#include "server.h"

/* A cache in Redis as stock Triton reads it. */

#define FIXTURE "triton-3.6.0-h100"

static void unpack_root(const char *fixture)
{
	unpack(fixture, "home");
	SYS(rename("home/.triton/cache", "root"));
}

/* A server to which nothing was pushed yet, and the fixture's cache in "root". */
static struct server arrange(const char *fixture)
{
	unpack_root(fixture);
	return start_redis("");
}

static int push(const char *url, const struct tkb_push_options *options,
                struct tkb_push_report *report, struct tkb_error *err)
{
	struct tkb_push_options chosen = { SIZED(chosen) };

	if (options != NULL)
		chosen = *options;
	chosen.layout = TKB_PUSH_LAYOUT_TRITON;
	struct tkb_remote *remote = must_open_remote(url, NULL);
	return tkb_push(remote, NULL, "root", &chosen, report, err);
}

static struct tkb_push_report must_push(const char *url,
                                        const struct tkb_push_options *options)
{
	struct tkb_push_report report = { SIZED(report) };

	DONE(push(url, options, &report, ERR), report.left_out_count > 0);
	return report;
}

static const char *url_of(const struct server *server, const char *rest)
{
	return text("redis://127.0.0.1:%u%s", server->port, rest);
}

static unsigned count_keys(const struct server *server)
{
	return (unsigned)strtoul(ask_redis(server, "DBSIZE", NULL), NULL, 10);
}

/* What redis-cli prints ends with a line feed of its own. */
static void check_value(const struct server *server, const char *key,
                        struct tkb_bytes wanted)
{
	const char *got = ask_redis(server, "GET", key, NULL);

	CHECK_INT(memcmp(got, wanted.data, wanted.size), 0);
	CHECK_STR(ask_redis(server, "STRLEN", key, NULL),
	          text("%zu\n", wanted.size));
}

/* All of the folder but its group file, which is told apart. */
static const char *check_children(const struct server *server, const char *key)
{
	const char **names = list(text("root/%s", key));
	const char *group = NULL;

	for (size_t i = 0; names[i] != NULL; i++) {
		if (strncmp(names[i], "__grp__", strlen("__grp__")) == 0)
			group = names[i];
		else
			check_value(
				server, text("triton:%s:%s", key, names[i]),
				read_file(text("root/%s/%s", key, names[i])));
	}
	return group;
}

TEST(layout_triton, every_file_has_a_value_of_its_own)
{
	struct server redis = arrange(FIXTURE);
	size_t files = 0;
	size_t groups = 0;

	struct tkb_push_report report = must_push(url_of(&redis, ""), NULL);
	const char **keys = list("root");
	for (size_t i = 0; keys[i] != NULL; i++) {
		groups += check_children(&redis, keys[i]) != NULL;
		files += count_names(text("root/%s", keys[i]));
	}
	CHECK_INT(groups, 13);
	CHECK_INT(report.pushed_count, 17);
	CHECK_INT(report.left_out_count, 0);
	CHECK_INT(report.blob_count, files);
	CHECK_INT(count_keys(&redis), files);
}

/* The key of "add_kernel" in triton-3.6.0-cpu. */
static const char *const add_key =
	"5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA";

static const char *group_of(const struct server *redis, const char *key,
                            const char *name)
{
	return ask_redis(redis, "GET",
	                 text("triton:%s:__grp__%s.json", key, name), NULL);
}

/* In the order of the group file that Triton wrote. */
static const char *wanted_group(const char *key)
{
	static const char *const parts[] = { "source", "ttir",  "ttgir", "llir",
		                             "ptx",    "cubin", "json" };
	const char *group = "";

	for (size_t i = 0; i < TKB_COUNT_OF(parts); i++)
		group = text("%s%s\"add_kernel.%s\": \"/%s/add_kernel.%s\"",
		             group, i == 0 ? "" : ", ", parts[i], key,
		             parts[i]);
	return text("{\"child_paths\": {%s}}\n", group);
}

TEST(layout_triton, a_group_is_a_dict_of_paths_that_are_nowhere)
{
	struct server redis = arrange("triton-3.6.0-cpu");

	(void)must_push(url_of(&redis, ""), NULL);
	CHECK_STR(group_of(&redis, add_key, "add_kernel"),
	          wanted_group(add_key));
}

TEST(layout_triton, a_list_of_names_becomes_a_dict)
{
	struct server redis = arrange("triton-3.6.0-cpu");

	write_text(text("root/%s/__grp__add_kernel.json", add_key),
	           "{\"child_paths\": [\"add_kernel.source\", "
	           "\"add_kernel.ttir\", \"add_kernel.ttgir\", "
	           "\"add_kernel.llir\", \"add_kernel.ptx\", "
	           "\"add_kernel.cubin\", \"add_kernel.json\"]}");
	(void)must_push(url_of(&redis, ""), NULL);
	CHECK_STR(group_of(&redis, add_key, "add_kernel"),
	          wanted_group(add_key));
}

TEST(layout_triton, a_lean_group_lists_what_is_pushed)
{
	const struct tkb_collect_options collect = { SIZED(collect),
		                                     .profile =
		                                             TKB_PROFILE_LEAN };
	const struct tkb_push_options lean = { SIZED(lean),
		                               .collect = &collect };
	struct server redis = arrange("triton-3.6.0-cpu");

	(void)must_push(url_of(&redis, ""), &lean);
	CHECK_STR(group_of(&redis, add_key, "add_kernel"),
	          text("{\"child_paths\": {\"add_kernel.cubin\": "
	               "\"/%s/add_kernel.cubin\", \"add_kernel.json\": "
	               "\"/%s/add_kernel.json\"}}\n",
	               add_key, add_key));
	CHECK_STR(ask_redis(&redis, "EXISTS",
	                    text("triton:%s:add_kernel.ttir", add_key), NULL),
	          "0\n");
}

TEST(layout_triton, a_kernel_that_is_not_whole_is_not_pushed)
{
	struct server redis = arrange("triton-3.6.0-cpu");

	SYS(remove(text("root/%s/add_kernel.ptx", add_key)));
	struct tkb_push_report report = must_push(url_of(&redis, ""), NULL);
	CHECK_INT(report.left_out_count, 1);
	CHECK_STR(ask_redis(&redis, "KEYS", text("triton:%s:*", add_key), NULL),
	          "\n");
	CHECK(count_keys(&redis) > 0);
}

TEST(layout_triton, a_kernel_appears_in_one_step)
{
	struct server redis = arrange(FIXTURE);

	struct tkb_push_report report = must_push(url_of(&redis, ""), NULL);
	const char *calls = ask_redis(&redis, "INFO", "commandstats", NULL);
	CHECK_CONTAINS(calls, text("cmdstat_exec:calls=%llu,",
	                           (unsigned long long)report.pushed_count));
	CHECK_CONTAINS(calls, text("cmdstat_set:calls=%llu,",
	                           (unsigned long long)report.blob_count));
}

/* A remote that writes down the names. */
static char names_put[4096];

static int open_nothing(const struct tkb_remote_url *place,
                        const struct tkb_op_limits *call, void **self_out,
                        struct tkb_error *err)
{
	(void)place, (void)call, (void)err;
	*self_out = names_put;
	return 0;
}

static void close_nothing(void *self)
{
	(void)self;
}

static int note_names(void *self, const struct tkb_op_limits *call,
                      const struct tkb_named *items, size_t count,
                      struct tkb_error *err)
{
	(void)call, (void)err;
	for (size_t i = 0; i < count; i++) {
		strcat(self, strrchr(items[i].name, ':'));
		strcat(self, " ");
	}
	return 0;
}

TEST(layout_triton, the_group_file_comes_last)
{
	static const char *const schemes[] = { "names", NULL };
	static const char *const none[] = { NULL };
	static const struct tkb_remote_backend backend = {
		.abi = TKB_REMOTE_BACKEND_ABI,
		.schemes = schemes,
		.params = none,
		.open = open_nothing,
		.close = close_nothing,
		.put_named = note_names,
	};
	static const struct tkb_remote_backend *const backends[] = { &backend };
	const struct tkb_remote_options options = { SIZED(options),
		                                    .backends = backends,
		                                    .backend_count = 1 };
	struct tkb_collect_options collect = { SIZED(collect), .key_count = 1 };
	struct tkb_push_options push_options = {
		SIZED(push_options), .collect = &collect,
		.layout = TKB_PUSH_LAYOUT_TRITON
	};

	unpack_root("triton-3.6.0-cpu");
	collect.keys = &add_key;
	struct tkb_remote *remote = must_open_remote("names://here", &options);
	OK(tkb_push(remote, NULL, "root", &push_options, NULL, ERR));
	CHECK_STR(names_put,
	          ":add_kernel.cubin :add_kernel.json :add_kernel.llir "
	          ":add_kernel.ptx :add_kernel.source :add_kernel.ttgir "
	          ":add_kernel.ttir :__grp__add_kernel.json ");
}

TEST(layout_triton, a_kernel_that_does_not_fit_leaves_nothing)
{
	struct server redis = arrange("triton-3.6.0-cpu");
	unsigned long long limit;

	write_file(text("root/%s/add_kernel.ptx", add_key),
	           make_bytes(8 * TKB_MIB, 1));
	const char *used = strstr(ask_redis(&redis, "INFO", "memory", NULL),
	                          "used_memory:");
	limit = strtoull(used + strlen("used_memory:"), NULL, 10) + 6 * TKB_MIB;
	(void)ask_redis(&redis, "CONFIG", "SET", "maxmemory",
	                text("%llu", limit), NULL);
	FAILS(push(url_of(&redis, ""),
	           &CHOSEN(tkb_push_options,
	                   .collect =
	                           &CHOSEN(tkb_collect_options,
	                                   .keys = (const char *[]){ add_key },
	                                   .key_count = 1)),
	           NULL, ERR),
	      TKB_ERR_UNAVAILABLE, "its memory is full");
	CHECK_CONTAINS(ERR->message, "remote 'redis://127.0.0.1:");
	CHECK_INT(count_keys(&redis), 0);
}

TEST(layout_triton, large_files_arrive_whole)
{
	struct server redis = arrange("triton-3.6.0-cpu");

	const char *path = text("root/%s/add_kernel.ttir", add_key);
	write_file(path, make_bytes(5 * TKB_MIB + 7, 1));
	(void)must_push(url_of(&redis, "?ttl=1h"), NULL);
	check_value(&redis, text("triton:%s:add_kernel.ttir", add_key),
	            read_file(path));
}

TEST(layout_triton, an_empty_file_is_pushed)
{
	struct server redis = arrange("triton-3.6.0-cpu");

	write_text(text("root/%s/add_kernel.source", add_key), "");
	(void)must_push(url_of(&redis, ""), NULL);
	CHECK_STR(ask_redis(&redis, "EXISTS",
	                    text("triton:%s:add_kernel.source", add_key), NULL),
	          "1\n");
}

TEST(layout_triton, what_is_pushed_again_is_replaced)
{
	struct server redis = arrange("triton-3.6.0-cpu");

	const char *name = text("triton:%s:add_kernel.ttir", add_key);
	(void)must_push(url_of(&redis, ""), NULL);
	unsigned count = count_keys(&redis);
	(void)ask_redis(&redis, "SET", name, "damaged", NULL);
	(void)must_push(url_of(&redis, ""), NULL);
	CHECK_INT(count_keys(&redis), count);
	CHECK(strcmp(ask_redis(&redis, "GET", name, NULL), "damaged\n") != 0);
}

TEST(layout_triton, values_live_as_long_as_the_url_says)
{
	struct server redis = arrange("triton-3.6.0-cpu");

	const char *name = text("triton:%s:add_kernel.ttir", add_key);
	(void)must_push(url_of(&redis, ""), NULL);
	CHECK_STR(ask_redis(&redis, "TTL", name, NULL), "-1\n");
	(void)must_push(url_of(&redis, "?ttl=1h"), NULL);
	unsigned long left =
		strtoul(ask_redis(&redis, "TTL", name, NULL), NULL, 10);
	CHECK(left > 3500 && left <= 3600);
}

TEST(layout_triton, the_url_says_how_keys_look)
{
	struct server redis = arrange("triton-3.6.0-cpu");

	(void)must_push(url_of(&redis, "?triton-key-format="
	                               "%7bfilename%7d/t/%7bkey%7d"),
	                NULL);
	check_value(&redis, text("add_kernel.ttir/t/%s", add_key),
	            read_file(text("root/%s/add_kernel.ttir", add_key)));
}

TEST(layout_triton, what_triton_could_not_read_is_refused)
{
	static const struct {
		const char *rest;
		const char *part;
	} cases[] = {
		{ "?triton-key-format=%7bkey%7d", "wants {key}, {filename}" },
		{ "?triton-key-format=%7bfilename%7d", "wants {key}" },
		{ "?triton-key-format=%7bkey%7d%7bfilename%7d%7bx%7d",
		  "no other braces" },
		{ "?triton-key-format=%7bkey%7d%7bfilename%7d%7d",
		  "no other braces" },
		{ "?triton-key-format=%7bkey%7d%7bfilename%7d%7b",
		  "no other braces" },
		{ "/2", "Triton reads only database 0, not 2" },
		{ "?db=13", "Triton reads only database 0, not 13" },
	};
	struct server redis = arrange("triton-3.6.0-cpu");

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		FAILS(push(url_of(&redis, cases[i].rest), NULL, NULL, ERR),
		      TKB_ERR_INVALID, cases[i].part);
		CHECK_CONTAINS(ERR->message, "remote 'redis://127.0.0.1:");
	}
	CHECK_INT(count_keys(&redis), 0);
	(void)must_push(url_of(&redis, "/0"), NULL);
	CHECK(count_keys(&redis) > 0);
}

TEST(layout_triton, other_remotes_than_redis_are_refused)
{
	unpack_root("triton-3.6.0-cpu");
	FAILS(push("folder", NULL, NULL, ERR), TKB_ERR_UNSUPPORTED,
	      "remote 'folder': Triton reads only from Redis");
	CHECK(!exists("folder"));
	FAILS(push("redis://127.0.0.1:1?mode=ro", NULL, NULL, ERR),
	      TKB_ERR_DENIED, "no remote may be written");
}

TEST(layout_triton, every_redis_tier_that_may_be_written_is_filled)
{
	struct server first = start_redis("");
	struct server second = start_redis("");
	struct server third = start_redis("");

	unpack_root("triton-3.6.0-cpu");
	(void)must_push(text("folder,%s,%s,%s", url_of(&first, ""),
	                     url_of(&second, "?mode=ro"),
	                     url_of(&third, "?triton-key-format="
	                                    "x%7bkey%7d%7bfilename%7d")),
	                NULL);
	CHECK(count_keys(&first) > 0);
	CHECK_INT(count_keys(&second), 0);
	CHECK_INT(count_keys(&third), count_keys(&first));
	CHECK_STR(ask_redis(&first, "KEYS", "x*", NULL), "\n");
	CHECK_STR(ask_redis(&third, "KEYS", "triton*", NULL), "\n");
}

TEST(layout_triton, a_tier_whose_errors_are_ignored_may_be_down)
{
	struct server redis = arrange("triton-3.6.0-cpu");
	const char *down = text("redis://127.0.0.1:%u", free_port());

	(void)must_push(text("%s?on-error=ignore,%s", down, url_of(&redis, "")),
	                NULL);
	CHECK(count_keys(&redis) > 0);
	FAILS(push(text("%s,%s", down, url_of(&redis, "")), NULL, NULL, ERR),
	      TKB_ERR_UNAVAILABLE, text("remote '%s'", down));
}

TEST(layout_triton, a_dry_run_pushes_nothing)
{
	const struct tkb_collect_options collect = { SIZED(collect),
		                                     .is_dry_run = true };
	const struct tkb_push_options dry = { SIZED(dry), .collect = &collect };
	struct server redis = arrange("triton-3.6.0-cpu");

	struct tkb_push_report report = must_push(url_of(&redis, ""), &dry);
	CHECK_INT(count_keys(&redis), 0);
	CHECK_INT(report.pushed_count, 5);
	CHECK_INT(report.blob_count, 0);
	CHECK_INT(report.size, 0);
}

TEST(layout_triton, keys_choose)
{
	struct server redis = arrange("triton-3.6.0-cpu");
	struct tkb_collect_options collect = { SIZED(collect), .key_count = 1 };
	struct tkb_push_options options = { SIZED(options),
		                            .collect = &collect };

	collect.keys = &add_key;
	struct tkb_push_report report = must_push(url_of(&redis, ""), &options);
	CHECK_INT(report.pushed_count, 1);
	CHECK_INT(count_keys(&redis), count_names(text("root/%s", add_key)));
}

/* Counts what it is told. */
static void count_result(void *self, const struct tkb_result *result)
{
	unsigned *counts = self;

	counts[result->outcome]++;
	if (result->outcome == TKB_OUTCOME_LEFT_OUT)
		CHECK_INT(result->reason, TKB_REASON_TWIN);
}

TEST(layout_triton, of_two_compiles_for_two_devices_one_is_pushed)
{
	unsigned counts[TKB_OUTCOME_MISSING + 1] = { 0 };
	const struct tkb_watch watch = { SIZED(watch), .self = counts,
		                         .on_result = count_result };
	struct tkb_collect_options collect = { SIZED(collect),
		                               .watch = &watch };
	const struct tkb_push_options options = { SIZED(options),
		                                  .collect = &collect };
	struct server redis = arrange("triton-3.6.0-cpu");

	struct tkb_bytes first =
		read_file(text("root/%s/add_kernel.ttir", add_key));
	SYS(mkdir("inductor", 0777));
	SYS(mkdir("inductor/triton", 0777));
	copy_folder("root", "inductor/triton/0");
	copy_folder("root", "inductor/triton/1");
	write_text(text("inductor/triton/1/%s/add_kernel.ttir", add_key),
	           "other");
	SYS(rename("root", "before"));
	SYS(rename("inductor", "root"));

	struct tkb_push_report report = must_push(url_of(&redis, ""), &options);
	CHECK_INT(report.pushed_count, 5);
	CHECK_INT(report.left_out_count, 1);
	CHECK_INT(counts[TKB_OUTCOME_LEFT_OUT], 1);
	check_value(&redis, text("triton:%s:add_kernel.ttir", add_key), first);

	collect.is_strict = true;
	(void)ask_redis(&redis, "FLUSHALL", NULL);
	FAILS(push(url_of(&redis, ""), &options, NULL, ERR), TKB_ERR_LEFT_OUT,
	      "differs between devices");
	CHECK_INT(count_keys(&redis), 0);
}

/* The folder of a module, in both devices' roots. */
static void make_modules(const char *first, const char *second)
{
	const char *key =
		"XU5DT2AO5BD5AEHEYGLPP5LRDFHHCUEJT4LGDVLB4STXUGVGHFPA";

	unpack_root(FIXTURE);
	SYS(rename("root", "before"));
	for (unsigned i = 0; i < 2; i++)
		CHECK_INT(run("/bin/sh", "-c",
		              text("mkdir -p root/triton/%u && "
		                   "cp -r before/%s root/triton/%u",
		                   i, key, i),
		              NULL)
		                  .status,
		          0);
	for (unsigned i = 0; i < 2; i++)
		CHECK_INT(run("/bin/sh", "-c",
		              text("cd root/triton/%u/* && mv *.so new && "
		                   "printf %u >>new && mv new %s",
		                   i, i, i == 0 ? first : second),
		              NULL)
		                  .status,
		          0);
}

#define MODULE(python) "cuda_utils.cpython-" python "-x86_64-linux-gnu.so"

TEST(layout_triton, modules_for_different_pythons_are_both_pushed)
{
	struct server redis = start_redis("");

	make_modules(MODULE("311"), MODULE("310"));
	struct tkb_push_report report = must_push(url_of(&redis, ""), NULL);
	CHECK_INT(report.left_out_count, 0);
	CHECK_INT(report.pushed_count, 2);
	CHECK_CONTAINS(ask_redis(&redis, "KEYS", "*", NULL), MODULE("311"));
	CHECK_CONTAINS(ask_redis(&redis, "KEYS", "*", NULL), MODULE("310"));
}

TEST(layout_triton, of_two_modules_of_one_name_one_is_pushed)
{
	struct server redis = start_redis("");

	make_modules(MODULE("311"), MODULE("311"));
	struct tkb_push_report report = must_push(url_of(&redis, ""), NULL);
	CHECK_INT(report.left_out_count, 1);
	CHECK_INT(report.pushed_count, 1);
}

#define RIGHTS "on >s3cret ~triton:* resetchannels -@all "

TEST(layout_triton, the_documented_rights_are_enough)
{
	struct server redis = start_redis(
		"user enough " RIGHTS "+time +multi +exec +set\n"
		"user passing " RIGHTS "+time +multi +exec +psetex\n"
		"user little " RIGHTS "+time +set\n"
		"user elsewhere on >s3cret ~tkbundle:* resetchannels +@all\n");

	unpack_root("triton-3.6.0-cpu");
	FAILS(push(text("redis://little:s3cret@127.0.0.1:%u", redis.port), NULL,
	           NULL, ERR),
	      TKB_ERR_DENIED, "do not let this user use 'multi'");
	CHECK_INT(count_keys(&redis), 0);
	FAILS(push(text("redis://elsewhere:s3cret@127.0.0.1:%u", redis.port),
	           NULL, NULL, ERR),
	      TKB_ERR_DENIED, "do not let this user use");
	(void)must_push(text("redis://enough:s3cret@127.0.0.1:%u", redis.port),
	                NULL);
	(void)must_push(
		text("redis://passing:s3cret@127.0.0.1:%u?ttl=1h", redis.port),
		NULL);
}

TEST(layout_triton, a_cluster_is_told_as_such)
{
	struct server redis = start_redis("cluster-enabled yes\n");

	unpack_root("triton-3.6.0-cpu");
	FAILS(push(url_of(&redis, ""), NULL, NULL, ERR), TKB_ERR_INVALID,
	      "one of a Redis Cluster");
}

TEST(layout_triton, a_cache_that_is_not_there_is_missing)
{
	struct server redis = start_redis("");

	CHECK_INT(push(url_of(&redis, ""), NULL, NULL, ERR), TKB_MISS);
}
