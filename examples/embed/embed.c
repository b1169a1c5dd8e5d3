/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver that keeps what it compiles, and starts warm elsewhere:
 *
 *     embed TRITON_CACHE
 *
 * In the current folder it compiles into `cache`, packs kernels and launchers
 * into `kernels.tkb`, and puts them into `fresh`, as another machine would.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tkbundle/tkbundle.h>

#include "compiler.h"

/* The key of a kernel that wins, and then is not there. */
#define UNFINISHED "UNFINISHED2UNFINISHED2UNFINISHED2UNFINISHED2UNFINISH"

/* The compiler's threads call this, several at once. */
static int put(void *self, const char *key, struct tkb_error *err)
{
	return tkb_recorder_put(self, key, 0, err);
}

/* keys[0] won, and a launcher of that name needs it, and the others. */
static int choose(struct tkb_recorder *recorder, const char *name,
                  enum tkb_need need, const char *const *keys, size_t count,
                  struct tkb_error *err)
{
	/* Whatever the framework wants to find again: a pickle, say. */
	const char payload[] = "grid and arguments";
	const struct tkb_launcher_spec launcher = {
		.struct_size = sizeof(launcher),
		.cache_key = name,
		.name = name,
		.payload = { payload, sizeof(payload) - 1 },
		.need = need,
		.needs = keys,
		.need_count = count,
	};
	int rc;

	rc = tkb_recorder_put_winner(recorder, keys[0], err);
	if (rc != 0)
		return rc;

	return tkb_recorder_put_launcher(recorder, &launcher, err);
}

/*
 * Of each kernel's variants, which lie side by side, the launcher needs the
 * first two: both, or, where it was autotuned, either.
 */
static int choose_all(struct tkb_recorder *recorder,
                      const struct tkb_cache *cache, struct tkb_error *err)
{
	const char *const unfinished[] = { UNFINISHED };
	const char *last = "";

	for (size_t i = 0; i + 1 < tkb_cache_entry_count(cache); i++) {
		const struct tkb_entry *entry = tkb_cache_entry(cache, i);
		const char *const keys[] = {
			entry->key, tkb_cache_entry(cache, i + 1)->key
		};
		const bool is_tuned = strcmp(entry->name, "matmul_kernel") == 0;
		int rc;

		if (strcmp(entry->name, last) == 0)
			continue;

		last = entry->name;
		rc = choose(recorder, entry->name,
		            is_tuned ? TKB_NEED_ANY : TKB_NEED_ALL, keys, 2,
		            err);
		if (rc != 0)
			return rc;
	}
	return choose(recorder, "unfinished_kernel", TKB_NEED_ALL, unfinished,
	              1, err);
}

static int compile(struct tkb_recorder *recorder, const char *source,
                   struct tkb_error *err)
{
	struct tkb_cache *cache;
	int rc;

	rc = compiler_run(source, "cache", put, recorder, err);
	if (rc != 0)
		return rc;

	rc = tkb_cache_open("cache", NULL, &cache, err);
	if (rc != 0)
		return rc;

	rc = choose_all(recorder, cache, err);
	tkb_cache_close(cache);
	return rc;
}

static void print_results(const struct tkb_results *results)
{
	for (size_t i = 0; i < tkb_results_count(results); i++) {
		const struct tkb_result *result = tkb_results_at(results, i);

		printf("  %s: %s %.20s, %s\n",
		       tkb_outcome_name(result->outcome),
		       result->is_launcher ? "launcher" : "kernel", result->key,
		       result->name[0] != '\0' ? result->name : "no name");
		if (result->message[0] != '\0')
			printf("    because %s (%s)\n", result->message,
			       tkb_reason_name(result->reason));
	}
}

/* One compile, from its begin to its end. */
static int record(struct tkb_recorder *recorder, const char *source,
                  struct tkb_results *results, struct tkb_error *err)
{
	const struct tkb_collect_options options = {
		.struct_size = sizeof(options),
		.watch = tkb_results_watch(results),
	};
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	int rc;

	rc = tkb_recorder_begin_compile(recorder, err);
	if (rc == 0)
		rc = compile(recorder, source, err);
	if (rc == 0)
		rc = tkb_recorder_collect_to_file(recorder, "cache", &options,
		                                  "kernels.tkb", &report, err);
	tkb_recorder_end_compile(recorder);
	/* What is left out is printed below; the rest is in the bundle. */
	if (rc != 0 && rc != TKB_ERR_PARTIAL)
		return rc;

	printf("collected %u kernels, %u launchers; left out %u and %u\n",
	       (unsigned)report.collected_count,
	       (unsigned)report.launcher_count, (unsigned)report.left_out_count,
	       (unsigned)report.dropped_count);
	print_results(results);
	return 0;
}

/* What can be launched in `fresh`, without a compile. */
static int launch(const struct tkb_bundle *bundle, struct tkb_error *err)
{
	struct tkb_launchers *launchers;
	int rc;

	rc = tkb_launchers_open(bundle, "fresh", NULL, &launchers, err);
	if (rc != 0)
		return rc;

	for (size_t i = 0; i < tkb_launchers_count(launchers); i++) {
		const struct tkb_launcher *launcher =
			tkb_launchers_at(launchers, i);

		printf("  %s: '%.*s', kernels in place: %u\n",
		       launcher->cache_key, (int)launcher->payload.size,
		       (const char *)launcher->payload.data,
		       (unsigned)launcher->kernel_count);
	}
	for (size_t i = 0; i < tkb_launchers_dropped_count(launchers); i++) {
		const struct tkb_dropped_launcher *dropped =
			tkb_launchers_dropped(launchers, i);

		printf("  %s is dropped because %s (%s)\n", dropped->cache_key,
		       dropped->message, tkb_reason_name(dropped->reason));
	}
	tkb_launchers_close(launchers);
	return 0;
}

/* Take the binary of the first kernel that a launcher needs from `fresh`. */
static void take_away(const struct tkb_saved_launcher *launcher)
{
	char path[1024];

	(void)snprintf(path, sizeof(path), "fresh/%s/%s.cubin",
	               launcher->needs[0], launcher->name);
	(void)unlink(path);
}

static int restore(const struct tkb_bundle *bundle, struct tkb_error *err)
{
	struct tkb_emit_report report = { .struct_size = sizeof(report) };
	int rc;

	rc = tkb_emit(bundle, "fresh", NULL, &report, err);
	if (rc != 0 && rc != TKB_ERR_PARTIAL)
		return rc;

	printf("emitted %u, present %u, repaired %u\n",
	       (unsigned)report.emitted_count, (unsigned)report.present_count,
	       (unsigned)report.repaired_count);
	return launch(bundle, err);
}

/* Another machine: it has the bundle, and nothing else. */
static int start_warm(struct tkb_error *err)
{
	struct tkb_bundle *bundle;
	int rc;

	rc = tkb_bundle_open("kernels.tkb", &bundle, err);
	if (rc != 0)
		return rc;

	rc = restore(bundle, err);
	if (rc == 0) {
		for (size_t i = 0; i < tkb_bundle_launcher_count(bundle); i++)
			take_away(tkb_bundle_launcher(bundle, i));
		printf("the first binary of each is gone\n");
		rc = launch(bundle, err);
	}
	if (rc == 0)
		rc = restore(bundle, err);
	tkb_bundle_close(bundle);
	return rc;
}

int main(int argc, char **argv)
{
	struct tkb_recorder *recorder = NULL;
	struct tkb_results *results = NULL;
	struct tkb_error err = { 0 };
	int rc;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: embed TRITON_CACHE\n");
		return 2;
	}

	rc = tkb_results_new(&results, &err);
	if (rc == 0)
		rc = tkb_recorder_new(NULL, &recorder, &err);
	if (rc == 0)
		rc = record(recorder, argv[1], results, &err);
	tkb_recorder_free(recorder);
	tkb_results_free(results);
	if (rc == 0)
		rc = start_warm(&err);
	if (rc != 0)
		(void)fprintf(stderr, "embed: %s\n", err.message);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
