/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <stdlib.h>

#include "forge.h"

#define LIMIT ((size_t)1 << 30)

#if defined(__has_feature)
#define HAS_FEATURE(feature) __has_feature(feature)
#else
#define HAS_FEATURE(feature) 0
#endif

TKB_AUTO_POINTER(close_cache_at, struct tkb_cache, tkb_cache_close)

static struct keys new_keys(size_t count)
{
	return (struct keys){ test_alloc((count + 1) * sizeof(char *)), 0 };
}

struct keys keys_of(size_t count, ...)
{
	struct keys keys = new_keys(count);
	va_list rest;

	va_start(rest, count);
	while (keys.count < count)
		keys.items[keys.count++] = va_arg(rest, const char *);
	va_end(rest);
	return keys;
}

static struct keys list_keys(const char *root, bool kernels_only)
{
	TKB_AUTO(close_cache_at) struct tkb_cache *cache = NULL;

	OK(tkb_cache_open(root, NULL, &cache, ERR));
	size_t count = tkb_cache_entry_count(cache);
	struct keys keys = new_keys(count);
	for (size_t i = 0; i < count; i++) {
		const struct tkb_entry *entry = tkb_cache_entry(cache, i);

		if (!kernels_only || entry->kind == TKB_KIND_KERNEL)
			keys.items[keys.count++] = text("%s", entry->key);
	}
	qsort(keys.items, keys.count, sizeof(*keys.items), tkb_compare_texts);
	return keys;
}

struct keys kernels_of(const char *root)
{
	return list_keys(root, true);
}

struct keys entries_of(const char *root)
{
	return list_keys(root, false);
}

struct keys some_of(const struct keys *keys, size_t first, size_t end)
{
	CHECK(first < end && end <= keys->count);
	return (struct keys){ keys->items + first, end - first };
}

const char *h100(void)
{
	unpack("triton-3.6.0-h100", "h100");
	return text("%s/h100/.triton/cache", test_folder());
}

const char *inductor(void)
{
	const char *root = text("%s/ind/.cache/torchinductor", test_folder());

	unpack("inductor-2.11-llama4-h100", "ind");
	struct outcome linked = run("cp", "-al", text("%s/triton/0", root),
	                            text("%s/triton/1", root), NULL);
	if (linked.status != 0)
		fail_msg("%s", linked.err);
	return root;
}

struct tkb_recorder *recording(void)
{
	struct tkb_recorder *recorder = NULL;

	OK(tkb_recorder_new(NULL, &recorder, ERR));
	OK(tkb_recorder_begin_compile(recorder, ERR));
	return recorder;
}

void put(struct tkb_recorder *recorder, const char *key, uint32_t device)
{
	OK(tkb_recorder_put(recorder, key, device, ERR));
}

void put_all(struct tkb_recorder *recorder, const struct keys *keys,
             uint32_t device)
{
	for (size_t i = 0; i < keys->count; i++)
		put(recorder, keys->items[i], device);
}

void put_winner(struct tkb_recorder *recorder, const char *key)
{
	OK(tkb_recorder_put_winner(recorder, key, ERR));
}

void save(struct tkb_recorder *recorder, const char *cache_key,
          const char *payload, enum tkb_need need, struct keys needs)
{
	const struct tkb_launcher_spec launcher = {
		SIZED(launcher),
		.cache_key = cache_key,
		.name = "kernel",
		.payload = tkb_text(payload),
		.need = need,
		.needs = needs.items,
		.need_count = needs.count,
	};

	OK(tkb_recorder_put_launcher(recorder, &launcher, ERR));
}

struct tkb_bytes recorded_with(struct tkb_recorder *recorder, const char *root,
                               const struct tkb_collect_options *options,
                               struct tkb_collect_report *report)
{
	BUF(buf, LIMIT);
	const struct tkb_sink sink = tkb_buf_sink(&buf);
	struct tkb_collect_report own = { SIZED(own) };

	if (report == NULL)
		report = &own;
	DONE(tkb_recorder_collect(recorder, root, options, &sink, report, ERR),
	     report->left_out_count + report->dropped_count > 0);
	return test_copy(&buf);
}

struct tkb_bytes recorded(struct tkb_recorder *recorder, const char *root)
{
	return recorded_with(recorder, root, NULL, NULL);
}

struct tkb_bytes collected(const char *root,
                           const struct tkb_collect_options *options)
{
	BUF(buf, LIMIT);
	const struct tkb_sink sink = tkb_buf_sink(&buf);
	struct tkb_collect_report report = { SIZED(report) };

	DONE(tkb_collect(root, options, &sink, &report, ERR),
	     report.left_out_count > 0);
	return test_copy(&buf);
}

struct tkb_bytes collected_keys(const char *root, const struct keys *keys)
{
	return collected(root, &CHOSEN(tkb_collect_options, .keys = keys->items,
	                               .key_count = keys->count));
}

int failed_collect(struct tkb_recorder *recorder, const char *root,
                   const struct tkb_collect_options *options,
                   struct tkb_error *err)
{
	BUF(buf, LIMIT);
	const struct tkb_sink sink = tkb_buf_sink(&buf);

	*err = (struct tkb_error){ 0 };
	int rc =
		tkb_recorder_collect(recorder, root, options, &sink, NULL, err);
	CHECK(rc != 0);
	CHECK_INT(err->status, rc == TKB_MISS ? 0 : rc);
	CHECK_INT(err->message[0] != '\0', rc != TKB_MISS);
	CHECK_INT(buf.size, 0);
	return rc;
}

struct tkb_bundle *open_bytes(struct tkb_bytes bytes)
{
	struct tkb_bundle *bundle = NULL;

	OK(tkb_bundle_open_memory(bytes, "x.tkb", &bundle, ERR));
	return bundle;
}

struct tkb_bundle *recorded_bundle(struct tkb_recorder *recorder,
                                   const char *root,
                                   struct tkb_collect_report *report)
{
	struct tkb_bundle *bundle =
		open_bytes(recorded_with(recorder, root, NULL, report));

	check_sound(bundle);
	return bundle;
}

const struct tkb_result *find_result(const struct tkb_results *results,
                                     const char *key)
{
	const struct tkb_result *found = NULL;

	for (size_t i = 0; i < tkb_results_count(results); i++) {
		const struct tkb_result *result = tkb_results_at(results, i);

		if (strcmp(result->key, key) != 0)
			continue;
		CHECK(found == NULL);
		found = result;
	}
	CHECK(found != NULL);
	return found;
}

void check_same_bytes(struct tkb_bytes got, struct tkb_bytes wanted)
{
	CHECK_INT(got.size, wanted.size);
	assert_memory_equal(got.data, wanted.data, wanted.size);
}

void check_sound(const struct tkb_bundle *bundle)
{
	struct tkb_verify_report report = { SIZED(report) };

	OK(tkb_bundle_verify(bundle, NULL, &report, ERR));
	CHECK_INT(report.verified_count, tkb_bundle_entry_count(bundle));
	CHECK_INT(report.launcher_count, tkb_bundle_launcher_count(bundle));
	CHECK_INT(report.failed_count, 0);
	CHECK_INT(report.failed_launcher_count, 0);
}

static const char *join(const char *list, const char *more)
{
	return list[0] == '\0' ? more : text("%s %s", list, more);
}

const char *short_keys(const struct keys *keys)
{
	const char *list = "";

	for (size_t i = 0; i < keys->count; i++)
		list = join(list, text("%.4s", keys->items[i]));
	return list;
}

const char *keys_in(const struct tkb_bundle *bundle)
{
	struct keys keys = new_keys(tkb_bundle_entry_count(bundle));

	while (keys.count < tkb_bundle_entry_count(bundle)) {
		keys.items[keys.count] =
			tkb_bundle_entry(bundle, keys.count)->key;
		keys.count++;
	}
	qsort(keys.items, keys.count, sizeof(*keys.items), tkb_compare_texts);
	return short_keys(&keys);
}

const char *devices_of(const struct tkb_bundle *bundle, const char *key)
{
	const char *list = "";
	size_t index = 0;

	OK(tkb_bundle_find(bundle, key, &index, ERR));
	const struct tkb_entry *entry = tkb_bundle_entry(bundle, index);
	for (size_t i = 0; i < entry->device_count; i++)
		list = text("%s%s%u", list, i == 0 ? "" : ",",
		            (unsigned)entry->devices[i]);
	return list;
}

const char *launchers_in(const struct tkb_bundle *bundle)
{
	const char *list = "";

	for (size_t i = 0; i < tkb_bundle_launcher_count(bundle); i++) {
		BUF(buf, LIMIT);
		const struct tkb_sink sink = tkb_buf_sink(&buf);
		const struct tkb_saved_launcher *launcher =
			tkb_bundle_launcher(bundle, i);

		OK(tkb_bundle_read_launcher(bundle, i, &sink, ERR));
		CHECK_INT(buf.size, launcher->size);
		list = join(list, text("%s=%s", launcher->cache_key,
		                       (const char *)test_copy(&buf).data));
	}
	return list;
}

void save_three(const char *path)
{
	static const char quoted[] = "c \"q\\\" \xc3\xa9";
	const struct tkb_collect_options lean = { SIZED(lean),
		                                  .profile = TKB_PROFILE_LEAN };
	RECORDER(recorder) = recording();
	const struct keys need = keys_of(1, FORGE_KERNEL);

	save(recorder, quoted, "hello", TKB_NEED_ALL, need);
	save(recorder, "b", "other", TKB_NEED_ANY, need);
	save(recorder, "a", "hello", TKB_NEED_ALL, need);
	unpack("triton-3.6.0-cpu", "forged");
	write_file(path, recorded_with(recorder, "forged/.triton/cache", &lean,
	                               NULL));
}

void emit_bundle(const struct tkb_bundle *bundle, const char *root,
                 enum tkb_layout layout)
{
	const struct tkb_emit_options options = { SIZED(options),
		                                  .layout = layout };
	struct tkb_emit_report report = { SIZED(report) };

	OK(tkb_emit(bundle, root, &options, &report, ERR));
	CHECK_INT(report.failed_count + report.damaged_count +
	                  report.unsafe_count + report.busy_count +
	                  report.skipped_count,
	          0);
}

bool has_thread_sanitizer(void)
{
#ifdef __SANITIZE_THREAD__
	return true;
#else
	return HAS_FEATURE(thread_sanitizer);
#endif
}

bool has_address_sanitizer(void)
{
#ifdef __SANITIZE_ADDRESS__
	return true;
#else
	return HAS_FEATURE(address_sanitizer);
#endif
}
