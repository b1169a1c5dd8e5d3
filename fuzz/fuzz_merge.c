/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/launcher.h>
#include <tkbundle/merge.h>

#include "format/reader.h"
#include "fuzz.h"

/*
 * The bundle is merged alone, with itself, and with an intact one before and
 * after it. Merging intact bundles gives an intact one; any result can be
 * opened and has the union of the entries.
 */

enum {
	PLACES_LIMIT = 512, /* more would take too long to compare */
	INPUTS_LIMIT = 2
};

#define MERGED_LIMIT ((size_t)64 * TKB_MIB)

TKB_AUTO_POINTER(close_bundle_at, struct tkb_bundle, tkb_bundle_close)

/* An intact bundle of kernels and launchers, some of which are in seeds, too.
 */
static const struct tkb_bundle *partner(void)
{
	static struct tkb_bundle *bundle;
	struct tkb_error err = { 0 };

	if (bundle != NULL)
		return bundle;
	MUST_OK(tkb_bundle_open(TKB_FUZZ_PARTNER, &bundle, &err), &err);
	MUST(fuzz_verify(bundle));
	return bundle;
}

/* The inputs. */
struct inputs {
	const struct tkb_bundle *bundles[INPUTS_LIMIT];
	size_t count;
	bool are_verified;
};

/* One entry at one device. */
struct place {
	const struct tkb_entry *entry;
	uint32_t device;
};

static size_t count_places(const struct tkb_bundle *bundle)
{
	size_t count = 0;

	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++)
		count += tkb_bundle_entry(bundle, i)->device_count;
	return count;
}

static bool is_same_place(const struct place *a, const struct place *b)
{
	return a->device == b->device &&
	       strcmp(a->entry->key, b->entry->key) == 0 &&
	       strcmp(a->entry->platform, b->entry->platform) == 0;
}

static const struct place *find_place(const struct place *places, size_t count,
                                      const struct place *wanted)
{
	for (size_t i = 0; i < count; i++) {
		if (is_same_place(&places[i], wanted))
			return &places[i];
	}
	return NULL;
}

static size_t list_places(const struct tkb_bundle *bundle, struct place *out)
{
	size_t count = 0;

	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++) {
		const struct tkb_entry *entry = tkb_bundle_entry(bundle, i);

		for (size_t j = 0; j < entry->device_count; j++)
			out[count++] =
				(struct place){ entry, entry->devices[j] };
	}
	return count;
}

/* Each place of an input is in the merged bundle, with the first's files. */
static void check_entries(const struct inputs *inputs,
                          const struct tkb_bundle *merged)
{
	struct place of_inputs[INPUTS_LIMIT * PLACES_LIMIT];
	struct place of_merged[INPUTS_LIMIT * PLACES_LIMIT];
	const size_t merged_count = list_places(merged, of_merged);
	size_t distinct = 0;
	size_t count = 0;

	for (size_t i = 0; i < inputs->count; i++)
		count += list_places(inputs->bundles[i], of_inputs + count);
	for (size_t i = 0; i < count; i++) {
		const struct place *place = &of_inputs[i];
		const struct place *found;

		if (find_place(of_inputs, i, place) != NULL)
			continue;
		found = find_place(of_merged, merged_count, place);
		MUST(found != NULL);
		MUST(tkb_entry_has_same_files(found->entry, place->entry));
		distinct++;
	}
	MUST(merged_count == distinct);
}

static const struct tkb_saved_launcher *find_launcher(
	const struct tkb_bundle *bundle, const char *key)
{
	for (size_t i = 0; i < tkb_bundle_launcher_count(bundle); i++) {
		const struct tkb_saved_launcher *launcher =
			tkb_bundle_launcher(bundle, i);

		if (strcmp(launcher->cache_key, key) == 0)
			return launcher;
	}
	return NULL;
}

static void check_same_launcher(const struct tkb_saved_launcher *a,
                                const struct tkb_saved_launcher *b)
{
	MUST(strcmp(a->name, b->name) == 0 && a->need == b->need);
	MUST(a->size == b->size && tkb_digest_equal(&a->digest, &b->digest));
	MUST(a->need_count == b->need_count);
	for (size_t i = 0; i < a->need_count; i++)
		MUST(strcmp(a->needs[i], b->needs[i]) == 0);
}

static void check_launchers(const struct inputs *inputs,
                            const struct tkb_bundle *merged)
{
	size_t distinct = 0;

	for (size_t i = 0; i < inputs->count; i++) {
		const struct tkb_bundle *input = inputs->bundles[i];

		for (size_t j = 0; j < tkb_bundle_launcher_count(input); j++) {
			const struct tkb_saved_launcher *launcher =
				tkb_bundle_launcher(input, j);
			const struct tkb_saved_launcher *found =
				find_launcher(merged, launcher->cache_key);

			if (i != 0 &&
			    find_launcher(inputs->bundles[0],
			                  launcher->cache_key) != NULL)
				continue;
			MUST(found != NULL);
			check_same_launcher(found, launcher);
			distinct++;
		}
	}
	MUST(tkb_bundle_launcher_count(merged) == distinct);
}

static void check_report(const struct tkb_merge_report *report,
                         const struct inputs *inputs,
                         const struct tkb_bundle *merged, size_t size)
{
	bool is_lean = false;
	uint64_t total = 0;
	size_t count = 0;

	for (size_t i = 0; i < inputs->count; i++) {
		const struct tkb_bundle *input = inputs->bundles[i];

		MUST(input->fault.status == 0);
		count += tkb_bundle_entry_count(input);
		is_lean = is_lean ||
		          strcmp(tkb_bundle_profile(input), "lean") == 0;
	}
	for (size_t i = 0; i < tkb_bundle_entry_count(merged); i++)
		total += tkb_entry_size(tkb_bundle_entry(merged, i));
	MUST(is_lean == (strcmp(tkb_bundle_profile(merged), "lean") == 0));
	MUST(tkb_digest_equal(&report->id, tkb_bundle_id(merged)));
	MUST(report->entry_count == tkb_bundle_entry_count(merged));
	MUST(report->skipped_count == count - report->entry_count);
	MUST(report->launcher_count == tkb_bundle_launcher_count(merged));
	MUST(report->frame_count == tkb_bundle_frame_count(merged));
	MUST(report->size == total);
	MUST(report->bundle_size == size);
}

/* Merge. False if it is refused; intact bundles must not be. */
static bool merge(const struct inputs *inputs, struct tkb_buf *out,
                  struct tkb_merge_report *report)
{
	const struct tkb_sink sink = tkb_buf_sink(out);
	struct tkb_error err = { 0 };
	const int rc = tkb_merge(inputs->bundles, inputs->count, NULL, &sink,
	                         report, &err);

	if (rc < 0)
		fuzz_check_refusal(rc, &err);
	MUST(rc == 0 || !inputs->are_verified);
	return rc == 0;
}

/* Merging the result alone gives the same bytes. */
static void check_again(const struct tkb_bundle *merged, struct tkb_bytes bytes,
                        bool is_verified)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf again = TKB_BUF_INIT(MERGED_LIMIT);
	const struct inputs alone = { { merged }, 1, is_verified };

	MUST(merge(&alone, &again, NULL));
	MUST(tkb_bytes_equal(tkb_buf_bytes(&again), bytes));
}

/* Merge into `out` and check the result. */
static bool check_merge(const struct inputs *inputs, struct tkb_buf *out)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *merged = NULL;
	struct tkb_merge_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { 0 };
	bool is_verified;

	if (!merge(inputs, out, &report))
		return false;
	MUST_OK(tkb_bundle_open_memory(tkb_buf_bytes(out), "merged", &merged,
	                               &err),
	        &err);
	check_report(&report, inputs, merged, out->size);
	check_entries(inputs, merged);
	check_launchers(inputs, merged);
	is_verified = fuzz_verify(merged);
	MUST(is_verified || !inputs->are_verified);
	check_again(merged, tkb_buf_bytes(out), is_verified);
	return true;
}

void fuzz_merge(const struct tkb_bundle *bundle, bool is_verified)
{
	const struct inputs alone = { { bundle }, 1, is_verified };
	const struct inputs twice = { { bundle, bundle }, 2, is_verified };
	const struct inputs before = { { bundle, partner() }, 2, is_verified };
	const struct inputs behind = { { partner(), bundle }, 2, is_verified };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf one = TKB_BUF_INIT(MERGED_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf other = TKB_BUF_INIT(MERGED_LIMIT);
	bool is_merged;

	if (count_places(bundle) > PLACES_LIMIT)
		return;
	is_merged = check_merge(&alone, &one);
	MUST(check_merge(&twice, &other) == is_merged);
	MUST(tkb_bytes_equal(tkb_buf_bytes(&one), tkb_buf_bytes(&other)));
	tkb_buf_reset(&other);
	(void)check_merge(&before, &other);
	tkb_buf_reset(&other);
	(void)check_merge(&behind, &other);
}
