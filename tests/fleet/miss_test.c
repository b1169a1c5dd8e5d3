/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <tkbundle/maintain.h>
#include <tkbundle/triton_compile.h>

#include <stdio.h>
#include <unistd.h>

#include "recording.h"

/* What is not there leaves a caller's error as it was, byte for byte. */

static struct tkb_error err;

static void check_miss(int rc, const char *call)
{
	struct tkb_error before;

	memset(&before, 'x', sizeof(before));
	if (rc != TKB_MISS)
		fail_msg("%s returned %d", call, rc);
	if (memcmp(&err, &before, sizeof(err)) != 0)
		fail_msg("%s changed the error", call);
}

/* The call, which gets `err`, misses and does not touch it. */
#define MISSES(call)                                                           \
	do {                                                                   \
		memset(&err, 'x', sizeof(err));                                \
		check_miss((call), #call);                                     \
	} while (0)

static int write_nothing(void *self, struct tkb_bytes bytes,
                         struct tkb_error *write_err)
{
	(void)self, (void)bytes;
	return tkb_fail(write_err, TKB_ERR_IO, "there is nothing to write");
}

static const struct tkb_sink sink = { write_nothing, NULL };

TEST(miss, of_what_a_remote_has_not_leaves_the_error_as_it_was)
{
	static const struct tkb_digest nowhere = { { 1 } };
	const struct tkb_remote_verify_options verify = { SIZED(verify),
		                                          .ref = "absent" };
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_ref_info info = { SIZED(info) };
	struct tkb_pull_report report = { SIZED(report) };
	LAUNCHERS(launchers) = NULL;

	MISSES(tkb_ref_look(remote, "absent", &info, &err));
	MISSES(tkb_ref_delete(remote, "absent", NULL, &err));
	MISSES(tkb_pull(remote, "absent", "out", NULL, NULL, &err));
	MISSES(tkb_pull_bundle(remote, "absent", NULL, &sink, NULL, &err));
	MISSES(tkb_pull_launchers(remote, "absent", "out", NULL, NULL,
	                          &launchers, &err));
	MISSES(tkb_remote_verify(remote, &verify, NULL, &err));
	MISSES(tkb_remote_get(remote, &nowhere, &sink, &err));
	MISSES(tkb_remote_remove(remote, 0, &nowhere, &err));

	/* Of this one, the blobs are gone. */
	push_singly(remote, 1);
	SYS(unlink(blob_files("remote")[0]));
	MISSES(tkb_pull_bundle(remote, REF, NULL, &sink, &report, &err));
	CHECK_INT(report.gone_count, 1);
}

TEST(miss, of_what_is_not_here_leaves_the_error_as_it_was)
{
	const struct tkb_gc_options gc = { SIZED(gc), .has_max_entries = true };
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_cache *cache = NULL;
	struct tkb_uses *uses = NULL;
	struct tkb_bundle *bundle = NULL;
	struct tkb_triton_list *list = NULL;
	size_t index;

	MISSES(tkb_cache_open("absent", NULL, &cache, &err));
	MISSES(tkb_collect("absent", NULL, &sink, NULL, &err));
	MISSES(tkb_push(remote, REF, "absent", NULL, NULL, &err));
	MISSES(tkb_relocate("absent", NULL, NULL, &err));
	MISSES(tkb_gc("absent", &gc, NULL, &err));
	MISSES(tkb_uses_open("absent", NULL, &uses, &err));
	MISSES(tkb_bundle_open("absent", &bundle, &err));
	MISSES(tkb_triton_list_read("absent", &list, &err));

	OK(tkb_cache_open(pool(), NULL, &cache, ERR));
	MISSES(tkb_cache_find(cache, "absent", &index, &err));
	MISSES(tkb_bundle_find(test_bundle("pool.tkb"), "absent", &index,
	                       &err));
	tkb_cache_close(cache);
}

static void check_missing(const struct tkb_results *results, size_t index,
                          const char *key, const char *message)
{
	const struct tkb_result *result = tkb_results_at(results, index);

	CHECK_INT(result->outcome, TKB_OUTCOME_MISSING);
	CHECK_INT(result->reason, TKB_REASON_MISSING);
	CHECK_STR(result->key, key);
	CHECK_STR(result->message, message);
}

/* Ask for one key that is there, and two that are not. */
static void miss_keys(const struct tkb_watch *watch)
{
	const char *keys[] = { "absent", pool_keys()[0], "gone" };
	const struct tkb_cache_options open = { SIZED(open), .keys = keys,
		                                .key_count = 3,
		                                .watch = watch };
	const struct tkb_collect_options collect = {
		SIZED(collect), .keys = keys, .key_count = 3,
		.deadline_ms = 600000, .watch = watch
	};
	const struct tkb_push_options push = { SIZED(push),
		                               .collect = &collect };
	const struct tkb_emit_options emit = { SIZED(emit), .keys = keys,
		                               .key_count = 3, .watch = watch };
	const struct tkb_pull_options pull = { SIZED(pull), .emit = &emit };
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_bundle *bundle = test_bundle("pool.tkb");
	struct tkb_cache *cache = NULL;

	MISSES(tkb_cache_open("pool", &open, &cache, &err));
	MISSES(tkb_collect("pool", &collect, &sink, NULL, &err));
	MISSES(tkb_push(remote, REF, "pool", &push, NULL, &err));
	MISSES(tkb_emit(bundle, "out", &emit, NULL, &err));
	MISSES(tkb_pull(remote, REF, "out", &pull, NULL, &err));
}

TEST(miss, of_keys_tells_the_watch_which)
{
	RESULTS(results) = NULL;

	OK(tkb_results_new(&results, ERR));
	CHECK(pool() != NULL);
	push_singly(open_spy(spy_url("remote")), 1);
	miss_keys(NULL);
	miss_keys(tkb_results_watch(results));
	CHECK_INT(tkb_results_count(results), 2 * 5);
	for (size_t i = 0; i < 2 * 5; i += 2) {
		check_missing(results, i, "absent",
		              "no key begins with 'absent'");
		check_missing(results, i + 1, "gone",
		              "no key begins with 'gone'");
	}
}

TEST(miss, of_a_device_tells_the_watch)
{
	RESULTS(results) = NULL;
	struct tkb_cache_options options = { SIZED(options), .has_device = true,
		                             .device = 7 };
	struct tkb_cache *cache = NULL;

	SYS(rename(inductor_cache(), "inductor"));
	OK(tkb_results_new(&results, ERR));
	options.watch = tkb_results_watch(results);
	MISSES(tkb_cache_open("inductor", &options, &cache, &err));
	CHECK_INT(tkb_results_count(results), 1);
	check_missing(results, 0, "", "there is no device 7");
}
