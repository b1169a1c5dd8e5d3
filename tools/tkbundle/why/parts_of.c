/* SPDX-License-Identifier: Apache-2.0 */
#include "why/parts.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/cli.h"
#include "cli/text.h"

/* A value as text, which the caller frees. */
static char *copy_json_text(const json_t *value)
{
	if (json_is_string(value))
		return strdup(json_string_value(value));
	return json_dumps(value,
	                  JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
}

static int add_value(struct parts *out, enum reason reason, const char *name,
                     const json_t *value, struct tkb_error *err)
{
	TKB_AUTO(text_free) char *text = copy_json_text(value);

	if (text == NULL)
		return cli_error_nomem(err);
	return parts_add(out, reason, name, text, strlen(text), err);
}

/*
 * Triton's metadata
 */

/* Results of the compile, which are not in keys. */
static bool is_outcome(const char *name)
{
	static const char *const names[] = {
		"hash",
		"name",
		"shared",
		"tmem_size",
		"global_scratch_size",
		"global_scratch_align",
		"profile_scratch_size",
		"profile_scratch_align",
		"tensordesc_meta",
		"cache_dir",
		/* Keys contain the contents of these files, not their paths. */
		"extern_libs",
	};

	return text_is_among(name, names, TKB_COUNT_OF(names));
}

static bool is_variable(const char *name)
{
	return name[0] != '\0' &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
	               strlen(name);
}

static int add_target(struct parts *out, const json_t *target,
                      struct tkb_error *err)
{
	const char *const backend =
		json_string_value(json_object_get(target, "backend"));
	TKB_AUTO(text_free)
	char *arch = copy_json_text(json_object_get(target, "arch"));
	char text[128];

	if (backend == NULL || arch == NULL)
		return 0;
	(void)snprintf(text, sizeof(text), "%.60s:%.60s", backend, arch);
	return parts_add(out, REASON_TARGET, "target", text, strlen(text), err);
}

int parts_of_metadata(const json_t *metadata, struct parts *out,
                      struct tkb_error *err)
{
	static const char untold[] = "one without a version, as 3.0";
	const char *name;
	json_t *value;
	int rc = 0;

	if (json_object_get(metadata, "triton_version") == NULL)
		rc = parts_add(out, REASON_TRITON, "Triton", untold,
		               strlen(untold), err);
	if (rc != 0)
		return rc;
	json_object_foreach((json_t *)metadata, name, value)
	{
		if (is_outcome(name))
			continue;
		if (strcmp(name, "target") == 0)
			rc = add_target(out, value, err);
		else if (strcmp(name, "triton_version") == 0)
			rc = add_value(out, REASON_TRITON, "Triton", value,
			               err);
		else
			rc = add_value(out,
			               is_variable(name) ? REASON_ENVIRONMENT
			                                 : REASON_OPTIONS,
			               name, value, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/*
 * vLLM's factors
 */

int parts_of_factors(const json_t *factors, struct parts *out,
                     struct tkb_error *err)
{
	static const struct {
		const char *name;
		enum reason reason;
		const char *shown;
	} hashes[] = {
		{ "config_hash", REASON_OPTIONS, "configuration (a hash)" },
		{ "code_hash", REASON_SOURCE, "code (a hash)" },
		{ "compiler_hash", REASON_COMPILER, PARTS_COMPILER },
	};
	const char *name;
	json_t *value;
	int rc = 0;

	for (size_t i = 0; i < TKB_COUNT_OF(hashes) && rc == 0; i++) {
		value = json_object_get(factors, hashes[i].name);
		if (json_is_string(value))
			rc = add_value(out, hashes[i].reason, hashes[i].shown,
			               value, err);
	}
	json_object_foreach(json_object_get(factors, "env"), name, value)
	{
		/* null means that the variable is not set. */
		if (rc == 0 && !json_is_null(value))
			rc = add_value(out, REASON_ENVIRONMENT, name, value,
			               err);
	}
	return rc;
}

/*
 * Inductor's graphs
 */

enum {
	HASH_LEAST = 51, /* length of a hash in base32 */
	HASH_MOST = 52,
	NAME_SIZE = 128,
	VALUE_LIMIT = 400 /* part that is shown; the hash before it covers
	                     all */
};

/* The reason if a line differs, by the name of the line. */
static enum reason reason_of(const char *name)
{
	static const struct {
		const char *begin;
		enum reason reason;
	} begins[] = {
		{ "gm", REASON_SOURCE },
		{ "example_inputs", REASON_SIGNATURE },
		{ "inputs_to_check", REASON_SIGNATURE },
		{ "system_info[device]", REASON_GPU },
		{ "system_info[version]", REASON_LIBTRITON },
		{ "system_info", REASON_TORCH },
		{ "torch_version", REASON_TORCH },
		{ "cache_key_tag", REASON_ENVIRONMENT },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(begins); i++) {
		if (strncmp(name, begins[i].begin, strlen(begins[i].begin)) ==
		    0)
			return begins[i].reason;
	}
	return REASON_OPTIONS;
}

/*
 * The size of the string that begins at `at`, if pickle wrote it before the
 * string: 'X' and four bytes, or 0x8c and one byte. 0 if not.
 */
static size_t string_size(struct tkb_bytes bytes, size_t at)
{
	const unsigned char *const data = bytes.data;
	size_t size = 0;

	if (at >= 5 && data[at - 5] == 'X')
		size = data[at - 4] | (size_t)data[at - 3] << 8 |
		       (size_t)data[at - 2] << 16 | (size_t)data[at - 1] << 24;
	else if (at >= 2 && data[at - 2] == 0x8c)
		size = data[at - 1];
	return size <= bytes.size - at ? size : 0;
}

/* Count the base32 digits at `text`, at most one more than a hash has. */
static size_t hash_size(const char *text)
{
	size_t size = 0;

	while (size <= HASH_MOST && ((text[size] >= 'a' && text[size] <= 'z') ||
	                             (text[size] >= '2' && text[size] <= '7')))
		size++;
	return size;
}

/* "[<hash>] name: value" */
static int add_hashed_part(struct parts *out, const char *text, size_t size,
                           struct tkb_error *err)
{
	const size_t hash = hash_size(text + 1);
	const char *const begin = text + 1 + hash + 2;
	const char *colon;
	char name[NAME_SIZE];

	if (hash < HASH_LEAST || hash > HASH_MOST || size < hash + 4 ||
	    begin[-2] != ']' || begin[-1] != ' ')
		return 0;
	colon = memchr(begin, ':', size - hash - 3);
	if (colon == NULL || colon - begin >= NAME_SIZE)
		return 0;
	(void)snprintf(name, sizeof(name), "%.*s", (int)(colon - begin), begin);
	return parts_add(out, reason_of(name), name, text,
	                 size < VALUE_LIMIT ? size : VALUE_LIMIT, err);
}

int parts_of_graph(struct tkb_bytes graph, struct parts *out,
                   struct tkb_error *err)
{
	const char *const data = graph.data;
	int rc = 0;

	for (size_t at = 0; at < graph.size && rc == 0;) {
		const char *const found =
			memchr(data + at, '[', graph.size - at);
		size_t size;

		if (found == NULL)
			break;
		at = (size_t)(found - data);
		size = string_size(graph, at);
		if (size > HASH_MOST + 4) {
			rc = add_hashed_part(out, found, size, err);
			at += size;
		} else {
			at++;
		}
	}
	return rc;
}
