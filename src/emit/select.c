/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/emitter.h"

#include "cache/elf.h"
#include "cache/entry.h"
#include "cache/watch.h"

static bool is_target(const struct tkb_entry *entry,
                      const struct tkb_emit_options *options)
{
	return entry->kind != TKB_KIND_KERNEL ||
	       tkb_target_is_wanted(&entry->target, options->targets,
	                            options->target_count);
}

/* Did the caller give a folder for this entry? */
static bool has_root(const struct tkb_entry *entry,
                     const struct tkb_emitter *emitter)
{
	const struct tkb_emit_options *options = emitter->options;

	if (entry->kind != TKB_KIND_UNIT)
		return emitter->path.size != 0;
	for (size_t i = 0; i < options->tree_count; i++) {
		if (!options->trees[i].is_external &&
		    strcmp(options->trees[i].name, entry->tree) == 0)
			return true;
	}
	return false;
}

static enum tkb_selection selection_of(const struct tkb_entry *entry,
                                       const struct tkb_emitter *emitter)
{
	const struct tkb_emit_options *options = emitter->options;

	if (!has_root(entry, emitter))
		return TKB_SELECTION_TREE;
	if (!is_target(entry, options))
		return TKB_SELECTION_TARGET;
	if (!tkb_platform_fits(entry->platform, &emitter->here))
		return TKB_SELECTION_PLATFORM;
	return TKB_SELECTION_TAKE;
}

/* Find the one key that begins with `prefix`, and select all its entries. */
static int select_key(struct tkb_emitter *emitter, const char *prefix,
                      struct tkb_error *err)
{
	const struct tkb_manifest *manifest = &emitter->bundle->manifest;
	size_t found = 0;
	int rc;

	rc = tkb_bundle_find(emitter->bundle, prefix, &found, err);
	if (rc == TKB_MISS)
		return tkb_watch_missing(emitter->batch.watcher.watch, prefix,
		                         "no key begins with '%s'", prefix);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < manifest->entry_count; i++) {
		const struct tkb_entry *entry = &manifest->entries[i];

		if (strcmp(entry->key, manifest->entries[found].key) == 0)
			emitter->selections[i] = selection_of(entry, emitter);
	}
	return 0;
}

int tkb_emit_select(struct tkb_emitter *emitter, struct tkb_error *err)
{
	const struct tkb_emit_options *options = emitter->options;
	const struct tkb_manifest *manifest = &emitter->bundle->manifest;
	int missed = 0;
	int rc = 0;

	emitter->selections = tkb_alloc_array(manifest->entry_count,
	                                      sizeof(*emitter->selections));
	if (emitter->selections == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < manifest->entry_count && rc == 0; i++) {
		if (tkb_gpu_is_platform(manifest->entries[i].platform))
			rc = tkb_gpu_ask(&emitter->here, err);
	}
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < options->key_count; i++) {
		rc = select_key(emitter, options->keys[i], err);
		if (rc < 0)
			return rc;
		if (rc == TKB_MISS)
			missed = rc;
	}
	for (size_t i = 0; i < manifest->entry_count && options->key_count == 0;
	     i++)
		emitter->selections[i] =
			selection_of(&manifest->entries[i], emitter);
	for (size_t i = 0; i < manifest->entry_count && emitter->skips != NULL;
	     i++) {
		if (emitter->skips[i])
			emitter->selections[i] = TKB_SELECTION_NONE;
	}
	return missed;
}
