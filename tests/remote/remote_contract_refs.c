/* SPDX-License-Identifier: Apache-2.0 */
#include "remote_contract.h"

/* The contract's part on refs and records. */

void contract_added_records_are_told_with_their_bytes(
	const struct remote_kind *remote)
{
	const struct tkb_bytes first = make_bytes(100, 10);
	const struct tkb_bytes second = make_bytes(200, 11);
	struct tkb_digest digests[2];

	BEGIN;
	digests[0] = must_add(handle, "team/model", first);
	digests[1] = must_add(handle, "team/model", second);
	const struct notebook *notebook = list_records(handle, "team/model");
	CHECK_INT(notebook->count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct told *told = &notebook->items[i];
		const bool is_first =
			tkb_digest_equal(&told->digest, &digests[0]);

		CHECK_INT(count_digest(notebook, &digests[i]), 1);
		CHECK(tkb_bytes_equal(told->bytes, is_first ? first : second));
		CHECK(told->age_s < YOUNG_S);
	}
	CHECK_INT(list_blobs(handle)->count, 0);
}

void contract_a_record_added_twice_is_told_once(
	const struct remote_kind *remote)
{
	BEGIN;
	(void)must_add(handle, "ref", make_bytes(100, 12));
	(void)must_add(handle, "ref", make_bytes(100, 12));
	CHECK_INT(list_records(handle, "ref")->count, 1);
	CHECK_INT(list_refs(handle)->count, 1);
}

void contract_a_ref_holds_a_hundred_records(const struct remote_kind *remote)
{
	BEGIN;
	for (uint32_t i = 0; i < 100; i++)
		(void)must_add(handle, "ref", make_bytes(3000 + i, i));
	const struct notebook *notebook = list_records(handle, "ref");
	CHECK_INT(notebook->count, 100);
	for (uint32_t i = 0; i < 100; i++) {
		const struct tkb_digest digest =
			digest_of(make_bytes(3000 + i, i));

		CHECK_INT(count_digest(notebook, &digest), 1);
	}
}

void contract_a_record_of_any_size_is_told(const struct remote_kind *remote)
{
	const size_t wanted[] = { 0, 1, 65536, 2 * TKB_MIB + 3 };

	BEGIN;
	for (size_t i = 0; i < TKB_COUNT_OF(wanted); i++) {
		const struct tkb_bytes record = make_bytes(wanted[i], 13);
		const char *ref = text("size-%zu", wanted[i]);

		(void)must_add(handle, ref, record);
		const struct notebook *notebook = list_records(handle, ref);
		CHECK_INT(notebook->count, 1);
		CHECK(tkb_bytes_equal(notebook->items[0].bytes, record));
	}
}

void contract_a_dropped_record_is_gone(const struct remote_kind *remote)
{
	BEGIN;
	struct tkb_digest digest = must_add(handle, "ref", make_bytes(100, 14));
	struct tkb_digest other = must_add(handle, "ref", make_bytes(100, 15));
	(void)must_add(handle, "twin", make_bytes(100, 14));
	OK(ASK(handle, drop, "ref", &digest, ERR));
	CHECK_INT(list_records(handle, "ref")->count, 1);
	CHECK_INT(count_digest(list_records(handle, "ref"), &other), 1);
	CHECK_INT(list_records(handle, "twin")->count, 1);
	CHECK_INT(ASK(handle, drop, "ref", &digest, ERR), TKB_MISS);
	CHECK_INT(ASK(handle, drop, "none", &digest, ERR), TKB_MISS);
}

void contract_a_ref_without_records_is_not_told(
	const struct remote_kind *remote)
{
	BEGIN;
	struct tkb_digest digest =
		must_add(handle, "gone", make_bytes(100, 16));
	(void)must_add(handle, "kept", make_bytes(100, 16));
	OK(ASK(handle, drop, "gone", &digest, ERR));
	CHECK_INT(list_refs(handle)->count, 1);
	CHECK_INT(count_name(list_refs(handle), "kept"), 1);
	(void)must_add(handle, "gone", make_bytes(100, 16));
	CHECK_INT(list_refs(handle)->count, 2);
}

void contract_refs_of_any_name_are_told(const struct remote_kind *remote)
{
	char longest[201];
	const char *const names[] = { "a",     "a/b",        "a/b/c",
		                      "a.b",   "a-b_c",      "A",
		                      "x@y",   "llama=3.1+", "0/0/0/0",
		                      longest, "a/b.c@d=e+f" };
	size_t told = 0;

	memset(longest, 'n', 200);
	longest[100] = '/';
	longest[200] = '\0';
	BEGIN;
	for (size_t i = 0; i < TKB_COUNT_OF(names); i++) {
		(void)must_add(handle, names[i], make_bytes(10, 17));
		(void)must_add(handle, names[i], make_bytes(10, 18));
	}
	const struct notebook *notebook = list_refs(handle);
	for (size_t i = 0; i < TKB_COUNT_OF(names); i++) {
		CHECK(count_name(notebook, names[i]) != 0);
		told += count_name(notebook, names[i]);
	}
	CHECK_INT(notebook->count, told);
}

void contract_refs_do_not_mix(const struct remote_kind *remote)
{
	const char *const names[] = { "a", "a/a", "a/a/a", "aa", "a.a", "A" };

	BEGIN;
	for (uint32_t i = 0; i < TKB_COUNT_OF(names); i++)
		(void)must_add(handle, names[i], make_bytes(10, i));
	for (uint32_t i = 0; i < TKB_COUNT_OF(names); i++) {
		const struct notebook *notebook =
			list_records(handle, names[i]);

		CHECK_INT(notebook->count, 1);
		CHECK(tkb_bytes_equal(notebook->items[0].bytes,
		                      make_bytes(10, i)));
	}
}

void contract_touch_makes_a_record_young(const struct remote_kind *remote)
{
	const struct tkb_digest missing = made_up(19);

	BEGIN;
	struct tkb_digest digest = must_add(handle, "ref", make_bytes(10, 19));
	(void)must_put(handle, make_bytes(10, 19));
	CHECK_INT(ASK(handle, touch, "ref", &missing, ERR), TKB_MISS);
	CHECK_INT(ASK(handle, touch, "none", &digest, ERR), TKB_MISS);
	if (remote->has_clock) {
		nap_ms(2100);
		CHECK(list_records(handle, "ref")->items[0].age_s >= 2);
		CHECK(list_blobs(handle)->items[0].age_s >= 2);
	}
	OK(ASK(handle, touch, "ref", &digest, ERR));
	CHECK(list_records(handle, "ref")->items[0].age_s < 2);
	CHECK_INT(list_records(handle, "ref")->count, 1);
	CHECK_INT(list_records(handle, "none")->count, 0);
	CHECK_INT(list_refs(handle)->count, 1);
}
