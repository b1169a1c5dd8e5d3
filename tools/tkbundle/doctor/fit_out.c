/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/fit_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "why/reason.h"

enum {
	NAMES_SIZE = 256,
	NAMES_LIMIT = 3,
	NAME_WIDTH = 60,
	CAUSES_LIMIT = 32,
	ADVICE_SIZE = 3 * ROOT_WHERE_SIZE
};

/* The misfits of one cause. */
struct group {
	const char *cause;
	size_t count;
	size_t fault_count;
	const struct misfit *first;     /* a fault, if any is one */
	const char *names[NAMES_LIMIT]; /* each once */
	size_t name_count;
};

static const char *misfit_name(const struct misfit *misfit)
{
	return misfit->entry != NULL && misfit->entry->name[0] != '\0'
	               ? misfit->entry->name
	               : misfit->key;
}

static void add_misfit(struct group *group, const struct misfit *misfit)
{
	const char *const name = misfit_name(misfit);

	group->count++;
	group->fault_count += misfit->is_fault;
	if (group->first == NULL ||
	    (misfit->is_fault && !group->first->is_fault))
		group->first = misfit;
	for (size_t i = 0; i < group->name_count; i++) {
		if (strncmp(group->names[i], name, NAME_WIDTH) == 0)
			return;
	}
	if (group->name_count < NAMES_LIMIT)
		group->names[group->name_count++] = name;
}

/* Returns their number. */
static size_t group_all(const struct fits *fits,
                        struct group groups[CAUSES_LIMIT])
{
	size_t count = 0;

	for (size_t i = 0; i < fits->misfit_count; i++) {
		const struct misfit *const misfit = &fits->misfits[i];
		size_t at = 0;

		while (at < count &&
		       strcmp(groups[at].cause, misfit->cause) != 0)
			at++;
		if (at == count && count < CAUSES_LIMIT)
			groups[count++] =
				(struct group){ .cause = misfit->cause };
		if (at < count)
			add_misfit(&groups[at], misfit);
	}
	return count;
}

static void format_names(const struct group *group, char out[NAMES_SIZE])
{
	size_t length = 0;

	out[0] = '\0';
	for (size_t i = 0; i < group->name_count; i++) {
		const char *const name = group->names[i];

		(void)snprintf(out + length, NAMES_SIZE - length, "%s%.*s%s",
		               i > 0 ? ", " : "", NAME_WIDTH, name,
		               strlen(name) > NAME_WIDTH ? "..." : "");
		length = strlen(out);
	}
	if (group->count > group->name_count)
		(void)snprintf(out + length, NAMES_SIZE - length, ", ...");
}

/*
 * Lists
 */

static void entry_json(const struct tkb_entry *entry, struct json_out *json)
{
	json_out_text(json, "key", entry->key);
	json_out_text(json, "kind", tkb_kind_name(entry->kind));
	json_out_text(json, "name", entry->name);
	json_out_text(json, "tree", entry->tree);
}

static void add_fits_json(const struct fits *fits, const struct source *source,
                          struct json_out *json)
{
	json_out_open_array(json, "fits");
	for (size_t i = 0; i < fits->count; i++) {
		if (!fits->fits[i])
			continue;
		json_out_open_object(json, NULL);
		entry_json(source_entry(source, i), json);
		json_out_close(json);
	}
	json_out_close(json);
	json_out_open_array(json, "misfits");
	for (size_t i = 0; i < fits->misfit_count; i++) {
		const struct misfit *const misfit = &fits->misfits[i];

		json_out_open_object(json, NULL);
		if (misfit->entry != NULL)
			entry_json(misfit->entry, json);
		else
			json_out_text(json, "key", misfit->key);
		json_out_text(json, "cause", misfit->cause);
		json_out_text(json, "message", misfit->message);
		json_out_flag(json, "is_fault", misfit->is_fault);
		json_out_close(json);
	}
	json_out_close(json);
}

static void print_units(const struct fits *fits, const struct source *source,
                        struct cli *cli)
{
	const char *tree = NULL;
	size_t count = 0;

	/* Entries are sorted only by kind: count a tree at its first entry. */
	for (size_t i = 0; i < fits->count; i++) {
		const struct tkb_entry *const entry = source_entry(source, i);
		bool is_first = fits->fits[i] && entry->tree != NULL;

		for (size_t j = 0; j < i && is_first; j++) {
			tree = source_entry(source, j)->tree;
			is_first = !fits->fits[j] || tree == NULL ||
			           strcmp(tree, entry->tree) != 0;
		}
		if (!is_first)
			continue;
		count = 0;
		for (size_t j = i; j < fits->count; j++) {
			tree = source_entry(source, j)->tree;
			count += fits->fits[j] && tree != NULL &&
			         strcmp(tree, entry->tree) == 0;
		}
		text_line(cli->out, "    tree %s: %zu %s", entry->tree, count,
		          text_plural(count, "unit", "units"));
	}
}

static void print_counts(const struct fits *fits, struct cli *cli)
{
	struct text_count counts[] = {
		{ "kernels", fits->counts[TKB_KIND_KERNEL] },
		{ "modules", fits->counts[TKB_KIND_MODULE] },
		{ "tunings", fits->counts[TKB_KIND_AUTOTUNE] },
		{ "units", fits->counts[TKB_KIND_UNIT] },
	};
	char rest[128];

	text_counts(counts, sizeof(counts) / sizeof(counts[0]), rest,
	            sizeof(rest));
	text_line(cli->out, "  fits: %zu%s%s", fits_total(fits),
	          rest[0] != '\0' ? ": " : "",
	          rest[0] != '\0' ? rest + strlen(", ") : "");
}

void fit_out_print(const struct fits *fits, const struct source *source,
                   struct cli *cli)
{
	struct group groups[CAUSES_LIMIT];
	const size_t count = group_all(fits, groups);
	char names[NAMES_SIZE];

	add_fits_json(fits, source, &cli->json);
	if (cli->json.is_wanted)
		return;
	print_counts(fits, cli);
	print_units(fits, source, cli);
	text_line(cli->out, "  does not fit: %zu", fits->misfit_count);
	for (size_t i = 0; i < count; i++) {
		format_names(&groups[i], names);
		text_line(cli->out, "    %s %zu: %s (%s)", groups[i].cause,
		          groups[i].count, names, groups[i].first->message);
	}
	if (fits->busy_count > 0)
		text_line(cli->out, "  being written: %zu", fits->busy_count);
}

/*
 * Advice
 */

/* The ptxas on this machine that made the entries that do not fit. */
static const char *find_tool(const struct fit_facts *facts,
                             const struct tkb_entry *entry)
{
	const struct tool *found = NULL;

	for (size_t i = 0; i < source_entry_count(facts->source); i++) {
		if (source_entry(facts->source, i) == entry)
			found = tools_find(facts->tools, facts->looks[i].ptx);
	}
	return found != NULL ? found->path : NULL;
}

/* The variable that names the ptxas for the kernel's GPU; see tools.h. */
static const char *ptxas_variable(const struct tkb_entry *entry)
{
	unsigned major = 0;
	unsigned minor = 0;
	const bool is_known =
		sscanf(entry->producer_version, "%3u.%3u", &major, &minor) == 2;
	const bool has_hopper = is_known && 100 * major + minor >= 309;

	return strtol(entry->target.arch, NULL, 10) >= (has_hopper ? 90 : 100)
	               ? "TRITON_PTXAS_BLACKWELL_PATH"
	               : "TRITON_PTXAS_PATH";
}

static void advise_ptxas(const struct group *group,
                         const struct fit_facts *facts, char *out, size_t size)
{
	const char *const path = find_tool(facts, group->first->entry);
	const char *const name = ptxas_variable(group->first->entry);

	if (path != NULL)
		(void)snprintf(out, size, "export %s=%s", name, path);
	else
		(void)snprintf(out, size,
		               "set %s to a ptxas of that CUDA, or push from "
		               "a machine that has the ptxas of this one",
		               name);
}

/* Advice for causes for which one sentence is enough. */
static const struct {
	const char *cause;
	const char *advice;
} advices[] = {
	{ "target", "compile once on a machine with this GPU, and push from "
	            "there: 'tkbundle run --ref REF -- COMMAND' does both" },
	{ "triton", "install the Triton that made them, or push from a machine "
	            "that has the one of this" },
	{ "libtriton", "use the Python that made them, or push from a machine "
	               "that has the one of this" },
	{ "torch", "install the PyTorch that made them, or push from a machine "
	           "that has the one of this" },
	{ "engine",
	  "install the version that made them, or push from a machine "
	  "that has the one of this" },
	{ "driver", "update the driver, or push from a machine that has the "
	            "one of this" },
	{ "gpu", "let the engine tune here once, and push: 'tkbundle run --ref "
	         "REF -- COMMAND' does both" },
	{ "platform", "compile once on a machine of this kind, and push from "
	              "there: 'tkbundle run --ref REF -- COMMAND' does both" },
	{ "environment", "set the variable as it was, or unset it, here as "
	                 "there" },
	{ "rank", "start as many processes as there were, on as many GPUs" },
	{ "owner",
	  "let this user read them, or start as the one who made them" },
	{ "link", "put there what the link names, or let the engine's variable "
	          "name that: links do not move" },
};

static void advise_on_fit(const struct group *group,
                          const struct fit_facts *facts,
                          const struct root *root, char *out, size_t size)
{
	char where[ROOT_WHERE_SIZE];

	root_where(root, where, sizeof(where));
	if (strcmp(group->cause, reason_word(REASON_PTXAS)) == 0)
		advise_ptxas(group, facts, out, size);
	else if (strcmp(group->cause, reason_word(REASON_PATH)) == 0)
		(void)snprintf(out, size,
		               "tkbundle relocate%s; where it cannot be "
		               "written, 'tkbundle collect%s -o k.tkb', and "
		               "'tkbundle emit k.tkb' to a place that can",
		               where, where);
	else if (strcmp(group->cause, "device") == 0)
		(void)snprintf(out, size,
		               "tkbundle collect%s -o moved.tkb, then "
		               "tkbundle emit --device 0 moved.tkb%s",
		               where, where);
	else if (strcmp(group->cause, reason_word(REASON_DAMAGED)) == 0)
		(void)snprintf(out, size,
		               facts->source->bundle != NULL
		                       ? FIT_OUT_BUNDLE_ADVICE
		                       : "tkbundle pull REF%s, which repairs "
		                         "them, or remove their folders",
		               facts->source->bundle != NULL ? "" : where);
	else
		(void)snprintf(out, size, "push again");
	for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
		if (strcmp(advices[i].cause, group->cause) == 0)
			(void)snprintf(out, size, "%s", advices[i].advice);
	}
}

void fit_out_note(const struct fits *fits, const struct fit_facts *facts,
                  const struct root *root, struct findings *findings)
{
	struct group groups[CAUSES_LIMIT];
	const size_t count = group_all(fits, groups);
	char advice[ADVICE_SIZE];

	for (size_t i = 0; i < count; i++) {
		const struct group *const group = &groups[i];

		if (group->fault_count == 0)
			continue;
		advise_on_fit(group, facts, root, advice, sizeof(advice));
		findings_add(findings, FINDING_FAULT, group->cause,
		             "%zu %s since %s\t%s", group->fault_count,
		             text_plural(group->fault_count,
		                         "entry does not fit,",
		                         "entries do not fit, the first"),
		             group->first->message, advice);
	}
}
