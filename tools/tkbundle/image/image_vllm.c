/* SPDX-License-Identifier: Apache-2.0 */
#include "image/image_vllm.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "cli/auto.h"
#include "cli/fd.h"
#include "image/image_json.h"

enum {
	PATH_SIZE = 4096
};

#define AOT "torch_aot_compile"
#define ARTIFACT "artifact_compile_range_"

/* MCV's names of the formats. */
#define BINARY "binary"
#define TRITON "triton"

/* The names in a folder, sorted. */
struct names {
	struct dirent **items; /* owned, and each */
	int count;
};

static void names_release(struct names *names)
{
	for (int i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
}

static int is_seen(const struct dirent *item)
{
	return item->d_name[0] != '.';
}

static int is_rank(const struct dirent *item)
{
	return strncmp(item->d_name, "rank_", strlen("rank_")) == 0;
}

static int is_artifact(const struct dirent *item)
{
	return strncmp(item->d_name, ARTIFACT, strlen(ARTIFACT)) == 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void list_names(const char *path,
                       int (*is_wanted)(const struct dirent *),
                       struct names *out)
{
	out->items = NULL;
	out->count = scandir(path, &out->items, is_wanted, compare_names);
	if (out->count < 0)
		out->count = 0;
}

static bool is_folder(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The graph of one rank, which vLLM saves in pieces. */
static json_t *read_graph(const char *path, const char *rank,
                          const char *prefix)
{
	TKB_AUTO(names_release) struct names artifacts = { 0 };
	json_t *entry = json_object();
	json_auto_t *keys = NULL;
	json_t *list_of;
	char file[PATH_SIZE];

	if (folder_join(file, sizeof(file), path, "cache_key_factors.json"))
		keys = image_json_read(file);
	list_names(path, is_artifact, &artifacts);
	if (keys == NULL || artifacts.count == 0 ||
	    !folder_join(file, sizeof(file), path,
	                 artifacts.items[0]->d_name)) {
		json_decref(entry);
		return NULL;
	}
	list_of = json_array();
	for (int i = 0; i < artifacts.count; i++)
		(void)json_array_append_new(
			list_of, json_string(artifacts.items[i]->d_name));
	(void)json_object_set_new(entry, "rank", json_string(rank));
	(void)json_object_set_new(entry, "prefix", json_string(prefix));
	(void)json_object_set_new(entry, "artifact_count",
	                          json_integer(artifacts.count));
	(void)json_object_set_new(entry, "artifact_names", list_of);
	for (size_t i = 0; i < 3; i++) {
		static const char *const names[] = { "code_hash", "config_hash",
			                             "compiler_hash" };

		(void)json_object_set(entry, names[i],
		                      json_object_get(keys, names[i]));
	}
	(void)json_object_set_new(
		entry, "cache_save_format",
		json_string(is_folder(file) ? "unpacked" : BINARY));
	(void)json_object_set_new(
		entry, "target_device",
		json_string(image_json_string(json_object_get(keys, "env"),
	                                      "VLLM_TARGET_DEVICE", "cuda")));
	(void)json_object_set(entry, "env", json_object_get(keys, "env"));
	return entry;
}

/* A rank of a graph that was compiled ahead of time: one file, `model`. */
static json_t *read_model(const char *path, const char *rank)
{
	char file[PATH_SIZE];
	struct stat status;

	if (!folder_join(file, sizeof(file), path, "model") ||
	    lstat(file, &status) < 0 || !S_ISREG(status.st_mode))
		return NULL;
	return json_pack("{s:s,s:s,s:i,s:[s],s:s}", "rank", rank, "prefix", "",
	                 "artifact_count", 1, "artifact_names", "model",
	                 "cache_save_format", "mega-aot");
}

static void read_ranks(const char *path, bool is_aot, json_t *entries)
{
	TKB_AUTO(names_release) struct names ranks = { 0 };

	list_names(path, is_rank, &ranks);
	for (int i = 0; i < ranks.count; i++) {
		TKB_AUTO(names_release) struct names prefixes = { 0 };
		const char *rank = ranks.items[i]->d_name;
		char at[PATH_SIZE];
		char below[PATH_SIZE];
		json_t *entry = NULL;

		if (!folder_join(at, sizeof(at), path, rank))
			continue;
		if (is_aot) {
			entry = read_model(at, rank);
			if (entry != NULL)
				(void)json_array_append_new(entries, entry);
			continue;
		}
		list_names(at, is_seen, &prefixes);
		for (int j = 0; j < prefixes.count; j++) {
			const char *prefix = prefixes.items[j]->d_name;

			entry = folder_join(below, sizeof(below), at, prefix)
			                ? read_graph(below, rank, prefix)
			                : NULL;
			if (entry != NULL)
				(void)json_array_append_new(entries, entry);
		}
	}
}

/*
 * Does a rank in `path` have the index of graphs whose kernels are Triton's
 * files?
 */
static bool has_index(const char *path)
{
	TKB_AUTO(names_release) struct names ranks = { 0 };
	struct stat status;
	char at[PATH_SIZE];
	char file[PATH_SIZE];

	list_names(path, is_rank, &ranks);
	for (int i = 0; i < ranks.count; i++) {
		if (folder_join(at, sizeof(at), path, ranks.items[i]->d_name) &&
		    folder_join(file, sizeof(file), at,
		                "vllm_compile_cache.py") &&
		    lstat(file, &status) == 0 && S_ISREG(status.st_mode))
			return true;
	}
	return false;
}

/*
 * MCV's list item for the folder `path`, which is named by a hash; NULL if MCV
 * knows nothing in it.
 */
static json_t *read_hash(const char *path, const char *name, bool is_aot,
                         json_t *kernels)
{
	json_auto_t *entries = json_array();
	const char *format = BINARY;

	read_ranks(path, is_aot, entries);
	if (json_array_size(entries) == 0 && !is_aot && has_index(path)) {
		format = TRITON;
		(void)json_array_extend(entries, kernels);
	}
	if (json_array_size(entries) == 0)
		return NULL;
	return json_pack("{s:s,s:s,s:O}", "vllmHash", name, "cacheFormat",
	                 format, format, entries);
}

/* The folders of hashes in `path`. */
static void read_hashes(const char *path, bool is_aot, json_t *kernels,
                        json_t *out)
{
	TKB_AUTO(names_release) struct names hashes = { 0 };

	list_names(path, is_seen, &hashes);
	for (int i = 0; i < hashes.count; i++) {
		const char *name = hashes.items[i]->d_name;
		json_t *entry;
		char at[PATH_SIZE];

		if (strcmp(name, AOT) == 0 ||
		    !folder_join(at, sizeof(at), path, name) || !is_folder(at))
			continue;
		entry = read_hash(at, name, is_aot, kernels);
		if (entry != NULL)
			(void)json_array_append_new(out, entry);
	}
}

json_t *image_vllm_entries(const char *path, json_t *kernels, bool *is_aot_out)
{
	json_t *out = json_array();
	char at[PATH_SIZE];

	*is_aot_out = false;
	if (out == NULL ||
	    !folder_join(at, sizeof(at), path, "torch_compile_cache"))
		return out;
	read_hashes(at, false, kernels, out);
	*is_aot_out = json_array_size(out) == 0;
	if (folder_join(at, sizeof(at), path, "torch_compile_cache/" AOT))
		read_hashes(at, true, kernels, out);
	*is_aot_out = *is_aot_out && json_array_size(out) != 0;
	return out;
}

const char *image_vllm_format(const json_t *entries)
{
	bool has_binary = false;
	bool has_triton = false;

	for (size_t i = 0; i < json_array_size(entries); i++) {
		const char *format = image_json_string(
			json_array_get(entries, i), "cacheFormat", "");

		has_binary = has_binary || strcmp(format, BINARY) == 0;
		has_triton = has_triton || strcmp(format, TRITON) == 0;
	}
	if (has_binary && has_triton)
		return BINARY "," TRITON;
	if (has_triton)
		return TRITON;
	return has_binary ? BINARY : "unpacked";
}
