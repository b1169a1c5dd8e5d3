/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_REMOTE_CONTRACT_H
#define TKB_TESTS_REMOTE_CONTRACT_H

/*
 * What every kind of remote must hold to. A test program names its kind once,
 * and all tests of the contract run for it:
 *
 *     static const struct remote_kind folder = { ... };
 *
 *     REMOTE_CONTRACT(folder)
 */

#include "remote_fixture.h"

struct remote_kind {
	/* Start what is needed, and give the URL of an empty remote. */
	const char *(*start)(void);
	bool is_shared; /* what one handle puts another sees */
	bool has_clock; /* it knows when something was put */
	bool is_exact;  /* it takes no bytes of another digest */
};

enum {
	YOUNG_S = 600
};

#define REMOTE_CONTRACT_TESTS(X, kind)                                         \
	X(kind, what_was_put_is_got_whatever_its_size)                         \
	X(kind, a_missing_blob_is_a_miss_and_the_sink_is_left_alone)           \
	X(kind, a_blob_is_got_from_any_offset)                                 \
	X(kind, a_blob_may_be_put_again)                                       \
	X(kind, a_damaged_blob_is_told_by_its_size_and_replaced)               \
	X(kind, has_tells_which_of_many_are_there)                             \
	X(kind, a_removed_blob_is_gone_and_may_come_back)                      \
	X(kind, list_tells_each_blob_once_with_size_and_age)                   \
	X(kind, an_empty_remote_has_nothing_to_tell)                           \
	X(kind, what_a_sink_returns_ends_the_get)                              \
	X(kind, what_a_source_returns_ends_the_put)                            \
	X(kind, a_source_that_ends_early_leaves_no_blob)                       \
	X(kind, what_a_visitor_returns_ends_the_listing)                       \
	X(kind, a_refused_call_leaves_the_handle_usable)                       \
	X(kind, added_records_are_told_with_their_bytes)                       \
	X(kind, a_record_added_twice_is_told_once)                             \
	X(kind, a_ref_holds_a_hundred_records)                                 \
	X(kind, a_record_of_any_size_is_told)                                  \
	X(kind, a_dropped_record_is_gone)                                      \
	X(kind, a_ref_without_records_is_not_told)                             \
	X(kind, refs_of_any_name_are_told)                                     \
	X(kind, refs_do_not_mix)                                               \
	X(kind, touch_makes_a_record_young)                                    \
	X(kind, the_public_functions_do_all_of_it)                             \
	X(kind, two_handles_see_each_other)                                    \
	X(kind, four_threads_lose_nothing)                                     \
	X(kind, writers_of_one_blob_never_show_a_torn_one)

/* In each of them: a remote, a connection to it. */
#define BEGIN                                                                  \
	const char *const url = remote->start();                               \
	struct handle *const handle = must_connect(url)

#define REMOTE_CONTRACT_DECLARE(kind, sentence)                                \
	void contract_##sentence(const struct remote_kind *remote);
REMOTE_CONTRACT_TESTS(REMOTE_CONTRACT_DECLARE, any)

#define REMOTE_CONTRACT_TEST(kind, sentence)                                   \
	TEST(kind, sentence)                                                   \
	{                                                                      \
		contract_##sentence(&(kind));                                  \
	}
#define REMOTE_CONTRACT(kind) REMOTE_CONTRACT_TESTS(REMOTE_CONTRACT_TEST, kind)

#endif
