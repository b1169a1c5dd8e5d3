/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "upkeep.h"

/* Who opens a cache or reads a bundle can follow it, and end it. */

enum {
	ENTRIES = 17
};

/* Open the cache "out" on one thread, watched by `seen`. */
static int open_cache(struct countdown *seen, bool has_digests, bool may_end)
{
	const struct tkb_cache_options options = {
		SIZED(options), .has_digests = has_digests, .threads = 1,
		.watch = may_end ? count_down(seen) : look_on(seen)
	};
	struct tkb_cache *cache = NULL;
	const int rc = tkb_cache_open("out", &options, &cache, ERR);

	CHECK((cache != NULL) == (rc == 0));
	tkb_cache_close(cache);
	return rc;
}

TEST(watch, is_told_how_far_a_cache_is_looked_at)
{
	struct countdown looked = { 0 };
	struct countdown hashed = { 0 };

	arrange_emitted("triton-3.6.0-h100");

	OK(open_cache(&looked, false, false));
	CHECK(!looked.went_wrong);
	CHECK_INT(looked.total, count_names("out") - 1);
	CHECK_INT(looked.done, looked.total);
	OK(open_cache(&hashed, true, false));
	CHECK(!hashed.went_wrong);
	CHECK_INT(hashed.total, 2 * looked.total);
	CHECK_INT(hashed.done, hashed.total);
}

TEST(watch, ends_a_look_at_a_cache_at_each_entry)
{
	int rc = TKB_ERR_CANCELLED;
	size_t patience = 0;

	arrange_emitted("triton-3.6.0-h100");

	for (; rc == TKB_ERR_CANCELLED; patience++) {
		struct countdown own = { .left = patience };

		rc = open_cache(&own, true, true);
		CHECK(rc == 0 || rc == TKB_ERR_CANCELLED);
		CHECK(!own.went_wrong);
		CHECK_INT(own.done, patience);
	}
	CHECK_INT(patience, 2 * ENTRIES + 1);
}

TEST(watch, ends_the_wait_for_a_bundle_from_a_pipe)
{
	struct countdown own = { .left = 2 };
	struct tkb_bundle *bundle = NULL;
	int ends[2];

	SYS(pipe(ends));

	FAILS(tkb_bundle_open_fd(ends[0], "a pipe", count_down(&own), &bundle,
	                         ERR),
	      TKB_ERR_CANCELLED, "cancelled");
	CHECK_INT(own.left, 0);
	CHECK(bundle == NULL);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static int count_file(void *self, size_t index, size_t file,
                      struct tkb_bytes bytes, struct tkb_error *err)
{
	uint64_t *size = self;

	(void)index, (void)file, (void)err;
	*size += bytes.size;
	return 0;
}

TEST(watch, ends_the_reading_of_a_bundle_between_its_files)
{
	uint64_t size = 0;
	uint64_t last_size = 0;
	int rc = TKB_ERR_CANCELLED;
	size_t patience = 0;

	arrange_emitted("triton-3.6.0-h100");
	struct tkb_bundle *bundle = test_bundle("a.tkb");

	for (; rc == TKB_ERR_CANCELLED; patience++) {
		const struct tkb_file_visitor visitor = { count_file, &size };
		struct countdown own = { .left = patience };

		last_size = size;
		size = 0;
		rc = tkb_bundle_read_all(bundle, &visitor, count_down(&own),
		                         ERR);
		CHECK(rc == 0 || rc == TKB_ERR_CANCELLED);
		CHECK(!own.went_wrong);
		CHECK(size >= last_size);
		CHECK_INT(own.done, size);
		CHECK(rc != 0 || own.total == size);
	}
	CHECK(patience > tkb_bundle_frame_count(bundle));
	CHECK(size > 0);
}
