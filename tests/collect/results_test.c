/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* A list of what long work told. */

#define ADD "7L6SDEJ5EARFW53EAUKXWJ3XWXHCWI4TI4SGVO6DXAZGV5QZWTSA"

static struct tkb_results *new_results(void)
{
	struct tkb_results *results = NULL;

	OK(tkb_results_new(&results, ERR));
	return results;
}

static void tell(struct tkb_results *results, const struct tkb_result *result)
{
	const struct tkb_watch *watch = tkb_results_watch(results);

	watch->on_result(watch->self, result);
}

TEST(results, are_none_at_first)
{
	RESULTS(results) = new_results();
	const struct tkb_watch *watch = tkb_results_watch(results);

	CHECK_INT(tkb_results_count(results), 0);
	CHECK(!tkb_results_is_cut(results));
	CHECK(watch->on_result != NULL);
	CHECK(watch->on_progress == NULL);
	CHECK(watch->is_cancelled == NULL);
	tkb_results_free(NULL);
}

TEST(results, are_copies_in_the_order_told)
{
	enum {
		COUNT = 5000
	};
	RESULTS(results) = new_results();
	char root[32];
	char key[32];
	char name[32];
	char message[32];

	for (unsigned i = 0; i < COUNT; i++) {
		const struct tkb_result result = {
			.root = root,
			.key = key,
			.name = name,
			.is_launcher = i % 2 == 0,
			.outcome = (enum tkb_outcome)(i % 9),
			.reason = (enum tkb_reason)(i % 18),
			.message = message,
		};

		(void)snprintf(root, sizeof(root), "/root/%u", i);
		(void)snprintf(key, sizeof(key), "key %u", i);
		(void)snprintf(name, sizeof(name), "name %u", i);
		(void)snprintf(message, sizeof(message), "message %u", i);
		tell(results, &result);
	}

	CHECK_INT(tkb_results_count(results), COUNT);
	CHECK(!tkb_results_is_cut(results));
	for (unsigned i = 0; i < COUNT; i++) {
		const struct tkb_result *result = tkb_results_at(results, i);

		CHECK_STR(result->root, text("/root/%u", i));
		CHECK_STR(result->key, text("key %u", i));
		CHECK_STR(result->name, text("name %u", i));
		CHECK_STR(result->message, text("message %u", i));
		CHECK_INT(result->is_launcher, i % 2 == 0);
		CHECK_INT(result->outcome, i % 9);
		CHECK_INT(result->reason, i % 18);
	}
}

/* How many have this outcome? */
static size_t count(const struct tkb_results *results, enum tkb_outcome outcome)
{
	size_t found = 0;

	for (size_t i = 0; i < tkb_results_count(results); i++)
		found += tkb_results_at(results, i)->outcome == outcome;
	return found;
}

/*
 * A cache with a torn entry: what collect, verify and emit say of it, in one
 * list; what they worked on is gone when the list is read.
 */
TEST(results, tell_what_collect_verify_and_emit_told)
{
	const char *root = h100();
	RESULTS(results) = new_results();
	const struct tkb_collect_options collect = {
		SIZED(collect), .watch = tkb_results_watch(results)
	};
	const struct tkb_verify_options verify = {
		SIZED(verify), .watch = tkb_results_watch(results)
	};
	const struct tkb_emit_options emit = {
		SIZED(emit), .watch = tkb_results_watch(results), .threads = 4
	};

	SYS(truncate(text("%s/" ADD "/add_kernel.cubin", root), 100));
	struct tkb_bundle *bundle = open_bytes(collected(root, &collect));
	OK(tkb_bundle_verify(bundle, &verify, NULL, ERR));
	OK(tkb_emit(bundle, "out", &emit, NULL, ERR));
	tkb_bundle_close(bundle);

	CHECK_INT(tkb_results_count(results), 17 + 16 + 16);
	CHECK_INT(count(results, TKB_OUTCOME_COLLECTED), 16);
	CHECK_INT(count(results, TKB_OUTCOME_LEFT_OUT), 1);
	CHECK_INT(count(results, TKB_OUTCOME_VERIFIED), 16);
	CHECK_INT(count(results, TKB_OUTCOME_EMITTED), 16);
	for (size_t i = 0; i < 17; i++) {
		const struct tkb_result *result = tkb_results_at(results, i);

		CHECK_STR(result->root, root);
		if (result->outcome == TKB_OUTCOME_LEFT_OUT) {
			CHECK_STR(result->key, ADD);
			CHECK_INT(result->reason, TKB_REASON_BINARY);
			CHECK(result->message[0] != '\0');
		}
	}
	const struct tkb_result *last = tkb_results_at(results, 17 + 16 + 15);
	CHECK_STR(last->root, text("%s/out", test_folder()));
	CHECK_INT(last->outcome, TKB_OUTCOME_EMITTED);
	CHECK(exists(text("out/%s", last->key)));
}

TEST(results, are_lists_apart)
{
	RESULTS(one) = new_results();
	RESULTS(other) = new_results();
	const struct tkb_result result = { "root", "key",         "name", false,
		                           0,      TKB_REASON_IO, "" };

	tell(one, &result);
	tell(one, &result);
	tell(other, &result);

	CHECK_INT(tkb_results_count(one), 2);
	CHECK_INT(tkb_results_count(other), 1);
	CHECK(tkb_results_at(one, 0)->key != tkb_results_at(one, 1)->key);
}

/* In a child, to which memory is refused behind the first 64 MiB. */
static int fill_memory(void)
{
	enum {
		SIZE = 1 << 20
	};
	const struct rlimit limit = { (rlim_t)64 * SIZE, (rlim_t)64 * SIZE };
	struct tkb_results *results = NULL;
	static char large[SIZE];
	const struct tkb_result result = {
		.root = "", .key = large, .name = "", .message = "last"
	};

	memset(large, 'x', SIZE - 1);
	if (tkb_results_new(&results, NULL) != 0 ||
	    setrlimit(RLIMIT_AS, &limit) != 0)
		return 1;
	for (size_t i = 0; i < 1000 && !tkb_results_is_cut(results); i++)
		tell(results, &result);
	size_t kept = tkb_results_count(results);
	if (!tkb_results_is_cut(results) || kept == 0)
		return 2;
	if (strcmp(tkb_results_at(results, kept - 1)->message, "last") != 0 ||
	    strlen(tkb_results_at(results, kept - 1)->key) != SIZE - 1)
		return 3;
	tkb_results_free(results);
	return 0;
}

TEST(results, say_so_if_memory_ran_out)
{
	/* Sanitizers take address space as they please. */
	if (has_thread_sanitizer() || has_address_sanitizer())
		skip();
	pid_t child = must_fork();
	if (child == 0)
		_exit(fill_memory());
	CHECK_INT(end_of(child), 0);
}
