/* SPDX-License-Identifier: Apache-2.0 */
#include "fault_scene.h"

#include <stdlib.h>

#include "nginx.h"
#include "records/record.h"

enum {
	KEYS_LIMIT = 64,
	MEETINGS = 5
};

static struct attempt start_attempt(const struct tkb_remote *remote)
{
	return (struct attempt){
		.name = text("'%s'", tkb_remote_tier_name(remote, 0)),
		.pulled = { SIZED(struct tkb_pull_report) },
		.pushed = { SIZED(struct tkb_push_report) },
		.ms = now_ms(),
	};
}

struct attempt pull_from(const char *url, const char *root)
{
	struct tkb_remote *remote = must_open_remote(url, NULL);
	struct attempt attempt = start_attempt(remote);

	attempt.rc = tkb_pull(remote, SCENE_REF, root, NULL, &attempt.pulled,
	                      &attempt.err);
	attempt.ms = now_ms() - attempt.ms;
	return attempt;
}

struct attempt push_to(const char *url, const char *root)
{
	struct tkb_remote *remote = must_open_remote(url, NULL);
	struct attempt attempt = start_attempt(remote);

	attempt.rc = tkb_push(remote, SCENE_REF, root, NULL, &attempt.pushed,
	                      &attempt.err);
	attempt.ms = now_ms() - attempt.ms;
	return attempt;
}

static struct attempt must(struct attempt attempt)
{
	CHECK_OK(attempt.rc, &attempt.err);
	return attempt;
}

/* The blobs and records that a remote's backend lists. */
struct stock {
	const struct notebook *blobs;
	const struct notebook *records;
};

static struct stock read_stock(const char *url)
{
	BUF(got, BLOB_LIMIT);
	struct stock stock;
	struct handle *handle = must_connect(url);

	stock.blobs = list_blobs(handle);
	stock.records = list_records(handle, SCENE_REF);
	for (size_t i = 0; i < stock.blobs->count; i++) {
		const struct tkb_digest *digest = &stock.blobs->items[i].digest;

		OK(get(handle, digest, 0, &got, ERR));
		struct tkb_digest found = digest_of(tkb_buf_bytes(&got));
		CHECK(tkb_digest_equal(&found, digest));
	}
	for (size_t i = 0; i < stock.records->count; i++) {
		const struct told *told = &stock.records->items[i];
		const struct tkb_digest found = digest_of(told->bytes);
		struct tkb_record record = { .size = 0 };

		CHECK(tkb_digest_equal(&found, &told->digest));
		OK(tkb_record_parse(told->bytes, &record, ERR));
		tkb_record_release(&record);
	}
	return stock;
}

const struct notebook *list_of_blobs(const struct scene *scene)
{
	return read_stock(scene->direct).blobs;
}

/* Push what is in `scene`, and learn what that comes to. */
static struct scene push_scene(struct scene scene)
{
	scene.direct = scene_url(&scene, scene.port, "");
	struct attempt pushed = must(push_to(scene.direct, scene.source));
	scene.entry_count = pushed.pushed.pushed_count;
	CHECK(scene.entry_count != 0);
	struct stock stock = read_stock(scene.direct);
	CHECK_INT(stock.blobs->count, 1);
	CHECK_INT(stock.records->count, 1);
	scene.blob = hex_of(&stock.blobs->items[0].digest);
	scene.blob_size = stock.blobs->items[0].size;
	scene.record_size = stock.records->items[0].bytes.size;
	return scene;
}

struct scene arrange_scene(unsigned port, const char *form)
{
	const struct scene scene = {
		.source = text("%s/source/.triton/cache", test_folder()),
		.port = port,
		.form = form,
	};

	if (!exists("source"))
		unpack("triton-3.6.0-h100", "source");
	return push_scene(scene);
}

struct scene arrange_large_scene(unsigned port, const char *form)
{
	const struct scene scene = {
		.source = text("%s/large/.cache/torchinductor/triton/0",
		               test_folder()),
		.has_frames = true,
		.port = port,
		.form = form,
	};

	if (!exists("large"))
		unpack("inductor-2.11-llama4-h100", "large");
	return push_scene(scene);
}

static void empty_redis(struct scene *scene)
{
	const struct server server = { .port = scene->port };

	(void)ask_redis(&server, "-a", SECRET, "FLUSHALL", NULL);
}

struct scene redis_scene(void)
{
	struct scene scene =
		arrange_scene(start_redis("requirepass " SECRET "\n").port,
	                      "redis://:" SECRET "@127.0.0.1:%u?%s");

	scene.empty = empty_redis;
	return scene;
}

/* It is a remote still: nothing has to be tried before it is written to. */
static void empty_nginx(struct scene *scene)
{
	(void)scene;
	shell("rm -rf nginx/www/cache; mkdir -p nginx/www/cache/cas");
}

struct scene nginx_scene(void)
{
	struct scene scene =
		arrange_scene(start_nginx(nginx_dav()).port, NGINX_FORM);

	scene.empty = empty_nginx;
	return scene;
}

const char *scene_url(const struct scene *scene, unsigned port,
                      const char *parameters)
{
	return text(scene->form, port, parameters);
}

static void push_keys(const struct scene *scene, const char **keys,
                      size_t count)
{
	const struct tkb_collect_options collect = { SIZED(collect),
		                                     .keys = keys,
		                                     .key_count = count };
	const struct tkb_push_options options = { SIZED(options),
		                                  .is_compaction_off = true };
	struct tkb_remote *remote = must_open_remote(scene->direct, NULL);

	OK(tkb_collect_to_file(scene->source, &collect, "part.tkb", NULL, ERR));
	struct tkb_bytes bytes = read_file("part.tkb");
	struct tkb_source source = tkb_memory_source(&bytes);
	OK(tkb_push_bundle(remote, SCENE_REF, &source, &options, NULL, ERR));
}

void push_parts(const struct scene *scene, size_t count, size_t more)
{
	const char **keys = list(scene->source);
	const size_t share = (scene->entry_count + count - 1) / count;

	for (size_t at = 0; at < scene->entry_count; at += share) {
		const size_t left = scene->entry_count - at;
		const size_t wanted = share + more;

		push_keys(scene, keys + at, left < wanted ? left : wanted);
	}
}

/* The id of the bundle that these keys of a cache would make; all: NULL. */
static struct tkb_collect_report weigh(const char *root, const char **keys,
                                       size_t count)
{
	const struct tkb_collect_options options = {
		SIZED(options), .keys = keys, .key_count = count,
		.is_dry_run = true, .is_strict = true
	};
	struct tkb_collect_report report = { SIZED(report) };

	OK(tkb_collect(root, &options, NULL, &report, ERR));
	return report;
}

size_t count_visible(const struct scene *scene, const char *root)
{
	const char *keys[KEYS_LIMIT];
	size_t count = 0;

	if (!exists(root))
		return 0;
	const char **names = list(root);
	for (size_t i = 0; names[i] != NULL; i++) {
		CHECK(count < KEYS_LIMIT);
		if (strcmp(names[i], ".tkbundle") != 0)
			keys[count++] = names[i];
	}
	if (count == 0)
		return 0;
	struct tkb_collect_report here = weigh(root, keys, count);
	struct tkb_collect_report wanted = weigh(scene->source, keys, count);
	CHECK_INT(here.collected_count, count);
	CHECK_INT(here.unfinished_count + here.stray_count, 0);
	CHECK(tkb_digest_equal(&here.id, &wanted.id));
	return count;
}

size_t count_right(const struct scene *scene, const char *root)
{
	if (exists(text("%s/.tkbundle", root)))
		check_nothing_of_ours(root);
	return count_visible(scene, root);
}

size_t count_sound(const struct scene *scene)
{
	return read_stock(scene->direct).records->count;
}

void check_message(const struct attempt *attempt, const char *name,
                   const char *part)
{
	CHECK_CONTAINS(attempt->err.message, name);
	CHECK_CONTAINS(attempt->err.message, part);
	CHECK(strstr(attempt->err.message, SECRET) == NULL);
}

/* On a busy machine, the proxy's process may be slower than we are. */
static bool has_struck(const struct proxy *proxy)
{
	for (unsigned i = 0; i < 100 && proxy->counts->struck[0] == 0; i++)
		nap_ms(10);
	return proxy->counts->struck[0] != 0;
}

/*
 * Push or pull by a proxy until the fault is met: on a busy machine, a client
 * with short limits may give up before.
 */
static struct attempt meet(struct scene *scene, const struct fault_case *test,
                           struct attempt (*try_it)(const char *url,
                                                    const char *root),
                           const char *root)
{
	bool is_met = false;
	struct attempt attempt;

	print_message("  %s\n", test->name);
	for (unsigned i = 0; i < MEETINGS && !is_met; i++) {
		struct proxy proxy = start_proxy(scene->port, &test->fault, 1);

		if (scene->empty != NULL && try_it == push_to)
			scene->empty(scene);
		attempt = try_it(
			scene_url(scene, proxy.port, test->attempt.parameters),
			root);
		is_met = has_struck(&proxy);
		stop_proxy(&proxy);
	}
	CHECK(is_met);
	return attempt;
}

/* What became of it; true: the work was done. */
static bool judge(const struct fault_case *test, const struct attempt *attempt)
{
	int wanted = test->attempt.rc;

	if (wanted == EITHER)
		wanted = attempt->rc == 0 ? 0 : TKB_ERR_UNAVAILABLE;
	check_status(attempt->rc, wanted, &attempt->err, test->name, __FILE__,
	             __LINE__);
	CHECK(attempt->ms >= test->attempt.at_least_ms);
	if (wanted == 0)
		return true;
	CHECK(attempt->ms <= TIMEOUT_MS + SLACK_MS);
	check_message(attempt, attempt->name, test->attempt.part);
	return false;
}

static const char *new_root(void)
{
	const char *folder = text("%s/root-XXXXXX", test_folder());

	CHECK(mkdtemp((char *)(uintptr_t)folder) != NULL);
	return text("%s/cache", folder);
}

/* If the work was not done, nothing is there, or all of some frames. */
static void check_rest(const struct scene *scene, size_t count)
{
	CHECK(count == 0 || (scene->has_frames && count < scene->entry_count));
}

static void check_pull(const struct scene *scene, const struct fault_case *test)
{
	const char *root = new_root();
	struct scene place = *scene;
	const struct attempt attempt = meet(&place, test, pull_from, root);
	const size_t count = count_right(scene, root);

	if (judge(test, &attempt))
		CHECK_INT(count, scene->entry_count);
	else
		check_rest(scene, count);
}

void check_pulls(const struct scene *scene, const struct fault_case *cases,
                 size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_pull(scene, &cases[i]);
}

void check_cuts(const struct scene *scene, const struct fault *cut,
                uint64_t size, int rc, const char *part)
{
	struct fault_case test = { .fault = *cut };

	test.fault.times = 1;
	for (unsigned i = 0; i < 16; i++) {
		test.fault.at = size * i / 16;
		test.name = text("cut at %u/16, then not", i);
		test.attempt.parameters = THRICE;
		test.attempt.rc = 0;
		check_pull(scene, &test);
		test.name = text("cut at %u/16", i);
		test.attempt.parameters = ONCE;
		test.attempt.rc = rc;
		test.attempt.part = part;
		check_pull(scene, &test);
	}
}

static void check_push(struct scene *scene, const struct fault_case *test)
{
	const char *root = new_root();
	const struct attempt attempt =
		meet(scene, test, push_to, scene->source);

	CHECK(count_sound(scene) >= judge(test, &attempt));
	(void)must(push_to(scene->direct, scene->source));
	(void)must(pull_from(scene->direct, root));
	CHECK_INT(count_right(scene, root), scene->entry_count);
	CHECK(count_sound(scene) != 0);
}

void check_pushes(struct scene *scene, const struct fault_case *cases,
                  size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_push(scene, &cases[i]);
}

void check_cut_pushes(struct scene *scene, const struct fault *cut, int rc,
                      const char *part)
{
	struct fault_case test = { .fault = *cut,
		                   .attempt = { ONCE, 0, rc, part } };

	test.fault.is_upload = true;
	for (unsigned i = 0; i < 16; i++) {
		test.name = text("cut at %u/16", i);
		test.fault.at = scene->blob_size * i / 16;
		check_push(scene, &test);
	}
}
