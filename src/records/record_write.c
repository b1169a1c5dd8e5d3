/* SPDX-License-Identifier: Apache-2.0 */
#include "records/record.h"

#include <stdlib.h>

#include "base/digest.h"
#include "format/manifest_trees.h"
#include "format/reader.h"
#include "text/json.h"

/* A tuned unit has a version; another one only if `versions` has it. */
static int write_version(const struct tkb_entry *unit,
                         const struct tkb_versions *versions,
                         struct tkb_buf *out, struct tkb_error *err)
{
	const struct tkb_version *version;
	struct tkb_digest digest;
	int rc;

	if (!tkb_unit_is_tuned(unit) &&
	    (versions == NULL || versions->count == 0))
		return 0;
	rc = tkb_unit_version_digest(unit, &digest, err);
	if (rc < 0)
		return rc;
	version = tkb_versions_find(versions, &digest);
	if (version == NULL && !tkb_unit_is_tuned(unit))
		return 0;
	tkb_json_add_digest(out, ",[", &digest);
	tkb_json_add_number(out, ",",
	                    version != NULL ? version->changed_ms : 0);
	tkb_buf_add_byte(out, ']');
	return 0;
}

static int write_record_entry(const struct tkb_entry *entry,
                              const struct tkb_versions *versions,
                              struct tkb_buf *out, struct tkb_error *err)
{
	int rc = 0;

	tkb_json_add_text(out, "[", entry->key);
	tkb_json_add_text(out, ",", entry->platform);
	tkb_buf_add_byte(out, ',');
	tkb_manifest_write_target(&entry->target, out);
	tkb_buf_add_byte(out, ',');
	tkb_manifest_write_devices(entry, out);
	if (entry->kind == TKB_KIND_UNIT) {
		tkb_json_add_text(out, ",[", entry->tree);
		tkb_json_add_text(out, ",", entry->name);
		rc = write_version(entry, versions, out, err);
		tkb_buf_add_byte(out, ']');
	}
	tkb_buf_add_byte(out, ']');
	return rc;
}

static bool has_times(const struct tkb_bundle *bundle,
                      const struct tkb_times *times)
{
	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++) {
		if (tkb_times_of_key(times, tkb_bundle_entry(bundle, i)->key))
			return true;
	}
	return false;
}

static void write_times(const struct tkb_bundle *bundle,
                        const struct tkb_times *times, struct tkb_buf *out)
{
	tkb_buf_add_text(out, ",\"times\":[");
	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++) {
		if (i != 0)
			tkb_buf_add_byte(out, ',');
		tkb_buf_add_number(
			out, tkb_times_of_key(
				     times, tkb_bundle_entry(bundle, i)->key));
	}
	tkb_buf_add_byte(out, ']');
}

/*
 * Append a text to the list, unless it is the last one there. If the list is
 * full, sort it first, which drops duplicates. Returns the new count.
 */
static size_t list_text(const char **list, size_t count, size_t limit,
                        const char *text)
{
	/* Neighbours often have the same text. */
	if (count > 0 && strcmp(list[count - 1], text) == 0)
		return count;
	if (count == limit)
		count = tkb_sort_texts(list, count);
	if (count < limit)
		list[count++] = text;
	return count;
}

/* List the first makers of a bundle's entries, sorted; returns the number. */
static size_t list_makers(const struct tkb_bundle *bundle,
                          const struct tkb_makers *makers,
                          const char *out[TKB_RECORD_MAKERS_LIMIT])
{
	size_t count = 0;

	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++) {
		const char *maker = tkb_makers_of_key(
			makers, tkb_bundle_entry(bundle, i)->key);

		if (maker != NULL)
			count = list_text(out, count, TKB_RECORD_MAKERS_LIMIT,
			                  maker);
	}
	return tkb_sort_texts(out, count);
}

/* Returns true if there are any makers. */
static bool write_makers(const struct tkb_bundle *bundle,
                         const struct tkb_makers *makers, struct tkb_buf *out)
{
	const char *list[TKB_RECORD_MAKERS_LIMIT];
	const size_t count = list_makers(bundle, makers, list);

	for (size_t i = 0; count > 0 && i < tkb_bundle_entry_count(bundle);
	     i++) {
		const char *maker = tkb_makers_of_key(
			makers, tkb_bundle_entry(bundle, i)->key);
		const char *const *found = NULL;

		if (maker != NULL)
			found = bsearch(&maker, list, count, sizeof(*list),
			                tkb_compare_texts);
		tkb_json_add_number(out, i == 0 ? ",\"made\":[" : ",",
		                    found != NULL ? (uint64_t)(found - list) + 1
		                                  : 0);
	}
	for (size_t i = 0; i < count; i++)
		tkb_json_add_text(out, i == 0 ? "],\"makers\":[" : ",",
		                  list[i]);
	tkb_buf_add_text(out, count > 0 ? "]" : "");
	return count > 0;
}

/*
 * List the first versions of Triton that made entries, sorted; returns their
 * number.
 */
static size_t list_tritons(const struct tkb_bundle *bundle,
                           const char *out[TKB_RECORD_TRITONS_LIMIT])
{
	size_t count = 0;

	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++) {
		const struct tkb_entry *entry = tkb_bundle_entry(bundle, i);

		if (strcmp(entry->producer, "triton") != 0 ||
		    entry->producer_version[0] == '\0')
			continue;
		count = list_text(out, count, TKB_RECORD_TRITONS_LIMIT,
		                  entry->producer_version);
	}
	return tkb_sort_texts(out, count);
}

/* Returns true if there are any notes. */
static bool write_notes(const struct tkb_bundle *bundle,
                        const struct tkb_pushes *pushes, struct tkb_buf *out)
{
	const char *tritons[TKB_RECORD_TRITONS_LIMIT];
	const size_t count = list_tritons(bundle, tritons);

	for (size_t i = 0; i < count; i++)
		tkb_json_add_text(out, i == 0 ? ",\"triton\":[" : ",",
		                  tritons[i]);
	tkb_buf_add_text(out, count > 0 ? "]" : "");
	return count > 0 || (pushes != NULL && pushes->count > 0);
}

int tkb_record_write(const struct tkb_bundle *bundle,
                     const struct tkb_digest *digest, uint64_t size,
                     const struct tkb_record_facts *facts, struct tkb_buf *out,
                     struct tkb_error *err)
{
	static const struct tkb_record_facts none = { .times = NULL };
	const struct tkb_record_facts *known = facts != NULL ? facts : &none;
	const struct tkb_pushes *pushes = known->pushes;
	bool has_makers;
	const size_t count = tkb_bundle_entry_count(bundle);
	/* Units come last. */
	const bool has_units =
		count != 0 &&
		tkb_bundle_entry(bundle, count - 1)->kind == TKB_KIND_UNIT;
	uint64_t version = has_units || bundle->manifest.layout != NULL
	                           ? TKB_RECORD_VERSION_UNITS
	                           : TKB_RECORD_VERSION;
	int rc;

	tkb_json_add_digest(out, "{\"blob\":[", digest);
	tkb_json_add_number(out, ",", size);
	tkb_json_add_digest(out, "],\"bundle\":", tkb_bundle_id(bundle));
	tkb_buf_add_text(out, ",\"entries\":[");
	for (size_t i = 0; i < count; i++) {
		tkb_buf_add_text(out, i == 0 ? "" : ",");
		rc = write_record_entry(tkb_bundle_entry(bundle, i),
		                        known->versions, out, err);
		if (rc < 0)
			return rc;
	}
	tkb_json_add_digest(
		out, "],\"format\":\"" TKB_RECORD_FORMAT "\",\"frames\":",
		&bundle->frames_digest);
	if (bundle->manifest.layout != NULL)
		tkb_json_add_text(out, ",\"layout\":", bundle->manifest.layout);
	has_makers = write_makers(bundle, known->makers, out);
	tkb_json_add_text(out, ",\"profile\":", tkb_bundle_profile(bundle));
	if (pushes != NULL && pushes->count > 0) {
		tkb_buf_add_text(out, ",\"pushes\":");
		tkb_pushes_write(pushes, out);
	}
	if (has_times(bundle, known->times)) {
		version = TKB_RECORD_VERSION_TIMES;
		write_times(bundle, known->times, out);
	}
	if (write_notes(bundle, pushes, out) || has_makers)
		version = TKB_RECORD_VERSION_NOTES;
	tkb_json_add_number(out, ",\"version\":", version);
	tkb_buf_add_byte(out, '}');
	return tkb_buf_check(out, err);
}

int tkb_record_subject(const struct tkb_record *record, struct tkb_subject *out,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf words = TKB_BUF_INIT(TKB_KIB);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf rest = TKB_BUF_INIT(record->text.size);
	const char *text = record->text.data;
	const char *frames;
	size_t begin;
	size_t end;
	int rc;

	/* The blob comes after the first byte, because members are sorted. */
	tkb_json_add_digest(&words, "\"blob\":[", &record->blob);
	tkb_json_add_number(&words, ",", record->size);
	tkb_buf_add_text(&words, "],");
	begin = 1 + words.size;
	tkb_json_add_digest(&words, "\"frames\":", &record->frames);
	tkb_buf_add_byte(&words, ',');
	rc = tkb_buf_check(&words, err);
	if (rc < 0)
		return rc;
	if (record->text.size < begin ||
	    memcmp(text + 1, words.data, begin - 1) != 0)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "a record does not begin with its blob");
	/* No string can contain this: quotes in strings are escaped. */
	frames = memmem(text + begin, record->text.size - begin,
	                words.data + begin - 1, words.size - (begin - 1));
	if (frames == NULL)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "a record has no digest of its frames");
	end = (size_t)(frames - text) + words.size - (begin - 1);
	tkb_buf_add(&rest, tkb_bytes_slice(record->text, 0, 1));
	tkb_buf_add(&rest, tkb_bytes_slice(record->text, begin,
	                                   (size_t)(frames - text)));
	tkb_buf_add(&rest,
	            tkb_bytes_slice(record->text, end, record->text.size));
	rc = tkb_buf_check(&rest, err);
	if (rc < 0)
		return rc;
	out->bundle = record->bundle;
	return tkb_digest_of(tkb_buf_bytes(&rest), &out->content, err);
}

/*
 * List the targets of a record's entries, as "cuda:90", up to the number that a
 * statement may have.
 */
static int list_targets(const struct tkb_record *record,
                        struct tkb_arena *arena,
                        const char *out[TKB_STATEMENT_TARGETS],
                        size_t *count_out, struct tkb_error *err)
{
	size_t count = 0;
	int rc;

	for (size_t i = 0;
	     i < record->entry_count && count < TKB_STATEMENT_TARGETS; i++) {
		const struct tkb_target *target = &record->entries[i].target;
		TKB_AUTO(tkb_buf_release)
		struct tkb_buf words = TKB_BUF_INIT(TKB_KIB);

		/* Units have no target, and neighbours often have the same. */
		if (target->backend[0] == '\0' ||
		    (i > 0 && tkb_target_is_equal(
				      target, &record->entries[i - 1].target)))
			continue;
		tkb_print(&words, "%s:%s", target->backend, target->arch);
		rc = tkb_arena_copy_buf(arena, &words, &out[count], err);
		if (rc < 0)
			return rc;
		count++;
	}
	*count_out = tkb_sort_texts(out, count);
	return 0;
}

int tkb_record_sign(const struct tkb_record *record,
                    const struct tkb_signer *signer, struct tkb_remote *remote,
                    const char *ref, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	const char *targets[TKB_STATEMENT_TARGETS];
	struct tkb_subject subject;
	size_t count = 0;
	int rc;

	rc = tkb_record_subject(record, &subject, err);
	if (rc == 0)
		rc = list_targets(record, &arena, targets, &count, err);
	if (rc < 0)
		return rc;
	return tkb_signer_sign(signer, remote, ref, &subject, targets, count,
	                       err);
}
