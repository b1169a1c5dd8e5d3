/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/launcher.h>

#include <stdlib.h>

#include "base/disable.h"
#include "base/struct.h"
#include "cache/scanned_entry.h"
#include "cache/metadata.h"
#include "format/reader.h"
#include "cache/watch.h"
#include "emit/options.h"

/*
 * Find the launchers whose kernels are in place, and the roots that have them.
 * Then read their payloads, decoding each frame once.
 */

/* A launcher, and a root that has the kernels it needs. */
struct fit {
	size_t launcher;
	struct tkb_launcher found; /* still without its payload */
};

struct tkb_launchers {
	struct tkb_arena arena;     /* owns what the other members point to */
	struct tkb_launcher *items; /* owned */
	size_t count;
	struct tkb_dropped_launcher *dropped; /* owned */
	size_t dropped_count;
	bool is_inductor;
};

/* What tkb_launchers_open() needs. */
struct maker {
	const struct tkb_bundle *bundle;
	const struct tkb_launchers_options *options;
	struct tkb_launchers *out;
	struct tkb_watcher watcher;
	struct tkb_roots roots;
	struct tkb_loader loader;
	struct tkb_decoder decoder;
	struct fit *fits; /* owned; sorted by launcher, then root */
	size_t fit_count;
	size_t fit_capacity;
	struct tkb_bytes *payloads; /* owned; the first item after the
	                               entries has [0] */
	bool *is_wanted;            /* owned; in the same order */
	const char **faults;        /* owned; what is wrong with each payload */
};

static void maker_close(struct maker *maker)
{
	tkb_watcher_release(&maker->watcher);
	tkb_roots_release(&maker->roots);
	tkb_loader_close(&maker->loader);
	tkb_decoder_close(&maker->decoder);
	free(maker->fits);
	free(maker->payloads);
	free(maker->is_wanted);
	free(maker->faults);
}

static bool is_device_wanted(const struct maker *maker,
                             const struct tkb_root *root)
{
	const struct tkb_launchers_options *options = maker->options;

	if (options->device_count == 0 || !maker->roots.is_inductor)
		return true;
	for (size_t i = 0; i < options->device_count; i++) {
		if (options->devices[i] == root->device)
			return true;
	}
	return false;
}

/* The index of the kernel's binary, or the number of files if there is none. */
static size_t binary_of(const struct tkb_scanned_entry *found)
{
	const char *backend = found->metadata.target.backend;
	size_t i = 0;

	while (i < found->entry.file_count &&
	       !tkb_metadata_is_binary(backend, found->files[i].name))
		i++;
	return i;
}

static int copy_launcher_text(struct maker *maker, const char *text,
                              const char **out, struct tkb_error *err)
{
	return tkb_arena_copy(&maker->out->arena, tkb_text(text), out, err);
}

static int make_path(struct maker *maker, const struct tkb_root *root,
                     const char *key, const char *name, const char **out,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(64 * TKB_KIB);

	tkb_print(&path, "%s/%s/%s",
	          strcmp(root->path, "/") == 0 ? "" : root->path, key, name);
	return tkb_arena_copy_buf(&maker->out->arena, &path, out, err);
}

/*
 * Find kernel `key` in `root`; it must be whole and have its binary. Returns 0,
 * TKB_MISS or TKB_ERR_NOMEM.
 */
static int find_kernel(struct maker *maker, const struct tkb_root *root,
                       const char *key, struct tkb_launcher_kernel *out,
                       struct tkb_error *err)
{
	struct tkb_scanned_entry found = { 0 };
	struct tkb_error fault = { 0 };
	struct tkb_bytes bytes;
	size_t binary;
	int rc;

	tkb_arena_release(&maker->loader.arena);
	rc = tkb_scanned_entry_load(&maker->loader, root, key, &found, &fault);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (rc != 0 || found.entry.kind != TKB_KIND_KERNEL || found.is_moved)
		return TKB_MISS;
	binary = binary_of(&found);
	rc = tkb_scanned_entry_read(&maker->loader, &found, binary, &bytes,
	                            &fault);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (rc != 0)
		return TKB_MISS;
	rc = copy_launcher_text(maker, key, &out->key, err);
	if (rc < 0)
		return rc;
	return make_path(maker, root, key, found.files[binary].name,
	                 &out->binary, err);
}

/*
 * Add a fit if `root` has the kernels of launcher `index`; otherwise return
 * TKB_MISS.
 */
static int try_root(struct maker *maker, size_t index,
                    const struct tkb_root *root, struct tkb_error *err)
{
	const struct tkb_saved_launcher *saved =
		tkb_bundle_launcher(maker->bundle, index);
	struct tkb_arena *arena = &maker->out->arena;
	struct fit fit = { .launcher = index,
		           .found = { .root = root->path,
		                      .device = root->device } };
	struct tkb_launcher_kernel *kernels =
		tkb_arena_alloc(arena, saved->need_count, sizeof(*kernels));
	size_t count = 0;
	int rc;

	if (kernels == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < saved->need_count; i++) {
		rc = find_kernel(maker, root, saved->needs[i], &kernels[count],
		                 err);
		if (rc < 0)
			return rc;
		if (rc == 0)
			count++;
		else if (saved->need == TKB_NEED_ALL)
			return TKB_MISS;
	}
	if (count == 0)
		return TKB_MISS;
	fit.found.kernels = kernels;
	fit.found.kernel_count = count;
	return tkb_append(&maker->fits, &maker->fit_count, &maker->fit_capacity,
	                  &fit, sizeof(fit), err);
}

static int drop_launcher(struct maker *maker, size_t index,
                         enum tkb_reason reason, const char *message,
                         struct tkb_error *err)
{
	const struct tkb_saved_launcher *saved =
		tkb_bundle_launcher(maker->bundle, index);
	struct tkb_dropped_launcher dropped = { .reason = reason };
	int rc;

	rc = copy_launcher_text(maker, saved->cache_key, &dropped.cache_key,
	                        err);
	if (rc == 0)
		rc = copy_launcher_text(maker, saved->name, &dropped.name, err);
	if (rc == 0)
		rc = copy_launcher_text(maker, message, &dropped.message, err);
	if (rc == 0)
		maker->out->dropped[maker->out->dropped_count++] = dropped;
	return rc;
}

/* Try every root for launcher `index`; drop it if none fits. */
static int try_roots(struct maker *maker, size_t index, struct tkb_error *err)
{
	bool fits = false;
	int rc;

	for (size_t i = 0; i < maker->roots.count; i++) {
		const struct tkb_root *root = &maker->roots.items[i];

		if (!is_device_wanted(maker, root))
			continue;
		rc = try_root(maker, index, root, err);
		if (rc < 0)
			return rc;
		fits |= rc == 0;
	}
	if (!fits)
		return drop_launcher(
			maker, index, TKB_REASON_NEEDS,
			tkb_bundle_launcher(maker->bundle, index)->need ==
					TKB_NEED_ANY
				? "none of its kernels is in place"
				: "one of its kernels is not in place",
			err);
	maker->is_wanted[tkb_bundle_payload(maker->bundle, index) -
	                 maker->bundle->manifest.entry_count] = true;
	return 0;
}

/* Copy the payload of `item`, which has number `nth` in the decoded frame. */
static int keep_payload(struct maker *maker, size_t item, size_t nth,
                        struct tkb_error *err)
{
	const struct tkb_manifest *manifest = &maker->bundle->manifest;
	const size_t index = item - manifest->entry_count;
	const struct tkb_bytes bytes =
		tkb_decoder_file(&maker->decoder, nth, 0);
	const char *kept;
	int rc;

	rc = tkb_hasher_check(&maker->decoder.hasher, bytes,
	                      &manifest->entries[item].files[0].digest, err);
	if (rc < 0)
		return rc;
	if (rc == TKB_MISS) {
		maker->faults[index] = "its payload has another digest than "
				       "the manifest says";
		return 0;
	}
	rc = tkb_arena_copy(&maker->out->arena, bytes, &kept, err);
	if (rc < 0)
		return rc;
	maker->payloads[index] = (struct tkb_bytes){ kept, bytes.size };
	return 0;
}

/* If a frame cannot be read, only its payloads are lost. */
static int read_frame(struct maker *maker, size_t index, struct tkb_error *err)
{
	const struct tkb_frame *frame = &maker->bundle->frames[index];
	const size_t first = maker->bundle->manifest.entry_count;
	struct tkb_error fault = { 0 };
	bool is_wanted = false;
	int rc = 0;

	for (size_t i = 0; i < frame->entry_count && !is_wanted; i++)
		is_wanted = frame->entries[i] >= first &&
		            maker->is_wanted[frame->entries[i] - first];
	if (!is_wanted)
		return 0;
	rc = tkb_decoder_decode(&maker->decoder, maker->bundle, index, &fault);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < frame->entry_count; i++) {
		const size_t item = frame->entries[i];
		int kept = 0;

		if (item < first || !maker->is_wanted[item - first])
			continue;
		if (rc == 0)
			kept = keep_payload(maker, item, i, err);
		else
			kept = copy_launcher_text(maker, fault.message,
			                          &maker->faults[item - first],
			                          err);
		if (kept < 0)
			return kept;
	}
	return 0;
}

/* List the launchers that have a root and a payload; drop the others. */
static int list_launchers(struct maker *maker, struct tkb_error *err)
{
	const struct tkb_bundle *bundle = maker->bundle;
	size_t last_dropped = SIZE_MAX;
	int rc = 0;

	for (size_t i = 0; i < maker->fit_count && rc == 0; i++) {
		struct fit *fit = &maker->fits[i];
		const struct tkb_saved_launcher *saved =
			tkb_bundle_launcher(bundle, fit->launcher);
		const size_t payload =
			tkb_bundle_payload(bundle, fit->launcher) -
			bundle->manifest.entry_count;

		if (maker->faults[payload] != NULL) {
			if (fit->launcher != last_dropped)
				rc = drop_launcher(maker, fit->launcher,
				                   TKB_REASON_DAMAGED,
				                   maker->faults[payload], err);
			last_dropped = fit->launcher;
			continue;
		}
		fit->found.payload = maker->payloads[payload];
		rc = copy_launcher_text(maker, saved->cache_key,
		                        &fit->found.cache_key, err);
		if (rc == 0)
			rc = copy_launcher_text(maker, saved->name,
			                        &fit->found.name, err);
		if (rc == 0)
			rc = copy_launcher_text(maker, fit->found.root,
			                        &fit->found.root, err);
		if (rc == 0)
			maker->out->items[maker->out->count++] = fit->found;
	}
	return rc;
}

static int alloc_lists(struct maker *maker, struct tkb_error *err)
{
	const struct tkb_manifest *manifest = &maker->bundle->manifest;
	const size_t payloads = manifest->item_count - manifest->entry_count;
	struct tkb_launchers *out = maker->out;

	out->dropped = tkb_alloc_array(manifest->launcher_count,
	                               sizeof(*out->dropped));
	maker->payloads = tkb_alloc_array(payloads, sizeof(*maker->payloads));
	maker->is_wanted = tkb_alloc_array(payloads, sizeof(*maker->is_wanted));
	maker->faults = tkb_alloc_array(payloads, sizeof(*maker->faults));
	return out->dropped == NULL || maker->payloads == NULL ||
	                       maker->is_wanted == NULL || maker->faults == NULL
	               ? tkb_fail_nomem(err)
	               : 0;
}

static int make_all(struct maker *maker, struct tkb_error *err)
{
	const struct tkb_bundle *bundle = maker->bundle;
	struct tkb_launchers *out = maker->out;
	struct tkb_watcher *watcher = &maker->watcher;
	int rc;

	rc = alloc_lists(maker, err);
	for (size_t i = 0; i < bundle->manifest.launcher_count && rc == 0;
	     i++) {
		rc = tkb_watcher_check(watcher, err);
		if (rc == 0)
			rc = try_roots(maker, i, err);
		tkb_watcher_progress(watcher, 1);
	}
	for (size_t i = 0; i < bundle->frame_count && rc == 0; i++) {
		rc = tkb_watcher_check(watcher, err);
		if (rc == 0)
			rc = read_frame(maker, i, err);
		tkb_watcher_progress(watcher, 1);
	}
	if (rc < 0)
		return rc;
	out->items = tkb_alloc_array(maker->fit_count, sizeof(*out->items));
	if (out->items == NULL)
		return tkb_fail_nomem(err);
	rc = list_launchers(maker, err);
	if (rc < 0)
		return rc;
	tkb_sort(out->dropped, out->dropped_count, sizeof(*out->dropped),
	         tkb_compare_texts);
	return 0;
}

TKB_AUTO_POINTER(close_at, struct tkb_launchers, tkb_launchers_close)

int tkb_launchers_options_read(struct tkb_launchers_options *out,
                               const struct tkb_launchers_options *given,
                               struct tkb_error *err)
{
	return TKB_STRUCT_READ(tkb_launchers_options, watch, out, given, err);
}

int tkb_launchers_open(const struct tkb_bundle *bundle, const char *cache_root,
                       const struct tkb_launchers_options *options,
                       struct tkb_launchers **out, struct tkb_error *err)
{
	struct tkb_launchers_options chosen;
	struct tkb_timed timed;
	TKB_AUTO(close_at)
	struct tkb_launchers *launchers =
		tkb_alloc_array(1, sizeof(*launchers));
	TKB_AUTO(maker_close)
	struct maker maker = { .bundle = bundle,
		               .options = &chosen,
		               .out = launchers };
	int rc;

	if (launchers == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_launchers_options_read(&chosen, options, err);
	if (rc == 0)
		rc = tkb_timed_begin(&timed, chosen.watch, chosen.deadline_ms,
		                     err);
	if (rc < 0)
		return rc;
	if (!maker.options->is_enabled && tkb_is_disabled()) {
		*out = tkb_take(launchers);
		return 0;
	}
	tkb_watcher_init(&maker.watcher, &timed.watch,
	                 bundle->manifest.launcher_count + bundle->frame_count);
	/* If the cache does not exist, there are no kernels. */
	rc = tkb_roots_open(cache_root, &maker.roots, err);
	if (rc < 0)
		return rc;
	launchers->is_inductor = maker.roots.is_inductor;
	if (bundle->manifest.launcher_count != 0) {
		rc = tkb_loader_open(&maker.loader, false, false, err);
		if (rc == 0)
			rc = tkb_decoder_open(&maker.decoder, err);
		if (rc == 0)
			rc = make_all(&maker, err);
	}
	if (rc < 0)
		return tkb_timed_end(&timed, rc, err);
	*out = tkb_take(launchers);
	return 0;
}

void tkb_launchers_close(struct tkb_launchers *launchers)
{
	if (launchers == NULL)
		return;
	tkb_arena_release(&launchers->arena);
	free(launchers->items);
	free(launchers->dropped);
	free(launchers);
}

static int compare_with_launcher(const void *cache_key, const void *item)
{
	const struct tkb_launcher *launcher = item;

	return strcmp(cache_key, launcher->cache_key);
}

const struct tkb_launcher *tkb_launchers_find(
	const struct tkb_launchers *launchers, const char *cache_key,
	uint32_t device)
{
	for (size_t i = tkb_lower_bound(
		     cache_key, launchers->items, launchers->count,
		     sizeof(*launchers->items), compare_with_launcher);
	     i < launchers->count; i++) {
		const struct tkb_launcher *launcher = &launchers->items[i];

		if (strcmp(launcher->cache_key, cache_key) != 0)
			return NULL;
		if (!launchers->is_inductor || launcher->device == device)
			return launcher;
	}
	return NULL;
}

size_t tkb_launchers_count(const struct tkb_launchers *launchers)
{
	return launchers->count;
}

const struct tkb_launcher *tkb_launchers_at(
	const struct tkb_launchers *launchers, size_t index)
{
	return &launchers->items[index];
}

size_t tkb_launchers_dropped_count(const struct tkb_launchers *launchers)
{
	return launchers->dropped_count;
}

const struct tkb_dropped_launcher *tkb_launchers_dropped(
	const struct tkb_launchers *launchers, size_t index)
{
	return &launchers->dropped[index];
}
