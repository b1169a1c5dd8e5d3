/* SPDX-License-Identifier: Apache-2.0 */
#include "fault_scene.h"

/* A remote of several tiers, some of which are not as they should be. */

static const char *near(void)
{
	return text("file://%s/node", test_folder());
}

/* A pull from `urls` is right. */
static void check_right(const struct scene *scene, const char *urls,
                        const char *root)
{
	const struct attempt attempt = pull_from(urls, root);

	CHECK_OK(attempt.rc, &attempt.err);
	CHECK(attempt.ms <= TIMEOUT_MS + SLACK_MS);
	CHECK_INT(count_right(scene, root), scene->entry_count);
}

/* It fails in time and says why, and nothing was emitted. */
static void check_miss(const struct scene *scene, const char *urls,
                       unsigned port, const char *part)
{
	const char *root = text("missed-%u", port);
	const struct attempt attempt = pull_from(urls, root);

	CHECK_INT(attempt.rc, TKB_ERR_UNAVAILABLE);
	CHECK(attempt.ms <= TIMEOUT_MS + SLACK_MS);
	check_message(&attempt, attempt.name, part);
	CHECK_INT(count_right(scene, root), 0);
}

TEST(fault_tiers, a_server_that_refuses_is_a_miss)
{
	const struct scene scene = redis_scene();
	const unsigned port = free_port();

	check_miss(&scene, scene_url(&scene, port, HASTY_THRICE), port,
	           "refused");
	struct attempt attempt =
		push_to(scene_url(&scene, port, HASTY_THRICE), scene.source);
	CHECK_INT(attempt.rc, TKB_ERR_UNAVAILABLE);
	check_message(&attempt, attempt.name, "refused");
}

TEST(fault_tiers, one_that_does_not_answer_counts_unless_it_is_to_be_ignored)
{
	static const struct fault stall = { .harm = STALL };
	const struct scene scene = redis_scene();
	struct proxy proxy = start_proxy(scene.port, &stall, 1);
	const unsigned ports[] = { proxy.port, free_port() };
	static const char *const parts[] = { "no byte moved", "refused" };

	for (size_t i = 0; i < TKB_COUNT_OF(ports); i++) {
		const char *dead = scene_url(&scene, ports[i], HASTY_ONCE);
		const char *ignored = scene_url(&scene, ports[i],
		                                HASTY_ONCE "&on-error=ignore");

		check_right(&scene, text("%s,%s", ignored, scene.direct),
		            text("after-%zu", i));
		check_right(&scene, text("%s,%s", scene.direct, ignored),
		            text("before-%zu", i));
		check_miss(&scene, text("%s,%s", dead, scene.direct), ports[i],
		           parts[i]);
	}
}

/* The others do not wait for it, again and again. */
TEST(fault_tiers, one_that_did_not_answer_is_not_asked_again)
{
	static const struct fault stall = { .harm = STALL };
	const struct scene scene = redis_scene();
	struct proxy proxy = start_proxy(scene.port, &stall, 1);

	push_parts(&scene, 6, 0);
	check_right(&scene,
	            text("%s,%s",
	                 scene_url(&scene, proxy.port,
	                           HASTY_ONCE "&on-error=ignore"),
	                 scene.direct),
	            "pulled");
	CHECK_INT(proxy.counts->connections, 1);
}

static const char *near_blob(const struct scene *scene)
{
	return text("node/cas/%.2s/%s", scene->blob, scene->blob);
}

TEST(fault_tiers, a_damaged_copy_in_a_near_one_is_passed_over)
{
	static const char *const damages[] = { "", "something else" };
	const struct scene scene = redis_scene();
	const char *urls = text("%s,%s", near(), scene.direct);

	check_right(&scene, urls, "first");
	struct tkb_bytes whole = read_file(near_blob(&scene));
	CHECK_INT(whole.size, scene.blob_size);
	for (size_t i = 0; i < TKB_COUNT_OF(damages); i++) {
		write_text(near_blob(&scene), damages[i]);
		check_right(&scene, urls, text("damaged-%zu", i));
	}
	for (unsigned i = 0; i < 16; i++) {
		write_file(near_blob(&scene), whole);
		flip_bit(near_blob(&scene), whole.size * i / 16);
		check_right(&scene, urls, text("flipped-%u", i));
	}
}

/* As after a crash of the node: what is near alone does not do. */
TEST(fault_tiers, a_damaged_copy_in_a_near_one_is_mended)
{
	const struct scene scene = redis_scene();
	const char *urls = text("%s,%s", near(), scene.direct);

	check_right(&scene, urls, "first");
	struct tkb_bytes whole = read_file(near_blob(&scene));
	write_text(near_blob(&scene), "torn");
	check_right(&scene, urls, "second");
	CHECK(tkb_bytes_equal(read_file(near_blob(&scene)), whole));
}
