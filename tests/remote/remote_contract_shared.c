/* SPDX-License-Identifier: Apache-2.0 */
#include "remote_contract.h"

/* The contract's part on the public functions, and on several at once. */

enum {
	THREADS = 4
};

static void use_blobs(struct tkb_remote *remote, struct tkb_error *err)
{
	const struct tkb_bytes bytes = make_bytes(3 * TKB_MIB + 1, 20);
	const struct tkb_blob blob = { bytes.size, tkb_memory_source(&bytes) };
	BUF(got, BLOB_LIMIT);
	const struct tkb_sink sink = tkb_buf_sink(&got);
	struct notebook *notebook = new_notebook();
	const struct tkb_blob_visitor visitor = blob_visitor(notebook);
	struct tkb_digest digests[2] = { { { 0 } }, made_up(20) };
	bool answers[2] = { false, true };

	CHECK_INT(tkb_remote_get(remote, &digests[1], &sink, err), TKB_MISS);
	CHECK_OK(tkb_remote_put(remote, &blob, &digests[0], err), err);
	CHECK_OK(tkb_remote_get(remote, &digests[0], &sink, err), err);
	CHECK(tkb_bytes_equal(tkb_buf_bytes(&got), bytes));
	CHECK_OK(tkb_remote_has(remote, digests, 2, answers, err), err);
	CHECK(answers[0] && !answers[1]);
	CHECK_OK(tkb_remote_list(remote, 0, &visitor, err), err);
	CHECK_INT(notebook->count, 1);
	CHECK_OK(tkb_remote_remove(remote, 0, &digests[0], err), err);
	CHECK_INT(tkb_remote_remove(remote, 0, &digests[0], err), TKB_MISS);
	CHECK_INT(tkb_remote_get(remote, &digests[0], &sink, err), TKB_MISS);
}

static void use_refs(struct tkb_remote *remote, struct tkb_error *err)
{
	const struct tkb_bytes record = make_bytes(1000, 21);
	const struct tkb_digest digest = digest_of(record);
	struct notebook *refs = new_notebook();
	struct notebook *records = new_notebook();
	const struct tkb_ref_visitor names = ref_visitor(refs);
	const struct tkb_record_visitor visitor = record_visitor(records);

	CHECK_OK(tkb_remote_add(remote, "b/c", record, err), err);
	CHECK_OK(tkb_remote_add(remote, "a", record, err), err);
	CHECK_OK(tkb_remote_refs(remote, &names, err), err);
	CHECK_INT(refs->count, 2);
	CHECK_STR(refs->items[0].name, "a");
	CHECK_STR(refs->items[1].name, "b/c");
	CHECK_OK(tkb_remote_records(remote, "a", &visitor, err), err);
	CHECK_INT(records->count, 1);
	CHECK(tkb_bytes_equal(records->items[0].bytes, record));
	CHECK_OK(tkb_remote_touch(remote, "a", &digest, err), err);
	CHECK_OK(tkb_remote_drop(remote, "a", &digest, err), err);
	CHECK_INT(tkb_remote_drop(remote, "a", &digest, err), TKB_MISS);
	CHECK_INT(tkb_remote_touch(remote, "a", &digest, err), TKB_MISS);
	CHECK_FAILS(tkb_remote_add(remote, "../a", record, err),
	            TKB_ERR_INVALID, err, "cannot be a ref's name");
}

void contract_the_public_functions_do_all_of_it(
	const struct remote_kind *remote)
{
	const char *url = remote->start();
	struct tkb_remote *opened = must_open_remote(url, NULL);

	use_blobs(opened, ERR);
	use_refs(opened, ERR);
}

void contract_two_handles_see_each_other(const struct remote_kind *remote)
{
	const struct tkb_bytes bytes = make_bytes(2 * TKB_MIB + 1, 22);
	TKB_AUTO(close_handle) struct handle other = { .self = NULL };

	if (!remote->is_shared)
		skip();
	BEGIN;
	must_open(url, &other);
	struct tkb_digest digest = must_put(handle, bytes);
	check_blob(&other, &digest, 0, bytes);
	(void)must_add(handle, "ref", bytes);
	CHECK_INT(list_records(&other, "ref")->count, 1);
	OK(ASK(&other, drop, "ref", &digest, ERR));
	OK(ASK(&other, remove, &digest, ERR));
	CHECK(!is_there(handle, &digest));
	CHECK_INT(list_refs(handle)->count, 0);
	close_handle(&other);
}

/* One of several that work on one remote. cmocka is for one thread only. */
struct worker {
	const struct remote_kind *remote;
	const char *url;
	uint32_t number;
	const struct tkb_bytes *blobs;
	const struct tkb_digest *digests;
	size_t count;
	int rc;
	struct tkb_error err;
};

static void run_workers(const struct worker *first, void *(*work)(void *self))
{
	struct worker workers[THREADS];

	for (uint32_t i = 0; i < THREADS; i++) {
		workers[i] = *first;
		workers[i].number = i;
	}
	IN_THREADS(work, workers);
	for (uint32_t i = 0; i < THREADS; i++)
		CHECK_OK(workers[i].rc, &workers[i].err);
}

/* Each begins elsewhere, so that they meet. */
static void *put_all(void *self)
{
	struct worker *worker = self;
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	BUF(got, BLOB_LIMIT);
	int rc = open_handle(worker->url, &handle, &worker->err);

	for (size_t i = 0; i < worker->count && rc == 0; i++) {
		const size_t at =
			(i + worker->number * worker->count / THREADS) %
			worker->count;

		rc = put_blob(&handle, &worker->digests[at], &worker->blobs[at],
		              &worker->err);
		if (rc == 0)
			rc = ASK(&handle, add, "ref", &worker->digests[at],
			         worker->blobs[at], &worker->err);
		if (rc == 0)
			rc = get(&handle, &worker->digests[at], 0, &got,
			         &worker->err);
		if (rc == 0 &&
		    !tkb_bytes_equal(tkb_buf_bytes(&got), worker->blobs[at]))
			rc = tkb_fail(&worker->err, TKB_ERR_CORRUPT, "torn");
	}
	worker->rc = rc;
	return NULL;
}

void contract_four_threads_lose_nothing(const struct remote_kind *remote)
{
	enum {
		COUNT = 60
	};
	struct tkb_bytes blobs[COUNT];
	struct tkb_digest digests[COUNT];

	if (!remote->is_shared)
		skip();
	BEGIN;
	for (uint32_t i = 0; i < COUNT; i++) {
		blobs[i] = make_bytes(i * 100, i);
		digests[i] = digest_of(blobs[i]);
	}
	run_workers(&(struct worker){ .remote = remote,
	                              .url = url,
	                              .blobs = blobs,
	                              .digests = digests,
	                              .count = COUNT },
	            put_all);
	CHECK_INT(list_blobs(handle)->count, COUNT);
	CHECK_INT(list_records(handle, "ref")->count, COUNT);
	for (uint32_t i = 0; i < COUNT; i++)
		check_blob(handle, &digests[i], 0, blobs[i]);
}

/* Half of them write it again and again, the others read. */
static void *write_or_read(void *self)
{
	struct worker *worker = self;
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	BUF(got, BLOB_LIMIT);
	int rc = open_handle(worker->url, &handle, &worker->err);

	for (int i = 0; i < 10 && rc == 0; i++) {
		if (worker->number % 2 == 0) {
			rc = put_blob(&handle, worker->digests, worker->blobs,
			              &worker->err);
			continue;
		}
		rc = get(&handle, worker->digests, 0, &got, &worker->err);
		if (rc == TKB_MISS)
			rc = 0;
		else if (rc == 0 &&
		         !tkb_bytes_equal(tkb_buf_bytes(&got), *worker->blobs))
			rc = tkb_fail(&worker->err, TKB_ERR_CORRUPT, "torn");
	}
	worker->rc = rc;
	return NULL;
}

void contract_writers_of_one_blob_never_show_a_torn_one(
	const struct remote_kind *remote)
{
	const struct tkb_bytes bytes = make_bytes(3 * TKB_MIB + 11, 23);
	const struct tkb_digest digest = digest_of(bytes);

	if (!remote->is_shared)
		skip();
	BEGIN;
	run_workers(&(struct worker){ .remote = remote,
	                              .url = url,
	                              .blobs = &bytes,
	                              .digests = &digest,
	                              .count = 1 },
	            write_or_read);
	check_blob(handle, &digest, 0, bytes);
	CHECK_INT(list_blobs(handle)->count, 1);
}
