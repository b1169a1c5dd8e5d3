/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <tkbundle/maintain.h>
#include <tkbundle/results.h>
#include <tkbundle/triton_compile.h>

#include <stdio.h>
#include <unistd.h>

/* What is not there leaves a caller's error as it was, byte for byte. */

struct place {
	struct tkb_remote *remote;
	struct tkb_bundle *bundle;
	struct tkb_cache *cache;
	const struct tkb_watch *watch; /* of the calls with options */
};

static const struct tkb_digest nowhere = { { 1 } };

static int look(const struct place *at, struct tkb_error *err)
{
	struct tkb_ref_info info = { SIZED(info) };

	return tkb_ref_look(at->remote, "absent", &info, err);
}

static int delete_ref(const struct place *at, struct tkb_error *err)
{
	return tkb_ref_delete(at->remote, "absent", NULL, err);
}

static int pull(const struct place *at, struct tkb_error *err)
{
	return tkb_pull(at->remote, "absent", "out", NULL, NULL, err);
}

static int write_nothing(void *self, struct tkb_bytes bytes,
                         struct tkb_error *err)
{
	(void)self, (void)bytes;
	return tkb_fail(err, TKB_ERR_IO, "there is nothing to write");
}

static const struct tkb_sink sink = { write_nothing, NULL };

static int pull_bundle(const struct place *at, struct tkb_error *err)
{
	return tkb_pull_bundle(at->remote, "absent", NULL, &sink, NULL, err);
}

/* The blobs of this one are gone. */
static int pull_holes(const struct place *at, struct tkb_error *err)
{
	struct tkb_pull_report report = { SIZED(report) };
	const int rc =
		tkb_pull_bundle(at->remote, REF, NULL, &sink, &report, err);

	CHECK_INT(report.gone_count, 1);
	return rc;
}

static int pull_launchers(const struct place *at, struct tkb_error *err)
{
	struct tkb_launchers *launchers = NULL;

	return tkb_pull_launchers(at->remote, "absent", "out", NULL, NULL,
	                          &launchers, err);
}

static int verify(const struct place *at, struct tkb_error *err)
{
	const struct tkb_remote_verify_options options = { SIZED(options),
		                                           .ref = "absent" };

	return tkb_remote_verify(at->remote, &options, NULL, err);
}

static int get_blob(const struct place *at, struct tkb_error *err)
{
	return tkb_remote_get(at->remote, &nowhere, &sink, err);
}

static int remove_blob(const struct place *at, struct tkb_error *err)
{
	return tkb_remote_remove(at->remote, 0, &nowhere, err);
}

static int find_in_bundle(const struct place *at, struct tkb_error *err)
{
	size_t index;

	return tkb_bundle_find(at->bundle, "absent", &index, err);
}

static int find_in_cache(const struct place *at, struct tkb_error *err)
{
	size_t index;

	return tkb_cache_find(at->cache, "absent", &index, err);
}

static int open_cache(const struct place *at, struct tkb_error *err)
{
	struct tkb_cache *cache = NULL;

	(void)at;
	return tkb_cache_open("absent", NULL, &cache, err);
}

static int collect(const struct place *at, struct tkb_error *err)
{
	(void)at;
	return tkb_collect("absent", NULL, &sink, NULL, err);
}

static int push(const struct place *at, struct tkb_error *err)
{
	return tkb_push(at->remote, REF, "absent", NULL, NULL, err);
}

static int relocate(const struct place *at, struct tkb_error *err)
{
	(void)at;
	return tkb_relocate("absent", NULL, NULL, err);
}

static int gc(const struct place *at, struct tkb_error *err)
{
	const struct tkb_gc_options options = { SIZED(options),
		                                .has_max_entries = true };

	(void)at;
	return tkb_gc("absent", &options, NULL, err);
}

static int open_uses(const struct place *at, struct tkb_error *err)
{
	struct tkb_uses *uses = NULL;

	(void)at;
	return tkb_uses_open("absent", NULL, &uses, err);
}

static int open_bundle(const struct place *at, struct tkb_error *err)
{
	struct tkb_bundle *bundle = NULL;

	(void)at;
	return tkb_bundle_open("absent", &bundle, err);
}

static int read_list(const struct place *at, struct tkb_error *err)
{
	struct tkb_triton_list *list = NULL;

	(void)at;
	return tkb_triton_list_read("absent", &list, err);
}

/* The call misses, and does not touch the error. */
static void check_miss(int (*call)(const struct place *at,
                                   struct tkb_error *err),
                       const struct place *at)
{
	struct tkb_error before;
	struct tkb_error err;

	memset(&before, 'x', sizeof(before));
	err = before;
	CHECK_INT(call(at, &err), TKB_MISS);
	assert_memory_equal(&err, &before, sizeof(err));
}

TEST(miss, leaves_the_error_as_it_was)
{
	static const struct {
		const char *name;
		int (*call)(const struct place *at, struct tkb_error *err);
	} calls[] = {
		{ "ref_look", look },
		{ "ref_delete", delete_ref },
		{ "pull", pull },
		{ "pull_bundle", pull_bundle },
		{ "pull_bundle of holes", pull_holes },
		{ "pull_launchers", pull_launchers },
		{ "remote_verify", verify },
		{ "remote_get", get_blob },
		{ "remote_remove", remove_blob },
		{ "bundle_find", find_in_bundle },
		{ "cache_find", find_in_cache },
		{ "cache_open", open_cache },
		{ "collect", collect },
		{ "push", push },
		{ "relocate", relocate },
		{ "gc", gc },
		{ "uses_open", open_uses },
		{ "bundle_open", open_bundle },
		{ "triton_list_read", read_list },
	};
	struct place at = { .remote = open_spy(spy_url("remote")) };

	OK(tkb_cache_open(pool(), NULL, &at.cache, ERR));
	OK(tkb_bundle_open("pool.tkb", &at.bundle, ERR));
	push_singly(at.remote, 1);
	SYS(unlink(blob_files("remote")[0]));
	EACH(i, calls) {
		test_name_row(calls[i].name);
		check_miss(calls[i].call, &at);
	}
	tkb_bundle_close(at.bundle);
	tkb_cache_close(at.cache);
}

/* One that is there, and two that are not. */
static const char **keys_asked(void)
{
	const char **keys = test_alloc(3 * sizeof(*keys));

	keys[0] = "absent";
	keys[1] = pool_keys()[0];
	keys[2] = "gone";
	return keys;
}

static int cache_with_key(const struct place *at, struct tkb_error *err)
{
	const struct tkb_cache_options options = { SIZED(options),
		                                   .keys = keys_asked(),
		                                   .key_count = 3,
		                                   .watch = at->watch };
	struct tkb_cache *cache = NULL;

	return tkb_cache_open("pool", &options, &cache, err);
}

static struct tkb_collect_options collect_options(const struct place *at)
{
	return CHOSEN(tkb_collect_options, .keys = keys_asked(), .key_count = 3,
	              .deadline_ms = 600000, .watch = at->watch);
}

static int collect_key(const struct place *at, struct tkb_error *err)
{
	const struct tkb_collect_options options = collect_options(at);

	return tkb_collect("pool", &options, &sink, NULL, err);
}

static int push_key(const struct place *at, struct tkb_error *err)
{
	const struct tkb_collect_options collect = collect_options(at);
	const struct tkb_push_options options = { SIZED(options),
		                                  .collect = &collect };

	return tkb_push(at->remote, REF, "pool", &options, NULL, err);
}

static struct tkb_emit_options emit_options(const struct place *at)
{
	return CHOSEN(tkb_emit_options, .keys = keys_asked(), .key_count = 3,
	              .watch = at->watch);
}

static int emit_key(const struct place *at, struct tkb_error *err)
{
	const struct tkb_emit_options options = emit_options(at);

	return tkb_emit(at->bundle, "out", &options, NULL, err);
}

static int pull_key(const struct place *at, struct tkb_error *err)
{
	const struct tkb_emit_options emit = emit_options(at);
	const struct tkb_pull_options options = { SIZED(options),
		                                  .emit = &emit };

	return tkb_pull(at->remote, REF, "out", &options, NULL, err);
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

TEST(miss, of_keys_tells_the_watch_which)
{
	static const struct {
		const char *name;
		int (*call)(const struct place *at, struct tkb_error *err);
	} calls[] = {
		{ "cache_open", cache_with_key },
		{ "collect", collect_key },
		{ "push", push_key },
		{ "emit", emit_key },
		{ "pull", pull_key },
	};
	struct place at = { .remote = open_spy(spy_url("remote")) };

	CHECK(pool() != NULL);
	at.bundle = test_bundle("pool.tkb");
	push_singly(at.remote, 1);
	EACH(i, calls) {
		struct tkb_results *results = NULL;

		test_name_row(calls[i].name);
		at.watch = NULL;
		check_miss(calls[i].call, &at);
		OK(tkb_results_new(&results, ERR));
		at.watch = tkb_results_watch(results);
		check_miss(calls[i].call, &at);
		CHECK_INT(tkb_results_count(results), 2);
		check_missing(results, 0, "absent",
		              "no key begins with 'absent'");
		check_missing(results, 1, "gone", "no key begins with 'gone'");
		tkb_results_free(results);
	}
}

static int cache_with_device(const struct place *at, struct tkb_error *err)
{
	const struct tkb_cache_options options = { SIZED(options),
		                                   .has_device = true,
		                                   .device = 7,
		                                   .watch = at->watch };
	struct tkb_cache *cache = NULL;

	return tkb_cache_open("inductor", &options, &cache, err);
}

TEST(miss, of_a_device_tells_the_watch)
{
	struct tkb_results *results = NULL;
	struct place at = { 0 };

	SYS(rename(inductor_cache(), "inductor"));
	OK(tkb_results_new(&results, ERR));
	at.watch = tkb_results_watch(results);
	check_miss(cache_with_device, &at);
	CHECK_INT(tkb_results_count(results), 1);
	check_missing(results, 0, "", "there is no device 7");
	tkb_results_free(results);
}
