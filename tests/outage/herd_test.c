/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <unistd.h>

#include <tkbundle/fleet.h>

#include "fault_scene.h"

/*
 * Many processes of few nodes pull one ref at once: a node's file tier lets one
 * of them fetch each blob, which the proxy before the real server counts.
 */

enum {
	BLOBS = 3,
	PULLERS_LIMIT = 64
};

/* What the herd pulls from, and what asks there for a blob. */
static const struct kind {
	struct scene (*arrange)(void);
	const char *get;
} redis_kind = { redis_scene, "\r\nGETRANGE\r\n$77\r\ntkbundle:cas:%s" },
  http_kind = { nginx_scene, "GET /cache/cas/%s" };

struct herd {
	struct scene scene;
	struct fault faults[BLOBS + 1]; /* counts each blob, then does harm */
	struct proxy proxy;
	const char *parameters;
	bool has_no_node; /* no file tier */
};

static struct herd arrange_herd(const struct kind *kind,
                                const struct fault *harm)
{
	struct herd herd = { .scene = kind->arrange(),
		             .parameters = "timeout=60s" };
	size_t count = 0;

	herd.scene.empty(&herd.scene);
	push_parts(&herd.scene, BLOBS, 0);
	const struct notebook *blobs = list_of_blobs(&herd.scene);
	CHECK_INT(blobs->count, BLOBS);
	for (; count < BLOBS; count++) {
		herd.faults[count] = (struct fault){
			.harm = PASS,
			.request = text(kind->get,
			                hex_of(&blobs->items[count].digest))
		};
	}
	if (harm != NULL)
		herd.faults[count++] = *harm;
	herd.proxy = start_proxy(herd.scene.port, herd.faults, count);
	return herd;
}

/* Puller `index` of `node`, once `gate` is open. */
static pid_t start_puller(const struct herd *herd, unsigned node,
                          unsigned index, const int gate[2])
{
	const char *far =
		scene_url(&herd->scene, herd->proxy.port, herd->parameters);
	const char *urls =
		text("file://%s/node-%u,%s", test_folder(), node, far);
	const char *root = text("pulled-%u", index);
	const pid_t pid = must_fork();
	char byte;

	if (pid != 0)
		return pid;
	(void)close(gate[1]);
	if (read(gate[0], &byte, 1) != 0)
		_exit(99);
	struct attempt attempt =
		pull_from(herd->has_no_node ? far : urls, root);
	if (attempt.rc < 0)
		print_message("  %s\n", attempt.err.message);
	_exit(attempt.rc == 0 ? 0 : attempt.rc == TKB_ERR_UNAVAILABLE ? 1 : 2);
}

/* All at once; each ends with `status`. Returns how long it took. */
static uint64_t pull_all(const struct herd *herd, unsigned nodes,
                         unsigned count, int status)
{
	pid_t pids[PULLERS_LIMIT];
	int gate[2];

	CHECK(count <= PULLERS_LIMIT);
	SYS(pipe(gate));
	for (unsigned i = 0; i < count; i++)
		pids[i] = start_puller(herd, i % nodes, i, gate);
	uint64_t start = now_ms();
	(void)close(gate[0]);
	(void)close(gate[1]);
	for (unsigned i = 0; i < count; i++)
		CHECK_INT(end_of(pids[i]), status);
	return now_ms() - start;
}

static void check_all(const struct herd *herd, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		CHECK_INT(count_right(&herd->scene, text("pulled-%u", i)),
		          herd->scene.entry_count);
}

static void check_gets(const struct herd *herd, unsigned each)
{
	for (size_t i = 0; i < BLOBS; i++)
		CHECK_INT(herd->proxy.counts->met[i], each);
}

static void check_herd(const struct kind *kind, unsigned nodes, unsigned count)
{
	struct herd herd = arrange_herd(kind, NULL);

	(void)pull_all(&herd, nodes, count, 0);
	check_all(&herd, count);
	check_gets(&herd, nodes);
}

TEST(herd, sixteen_pullers_of_one_node_make_one_get_per_blob)
{
	check_herd(&redis_kind, 1, 16);
	shell("rm -rf node-* pulled-*");
	check_herd(&http_kind, 1, 16);
}

TEST(herd, sixty_four_pullers_of_eight_nodes_make_eight)
{
	check_herd(&redis_kind, 8, 64);
}

TEST(herd, without_a_tier_of_their_own_each_asks)
{
	struct herd herd = arrange_herd(&redis_kind, NULL);

	herd.has_no_node = true;
	(void)pull_all(&herd, 1, 4, 0);
	check_all(&herd, 4);
	check_gets(&herd, 4);
}

/* They do not fail one after another. */
TEST(herd, sixteen_pullers_before_a_remote_that_stalls_fail_together)
{
	static const struct fault stall = { .harm = STALL,
		                            .request = "GETRANGE",
		                            .at = 100 };
	struct herd herd = arrange_herd(&redis_kind, &stall);

	herd.parameters = HASTY_ONCE;
	CHECK(pull_all(&herd, 1, 16, 1) < TIMEOUT_MS + SLACK_MS);
	for (unsigned i = 0; i < 16; i++)
		CHECK_INT(count_right(&herd.scene, text("pulled-%u", i)), 0);
}

TEST(herd, another_puller_fetches_where_one_was_killed_in_the_middle)
{
	struct fault stall = {
		.harm = STALL, .behind = "\r\n$", .at = 100, .times = 1
	};
	struct herd herd = arrange_herd(&redis_kind, &stall);
	int gate[2];

	/* The first blob stalls; what it is called was not known before. */
	stop_proxy(&herd.proxy);
	herd.faults[BLOBS].request = herd.faults[0].request;
	herd.proxy = start_proxy(herd.scene.port, herd.faults, BLOBS + 1);
	herd.parameters = "timeout=20s&stall-timeout=20s";
	SYS(pipe(gate));
	pid_t first = start_puller(&herd, 0, 16, gate);
	(void)close(gate[0]);
	(void)close(gate[1]);
	while (herd.proxy.counts->struck[BLOBS] == 0)
		nap_ms(5);
	nap_ms(200);
	(void)kill(first, SIGKILL);
	CHECK_INT(end_of(first), 128 + SIGKILL);

	CHECK(pull_all(&herd, 1, 16, 0) < 10000);
	check_all(&herd, 16);
	CHECK_INT(herd.proxy.counts->met[0], 2);
}
