/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/engine_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include <tkbundle/machine.h>

#include "why/reason.h"

enum {
	PATH_SIZE = 4096
};

/*
 * Variables
 */

struct difference {
	char name[128];
	char there[PATH_SIZE];
	char here[PATH_SIZE];
	bool is_home;
	bool is_secret;
	bool is_unset; /* it was not set there */
	bool is_found;
};

/*
 * Convert `there`, a default path below the other machine's $HOME, to this
 * machine. False: `there` is not such a default.
 */
static bool place_here(const char *there, char out[PATH_SIZE])
{
	static const struct {
		const char *part;
		const char *variable;
	} places[] = { { "/.config/", "XDG_CONFIG_HOME" },
		       { "/.cache/", "XDG_CACHE_HOME" } };
	const char *const home = cli_variable("HOME");

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *const at = strstr(there, places[i].part);
		const char *const own = cli_variable(places[i].variable);

		if (there[0] != '/' || at == NULL)
			continue;
		if (own != NULL)
			return snprintf(out, PATH_SIZE, "%s/%s", own,
			                at + strlen(places[i].part)) <
			       PATH_SIZE;
		return home != NULL &&
		       snprintf(out, PATH_SIZE, "%s%s", home, at) < PATH_SIZE;
	}
	return false;
}

static void take_difference(const char *name, const char *there,
                            struct difference *own, struct difference *out)
{
	own->is_found = true;
	(void)snprintf(own->name, sizeof(own->name), "%s", name);
	(void)snprintf(own->there, PATH_SIZE, "%s", there);
	*out = *own;
}

static void compare_text(const char *name, const char *there,
                         struct difference *out)
{
	const char *const here = cli_variable(name);
	struct difference own = { .is_secret = tkb_name_is_secret(name) };

	if (strcmp(there, "hidden") == 0)
		return;
	if (here != NULL)
		(void)snprintf(own.here, PATH_SIZE, "%s", here);
	else if (place_here(there, own.here))
		own.is_home = true;
	else if (!own.is_secret)
		return; /* not set: the engine's default, which is unknown */
	if (strcmp(own.here, there) != 0)
		take_difference(name, there, &own, out);
}

/* What a text stands for, as number or switch; false: neither. */
static bool read_number(const char *text, double *out)
{
	char *end = NULL;

	*out = strtod(text, &end);
	if (end != text && *end == '\0')
		return true;
	*out = strcasecmp(text, "true") == 0;
	return *out > 0 || strcasecmp(text, "false") == 0;
}

/* Of a value that is a number or a switch, or null: it was not set. */
static void compare_other(const char *name, const json_t *there,
                          struct difference *out)
{
	const char *const here = cli_variable(name);
	const double wanted = json_is_boolean(there) ? json_is_true(there)
	                                             : json_number_value(there);
	struct difference own = { .is_unset = json_is_null(there) };
	char text[64] = "not set";
	double number = 0;

	/* doctor has a finding of its own for each secret that is set. */
	if (here == NULL || tkb_name_is_secret(name) || json_is_array(there) ||
	    json_is_object(there))
		return;
	if (!own.is_unset) {
		if (!read_number(here, &number))
			return;
		if (json_is_boolean(there))
			number = number != 0;
		if (number == wanted)
			return;
		(void)snprintf(text, sizeof(text), "%.15g", wanted);
	}
	(void)snprintf(own.here, PATH_SIZE, "%s", here);
	take_difference(name, text, &own, out);
}

/* Find the first variable that has another value here than in the file. */
static void compare_all(const struct tkb_memory *text, struct difference *out)
{
	json_t *const document =
		json_loadb((const char *)text->data, text->size, 0, NULL);
	json_t *const values = json_object_get(document, "env");
	const char *name;
	json_t *value;

	json_object_foreach(values, name, value)
	{
		if (out->is_found)
			break;
		if (json_is_string(value))
			compare_text(name, json_string_value(value), out);
		else
			compare_other(name, value, out);
	}
	json_decref(document);
}

static bool read_factors(const struct source *source, size_t index,
                         struct difference *out)
{
	TKB_AUTO(tkb_memory_release) struct tkb_memory text = { .size = 0 };
	const struct tkb_entry *const entry = source_entry(source, index);

	if (entry->kind != TKB_KIND_UNIT)
		return false;
	for (size_t i = 0; i < entry->file_count; i++) {
		if (strcmp(entry->files[i].name, "cache_key_factors.json") !=
		            0 ||
		    source_read_file(source, index, i, &text, NULL) != 0)
			continue;
		compare_all(&text, out);
		return true;
	}
	return false;
}

void engine_keys_note(struct doctor *doctor, const struct source *source)
{
	struct difference first = { .is_found = false };

	for (size_t i = 0; i < source_entry_count(source); i++) {
		struct difference own = { .is_found = false };

		if (!read_factors(source, i, &own))
			continue;
		if (!own.is_found)
			return;
		if (!first.is_found)
			first = own;
	}
	if (!first.is_found)
		return;
	if (first.is_secret)
		findings_add(&doctor->findings, FINDING_FAULT,
		             reason_word(REASON_ENVIRONMENT),
		             "%s had another value when the graphs were made, "
		             "and is part of their keys\tunset it here and "
		             "there, and give it on the command line",
		             first.name);
	else if (first.is_unset)
		findings_add(&doctor->findings, FINDING_FAULT,
		             reason_word(REASON_ENVIRONMENT),
		             "%s was not set when the graphs were made, and "
		             "is %s here, so none of them is looked for\t"
		             "unset %s",
		             first.name, first.here, first.name);
	else
		findings_add(&doctor->findings, FINDING_FAULT,
		             reason_word(first.is_home ? REASON_HOME
		                                       : REASON_ENVIRONMENT),
		             "%s was %s when the graphs were made, and is %s "
		             "here, so none of them is looked for\texport "
		             "%s=%s, or start there and here by 'tkbundle run "
		             "--engine %s', which sets what depends on $HOME",
		             first.name, first.there, first.here, first.name,
		             first.there,
		             doctor_engine(doctor) != NULL
		                     ? doctor_engine(doctor)
		                     : "vllm");
}

/*
 * Kernels
 */

static bool has_name(const struct tkb_cache *cache, const char *name)
{
	for (size_t i = 0; cache != NULL && i < tkb_cache_entry_count(cache);
	     i++) {
		const struct tkb_entry *const entry = tkb_cache_entry(cache, i);

		if (entry->kind == TKB_KIND_KERNEL &&
		    strcmp(entry->name, name) == 0)
			return true;
	}
	return false;
}

/*
 * Inductor's graphs name their own kernels; other kernels must be in the root.
 */
static bool is_looked_for(const struct tkb_entry *entry)
{
	static const char own[] = "triton_";

	return entry->kind == TKB_KIND_KERNEL &&
	       strncmp(entry->name, own, strlen(own)) != 0;
}

void engine_kernels_note(struct doctor *doctor, const struct source *source)
{
	const struct root *const root = &doctor->root;
	const struct tkb_cache_options options = {
		.struct_size = sizeof(options),
		.is_kernels_only = true,
		.patience_ms = DOCTOR_PATIENCE_MS,
	};
	struct tkb_cache *cache = NULL;
	const char *name = NULL;
	size_t count = 0;

	if (root->trees.count == 0 || root->is_given || root->path == NULL ||
	    source->cache == NULL || tkb_cache_is_inductor(source->cache) ||
	    tkb_cache_unread_count(source->cache) > 0 ||
	    tkb_cache_open(root->path, &options, &cache, NULL) < 0)
		return;
	for (size_t i = 0; i < source_entry_count(source); i++) {
		const struct tkb_entry *const entry = source_entry(source, i);

		if (!is_looked_for(entry) || has_name(cache, entry->name))
			continue;
		name = entry->name;
		count++;
	}
	tkb_cache_close(cache);
	if (count > 0)
		findings_add(
			&doctor->findings, FINDING_FAULT,
			reason_word(REASON_PATH),
			"%zu kernels, such as %s, are only where Inductor put "
			"them, but are looked for in '%s'\tstart by 'tkbundle "
			"run --engine %s', which links them, and export "
			"TRITON_CACHE_DIR=%s before the first start elsewhere",
			count, name, root->path,
			doctor_engine(doctor) != NULL ? doctor_engine(doctor)
						      : "vllm",
			root->path);
}
