/* SPDX-License-Identifier: Apache-2.0 */
#include "image/image_facts.h"

#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "archive/archive_walk.h"
#include "cli/auto.h"
#include "cli/cli.h"
#include "cli/text.h"
#include "image/image_json.h"
#include "image/image_manifest.h"
#include "image/image_roots.h"
#include "image/image_vllm.h"

enum {
	PATH_SIZE = 4096,
	LABEL_LIMIT = 4096 /* limit of KServe */
};

#define KSERVE "io.kserve.km/"

struct facts {
	const struct tkb_bundle *bundle;
	const struct archive_stage *stage;
	json_t *labels;  /* owned */
	json_t *targets; /* owned; targets in the summary */
};

static void facts_release(struct facts *facts)
{
	json_decref(facts->labels);
	json_decref(facts->targets);
}

/* The path in the image for a root in the stage. */
static const char *path_below(const struct facts *facts, const char *path)
{
	return path + strlen(facts->stage->root) + 1;
}

static int add_label(const struct facts *facts, const char *name,
                     const char *value, struct tkb_error *err)
{
	if (strlen(value) > LABEL_LIMIT)
		return cli_error(err, TKB_ERR_TOO_LARGE,
		                 "the label '%s' would have more than %d bytes",
		                 name, LABEL_LIMIT);
	return json_object_set_new(facts->labels, name, json_string(value)) < 0
	               ? cli_error_nomem(err)
	               : 0;
}

static int add_count_label(const struct facts *facts, const char *name,
                           uint64_t number, struct tkb_error *err)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64, number);
	return add_label(facts, name, text, err);
}

/* The size of all files below `path` that are packed. */
static int add_size(const struct facts *facts, const char *name,
                    const char *path, struct tkb_error *err)
{
	FTS *const walk = archive_walk_open(path, err);
	uint64_t size = 0;
	FTSENT *item;

	if (walk == NULL)
		return TKB_ERR_NOMEM;
	while ((item = fts_read(walk)) != NULL) {
		if (item->fts_info == FTS_D &&
		    strcmp(item->fts_name, ".tkbundle") == 0)
			(void)fts_set(walk, item, FTS_SKIP);
		if (item->fts_info == FTS_F)
			size += (uint64_t)item->fts_statp->st_size;
	}
	(void)fts_close(walk);
	return add_count_label(facts, name, size, err);
}

/*
 * Kernels
 */

/*
 * MCV's list item for a kernel, from its metadata; NULL: the kernel was not
 * emitted.
 */
static json_t *describe_kernel(const struct facts *facts,
                               const struct tkb_entry *entry)
{
	char path[PATH_SIZE];
	json_auto_t *metadata = NULL;
	json_t *out;

	if (snprintf(path, sizeof(path), "%s/%s/%s.json", facts->stage->kernels,
	             entry->key, entry->name) >= PATH_SIZE)
		return NULL;
	metadata = image_json_read(path);
	if (metadata == NULL)
		return NULL;
	out = json_pack("{s:s,s:s,s:I}", "backend", entry->target.backend,
	                "arch", entry->target.arch, "warp_size",
	                (json_int_t)entry->target.warp_size);
	for (size_t i = 0; i < 5; i++) {
		static const char *const names[] = { "hash", "num_stages",
			                             "num_warps", "debug",
			                             "ptx_version" };
		json_t *value = json_object_get(metadata, names[i]);

		if (value != NULL && !json_is_null(value))
			(void)json_object_set(out, names[i], value);
	}
	return out;
}

/* Add each target once, in the order of first appearance. */
static void add_target(const struct facts *facts, const struct tkb_entry *entry)
{
	json_t *target =
		json_pack("{s:s,s:s,s:I}", "backend", entry->target.backend,
	                  "arch", entry->target.arch, "warp_size",
	                  (json_int_t)entry->target.warp_size);
	size_t index;
	json_t *known;

	json_array_foreach(facts->targets, index, known)
	{
		if (json_equal(known, target)) {
			json_decref(target);
			return;
		}
	}
	(void)json_array_append_new(facts->targets, target);
}

static int list_kernels(const struct facts *facts, json_t *out,
                        struct tkb_error *err)
{
	for (size_t i = 0; i < tkb_bundle_entry_count(facts->bundle); i++) {
		const struct tkb_entry *entry =
			tkb_bundle_entry(facts->bundle, i);
		json_t *described;

		if (entry->kind != TKB_KIND_KERNEL ||
		    facts->stage->kernels == NULL)
			continue;
		described = describe_kernel(facts, entry);
		if (described == NULL)
			continue;
		add_target(facts, entry);
		if (json_array_append_new(out, described) < 0)
			return cli_error_nomem(err);
	}
	return 0;
}

static int write_list(const struct facts *facts, const char *name, json_t *list,
                      struct tkb_error *err)
{
	json_auto_t *document = json_pack("{s:O}", name, list);
	char path[PATH_SIZE];

	if (document == NULL)
		return cli_error_nomem(err);
	(void)snprintf(path, sizeof(path), "%s/io.%s.manifest/manifest.json",
	               facts->stage->root, name);
	return image_json_write(document, path, err);
}

/* Add the list and the labels of one kind of cache. */
static int add_cache(const struct facts *facts, const char *kind, json_t *list,
                     const char *path, struct tkb_error *err)
{
	json_auto_t *summary = json_pack("{s:O}", "targets", facts->targets);
	TKB_AUTO(text_free) char *text = image_json_text(summary);
	char name[64];
	int rc;

	if (text == NULL)
		return cli_error_nomem(err);
	rc = write_list(facts, kind, list, err);
	(void)snprintf(name, sizeof(name), "cache.%s.image/entry-count", kind);
	if (rc == 0)
		rc = add_count_label(facts, name, json_array_size(list), err);
	(void)snprintf(name, sizeof(name), "cache.%s.image/summary", kind);
	if (rc == 0)
		rc = add_label(facts, name, text, err);
	(void)snprintf(name, sizeof(name), "cache.%s.image/cache-size-bytes",
	               kind);
	return rc == 0 ? add_size(facts, name, path, err) : rc;
}

/*
 * Trees
 */

/* Add a root to our list, and, if it is inside vLLM's root, to KServe's. */
static int add_root(const struct facts *facts, const char *name,
                    const char *path, json_t *roots, json_t *mounts,
                    struct tkb_error *err)
{
	const char *const inside = strchr(path_below(facts, path), '/');
	char variable[IMAGE_VARIABLE_SIZE];
	char place[PATH_SIZE];
	json_t *mount = NULL;

	image_root_variable(name, variable);
	if (json_array_append_new(roots,
	                          json_pack("{s:s,s:s,s:s}", "name", name,
	                                    "path", path_below(facts, path),
	                                    "variable", variable)) < 0)
		return cli_error_nomem(err);
	if (inside == NULL)
		return 0;
	(void)snprintf(place, sizeof(place), "%s/%s", facts->stage->place,
	               path_below(facts, path));
	mount = json_pack("{s:s,s:s,s:b}", "subPath", inside + 1, "absPath",
	                  place, "requiresWritable", true);
	if (variable[0] != '\0')
		(void)json_object_set_new(mount, "env", json_string(variable));
	return json_array_append_new(mounts, mount) < 0 ? cli_error_nomem(err)
	                                                : 0;
}

static int add_roots(const struct facts *facts, struct tkb_error *err)
{
	const struct archive_stage *stage = facts->stage;
	json_auto_t *roots = json_array();
	json_auto_t *mounts = json_array();
	json_auto_t *document = NULL;
	TKB_AUTO(text_free) char *text = NULL;
	char id[TKB_DIGEST_HEX_SIZE];
	char path[PATH_SIZE];
	int rc = 0;

	if (stage->kernels != NULL)
		rc = add_root(facts, IMAGE_KERNELS, stage->kernels, roots,
		              mounts, err);
	for (size_t i = 0; i < stage->tree_count && rc == 0; i++)
		rc = add_root(facts, stage->trees[i].name, stage->trees[i].path,
		              roots, mounts, err);
	if (rc < 0)
		return rc;
	tkb_digest_to_hex(tkb_bundle_id(facts->bundle), id);
	document = json_pack("{s:s,s:s,s:O}", "bundle", id, "mount",
	                     stage->place, "roots", roots);
	(void)snprintf(path, sizeof(path), "%s/" IMAGE_ROOTS_FILE, stage->root);
	if (document == NULL)
		return cli_error_nomem(err);
	rc = image_json_write(document, path, err);
	if (rc < 0 || json_array_size(mounts) == 0)
		return rc;
	text = image_json_text(mounts);
	return text == NULL
	               ? cli_error_nomem(err)
	               : add_label(facts, KSERVE "cache-mounts", text, err);
}

/* The hashes of vLLM's folders, separated by commas. */
static int add_hashes(const struct facts *facts, json_t *list,
                      struct tkb_error *err)
{
	char text[LABEL_LIMIT + 1] = "";
	size_t length = 0;
	size_t index;
	json_t *entry;

	json_array_foreach(list, index, entry)
	{
		const char *hash = image_json_string(entry, "vllmHash", "");

		if (length + strlen(hash) + 1 > LABEL_LIMIT)
			break; /* it is only a hint */
		length +=
			(size_t)snprintf(text + length, sizeof(text) - length,
		                         "%s%s", length == 0 ? "" : ",", hash);
	}
	return length == 0 ? 0
	                   : add_label(facts, KSERVE "cache-hash", text, err);
}

static int add_vllm(const struct facts *facts, const char *path,
                    json_t *kernels, struct tkb_error *err)
{
	bool is_aot;
	json_auto_t *list = image_vllm_entries(path, kernels, &is_aot);
	char root[PATH_SIZE];
	int rc;

	if (list == NULL)
		return cli_error_nomem(err);
	(void)snprintf(root, sizeof(root), "VLLM_CACHE_ROOT=%s/%s",
	               facts->stage->place, path_below(facts, path));
	rc = add_cache(facts, "vllm", list, path, err);
	if (rc == 0)
		rc = add_label(facts, "cache.vllm.image/format",
		               image_vllm_format(list), err);
	if (rc == 0)
		rc = add_label(facts, KSERVE "framework", "vllm", err);
	if (rc == 0)
		rc = add_label(facts, KSERVE "cache-type", "torch-compile",
		               err);
	if (rc == 0)
		rc = add_label(facts, KSERVE "cache-root-env", root, err);
	if (rc == 0)
		rc = add_label(facts, KSERVE "cache-mount-subpath",
		               is_aot ? "torch_compile_cache/torch_aot_compile"
		                      : "torch_compile_cache",
		               err);
	return rc == 0 ? add_hashes(facts, list, err) : rc;
}

static int find_facts(const struct facts *facts, struct tkb_error *err)
{
	json_auto_t *kernels = json_array();
	const char *vllm = NULL;
	char id[TKB_DIGEST_HEX_SIZE];
	int rc;

	for (size_t i = 0; i < facts->stage->tree_count; i++) {
		if (strcmp(facts->stage->trees[i].name, "vllm") == 0)
			vllm = facts->stage->trees[i].path;
	}
	tkb_digest_to_hex(tkb_bundle_id(facts->bundle), id);
	rc = list_kernels(facts, kernels, err);
	if (rc == 0)
		rc = add_label(facts, IMAGE_BUNDLE_LABEL, id, err);
	if (rc == 0)
		rc = add_label(facts, "dev.tkbundle.mount", facts->stage->place,
		               err);
	if (rc == 0)
		rc = add_roots(facts, err);
	/*
	 * Do not add both kinds of labels: MCV would take the image for a
	 * Triton cache.
	 */
	if (rc == 0 && vllm != NULL)
		rc = add_vllm(facts, vllm, kernels, err);
	else if (rc == 0 && json_array_size(kernels) != 0)
		rc = add_cache(facts, "triton", kernels, facts->stage->kernels,
		               err);
	return rc;
}

int image_facts_write(const struct tkb_bundle *bundle,
                      const struct archive_stage *stage,
                      struct json_t **labels_out, struct tkb_error *err)
{
	TKB_AUTO(facts_release)
	struct facts facts = { .bundle = bundle,
		               .stage = stage,
		               .labels = json_object(),
		               .targets = json_array() };
	int rc;

	if (facts.labels == NULL || facts.targets == NULL)
		return cli_error_nomem(err);
	rc = find_facts(&facts, err);
	if (rc == 0) {
		*labels_out = facts.labels;
		facts.labels = NULL;
	}
	return rc;
}
