/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"
#include "world.h"

/* Saved launchers, given back where the root "root" has their kernels. */
struct saved {
	struct tkb_bundle *bundle;
	struct tkb_launchers *opened;
};

static struct saved saved;

static const char payload[] = "what only the framework understands";

static void put_launcher(struct tkb_recorder *recorder, const char *cache_key,
                         const char *key)
{
	const char *const needs[] = { key };
	const struct tkb_launcher_spec spec = {
		SIZED(spec),          .cache_key = cache_key,
		.name = "add_kernel", .payload = { payload, sizeof(payload) },
		.need = TKB_NEED_ALL, .needs = needs,
		.need_count = 1,
	};

	OK(tkb_recorder_put_launcher(recorder, &spec, ERR));
}

/* One launcher's kernel is in the root, the other's is not. */
static void set_up(void)
{
	static const char *const keys[] = { WORLD_KERNEL };
	const struct tkb_emit_options only = { SIZED(only), .keys = keys,
		                               .key_count = 1 };
	struct tkb_recorder *recorder = NULL;

	need_faults();
	saved = (struct saved){ .bundle = NULL };
	world_cache();
	world_add(WORLD_OTHER);
	OK(tkb_recorder_new(NULL, &recorder, ERR));
	OK(tkb_recorder_begin_compile(recorder, ERR));
	put_launcher(recorder, "there", WORLD_KERNEL);
	put_launcher(recorder, "not there", WORLD_OTHER);
	OK(tkb_recorder_collect_to_file(recorder, "cache", NULL, "x.tkb", NULL,
	                                ERR));
	tkb_recorder_free(recorder);
	saved.bundle = test_bundle("x.tkb");
	OK(tkb_emit(saved.bundle, "root", &only, NULL, ERR));
}

static int call_open(struct tkb_error *err)
{
	return tkb_launchers_open(saved.bundle, "root", NULL, &saved.opened,
	                          err);
}

static const char *check_opened(void)
{
	const struct tkb_launcher *launcher =
		tkb_launchers_find(saved.opened, "there", 0);

	if (tkb_launchers_count(saved.opened) != 1 || launcher == NULL ||
	    tkb_launchers_dropped_count(saved.opened) != 1)
		return "other launchers are given";
	if (launcher->payload.size != sizeof(payload) ||
	    memcmp(launcher->payload.data, payload, sizeof(payload)) != 0)
		return "the payload is another";
	if (tkb_launchers_dropped(saved.opened, 0)->reason != TKB_REASON_NEEDS)
		return "a launcher is dropped for another reason";
	return NULL;
}

static void close_opened(void)
{
	tkb_launchers_close(saved.opened);
}

TEST(launchers, are_given_or_it_is_said_that_an_allocation_failed)
{
	const struct fault_call call = { .call = call_open,
		                         .out = &saved.opened,
		                         .check = check_opened,
		                         .release = close_opened };

	set_up();
	fault_each_allocation(&call);
}

static int call_read(struct tkb_error *err)
{
	return tkb_bundle_read_launcher(saved.bundle, 0, &fault_sink, err);
}

TEST(launchers, have_a_payload_or_it_is_said_that_an_allocation_failed)
{
	const struct fault_call call = {
		.call = call_read, .wanted_sent = { payload, sizeof(payload) }
	};

	set_up();
	fault_each_allocation(&call);
}
