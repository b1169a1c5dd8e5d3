/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <unistd.h>

/* What is not there leaves a caller's error as it was, byte for byte. */

struct place {
	struct tkb_remote *remote;
	struct tkb_bundle *bundle;
	struct tkb_cache *cache;
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
	};
	struct place at = { .remote = open_spy(spy_url("remote")) };

	OK(tkb_cache_open(pool(), NULL, &at.cache, ERR));
	OK(tkb_bundle_open("pool.tkb", &at.bundle, ERR));
	push_singly(at.remote, 1);
	CHECK_INT(unlink(blob_files("remote")[0]), 0);
	EACH(i, calls) {
		struct tkb_error before;
		struct tkb_error err;

		memset(&before, 'x', sizeof(before));
		err = before;
		test_name_row(calls[i].name);
		CHECK_INT(calls[i].call(&at, &err), TKB_MISS);
		assert_memory_equal(&err, &before, sizeof(err));
	}
	tkb_bundle_close(at.bundle);
	tkb_cache_close(at.cache);
}
