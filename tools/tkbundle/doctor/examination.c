/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/examination.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/deadline.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "doctor/engine_keys.h"
#include "doctor/fit_faults.h"
#include "doctor/fit_out.h"
#include "why/reason.h"

enum {
	PATH_SIZE = 4096
};

/*
 * Is the operand a bundle, or named like one? Open it only after the child that
 * examines its folder has answered: the folder may be on a dead mount.
 */
static bool is_file(const struct doctor *doctor)
{
	const struct place *const place = &doctor->places[0];
	const char *const path = doctor->root.path;

	if (!doctor->root.is_given || strcmp(path, "-") == 0)
		return doctor->root.is_given;
	return !place->is_late &&
	       (place->facts.is_there ? !place->facts.is_folder
	                              : text_ends_with(path, ".tkb"));
}

/* Is there anything that can be read? */
static bool has_usable_place(const struct doctor *doctor)
{
	for (size_t i = 0; i < doctor->place_count; i++) {
		if (doctor->places[i].is_late)
			return false;
	}
	for (size_t i = 0; i < doctor->place_count; i++) {
		if (place_is_usable(&doctor->places[i]))
			return true;
	}
	return false;
}

int examination_open(struct doctor *doctor, struct source *out,
                     struct tkb_error *err)
{
	const struct root *const root = &doctor->root;
	struct progress progress;
	const struct tkb_cache_options options = {
		.struct_size = sizeof(options),
		.has_digests = doctor->args->is_deep,
		.watch = &progress.watch,
		.trees = root->trees.items,
		.tree_count = root->trees.count,
		.patience_ms = doctor->args->is_deep ? 0 : DOCTOR_PATIENCE_MS,
	};

	int rc;

	doctor->is_file = is_file(doctor);
	if (doctor->is_file)
		return source_open_bundle(root->path, &out->bundle, err);
	if (!has_usable_place(doctor))
		return TKB_MISS;
	progress_init(&progress, doctor->cli->log, doctor->cli->is_tty);
	progress.is_count = true;
	rc = tkb_cache_open(root->path, &options, &out->cache, err);
	progress_erase(&progress);
	return rc;
}

/* Inductor's graphs are beside the kernels that they name. */
static bool has_graphs(const struct doctor *doctor, const struct source *source)
{
	char path[PATH_SIZE];

	for (size_t i = 0; i < source_entry_count(source); i++) {
		if (source_entry(source, i)->kind == TKB_KIND_UNIT)
			return true;
	}
	return source->cache != NULL && doctor->root.path != NULL &&
	       snprintf(path, sizeof(path), "%s/fxgraph", doctor->root.path) <
	               (int)sizeof(path) &&
	       access(path, F_OK) == 0;
}

/* Does anything here need one ptxas for all processes? */
static bool needs_ptxas(const struct doctor *doctor,
                        const struct source *source)
{
	for (size_t i = 0; i < doctor->root.trees.engine_count; i++) {
		if (tkb_engine_needs_ptxas(doctor->root.trees.engines[i]))
			return true;
	}
	return source->cache != NULL && tkb_cache_is_inductor(source->cache);
}

/* The ptxas that made most of the kernels here, else Triton's. */
static const struct tool *choose_tool(const struct doctor *doctor,
                                      const struct examination *it,
                                      const struct tool *triton)
{
	const struct tool *best = triton;
	size_t most = 0;

	for (size_t i = 0; i < doctor->tools.count; i++) {
		const struct tool *const tool = &doctor->tools.items[i];
		size_t count = 0;

		for (size_t j = 0;
		     j < it->fits.count && tool->is_used && !tool->is_for_newer;
		     j++)
			count += it->looks.items[j].ptx != 0 &&
			         it->looks.items[j].ptx == tool->ptx;
		if (count > most) {
			most = count;
			best = tool;
		}
	}
	return best;
}

static void note_ptxas(struct doctor *doctor, const struct examination *it)
{
	const char *const engine = doctor_engine(doctor);
	const struct tool *one = NULL;
	const struct tool *other = NULL;
	const struct tool *best;

	if (!needs_ptxas(doctor, &it->source) ||
	    !tools_disagree(&doctor->tools, &one, &other))
		return;
	best = choose_tool(doctor, it, one);
	findings_add(&doctor->findings, FINDING_FAULT,
	             reason_word(REASON_PTXAS),
	             "%s ptxas is %s, and %s is %s: a kernel that one process "
	             "compiled is not found by another\texport "
	             "TRITON_PTXAS_PATH=%s%s%s%s",
	             one->whose, one->version, other->whose, other->version,
	             best->path,
	             best == one ? ", or start by 'tkbundle run --engine " : "",
	             best != one      ? ""
	             : engine != NULL ? engine
	                              : "torch",
	             best == one ? " -- COMMAND', which sets it" : "");
}

static void note_unread(struct doctor *doctor, const struct examination *it)
{
	const struct tkb_cache *const cache = it->source.cache;
	const size_t count = source_entry_count(&it->source);
	const size_t unread = cache != NULL ? tkb_cache_unread_count(cache)
	                                    : it->looks.unread_count;
	const size_t total = cache != NULL
	                             ? unread + count +
	                                       tkb_cache_left_out_count(cache) +
	                                       tkb_cache_unfinished_count(cache)
	                             : count;

	if (unread == 0)
		return;
	json_out_number(&doctor->cli->json, "unread", unread);
	findings_add(&doctor->findings, FINDING_RISK, "size",
	             "of %s%zu %s, %zu were read in %d ms; nothing is known "
	             "about the rest\ttkbundle doctor --deep, which reads "
	             "all%s",
	             cache != NULL ? "about " : "", total,
	             cache != NULL ? "folders" : "entries", total - unread,
	             DOCTOR_PATIENCE_MS,
	             cache != NULL ? "; and 'tkbundle gc --max-age 30d' "
	                             "removes what nobody uses"
	                           : "");
}

static const char *advise_unread(const struct doctor *doctor, int status)
{
	if (status == TKB_ERR_UNSUPPORTED)
		return "install the tkbundle that made it, or a newer one";
	if (doctor->is_file && status == TKB_ERR_CORRUPT)
		return FIT_OUT_BUNDLE_ADVICE;
	return doctor->is_file ? "let this user read it"
	                       : "let this user read it, or place the cache "
	                         "elsewhere";
}

/*
 * Note that the source is incomplete or damaged. The parts that could be read
 * are reported, too.
 */
static void note_damage(struct doctor *doctor, enum finding_level level,
                        const struct tkb_error *damage)
{
	findings_add(&doctor->findings, level, reason_word(REASON_DAMAGED),
	             "%s\t%s", damage->message,
	             advise_unread(doctor, damage->status));
}

/*
 * Note that the bundle's end is missing, unless a damaged entry is noted for
 * it.
 */
static void note_end(struct doctor *doctor, const struct examination *it)
{
	const struct tkb_error *const fault =
		it->source.bundle != NULL ? tkb_bundle_fault(it->source.bundle)
					  : NULL;

	for (size_t i = 0; i < it->looks.count; i++) {
		if (it->looks.items[i].damage != NULL)
			return;
	}
	if (fault != NULL)
		note_damage(doctor, FINDING_FAULT, fault);
}

static void note_no_bundle(struct doctor *doctor)
{
	findings_add(&doctor->findings, FINDING_COLD,
	             reason_word(REASON_NOT_IN_BUNDLE),
	             "there is no bundle '%s'\tname the right bundle, or make "
	             "it on a machine that is warm: 'tkbundle collect -o %s'",
	             doctor->root.path, doctor->root.path);
}

static void note_empty(struct doctor *doctor, const struct examination *it,
                       const struct remote_facts *remote)
{
	const struct source *const source = &it->source;
	const struct fits *const fits = &it->fits;
	const char *const name = root_name(&doctor->root);
	const char *const ref = remote->ref[0] != '\0' && !remote->is_missing
	                                ? remote->ref
	                                : "REF";
	const bool is_read = source->cache == NULL ||
	                     tkb_cache_unread_count(source->cache) == 0;
	char where[2 * PATH_SIZE];

	root_where(&doctor->root, where, sizeof(where));
	/*
	 * Count what `run` would pull. Tunings and modules alone do not count.
	 */
	if (fits->counts[TKB_KIND_KERNEL] + fits->counts[TKB_KIND_UNIT] > 0 ||
	    (fits_total(fits) > 0 && fits->fault_count == 0) ||
	    (remote->is_enough && !(remote->is_all_here && is_read)))
		return;
	for (size_t i = 0; i < doctor->place_count && !doctor->is_file; i++) {
		if (doctor->places[i].facts.is_there &&
		    !doctor->places[i].facts.can_read)
			return; /* already noted */
	}
	if (fits->misfit_count == 0 && !is_read)
		findings_add(&doctor->findings, FINDING_COLD,
		             reason_word(REASON_NOT_IN_BUNDLE),
		             "of what was read in '%s', no kernel or graph "
		             "would be used here\ttkbundle doctor --deep, "
		             "which reads all",
		             name);
	else if (fits->misfit_count > 0)
		findings_add(&doctor->findings, FINDING_COLD,
		             reason_word(REASON_NOT_IN_BUNDLE),
		             "no kernel or graph in '%s' would be used "
		             "here\tcorrect what is named below, or start by "
		             "'tkbundle run', which compiles and pushes",
		             name);
	else
		findings_add(
			&doctor->findings, FINDING_COLD,
			reason_word(REASON_NOT_IN_BUNDLE),
			"nothing is cached in '%s'\t%stkbundle pull %s%s, or "
			"start by 'tkbundle run --ref %s -- COMMAND', "
			"which pulls, and pushes what is compiled",
			name,
			remote->is_missing ? "name the right ref, then "
			: remote->is_empty || remote->is_untrusted
				? "correct the ref as it says below, then "
				: "",
			ref, where, ref);
}

void examination_end(struct examination *it)
{
	fits_release(&it->fits);
	looks_release(&it->looks);
	tkb_makers_close(it->makers);
	free(it->environment);
	source_close(&it->source);
}

int examination_take(struct doctor *doctor, struct examination *it,
                     struct tkb_error *err)
{
	const uint64_t limit_ms = doctor->args->is_deep ? DOCTOR_DEEP_LIMIT_MS
	                                                : DOCTOR_PATIENCE_MS;
	int rc;

	/* Makers that cannot be read are unknown. */
	if (it->source.cache != NULL && doctor->root.path != NULL &&
	    tkb_makers_open(doctor->root.path, &it->makers, NULL) != 0)
		it->makers = NULL;
	it->environment = look_environment();
	it->facts = (struct fit_facts){ .source = &it->source,
		                        .gpus = &doctor->gpus,
		                        .versions = &doctor->versions,
		                        .tools = &doctor->tools,
		                        .makers = it->makers,
		                        .engine = doctor_engine(doctor),
		                        .environment = it->environment,
		                        .has_graphs = has_graphs(doctor,
		                                                 &it->source) };
	rc = looks_take(&it->source, deadline_now_ms() + limit_ms, &it->looks,
	                err);
	it->facts.looks = it->looks.items;
	if (rc == 0)
		rc = fits_take(&it->facts, &it->fits, err);
	if (rc == 0)
		rc = fit_faults_find(&it->facts, &it->fits, err);
	if (rc == 0)
		fit_out_print(&it->fits, &it->source, doctor->cli);
	return rc;
}

static void note_whole(struct doctor *doctor, const struct examination *it)
{
	note_end(doctor, it);
	note_ptxas(doctor, it);
	engine_keys_note(doctor, &it->source);
	engine_kernels_note(doctor, &it->source);
	fit_out_note(&it->fits, &it->facts, &doctor->root, &doctor->findings);
	note_unread(doctor, it);
}

void examination_note(struct doctor *doctor, const struct examination *it,
                      int rc, const struct remote_facts *remote,
                      const struct tkb_error *err)
{
	if (rc == TKB_MISS && doctor->is_file)
		note_no_bundle(doctor);
	else if (rc >= 0)
		note_empty(doctor, it, remote);
	else
		note_damage(doctor, FINDING_COLD, err);
	if (rc == 0)
		note_whole(doctor, it);
}
