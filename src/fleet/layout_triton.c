/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "text/json.h"
#include "cache/kernel.h"
#include "cache/names.h"
#include "cache/scrub.h"
#include "cache/watch.h"
#include "fleet/push_session.h"

/*
 * Pushing entries so that stock Triton reads them from Redis, if its
 * environment has:
 *
 *     TRITON_CACHE_MANAGER=triton.runtime.cache:RemoteCacheManager
 *     TRITON_REMOTE_CACHE_BACKEND=triton.runtime.cache:RedisRemoteCacheBackend
 *     TRITON_REDIS_HOST, TRITON_REDIS_PORT, TRITON_REDIS_KEY_FORMAT
 *
 * Each file is a value under "triton:{key}:{filename}", or the URL's
 * `triton-key-format`, in database 0. The files of a kernel appear together.
 *
 * The group file is written as a dict, although Triton's own remote manager
 * writes a list. That manager accepts both, but keeps what it read in the local
 * cache, and Triton's file manager fails on a list there. The paths in it,
 * "/<key>/<name>", do not exist: the file manager takes that for a miss, and
 * tkbundle for a cache that was moved.
 */

enum {
	KEY_LIMIT = 4096
};

#define DEFAULT_FORMAT "triton:{key}:{filename}"

/* The files of one entry; a kernel's group file is last. */
struct values {
	struct tkb_named items[TKB_FILES_LIMIT];
	size_t count;
};

struct pusher {
	struct tkb_remote *remote;
	const struct tkb_watch *watch;
	bool is_dry_run;
	struct tkb_bundle *bundle; /* owned; the bundle to push */
	struct tkb_arena arena;    /* owns the files of one entry */
	struct values files;       /* the group file last */
	struct tkb_push_report report;
	struct tkb_error first; /* of the first entry that is left out */
};

static void pusher_close(struct pusher *pusher)
{
	tkb_bundle_close(pusher->bundle);
	tkb_arena_release(&pusher->arena);
}

static bool may_be_written(const struct tkb_tier *tier)
{
	return !tier->is_read_only && tier->backend->put_named != NULL;
}

/*
 * Append the result of Python's `format.format(key=..., filename=...)`; false
 * if Python would fail.
 */
static bool format_cache_key(const char *format, const char *key,
                             const char *file, struct tkb_buf *out)
{
	static const char key_word[] = "{key}";
	static const char file_word[] = "{filename}";
	bool has_key = false;
	bool has_file = false;

	while (*format != '\0') {
		if (tkb_begins_with(format, key_word)) {
			tkb_buf_add_text(out, key);
			format += strlen(key_word);
			has_key = true;
		} else if (tkb_begins_with(format, file_word)) {
			tkb_buf_add_text(out, file);
			format += strlen(file_word);
			has_file = true;
		} else if (*format == '{' || *format == '}') {
			return false;
		} else {
			tkb_buf_add_byte(out, *format++);
		}
	}
	tkb_buf_add_byte(out, '\0');
	return has_key && has_file;
}

static const char *format_of(const struct tkb_tier *tier)
{
	const char *format =
		tkb_remote_url_param(tier->url, "triton-key-format");

	return format != NULL ? format : DEFAULT_FORMAT;
}

/* Stock Triton cannot be told to use another database or key format. */
static int check_stock_settings(const struct tkb_tier *tier,
                                struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf name = TKB_BUF_INIT(KEY_LIMIT);
	const struct tkb_remote_url *place = tier->url;
	const char *param = tkb_remote_url_param(place, "db");
	const char *database = param != NULL ? param : "";

	if (place->host[0] != '\0' && place->path[0] != '\0')
		database = place->path + 1;
	if (strspn(database, "0") != strlen(database))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "remote '%.200s': Triton reads only database "
		                "0, not %.40s",
		                place->name, database);
	if (!format_cache_key(format_of(tier), "", "", &name))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "remote '%.200s': 'triton-key-format' wants "
		                "{key}, {filename} and no other braces, not "
		                "'%.80s'",
		                place->name, format_of(tier));
	return tkb_buf_check(&name, err);
}

static int check_tiers(const struct tkb_remote *remote, struct tkb_error *err)
{
	const struct tkb_tier *unfit = NULL;
	size_t count = 0;
	int rc = 0;

	for (size_t i = 0; i < remote->tier_count && rc == 0; i++) {
		const struct tkb_tier *tier = &remote->tiers[i];

		if (may_be_written(tier)) {
			rc = check_stock_settings(tier, err);
			count++;
		} else if (!tier->is_read_only && unfit == NULL) {
			unfit = tier;
		}
	}
	if (rc < 0 || count != 0)
		return rc;
	if (unfit == NULL)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "no remote may be written");
	return tkb_fail(err, TKB_ERR_UNSUPPORTED,
	                "remote '%.200s': Triton reads only from Redis",
	                unfit->url->name);
}

/* Collect a bundle into `buffer`, and open it. */
static int pack_cache(struct pusher *pusher, const char *cache_root,
                      const struct tkb_collect_options *options,
                      struct tkb_blob_buffer *buffer, struct tkb_error *err)
{
	struct tkb_collect_options chosen = *options;
	const struct tkb_sink sink = tkb_blob_buffer_sink(buffer);
	struct tkb_collect_report collected = { .struct_size =
		                                        sizeof(collected) };
	struct tkb_source source;
	struct tkb_error fault = { 0 };
	int rc;

	chosen.is_enabled = true;
	chosen.is_dry_run = false; /* the bundle is temporary */
	rc = tkb_collect(cache_root, &chosen, &sink, &collected, &fault);
	if (!tkb_is_done(rc))
		return tkb_fail_as(err, rc, &fault);
	pusher->first = fault;
	pusher->report.left_out_count = collected.left_out_count;
	source = tkb_blob_buffer_source(buffer);
	return tkb_bundle_open_source(&source, "the bundle", &pusher->bundle,
	                              err);
}

/*
 * Would the entry get the same names in Redis as the one before it? Names do
 * not include the device, so only the first is pushed. Entries of one key are
 * neighbours. Modules of one key may differ in their file names, which depend
 * on the version of Python.
 */
static bool is_twin(const struct tkb_bundle *bundle, size_t index)
{
	const struct tkb_entry *entry = tkb_bundle_entry(bundle, index);
	const struct tkb_entry *first =
		tkb_bundle_entry(bundle, index == 0 ? 0 : index - 1);

	return index != 0 && strcmp(first->key, entry->key) == 0 &&
	       (entry->kind == TKB_KIND_KERNEL ||
	        strcmp(first->files[0].name, entry->files[0].name) == 0);
}

/* Before any entry is pushed, report those that cannot be pushed. */
static int check_entries(struct pusher *pusher, bool is_strict,
                         struct tkb_error *err)
{
	const size_t count = tkb_bundle_entry_count(pusher->bundle);

	for (size_t i = 0; i < count; i++) {
		const struct tkb_entry *entry =
			tkb_bundle_entry(pusher->bundle, i);
		const struct tkb_result result = {
			.root = "",
			.key = entry->key,
			.name = entry->name,
			.outcome = TKB_OUTCOME_LEFT_OUT,
			.reason = TKB_REASON_TWIN,
			.message = "another device's kernel of this key goes "
				   "there",
		};

		if (!is_twin(pusher->bundle, i))
			continue;
		if (is_strict)
			return tkb_fail(err, TKB_ERR_LEFT_OUT,
			                "entry '%.100s' differs between "
			                "devices, but Triton's names do not "
			                "include the device",
			                entry->key);
		pusher->report.left_out_count++;
		tkb_result_note(&pusher->first, &result);
		if (pusher->watch->on_result != NULL)
			pusher->watch->on_result(pusher->watch->self, &result);
	}
	return 0;
}

/* Convert a group file from a list of names to a dict of paths in `place`. */
static int make_dict(struct tkb_bytes list, const char *key,
                     struct tkb_bytes place, struct tkb_arena *arena,
                     struct tkb_buf *out, struct tkb_error *err)
{
	struct tkb_group group;
	int rc;

	rc = tkb_group_parse(list, key, arena, &group, err);
	if (rc < 0)
		return rc;
	group.is_list = false;
	(void)tkb_group_write(&group, place, false, out);
	return 0;
}

/* Replace sentinels by paths, and a list in the group file by a dict. */
static int restore_paths(struct pusher *pusher, const struct tkb_entry *entry,
                         size_t file, struct tkb_bytes *bytes,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf place = TKB_BUF_INIT(KEY_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_FILE_SIZE_LIMIT);
	const struct tkb_file *told = &entry->files[file];
	int rc = 0;

	tkb_buf_add_byte(&place, '/');
	tkb_json_escape_python(tkb_text(entry->key), &place);
	if (told->sentinels != 0)
		rc = tkb_restore(*bytes, told->name, tkb_buf_bytes(&place),
		                 told->sentinels, &text, err);
	else if (file == tkb_kernel_group_index(entry))
		rc = make_dict(*bytes, entry->key, tkb_buf_bytes(&place),
		               &pusher->arena, &text, err);
	if (rc == 0)
		rc = tkb_buf_check(&text, err);
	if (rc < 0)
		return rc;
	if (text.size != 0)
		*bytes = tkb_buf_bytes(&text);
	bytes->data = tkb_arena_string(&pusher->arena, *bytes);
	return bytes->data == NULL ? tkb_fail_nomem(err) : 0;
}

static int put_named(struct tkb_tier *tier, const struct tkb_op_limits *call,
                     void *self, struct tkb_error *err)
{
	const struct values *values = self;

	return tier->backend->put_named(tier->self, call, values->items,
	                                values->count, err);
}

/* Put the files under the names that this tier's URL defines. */
static int put_entry(struct pusher *pusher, const struct tkb_entry *entry,
                     struct tkb_tier *tier, struct tkb_error *err)
{
	struct values values = pusher->files;
	const struct tkb_tier_work work = { put_named, &values };

	for (size_t i = 0; i < values.count; i++) {
		TKB_AUTO(tkb_buf_release)
		struct tkb_buf name = TKB_BUF_INIT(KEY_LIMIT);
		int rc;

		(void)format_cache_key(format_of(tier), entry->key,
		                       values.items[i].name, &name);
		rc = tkb_arena_copy_buf(&pusher->arena, &name,
		                        &values.items[i].name, err);
		if (rc < 0)
			return rc;
	}
	return tkb_tier_do(tier, &work, err);
}

/* Put the entry into every tier that may be written. */
static int push_entry(struct pusher *pusher, const struct tkb_entry *entry,
                      struct tkb_error *err)
{
	struct tkb_remote *remote = pusher->remote;
	struct tkb_verdict verdict = { .is_done = false };
	int rc;

	for (size_t i = 0; i < remote->tier_count && !pusher->is_dry_run; i++) {
		struct tkb_tier *tier = &remote->tiers[i];
		struct tkb_error fault = { 0 };

		if (!may_be_written(tier))
			continue;
		rc = put_entry(pusher, entry, tier, &fault);
		tkb_verdict_note(&verdict, tier, rc, &fault);
	}
	rc = pusher->is_dry_run ? 0 : tkb_verdict_of(&verdict, true, err);
	if (rc != 0)
		return rc;
	pusher->report.pushed_count++;
	for (size_t i = 0; i < pusher->files.count && !pusher->is_dry_run;
	     i++) {
		pusher->report.blob_count++;
		pusher->report.size += pusher->files.items[i].bytes.size;
	}
	return 0;
}

/* Visitor: collect the files of an entry, and push them after the last one. */
static int collect_file(void *self, size_t index, size_t file,
                        struct tkb_bytes bytes, struct tkb_error *err)
{
	struct pusher *pusher = self;
	const struct tkb_entry *entry = tkb_bundle_entry(pusher->bundle, index);
	const size_t last = entry->file_count - 1;
	const size_t group = tkb_kernel_group_index(entry);
	size_t at = file;
	int rc;

	if (is_twin(pusher->bundle, index))
		return 0;
	if (file == 0)
		tkb_arena_release(&pusher->arena);
	if (group <= last && file >= group)
		at = file == group ? last : file - 1;
	rc = restore_paths(pusher, entry, file, &bytes, err);
	if (rc < 0)
		return rc;
	pusher->files.items[at].name = entry->files[file].name;
	pusher->files.items[at].bytes = bytes;
	pusher->files.count = entry->file_count;
	return file == last ? push_entry(pusher, entry, err) : 0;
}

int tkb_push_triton(struct tkb_remote *remote, const char *cache_root,
                    const struct tkb_push_options *options,
                    struct tkb_push_report *report, struct tkb_error *err)
{
	TKB_AUTO(tkb_blob_buffer_release)
	struct tkb_blob_buffer buffer = TKB_BLOB_BUFFER_INIT(UINT64_MAX);
	TKB_AUTO(pusher_close) struct pusher pusher = { .remote = remote };
	const struct tkb_file_visitor visitor = { collect_file, &pusher };
	int rc;

	pusher.watch = options->collect->watch;
	pusher.is_dry_run = options->collect->is_dry_run;
	rc = check_tiers(remote, err);
	if (rc == 0)
		rc = pack_cache(&pusher, cache_root, options->collect, &buffer,
		                err);
	if (rc == 0)
		rc = check_entries(&pusher, options->collect->is_strict, err);
	if (rc == 0)
		rc = tkb_bundle_read_all(pusher.bundle, &visitor, NULL, err);
	if (rc != 0)
		return rc;
	*report = pusher.report;
	return tkb_partial(&pusher.first, err);
}
