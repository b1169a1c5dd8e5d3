/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <pthread.h>
#include <stdlib.h>

/* Bundles that lie in memory, or come from a callback; and whole entries. */

enum {
	CALLS_LIMIT = 256,
	FRAMES_LIMIT = 32
};

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* A file in memory that notes what is asked for, and may misbehave. */
struct store {
	struct tkb_bytes bytes;
	pthread_mutex_t lock;
	struct {
		uint64_t offset;
		size_t size;
	} calls[CALLS_LIMIT];
	size_t call_count;
	size_t fails_at;    /* this call fails, */
	int status;         /* with this status; */
	size_t is_short_at; /* this one gives one byte less than it could; */
	size_t is_rich_at;  /* this one says that it gave one byte more */
};

static int read_store(void *self, uint64_t offset, void *data, size_t size,
                      size_t *got_out, struct tkb_error *err)
{
	struct store *store = self;
	const uint64_t total = store->bytes.size;
	const uint64_t left = offset < total ? total - offset : 0;
	size_t got = size < left ? size : (size_t)left;

	(void)pthread_mutex_lock(&store->lock);
	size_t call = ++store->call_count;
	if (call < CALLS_LIMIT) {
		store->calls[call].offset = offset;
		store->calls[call].size = size;
	}
	(void)pthread_mutex_unlock(&store->lock);
	if (call == store->fails_at)
		return tkb_fail(err, store->status, "the store is on fire");
	if (call == store->is_short_at && got != 0)
		got--;
	if (got != 0)
		memcpy(data, (const char *)store->bytes.data + offset, got);
	*got_out = call == store->is_rich_at ? size + 1 : got;
	return 0;
}

static void init_store(struct store *store, struct tkb_bytes bytes)
{
	*store = (struct store){ .bytes = bytes };
	SYS(pthread_mutex_init(&store->lock, NULL));
}

static int open_store(struct store *store, struct tkb_bundle **out,
                      struct tkb_error *err)
{
	struct tkb_source source = { read_store, store };
	const int rc = tkb_bundle_open_source(&source, "the store", out, err);

	/* It was copied. */
	source = (struct tkb_source){ 0 };
	return rc;
}

static struct tkb_bundle *open_stored(struct store *store,
                                      struct tkb_bytes bytes)
{
	struct tkb_bundle *bundle = NULL;

	init_store(store, bytes);
	OK(open_store(store, &bundle, ERR));
	return bundle;
}

/* Inductor's, of several frames, and a last one with the payload of a launcher. */
static struct tkb_bytes several_frames(void)
{
	RECORDER(recorder) = recording();
	const char *root = text("%s/ind/.cache/torchinductor", test_folder());

	unpack("inductor-2.11-llama4-h100", "ind");
	struct keys all = entries_of(root);
	put_all(recorder, &all, 0);
	save(recorder, "conf", "payload", TKB_NEED_ALL, some_of(&all, 0, 1));
	return recorded(recorder, root);
}

static struct tkb_bytes read_one(const struct tkb_bundle *bundle, size_t entry,
                                 size_t file)
{
	BUF(buf, 64 * MIB);
	const struct tkb_sink sink = tkb_buf_sink(&buf);

	OK(tkb_bundle_read(bundle, entry, file, &sink, ERR));
	return test_copy(&buf);
}

/*
 * Visitors
 */

/* Holds what it is told against the manifest. */
struct reader {
	const struct tkb_bundle *bundle;
	size_t file_count;
	size_t last_entry;
	size_t next_file;   /* of the last entry */
	size_t entry_count; /* times that one began */
	size_t *times;      /* of each entry, its files; may be NULL */
	size_t wrong;
	size_t fails_at;
};

static int check_file(void *self, size_t index, size_t file,
                      struct tkb_bytes bytes, struct tkb_error *err)
{
	struct reader *reader = self;
	const struct tkb_entry *entry = tkb_bundle_entry(reader->bundle, index);

	if (++reader->file_count == reader->fails_at)
		return tkb_fail(err, TKB_ERR_TOO_LARGE, "no room for '%s'",
		                entry->files[file].name);
	if (file == 0) {
		reader->last_entry = index;
		reader->next_file = 0;
		reader->entry_count++;
	}
	reader->wrong += index != reader->last_entry;
	reader->wrong += file != reader->next_file++;
	reader->wrong += bytes.size != entry->files[file].size;
	struct tkb_digest digest = digest_of(bytes);
	reader->wrong += !is_same_digest(&digest, &entry->files[file].digest);
	if (reader->times != NULL)
		reader->times[index]++;
	return 0;
}

static struct tkb_file_visitor visitor_of(struct reader *reader)
{
	return (struct tkb_file_visitor){ check_file, reader };
}

/*
 * The same as from a file
 */

static void check_same_entries(const struct tkb_bundle *a,
                               const struct tkb_bundle *b)
{
	CHECK_INT(tkb_bundle_entry_count(a), tkb_bundle_entry_count(b));
	for (size_t i = 0; i < tkb_bundle_entry_count(a); i++) {
		const struct tkb_entry *one = tkb_bundle_entry(a, i);
		const struct tkb_entry *other = tkb_bundle_entry(b, i);

		CHECK_STR(one->key, other->key);
		CHECK_STR(one->name, other->name);
		CHECK_INT(one->file_count, other->file_count);
	}
	for (size_t i = 0; i < tkb_bundle_entry_count(a); i += 5) {
		const size_t file = i % tkb_bundle_entry(a, i)->file_count;

		CHECK(tkb_bytes_equal(read_one(a, i, file),
		                      read_one(b, i, file)));
	}
}

static void check_same(const struct tkb_bundle *a, const struct tkb_bundle *b)
{
	size_t index = 0;

	CHECK(memcmp(tkb_bundle_id(a), tkb_bundle_id(b), 32) == 0);
	CHECK_STR(tkb_bundle_profile(a), tkb_bundle_profile(b));
	CHECK_INT(tkb_bundle_frame_count(a), tkb_bundle_frame_count(b));
	check_same_entries(a, b);
	CHECK_STR(launchers_in(a), launchers_in(b));
	OK(tkb_bundle_find(a, tkb_bundle_entry(b, 3)->key, &index, ERR));
	CHECK_INT(index, 3);
	check_sound(a);
}

TEST(access, from_memory_or_a_callback_is_as_from_a_file)
{
	const struct tkb_bytes bytes = several_frames();
	BUNDLE(callback) = NULL;
	struct store store;

	write_file("k.tkb", bytes);
	init_store(&store, bytes);
	struct tkb_bundle *file = test_bundle("k.tkb");
	BUNDLE(memory) = open_bytes(bytes);
	OK(open_store(&store, &callback, ERR));

	CHECK(tkb_bundle_frame_count(file) > 2);
	check_same(memory, file);
	check_same(callback, file);
	CHECK_STR(launchers_in(callback), "conf=payload");
}

TEST(access, from_memory_or_a_callback_emits_the_same)
{
	const struct tkb_bytes bytes = several_frames();
	BUNDLE(memory) = open_bytes(bytes);
	LAUNCHERS(launchers) = NULL;
	struct store store;

	BUNDLE(callback) = open_stored(&store, bytes);
	emit_bundle(memory, "memory", TKB_LAYOUT_AUTO);
	emit_bundle(callback, "callback", TKB_LAYOUT_AUTO);
	OK(tkb_launchers_open(callback, "callback", NULL, &launchers, ERR));

	struct tkb_bytes wanted = collected("ind/.cache/torchinductor", NULL);
	CHECK(tkb_bytes_equal(collected("memory", NULL), wanted));
	CHECK(tkb_bytes_equal(collected("callback", NULL), wanted));
	CHECK_INT(tkb_launchers_count(launchers), 1);
}

/*
 * What is read
 */

/* Where the data frames are: what was asked for to verify them. */
struct layout {
	uint64_t offsets[FRAMES_LIMIT];
	size_t sizes[FRAMES_LIMIT];
	size_t count;
};

static int compare_offsets(const void *a, const void *b)
{
	const uint64_t *left = a;
	const uint64_t *right = b;

	return (*left > *right) - (*left < *right);
}

static struct layout layout_of(struct tkb_bytes bytes)
{
	struct layout layout = { .count = 0 };
	struct store store;

	BUNDLE(bundle) = open_stored(&store, bytes);
	size_t first = store.call_count + 1;
	check_sound(bundle);
	const size_t count = tkb_bundle_frame_count(bundle);
	CHECK(count <= FRAMES_LIMIT);
	CHECK_INT(store.call_count, first + count - 1);
	layout.count = count;
	for (size_t i = 0; i < count; i++)
		layout.offsets[i] = store.calls[first + i].offset;
	qsort(layout.offsets, count, sizeof(layout.offsets[0]),
	      compare_offsets);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++) {
			if (store.calls[first + j].offset == layout.offsets[i])
				layout.sizes[i] = store.calls[first + j].size;
		}
	}
	for (size_t i = 1; i < count; i++)
		CHECK_INT(layout.offsets[i - 1] + layout.sizes[i - 1],
		          layout.offsets[i]);
	return layout;
}

TEST(access, to_the_manifest_reads_no_frame_and_little_more_than_it)
{
	const struct tkb_bytes bytes = several_frames();
	const struct layout layout = layout_of(bytes);
	struct store store;
	size_t asked = 0;

	BUNDLE(bundle) = open_stored(&store, bytes);
	for (size_t i = 1; i <= store.call_count; i++) {
		const uint64_t end =
			store.calls[i].offset + store.calls[i].size;

		asked += store.calls[i].size;
		/* It may read on, and must not begin in a frame. */
		CHECK(store.calls[i].offset < layout.offsets[0] ||
		      end >= bytes.size);
	}
	CHECK(asked < 260 * KIB);
	CHECK(asked < bytes.size / 2);
	CHECK(store.call_count <= 4);
	(void)tkb_bundle_entry(bundle, 3);
	(void)tkb_bundle_launcher(bundle, 0);
	CHECK(store.call_count <= 4);
}

TEST(access, to_an_entry_reads_its_frame_once_and_tells_its_files_in_order)
{
	const struct tkb_bytes bytes = several_frames();
	const struct layout layout = layout_of(bytes);
	struct store store;
	size_t used[FRAMES_LIMIT] = { 0 };

	BUNDLE(bundle) = open_stored(&store, bytes);
	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++) {
		struct reader reader = { .bundle = bundle };
		const struct tkb_file_visitor visitor = visitor_of(&reader);
		size_t frame = 0;

		store.call_count = 0;
		OK(tkb_bundle_read_entry(bundle, i, &visitor, ERR));
		CHECK_INT(store.call_count, 1);
		while (layout.offsets[frame] != store.calls[1].offset)
			frame++;
		CHECK_INT(store.calls[1].size, layout.sizes[frame]);
		used[frame]++;
		CHECK_INT(reader.last_entry, i);
		CHECK_INT(reader.entry_count, 1);
		CHECK_INT(reader.file_count,
		          tkb_bundle_entry(bundle, i)->file_count);
		CHECK_INT(reader.wrong, 0);
	}
	for (size_t i = 0; i < layout.count; i++)
		CHECK_INT(used[i] > 0, i + 1 < layout.count);
	store.call_count = 0;
	CHECK_STR(launchers_in(bundle), "conf=payload");
	CHECK_INT(store.call_count, 1);
	CHECK_INT(store.calls[1].offset, layout.offsets[layout.count - 1]);
}

TEST(access, to_launchers_reads_the_frames_of_those_that_are_given_alone)
{
	LAUNCHERS(dropped) = NULL;
	LAUNCHERS(given) = NULL;
	struct store store;

	BUNDLE(bundle) = open_stored(&store, several_frames());
	store.call_count = 0;
	OK(tkb_launchers_open(bundle, "out", NULL, &dropped, ERR));
	CHECK_INT(tkb_launchers_dropped_count(dropped), 1);
	CHECK_INT(store.call_count, 0);
	emit_bundle(bundle, "out", TKB_LAYOUT_TRITON);
	store.call_count = 0;
	OK(tkb_launchers_open(bundle, "out", NULL, &given, ERR));
	CHECK_INT(tkb_launchers_count(given), 1);
	CHECK_INT(store.call_count, 1);
}

TEST(access, to_all_reads_each_frame_once_and_tells_each_file_once)
{
	struct reader reader = { .times = NULL };
	const struct tkb_file_visitor visitor = visitor_of(&reader);
	struct store store;

	BUNDLE(bundle) = open_stored(&store, several_frames());
	size_t count = tkb_bundle_entry_count(bundle);
	reader.bundle = bundle;
	reader.times = test_alloc(count * sizeof(*reader.times));
	store.call_count = 0;
	OK(tkb_bundle_read_all(bundle, &visitor, NULL, ERR));

	CHECK(store.call_count <= tkb_bundle_frame_count(bundle));
	CHECK_INT(reader.wrong, 0);
	CHECK_INT(reader.entry_count, count);
	for (size_t i = 0; i < count; i++)
		CHECK_INT(reader.times[i],
		          tkb_bundle_entry(bundle, i)->file_count);
}

static int compare_with_cache(void *self, size_t index, size_t file,
                              struct tkb_bytes bytes, struct tkb_error *err)
{
	const struct tkb_bundle *bundle = self;
	const struct tkb_entry *entry = tkb_bundle_entry(bundle, index);
	const char *path = text("h100/.triton/cache/%s/%s", entry->key,
	                        entry->files[file].name);

	if (entry->files[file].sentinels == 0 &&
	    !tkb_bytes_equal(bytes, read_file(path)))
		return tkb_fail(err, TKB_ERR_CORRUPT, "'%s' differs", path);
	return 0;
}

TEST(access, to_all_gives_the_bytes_of_the_cache)
{
	BUNDLE(bundle) = open_bytes(collected(h100(), NULL));
	const struct tkb_file_visitor visitor = { compare_with_cache, bundle };

	OK(tkb_bundle_read_all(bundle, &visitor, NULL, ERR));
}

TEST(access, to_all_of_an_empty_bundle_tells_nothing)
{
	RECORDER(recorder) = recording();
	BUNDLE(bundle) = open_bytes(recorded(recorder, "none"));
	struct reader reader = { .bundle = bundle };
	const struct tkb_file_visitor visitor = visitor_of(&reader);

	OK(tkb_bundle_read_all(bundle, &visitor, NULL, ERR));
	CHECK_INT(reader.file_count, 0);
}

TEST(access, ends_with_what_the_visitor_returned)
{
	BUNDLE(bundle) = open_bytes(collected(h100(), NULL));

	for (size_t i = 1; i < 8; i += 3) {
		struct reader reader = { .bundle = bundle, .fails_at = i };
		const struct tkb_file_visitor visitor = visitor_of(&reader);

		FAILS(tkb_bundle_read_entry(bundle, 2, &visitor, ERR),
		      TKB_ERR_TOO_LARGE, "no room for");
		CHECK_INT(reader.file_count, i);
		reader.fails_at += i + 10;
		FAILS(tkb_bundle_read_all(bundle, &visitor, NULL, ERR),
		      TKB_ERR_TOO_LARGE, "no room for");
		CHECK_INT(reader.file_count, reader.fails_at);
	}
}

/*
 * A source that misbehaves
 */

/* Open the store and read the entries from both frames. */
static int use_store(struct store *store, struct tkb_error *err)
{
	BUNDLE(bundle) = NULL;
	struct reader reader = { .wrong = 0 };
	const struct tkb_file_visitor visitor = visitor_of(&reader);

	int rc = open_store(store, &bundle, err);
	if (rc != 0) {
		CHECK(bundle == NULL);
		return rc;
	}
	reader.bundle = bundle;
	rc = tkb_bundle_read_all(bundle, &visitor, NULL, err);
	CHECK_INT(reader.wrong, 0);
	return rc;
}

TEST(access, fails_as_the_source_does)
{
	static const int statuses[] = { TKB_ERR_IO, TKB_ERR_NOMEM,
		                        TKB_ERR_CANCELLED };
	const struct tkb_bytes bytes = several_frames();
	struct store store;

	init_store(&store, bytes);
	OK(use_store(&store, ERR));
	size_t calls = store.call_count;
	CHECK(calls >= 5);
	for (size_t i = 1; i <= calls; i++) {
		init_store(&store, bytes);
		store.fails_at = i;
		store.status = statuses[i % TKB_COUNT_OF(statuses)];
		*ERR = (struct tkb_error){ 0 };
		FAILS(use_store(&store, ERR), store.status,
		      "the store is on fire");
		CHECK_CONTAINS(ERR->message, "'the store'");
		CHECK_INT(store.call_count, i);
	}
}

TEST(access, works_again_when_the_source_does)
{
	struct reader reader = { .wrong = 0 };
	const struct tkb_file_visitor visitor = visitor_of(&reader);
	struct store store;

	BUNDLE(bundle) = open_stored(&store, several_frames());
	reader.bundle = bundle;
	store.fails_at = store.call_count + 1;
	store.status = TKB_ERR_IO;
	FAILS(tkb_bundle_read_entry(bundle, 0, &visitor, ERR), TKB_ERR_IO,
	      "on fire");
	CHECK_INT(reader.file_count, 0);
	OK(tkb_bundle_read_entry(bundle, 0, &visitor, ERR));
	CHECK(reader.file_count > 0);
	CHECK_INT(reader.wrong, 0);
}

TEST(access, is_refused_to_a_source_that_gives_more_than_was_asked_for)
{
	const struct tkb_bytes bytes = several_frames();
	struct store store;

	init_store(&store, bytes);
	OK(use_store(&store, ERR));
	size_t calls = store.call_count;
	for (size_t i = 1; i <= calls; i++) {
		init_store(&store, bytes);
		store.is_rich_at = i;
		FAILS(use_store(&store, ERR), TKB_ERR_INVALID,
		      "gave more than was asked for");
	}
}

TEST(access, to_what_a_source_cuts_short_is_as_to_a_file_that_is)
{
	const struct tkb_bytes bytes = several_frames();
	struct store store;
	size_t failed = 0;

	init_store(&store, bytes);
	OK(use_store(&store, ERR));
	size_t calls = store.call_count;
	for (size_t i = 1; i <= calls; i++) {
		BUNDLE(bundle) = NULL;

		init_store(&store, bytes);
		store.is_short_at = i;
		int rc = open_store(&store, &bundle, ERR);
		if (rc == 0)
			rc = tkb_bundle_verify(bundle, NULL, NULL, ERR);
		failed += rc == TKB_ERR_CORRUPT;
		CHECK(rc == 0 || rc == TKB_ERR_CORRUPT);
	}
	/* More may be asked for behind the header: that is not missed. */
	CHECK(failed >= calls - 1);
}

TEST(access, to_memory_that_is_no_whole_bundle_is_refused)
{
	const struct tkb_bytes bytes = several_frames();
	const size_t sizes[] = {
		1, 3, 4, 100, 1000, bytes.size / 2, bytes.size - 1
	};
	struct tkb_bundle *bundle = NULL;

	FAILS(tkb_bundle_open_memory((struct tkb_bytes){ NULL, 0 }, "nothing",
	                             &bundle, ERR),
	      TKB_ERR_CORRUPT, "'nothing': it is empty");
	FAILS(tkb_bundle_open_memory(tkb_text("no bundle at all"), "text",
	                             &bundle, ERR),
	      TKB_ERR_CORRUPT, "'text': it is not a bundle");
	CHECK(bundle == NULL);
	EACH(i, sizes) {
		BUNDLE(cut) = NULL;

		/* A copy, so that a read behind it is seen. */
		char *copy = malloc(sizes[i]);

		memcpy(copy, bytes.data, sizes[i]);
		int rc = tkb_bundle_open_memory(
			(struct tkb_bytes){ copy, sizes[i] }, "cut", &cut, ERR);
		if (rc == 0)
			rc = tkb_bundle_verify(cut, NULL, NULL, ERR);
		CHECK_INT(rc, TKB_ERR_CORRUPT);
		tkb_bundle_close(tkb_take(cut));
		free(copy);
	}
}

/*
 * Threads
 */

struct worker {
	const struct tkb_bundle *bundle;
	size_t number;
	int failure;
};

static void *read_everything(void *self)
{
	struct worker *worker = self;
	const size_t count = tkb_bundle_entry_count(worker->bundle);
	struct reader reader = { .bundle = worker->bundle };
	const struct tkb_file_visitor visitor = visitor_of(&reader);

	for (size_t i = 0; i < count; i += 5) {
		const size_t entry = (i + worker->number * 3) % count;

		if (tkb_bundle_read_entry(worker->bundle, entry, &visitor,
		                          NULL) != 0)
			worker->failure = 1;
	}
	if (worker->number % 4 == 0 &&
	    tkb_bundle_read_all(worker->bundle, &visitor, NULL, NULL) != 0)
		worker->failure = 2;
	if (reader.wrong != 0)
		worker->failure = 3;
	return NULL;
}

static void read_by_eight_threads(const struct tkb_bundle *bundle)
{
	struct worker workers[8];

	EACH(i, workers)
		workers[i] = (struct worker){ .bundle = bundle, .number = i };
	IN_THREADS(read_everything, workers);
	EACH(i, workers)
		CHECK_INT(workers[i].failure, 0);
}

TEST(access, from_eight_threads_at_once_gives_each_the_right_bytes)
{
	const struct tkb_bytes bytes = several_frames();
	BUNDLE(memory) = open_bytes(bytes);
	struct store store;

	BUNDLE(callback) = open_stored(&store, bytes);
	read_by_eight_threads(memory);
	read_by_eight_threads(callback);
}
