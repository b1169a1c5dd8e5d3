/* SPDX-License-Identifier: Apache-2.0 */
#include "merging.h"

#include <stdio.h>

#include "format/reader.h"

enum {
	INPUTS_LIMIT = 16
};

const char *arrange_cache(void)
{
	unpack("triton-3.6.0-cpu", "unpacked");
	return "unpacked/.triton/cache";
}

static const char *source_name(const char *folder)
{
	const char **names = list(folder);

	while (*names != NULL && strstr(*names, ".source") == NULL)
		names++;
	CHECK(*names != NULL);
	return text("%s/%s", folder, *names);
}

const char *compile_elsewhere(const char *root, const char *key,
                              const char *user)
{
	const char *copy = text("%s-%s", root, user);

	if (!exists(copy))
		copy_folder(root, copy);
	edit_file(source_name(text("%s/%s", copy, key)), "/srv/app/kernels.py",
	          text("/srv/%s/kernels.py", user));
	return copy;
}

void pack_into(const char *path, struct packing packing)
{
	const struct tkb_collect_options options = {
		SIZED(options),
		.profile =
			packing.is_lean ? TKB_PROFILE_LEAN : TKB_PROFILE_FULL,
		.is_strict = true,
		.threads = 1,
	};
	struct tkb_recorder *recorder = NULL;

	OK(tkb_recorder_new(NULL, &recorder, ERR));
	OK(tkb_recorder_begin_compile(recorder, ERR));
	for (size_t i = 0; packing.puts[i].key != NULL; i++)
		OK(tkb_recorder_put(recorder, packing.puts[i].key,
		                    packing.puts[i].device, ERR));
	for (size_t i = 0; packing.launchers[i].cache_key != NULL; i++)
		OK(tkb_recorder_put_launcher(recorder, &packing.launchers[i],
		                             ERR));
	OK(tkb_recorder_collect_to_file(recorder, packing.root, &options, path,
	                                NULL, ERR));
	tkb_recorder_free(recorder);
}

void collect_into(const char *path, const char *root)
{
	OK(tkb_collect_to_file(root, NULL, path, NULL, ERR));
}

struct tkb_launcher_spec launcher_of(const char *cache_key, const char *payload,
                                     const char *needed)
{
	const char **needs = test_alloc(sizeof(*needs));

	needs[0] = needed;
	return CHOSEN(tkb_launcher_spec, .cache_key = cache_key,
	              .name = "a kernel", .payload = tkb_text(payload),
	              .need = TKB_NEED_ALL, .needs = needs, .need_count = 1);
}

struct tkb_merge_report merge_list(const char *path, const char *const *inputs,
                                   size_t count)
{
	struct tkb_bundle *bundles[INPUTS_LIMIT];
	struct tkb_merge_report report = { SIZED(report) };

	CHECK(count <= INPUTS_LIMIT);
	for (size_t i = 0; i < count; i++)
		bundles[i] = test_bundle(inputs[i]);
	OK(tkb_merge_to_file((const struct tkb_bundle *const *)bundles, count,
	                     NULL, path, &report, ERR));
	return report;
}

struct tkb_merge_report merge(const char *path, ...)
{
	const char *inputs[INPUTS_LIMIT];
	size_t count = 0;
	va_list rest;

	va_start(rest, path);
	for (const char *input = va_arg(rest, const char *); input != NULL;
	     input = va_arg(rest, const char *)) {
		CHECK(count < INPUTS_LIMIT);
		inputs[count++] = input;
	}
	va_end(rest);
	return merge_list(path, inputs, count);
}

void pack_overlapping(const char *root)
{
	pack_into("a.tkb",
	          (struct packing){ .root = root,
	                            .puts = { { ADD, 0 }, { GELU, 0 } } });
	pack_into("b.tkb",
	          (struct packing){ .root = root,
	                            .puts = { { GELU, 0 }, { SOFTMAX, 0 } } });
}

struct tkb_verify_report check_verifies(const char *path)
{
	struct tkb_bundle *bundle = test_bundle(path);
	const struct tkb_verify_options options = { SIZED(options),
		                                    .threads = 1 };
	struct tkb_verify_report report = { SIZED(report) };

	OK(tkb_bundle_verify(bundle, &options, &report, ERR));
	CHECK_INT(report.verified_count, tkb_bundle_entry_count(bundle));
	CHECK_INT(report.launcher_count, tkb_bundle_launcher_count(bundle));
	return report;
}

void check_same_file(const char *one, const char *other)
{
	const struct tkb_bytes left = read_file(one);
	const struct tkb_bytes right = read_file(other);

	if (!tkb_bytes_equal(left, right))
		fail_msg("'%s' and '%s' differ", one, other);
}

void emit_all(const char *path, const char *root)
{
	struct tkb_bundle *bundle = test_bundle(path);
	struct tkb_emit_report report = { SIZED(report) };

	OK(tkb_emit(bundle, root, NULL, &report, ERR));
	CHECK_INT(report.skipped_count + report.failed_count +
	                  report.damaged_count + report.unsafe_count +
	                  report.repaired_count,
	          0);
}

/* What is emitted says where it lies: both go to the same place, in turn. */
void check_emit_same(const char *one, const char *other)
{
	const char *left = text("emitted%zu", count_names("."));
	const char *right = text("%s.other", left);

	emit_all(one, "emitted");
	SYS(rename("emitted", left));
	emit_all(other, "emitted");
	SYS(rename("emitted", right));
	struct outcome outcome =
		run("diff", "-r", "-x", ".tkbundle", left, right, NULL);
	if (outcome.status != 0)
		fail_msg("'%s' and '%s' emit other files: %s%s", one, other,
		         outcome.out, outcome.err);
}

const char *id_of(const char *path)
{
	return hex_of(tkb_bundle_id(test_bundle(path)));
}

static bool has_device(const struct tkb_entry *entry, uint32_t device)
{
	for (size_t i = 0; i < entry->device_count; i++) {
		if (entry->devices[i] == device)
			return true;
	}
	return false;
}

const struct tkb_entry *entry_for(const struct tkb_bundle *bundle,
                                  const char *key, uint32_t device,
                                  size_t *index_out)
{
	const struct tkb_entry *found = NULL;

	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++) {
		const struct tkb_entry *entry = tkb_bundle_entry(bundle, i);

		if (strcmp(entry->key, key) != 0 || !has_device(entry, device))
			continue;
		CHECK(found == NULL);
		found = entry;
		if (index_out != NULL)
			*index_out = i;
	}
	if (found == NULL)
		fail_msg("there is no '%s' for device %u", key,
		         (unsigned)device);
	return found;
}

const char *devices_for(const struct tkb_bundle *bundle, const char *key,
                        uint32_t device)
{
	const struct tkb_entry *entry = entry_for(bundle, key, device, NULL);
	const char *out = "";

	for (size_t i = 0; i < entry->device_count; i++)
		out = text("%s%s%u", out, i == 0 ? "" : ",",
		           (unsigned)entry->devices[i]);
	return out;
}

/* A sink that keeps a text. */
static int keep_text(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	const char **out = self;

	(void)err;
	*out = text("%.*s", (int)bytes.size,
	            bytes.size == 0 ? "" : (const char *)bytes.data);
	return 0;
}

const char *file_for(const struct tkb_bundle *bundle, const char *key,
                     uint32_t device, const char *ending)
{
	const char *contents = NULL;
	const struct tkb_sink sink = { keep_text, &contents };
	size_t index = 0;
	const struct tkb_entry *entry = entry_for(bundle, key, device, &index);

	for (size_t i = 0; i < entry->file_count; i++) {
		const char *name = entry->files[i].name;
		const size_t length = strlen(name);

		if (length < strlen(ending) ||
		    strcmp(name + length - strlen(ending), ending) != 0)
			continue;
		OK(tkb_bundle_read(bundle, index, i, &sink, ERR));
		return contents;
	}
	fail_msg("'%s' has no '%s'", key, ending);
	return NULL;
}

const char *user_of(const struct tkb_bundle *bundle, const char *key,
                    uint32_t device)
{
	const char *source = file_for(bundle, key, device, ".source");
	const char *start = strstr(source, "/srv/");

	CHECK(start != NULL);
	start += strlen("/srv/");
	return text("%.*s", (int)strcspn(start, "/"), start);
}

static const char *ranges_of(const struct tkb_frame *frame)
{
	const char *out = "";

	for (size_t i = 0; i < frame->entry_count; i++) {
		const uint32_t first = frame->entries[i];

		while (i + 1 < frame->entry_count &&
		       frame->entries[i + 1] == frame->entries[i] + 1)
			i++;
		out = text("%s%s%u", out, out[0] == '\0' ? "" : ",",
		           (unsigned)first);
		if (frame->entries[i] != first)
			out = text("%s-%u", out, (unsigned)frame->entries[i]);
	}
	return out;
}

const char *frames_of(const char *path)
{
	struct tkb_bundle *bundle = test_bundle(path);
	const char *out = "";

	for (size_t i = 0; i < bundle->frame_count; i++) {
		const struct tkb_frame *frame = &bundle->frames[i];

		out = text("%s%s%s", out, i == 0 ? "" : " | ",
		           ranges_of(frame));
		if (frame->is_mixed)
			out = text("%s +%llu", out,
			           (unsigned long long)frame->unused_count);
	}
	return out;
}

const char *payload_of(const struct tkb_bundle *bundle, const char *cache_key)
{
	const char *contents = NULL;
	const struct tkb_sink sink = { keep_text, &contents };

	for (size_t i = 0; i < tkb_bundle_launcher_count(bundle); i++) {
		if (strcmp(tkb_bundle_launcher(bundle, i)->cache_key,
		           cache_key) != 0)
			continue;
		OK(tkb_bundle_read_launcher(bundle, i, &sink, ERR));
		return contents;
	}
	fail_msg("there is no launcher '%s'", cache_key);
	return NULL;
}
