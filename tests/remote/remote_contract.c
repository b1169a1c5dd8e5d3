/* SPDX-License-Identifier: Apache-2.0 */
#include "remote_contract.h"

/* The contract's part on blobs. */

static const size_t sizes[] = {
	0, 1, 1000, TKB_MIB - 1, TKB_MIB, TKB_MIB + 1, 5 * TKB_MIB + 1,
};

void contract_what_was_put_is_got_whatever_its_size(
	const struct remote_kind *remote)
{
	BEGIN;

	for (size_t i = 0; i < TKB_COUNT_OF(sizes); i++) {
		const struct tkb_bytes bytes = make_bytes(sizes[i], 1);
		const struct tkb_digest digest = must_put(handle, bytes);

		CHECK(is_there(handle, &digest));
		check_blob(handle, &digest, 0, bytes);
	}
}

static int count_call(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	int *count = self;

	(void)bytes, (void)err;
	(*count)++;
	return 0;
}

void contract_a_missing_blob_is_a_miss_and_the_sink_is_left_alone(
	const struct remote_kind *remote)
{
	const struct tkb_digest digest = made_up(1);
	int calls = 0;
	const struct tkb_sink sink = { count_call, &calls };

	BEGIN;
	CHECK_INT(ASK(handle, get, &digest, 0, &sink, ERR), TKB_MISS);
	CHECK_INT(ASK(handle, get, &digest, 5, &sink, ERR), TKB_MISS);
	CHECK_INT(calls, 0);
	CHECK_STR(ERR->message, "");
}

void contract_a_blob_is_got_from_any_offset(const struct remote_kind *remote)
{
	const size_t size = 3 * TKB_MIB + 5;
	const struct tkb_bytes bytes = make_bytes(size, 2);
	const size_t offsets[] = { 1,        TKB_MIB - 1,
		                   TKB_MIB,  2 * TKB_MIB + 7,
		                   size - 1, size };

	BEGIN;
	struct tkb_digest digest = must_put(handle, bytes);
	for (size_t i = 0; i < TKB_COUNT_OF(offsets); i++)
		check_blob(handle, &digest, offsets[i],
		           tkb_bytes_slice(bytes, offsets[i], size));
	check_blob(handle, &digest, size + 10, (struct tkb_bytes){ NULL, 0 });
}

void contract_a_blob_may_be_put_again(const struct remote_kind *remote)
{
	const size_t wanted[] = { 100, 2 * TKB_MIB };

	BEGIN;
	for (size_t i = 0; i < TKB_COUNT_OF(wanted); i++) {
		const struct tkb_bytes bytes = make_bytes(wanted[i], 3);
		const struct tkb_digest digest = must_put(handle, bytes);

		(void)must_put(handle, bytes);
		check_blob(handle, &digest, 0, bytes);
	}
	CHECK_INT(list_blobs(handle)->count, TKB_COUNT_OF(wanted));
}

/* What a loss of power, or a hand, leaves under a digest. */
void contract_a_damaged_blob_is_told_by_its_size_and_replaced(
	const struct remote_kind *remote)
{
	const struct tkb_bytes bytes = make_bytes(2 * TKB_MIB, 30);
	const struct tkb_bytes others[] = { { "", 0 },
		                            { bytes.data, 100 },
		                            make_bytes(2 * TKB_MIB, 31) };
	const struct tkb_digest digest = digest_of(bytes);

	if (remote->is_exact)
		skip();
	BEGIN;
	for (size_t i = 0; i < TKB_COUNT_OF(others); i++) {
		bool has = false;
		uint64_t size = 7;

		OK(put_blob(handle, &digest, &others[i], ERR));
		OK(ASK(handle, has, &digest, 1, &has, &size, ERR));
		CHECK(has);
		CHECK_INT(size, others[i].size);
		(void)must_put(handle, bytes);
		OK(ASK(handle, has, &digest, 1, &has, &size, ERR));
		CHECK_INT(size, bytes.size);
		check_blob(handle, &digest, 0, bytes);
	}
	CHECK_INT(list_blobs(handle)->count, 1);
}

void contract_has_tells_which_of_many_are_there(
	const struct remote_kind *remote)
{
	enum {
		COUNT = 1300
	};
	struct tkb_digest *digests = test_alloc(COUNT * sizeof(*digests));
	bool *answers = test_alloc(COUNT * sizeof(*answers));
	uint64_t *told = test_alloc(COUNT * sizeof(*told));

	BEGIN;
	for (uint32_t i = 0; i < COUNT; i++)
		digests[i] = i % 13 == 0
		                     ? must_put(handle, make_bytes(10 + i, i))
		                     : made_up(i);
	memset(answers, 1, COUNT * sizeof(*answers));
	OK(ASK(handle, has, digests, COUNT, answers, told, ERR));
	for (uint32_t i = 0; i < COUNT; i++) {
		CHECK_INT(answers[i], i % 13 == 0);
		CHECK(!answers[i] || told[i] == 10 + i);
	}
	OK(ASK(handle, has, digests, 0, answers, NULL, ERR));
}

void contract_a_removed_blob_is_gone_and_may_come_back(
	const struct remote_kind *remote)
{
	const struct tkb_bytes bytes = make_bytes(1000, 4);

	BEGIN;
	struct tkb_digest digest = must_put(handle, bytes);
	struct tkb_digest other = must_put(handle, make_bytes(1000, 5));
	OK(ASK(handle, remove, &digest, ERR));
	CHECK(!is_there(handle, &digest));
	CHECK(is_there(handle, &other));
	CHECK_INT(list_blobs(handle)->count, 1);
	CHECK_INT(ASK(handle, remove, &digest, ERR), TKB_MISS);
	(void)must_put(handle, bytes);
	check_blob(handle, &digest, 0, bytes);
}

void contract_list_tells_each_blob_once_with_size_and_age(
	const struct remote_kind *remote)
{
	enum {
		COUNT = 700
	};

	BEGIN;
	/* So many calls last a minute on a busy machine. */
	set_deadline(handle, 600000);
	for (uint32_t i = 0; i < COUNT; i++)
		(void)must_put(handle, make_bytes(i, i));
	(void)must_add(handle, "ref", make_bytes(10, 1));
	const struct notebook *notebook = list_blobs(handle);
	CHECK_INT(notebook->count, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		const struct tkb_digest digest = digest_of(make_bytes(i, i));

		CHECK_INT(count_digest(notebook, &digest), 1);
	}
	for (size_t i = 0; i < notebook->count; i++) {
		const struct told *told = &notebook->items[i];
		const struct tkb_digest digest = digest_of(
			make_bytes((size_t)told->size, (uint32_t)told->size));

		CHECK(tkb_digest_equal(&told->digest, &digest));
		CHECK(told->age_s < YOUNG_S);
	}
}

void contract_an_empty_remote_has_nothing_to_tell(
	const struct remote_kind *remote)
{
	BEGIN;
	CHECK_INT(list_blobs(handle)->count, 0);
	CHECK_INT(list_refs(handle)->count, 0);
	CHECK_INT(list_records(handle, "none")->count, 0);
}

static int refuse_bytes(void *self, struct tkb_bytes bytes,
                        struct tkb_error *err)
{
	const int *rc = self;

	(void)bytes;
	return tkb_fail(err, *rc, "enough");
}

void contract_what_a_sink_returns_ends_the_get(const struct remote_kind *remote)
{
	int status = TKB_ERR_LEFT_OUT;
	const struct tkb_sink sink = { refuse_bytes, &status };

	BEGIN;
	struct tkb_digest digest = must_put(handle, make_bytes(5 * TKB_MIB, 6));
	FAILS(ASK(handle, get, &digest, 0, &sink, ERR), TKB_ERR_LEFT_OUT,
	      "enough");
}

static int refuse_to_read(void *self, uint64_t offset, void *data, size_t size,
                          size_t *got_out, struct tkb_error *err)
{
	const uint64_t *limit = self;

	if (offset + size > *limit)
		return tkb_fail(err, TKB_ERR_LEFT_OUT, "enough");
	memset(data, 0, size);
	*got_out = size;
	return 0;
}

void contract_what_a_source_returns_ends_the_put(
	const struct remote_kind *remote)
{
	uint64_t limits[] = { 0, 3 * TKB_MIB };
	const struct tkb_digest digest = made_up(7);

	for (size_t i = 0; i < TKB_COUNT_OF(limits); i++) {
		const struct tkb_blob blob = { 5 * TKB_MIB,
			                       { refuse_to_read, &limits[i] } };

		BEGIN;
		FAILS(ASK(handle, put, &digest, &blob, ERR), TKB_ERR_LEFT_OUT,
		      "enough");
		if (!remote->is_shared) {
			continue;
		}
		close_handle(handle);
		must_open(url, handle);
		CHECK(!is_there(handle, &digest));
		CHECK_INT(list_blobs(handle)->count, 0);
	}
}

static int read_short(void *self, uint64_t offset, void *data, size_t size,
                      size_t *got_out, struct tkb_error *err)
{
	const uint64_t *limit = self;

	(void)err;
	*got_out = 0;
	if (offset >= *limit)
		return 0;
	if (size > *limit - offset)
		size = (size_t)(*limit - offset);
	memset(data, 0, size);
	*got_out = size;
	return 0;
}

void contract_a_source_that_ends_early_leaves_no_blob(
	const struct remote_kind *remote)
{
	uint64_t limit = 2 * TKB_MIB + 1;
	const struct tkb_blob blob = { 5 * TKB_MIB, { read_short, &limit } };
	const struct tkb_digest digest = made_up(8);

	if (!remote->is_shared)
		skip();
	BEGIN;
	CHECK(ASK(handle, put, &digest, &blob, ERR) < 0);
	close_handle(handle);
	must_open(url, handle);
	CHECK(!is_there(handle, &digest));
	CHECK_INT(list_blobs(handle)->count, 0);
}

void contract_what_a_visitor_returns_ends_the_listing(
	const struct remote_kind *remote)
{
	struct notebook *notebook = new_notebook();
	const struct tkb_blob_visitor blobs = blob_visitor(notebook);
	const struct tkb_record_visitor records = record_visitor(notebook);
	const struct tkb_ref_visitor refs = ref_visitor(notebook);

	BEGIN;
	for (uint32_t i = 0; i < 3; i++) {
		(void)must_put(handle, make_bytes(10, i));
		(void)must_add(handle, "one", make_bytes(10, i));
		(void)must_add(handle, "two", make_bytes(10, i));
	}
	notebook->rc = TKB_ERR_INVALID;
	FAILS(ASK(handle, list, &blobs, ERR), TKB_ERR_INVALID, "enough");
	FAILS(ASK(handle, records, "one", &records, ERR), TKB_ERR_INVALID,
	      "enough");
	FAILS(ASK(handle, refs, &refs, ERR), TKB_ERR_INVALID, "enough");
	CHECK_INT(notebook->count, 3);
}

void contract_a_refused_call_leaves_the_handle_usable(
	const struct remote_kind *remote)
{
	const struct tkb_bytes bytes = make_bytes(5 * TKB_MIB, 9);
	int status = TKB_ERR_DENIED;
	const struct tkb_sink sink = { refuse_bytes, &status };

	BEGIN;
	struct tkb_digest digest = must_put(handle, bytes);
	FAILS(ASK(handle, get, &digest, 0, &sink, ERR), TKB_ERR_DENIED,
	      "enough");
	CHECK(is_there(handle, &digest));
	CHECK_INT(list_blobs(handle)->count, 1);
	check_blob(handle, &digest, 0, bytes);
}
