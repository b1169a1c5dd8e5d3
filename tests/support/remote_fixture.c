/* SPDX-License-Identifier: Apache-2.0 */
#include "remote_fixture.h"

#include <time.h>

#define NS_PER_MS ((uint64_t)1000000)

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 * NS_PER_MS + (uint64_t)now.tv_nsec;
}

void check_in_time(uint64_t (*attempt)(void *self), void *self, unsigned wanted)
{
	uint64_t took = 0;

	for (int i = 0; i < 5; i++) {
		took = attempt(self);
		CHECK(took + 2 >= wanted);
		if (took <= wanted + wanted / 5)
			return;
	}
	fail_msg("it took %llu ms, not %u", (unsigned long long)took, wanted);
}

struct tkb_bytes make_bytes(size_t size, uint32_t seed)
{
	unsigned char *bytes = test_alloc(size);
	uint32_t state = seed * 2654435761u + 1;

	for (size_t i = 0; i < size; i++) {
		state = state * 1664525u + 1013904223u;
		bytes[i] = (unsigned char)(state >> 24);
	}
	return (struct tkb_bytes){ bytes, size };
}

struct tkb_digest made_up(uint32_t number)
{
	struct tkb_digest digest = { { 0xee } };

	memcpy(digest.bytes + 4, &number, sizeof(number));
	return digest;
}

int put_blob(const struct handle *handle, const struct tkb_digest *digest,
             const struct tkb_bytes *bytes, struct tkb_error *err)
{
	const struct tkb_blob blob = { bytes->size, tkb_memory_source(bytes) };

	return ASK(handle, put, digest, &blob, err);
}

struct tkb_digest must_put(const struct handle *handle, struct tkb_bytes bytes)
{
	const struct tkb_digest digest = digest_of(bytes);

	OK(put_blob(handle, &digest, &bytes, ERR));
	return digest;
}

struct tkb_digest must_add(const struct handle *handle, const char *ref,
                           struct tkb_bytes record)
{
	const struct tkb_digest digest = digest_of(record);

	OK(ASK(handle, add, ref, &digest, record, ERR));
	return digest;
}

int get(const struct handle *handle, const struct tkb_digest *digest,
        uint64_t offset, struct tkb_buf *out, struct tkb_error *err)
{
	const struct tkb_sink sink = tkb_buf_sink(out);

	tkb_buf_reset(out);
	return ASK(handle, get, digest, offset, &sink, err);
}

void check_blob(const struct handle *handle, const struct tkb_digest *digest,
                uint64_t offset, struct tkb_bytes wanted)
{
	BUF(got, BLOB_LIMIT);

	OK(get(handle, digest, offset, &got, ERR));
	CHECK_INT(got.size, wanted.size);
	CHECK(tkb_bytes_equal(tkb_buf_bytes(&got), wanted));
}

bool is_there(const struct handle *handle, const struct tkb_digest *digest)
{
	bool answer = false;

	OK(ASK(handle, has, digest, 1, &answer, NULL, ERR));
	return answer;
}

static struct told *next_page(void *self)
{
	struct notebook *notebook = self;

	CHECK(notebook->count < TKB_COUNT_OF(notebook->items));
	return &notebook->items[notebook->count++];
}

static int note_blob(void *self, const struct tkb_digest *digest, uint64_t size,
                     uint64_t age_s, struct tkb_error *err)
{
	const struct notebook *notebook = self;

	*next_page(self) = (struct told){ .digest = *digest,
		                          .size = size,
		                          .age_s = age_s };
	return notebook->rc < 0 ? tkb_fail(err, notebook->rc, "enough") : 0;
}

static int note_record(void *self, const struct tkb_digest *digest,
                       struct tkb_bytes record, uint64_t age_s,
                       struct tkb_error *err)
{
	const struct notebook *notebook = self;
	char *copy = test_alloc(record.size);

	if (record.size != 0)
		memcpy(copy, record.data, record.size);
	*next_page(self) = (struct told){ .digest = *digest,
		                          .bytes = { copy, record.size },
		                          .age_s = age_s };
	return notebook->rc < 0 ? tkb_fail(err, notebook->rc, "enough") : 0;
}

static int note_ref(void *self, const char *ref, struct tkb_error *err)
{
	const struct notebook *notebook = self;

	*next_page(self) = (struct told){ .name = text("%s", ref) };
	return notebook->rc < 0 ? tkb_fail(err, notebook->rc, "enough") : 0;
}

struct notebook *new_notebook(void)
{
	struct notebook *notebook = test_alloc(sizeof(*notebook));

	notebook->count = 0;
	notebook->rc = 0;
	return notebook;
}

struct tkb_blob_visitor blob_visitor(struct notebook *notebook)
{
	return (struct tkb_blob_visitor){ note_blob, notebook };
}

static int note_unread(void *self, const struct tkb_digest *digest,
                       const struct tkb_error *why, struct tkb_error *err)
{
	struct notebook *notebook = self;

	if (why->status == TKB_MISS) {
		notebook->vanished_count++;
		return 0;
	}
	*next_page(self) = (struct told){ .digest = *digest,
		                          .unread = why->status,
		                          .name = text("%s", why->message) };
	return notebook->rc < 0 ? tkb_fail(err, notebook->rc, "enough") : 0;
}

struct tkb_record_visitor record_visitor(struct notebook *notebook)
{
	return (struct tkb_record_visitor){ .on_record = note_record,
		                            .self = notebook,
		                            .on_unread = note_unread };
}

struct tkb_ref_visitor ref_visitor(struct notebook *notebook)
{
	return (struct tkb_ref_visitor){ note_ref, notebook };
}

struct notebook *list_blobs(const struct handle *handle)
{
	struct notebook *notebook = new_notebook();
	const struct tkb_blob_visitor visitor = blob_visitor(notebook);

	OK(ASK(handle, list, &visitor, ERR));
	return notebook;
}

struct notebook *list_records(const struct handle *handle, const char *ref)
{
	struct notebook *notebook = new_notebook();
	const struct tkb_record_visitor visitor = record_visitor(notebook);

	OK(ASK(handle, records, ref, &visitor, ERR));
	return notebook;
}

struct notebook *list_refs(const struct handle *handle)
{
	struct notebook *notebook = new_notebook();
	const struct tkb_ref_visitor visitor = ref_visitor(notebook);

	OK(ASK(handle, refs, &visitor, ERR));
	return notebook;
}

size_t count_digest(const struct notebook *notebook,
                    const struct tkb_digest *digest)
{
	size_t count = 0;

	for (size_t i = 0; i < notebook->count; i++)
		count += tkb_digest_equal(&notebook->items[i].digest, digest);
	return count;
}

size_t count_name(const struct notebook *notebook, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < notebook->count; i++)
		count += strcmp(notebook->items[i].name, name) == 0;
	return count;
}

void close_handle(struct handle *handle)
{
	if (handle->self != NULL)
		handle->backend->close(handle->self);
	tkb_remote_url_free(handle->url);
	handle->url = NULL;
	handle->self = NULL;
}

void set_deadline(struct handle *handle, unsigned ms)
{
	handle->call.deadline_ns = now_ns() + ms * NS_PER_MS;
}

int open_handle(const char *url, struct handle *handle, struct tkb_error *err)
{
	handle->call.watch = &handle->watch;
	if (handle->call.connect_ms == 0)
		handle->call.connect_ms = 10000;
	if (handle->call.stall_ms == 0)
		handle->call.stall_ms = 10000;
	if (handle->call.deadline_ns == 0)
		set_deadline(handle, 60000);
	int rc = tkb_remote_url_parse(url, &handle->url, err);
	if (rc < 0)
		return rc;
	handle->backend = tkb_remote_backend_find(handle->url->scheme);
	CHECK(handle->backend != NULL);
	return handle->backend->open(handle->url, &handle->call, &handle->self,
	                             err);
}

static void end_handle(void *self)
{
	close_handle(self);
}

void must_open(const char *url, struct handle *handle)
{
	OK(open_handle(url, handle, ERR));
}

struct handle *must_connect(const char *url)
{
	struct handle *handle = test_alloc(sizeof(*handle));

	must_open(url, handle);
	at_end(end_handle, handle);
	return handle;
}

static void end_remote(void *self)
{
	tkb_remote_close(self);
}

struct tkb_remote *must_open_remote(const char *urls,
                                    const struct tkb_remote_options *options)
{
	struct tkb_remote *remote = NULL;

	OK(tkb_remote_open(urls, options, &remote, ERR));
	at_end(end_remote, remote);
	return remote;
}

void check_nothing_of_ours(const char *root)
{
	const char **names = list(text("%s/.tkbundle", root));

	for (size_t i = 0; names[i] != NULL; i++)
		CHECK(strcmp(names[i], "lock") == 0 ||
		      strcmp(names[i], "origins") == 0 ||
		      strncmp(names[i], "trusted-", 8) == 0);
}
