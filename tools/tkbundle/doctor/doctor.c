/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/deadline.h"
#include "cli/text.h"
#include "doctor/engine_keys.h"
#include "doctor/finding.h"
#include "doctor/fit.h"
#include "doctor/fit_out.h"
#include "doctor/gpus.h"
#include "doctor/limits.h"
#include "doctor/place.h"
#include "doctor/remote_look.h"
#include "doctor/settings.h"
#include "doctor/state.h"
#include "doctor/tools.h"
#include "doctor/versions.h"
#include "report/source.h"
#include "why/reason.h"

enum {
	ASKS_MORE = 2, /* beside tools and places */
	PATH_SIZE = 4096
};

/* What is asked of children, in this order. */
struct questions {
	struct ask places[DOCTOR_PLACES_LIMIT];
	struct ask rest[TOOLS_LIMIT + ASKS_MORE];
	size_t rest_count;
	bool has_python;
};

static void doctor_release(struct doctor **doctor)
{
	if (*doctor == NULL)
		return;
	findings_release(&(*doctor)->findings);
	root_release(&(*doctor)->root);
	free(*doctor);
}

/*
 * Places
 */

static struct place *add_place(struct doctor *doctor, const char *name,
                               const char *path, const char *origin)
{
	struct place *const place = &doctor->places[doctor->place_count];

	for (size_t i = 0; i < doctor->place_count; i++) {
		if (strcmp(doctor->places[i].path, path) == 0)
			return NULL;
	}
	if (doctor->place_count == DOCTOR_PLACES_LIMIT ||
	    strlen(path) >= sizeof(place->path))
		return NULL;
	place->name = name;
	(void)snprintf(place->path, sizeof(place->path), "%s", path);
	(void)snprintf(place->origin, sizeof(place->origin), "%s", origin);
	doctor->place_count++;
	return place;
}

static void add_roots(struct doctor *doctor, const struct tkb_engine *engine)
{
	for (size_t i = 0; i < tkb_engine_root_count(engine); i++) {
		const struct tkb_engine_root *const root =
			tkb_engine_root(engine, i);
		TKB_AUTO(text_free) char *path = NULL;
		char origin[TREES_ORIGIN_SIZE];
		struct place *place;
		bool is_placed;

		if ((root->is_kernels && doctor->root.is_given) ||
		    trees_locate(engine, i, &path, &is_placed, NULL) != 0)
			continue;
		trees_describe_origin(engine, i, is_placed, origin);
		place = add_place(doctor, root->name, path, origin);
		if (place != NULL)
			place->is_kernels = root->is_kernels;
	}
}

static void add_places(struct doctor *doctor)
{
	const struct root *const root = &doctor->root;
	struct place *place = NULL;

	if (root->path != NULL &&
	    (root->is_given || root->trees.engine_count == 0))
		place = add_place(doctor, "cache", root->path,
		                  root_origin(root));
	if (place != NULL)
		place->is_kernels = true;
	for (size_t i = 0; i < root->trees.engine_count; i++)
		add_roots(doctor, root->trees.engines[i]);
	for (size_t i = 0; i < doctor->args->trees.count; i++)
		(void)add_place(doctor, "tree", root->trees.items[i].path,
		                "the command line");
}

/*
 * Questions
 */

static void begin(struct doctor *doctor, struct questions *questions)
{
	const struct root *const root = &doctor->root;
	struct ask *next = questions->rest;

	for (size_t i = 0; i < doctor->place_count; i++)
		place_begin(&doctor->places[i], &questions->places[i]);
	gpus_begin(&doctor->gpus, next++);
	versions_add(&doctor->versions, "triton");
	versions_add(&doctor->versions, "torch");
	for (size_t i = 0; i < root->trees.engine_count; i++)
		versions_add(&doctor->versions,
		             tkb_engine_package(root->trees.engines[i]));
	questions->has_python =
		versions_begin(&doctor->versions, doctor_engine(doctor),
	                       doctor->args->is_deep, next);
	next += questions->has_python;
	tools_begin(&doctor->tools, doctor_engine(doctor), next);
	next += doctor->tools.count;
	questions->rest_count = (size_t)(next - questions->rest);
	asks_begin(questions->places, doctor->place_count);
	asks_begin(questions->rest, questions->rest_count);
}

static void end_places(struct doctor *doctor, struct questions *questions)
{
	asks_end(questions->places, doctor->place_count, DOCTOR_LIMIT_MS);
	for (size_t i = 0; i < doctor->place_count; i++)
		place_end(&doctor->places[i], &questions->places[i]);
}

static void end_rest(struct doctor *doctor, struct questions *questions)
{
	const struct ask *next = questions->rest;

	asks_end(questions->rest, questions->rest_count,
	         doctor->args->is_deep ? DOCTOR_DEEP_LIMIT_MS
	                               : DOCTOR_LIMIT_MS);
	gpus_end(&doctor->gpus, next++);
	if (questions->has_python)
		versions_end(&doctor->versions, next++);
	tools_end(&doctor->tools, next);
}

/*
 * What there is
 */

/* What is known of the source, for those who print and who judge. */
struct examination {
	struct source source;
	struct fit_facts facts;
	struct look *looks; /* owned */
	struct fits fits;
	char *environment; /* owned */
	struct tkb_error damage;
};

/* Is the operand a bundle? Nobody looks at it before its place has answered. */
static bool is_file(const struct doctor *doctor)
{
	const struct place *const place = &doctor->places[0];

	return doctor->root.is_given &&
	       (strcmp(doctor->root.path, "-") == 0 ||
	        (!place->is_late && place->facts.is_there &&
	         !place->facts.is_folder));
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

static int open_source(struct doctor *doctor, struct source *out,
                       struct tkb_error *err)
{
	const struct root *const root = &doctor->root;
	const struct tkb_cache_options options = {
		.struct_size = sizeof(options),
		.has_digests = doctor->args->is_deep,
		.trees = root->trees.items,
		.tree_count = root->trees.count,
		.patience_ms = doctor->args->is_deep ? 0 : DOCTOR_PATIENCE_MS,
	};

	doctor->is_file = is_file(doctor);
	if (doctor->is_file)
		return source_open_bundle(root->path, &out->bundle, err);
	if (!has_usable_place(doctor))
		return TKB_MISS;
	return tkb_cache_open(root->path, &options, &out->cache, err);
}

/* Inductor's graphs lie beside the kernels that they name. */
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

/* The one that made the most of what is here; else Triton's. */
static const struct tool *choose_tool(const struct doctor *doctor,
                                      const struct examination *it,
                                      const struct tool *triton)
{
	const struct tool *best = triton;
	size_t most = 0;

	for (size_t i = 0; i < doctor->tools.count; i++) {
		const struct tool *const tool = &doctor->tools.items[i];
		size_t count = 0;

		for (size_t j = 0; j < it->fits.count && tool->is_used; j++)
			count += it->looks[j].ptx != 0 &&
			         it->looks[j].ptx == tool->ptx;
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

static void note_unread(struct doctor *doctor, const struct source *source)
{
	const size_t unread = source->cache == NULL
	                              ? 0
	                              : tkb_cache_unread_count(source->cache);
	const size_t total =
		unread == 0 ? 0
			    : unread + source_entry_count(source) +
				      tkb_cache_left_out_count(source->cache);

	if (unread == 0)
		return;
	json_out_number(&doctor->cli->json, "unread", unread);
	findings_add(&doctor->findings, FINDING_RISK, "size",
	             "of about %zu folders, %zu were read in %d ms; nothing "
	             "is known of the rest\ttkbundle doctor --deep, which "
	             "reads all; and 'tkbundle gc --max-age 30d' removes what "
	             "nobody uses",
	             total, total - unread, DOCTOR_PATIENCE_MS);
}

/* What is half or damaged: what could be known of it is told all the same. */
static void note_damage(struct doctor *doctor, enum finding_level level,
                        const struct tkb_error *damage)
{
	if (damage->status != 0)
		findings_add(
			&doctor->findings, level, reason_word(REASON_DAMAGED),
			"%s\t%s", damage->message,
			doctor->is_file ? "make the bundle again, or fetch it "
					  "again"
					: "let this user read it, or place the "
					  "cache elsewhere");
}

static void note_empty(struct doctor *doctor, const struct fits *fits,
                       const struct remote_facts *remote)
{
	const char *const name = root_name(&doctor->root);
	const char *const ref = remote->ref[0] != '\0' && !remote->is_missing
	                                ? remote->ref
	                                : "REF";
	char where[2 * PATH_SIZE];

	fit_out_where(&doctor->root, where, sizeof(where));
	/* What `run` pulls is as good; tunings alone start nothing. */
	if (fits_total(fits) > fits->counts[TKB_KIND_AUTOTUNE] ||
	    (fits_total(fits) > 0 && fits->misfit_count == 0) ||
	    remote->is_enough)
		return;
	for (size_t i = 0; i < doctor->place_count; i++) {
		if (doctor->places[i].facts.is_there &&
		    !doctor->places[i].facts.can_read)
			return; /* that has been said */
	}
	if (fits->misfit_count > 0)
		findings_add(&doctor->findings, FINDING_COLD,
		             reason_word(REASON_NOT_IN_BUNDLE),
		             "nothing of what is in '%s' would be used "
		             "here\tmend what is named below, or start by "
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
			remote->is_missing ? "name the right ref, then " : "",
			ref, where, ref);
}

static void examination_end(struct examination *it)
{
	fits_release(&it->fits);
	if (it->source.bundle != NULL || it->source.cache != NULL)
		looks_free(it->looks, source_entry_count(&it->source));
	free(it->environment);
	source_close(&it->source);
}

static int examine(struct doctor *doctor, struct examination *it,
                   struct tkb_error *err)
{
	const uint64_t limit_ms = doctor->args->is_deep ? DOCTOR_DEEP_LIMIT_MS
	                                                : DOCTOR_PATIENCE_MS;
	int rc;

	it->environment = look_environment();
	it->facts = (struct fit_facts){ .source = &it->source,
		                        .gpus = &doctor->gpus,
		                        .versions = &doctor->versions,
		                        .tools = &doctor->tools,
		                        .environment = it->environment,
		                        .has_graphs = has_graphs(doctor,
		                                                 &it->source) };
	rc = looks_take(&it->source, deadline_now_ms() + limit_ms, &it->looks,
	                &it->damage, err);
	it->facts.looks = it->looks;
	if (rc == 0)
		rc = fits_take(&it->facts, &it->fits, err);
	if (rc == 0)
		fit_out_print(&it->fits, &it->source, doctor->cli,
		              doctor->args->is_json);
	return rc;
}

static void note_source(struct doctor *doctor, const struct examination *it)
{
	note_damage(doctor, FINDING_FAULT, &it->damage);
	note_ptxas(doctor, it);
	engine_keys_note(doctor, &it->source);
	engine_kernels_note(doctor, &it->source);
	fit_out_note(&it->fits, &it->facts, &doctor->root, &doctor->findings);
	note_unread(doctor, &it->source);
}

/*
 * The page
 */

static void print_machine(struct doctor *doctor)
{
	struct cli *const cli = doctor->cli;
	const bool is_json = doctor->args->is_json;

	json_out_open_object(&cli->json, "machine");
	if (!is_json)
		text_line(cli->out, "this machine");
	gpus_print(&doctor->gpus, cli, is_json, &doctor->findings);
	versions_print(&doctor->versions, cli, is_json, &doctor->findings);
	tools_print(&doctor->tools, cli, is_json, &doctor->findings);
	settings_print(&doctor->versions, cli, is_json, &doctor->findings);
	limits_print(cli, is_json, &doctor->findings);
	json_out_close(&cli->json);
}

static void print_places(struct doctor *doctor)
{
	struct cli *const cli = doctor->cli;
	const bool is_json = doctor->args->is_json;

	json_out_open_array(&cli->json, "places");
	if (!is_json)
		text_line(cli->out, "%s",
		          doctor->is_file ? "the bundle" : "caches");
	if (doctor->is_file && !is_json)
		text_line(cli->out, "  %s", doctor->root.path);
	for (size_t i = 0; i < doctor->place_count && !doctor->is_file; i++)
		place_print(&doctor->places[i], cli, is_json,
		            &doctor->findings);
	json_out_close(&cli->json);
}

static enum status print_verdict(struct doctor *doctor)
{
	static const enum status statuses[] = { STATUS_DONE, STATUS_PARTIAL,
		                                STATUS_ABSENT };
	const enum verdict verdict = findings_verdict(&doctor->findings);
	struct cli *const cli = doctor->cli;

	if (!doctor->args->is_json)
		text_line(cli->out, "verdict: %s", verdict_word(verdict));
	json_out_text(&cli->json, "verdict", verdict_word(verdict));
	findings_print(&doctor->findings, cli, doctor->args->is_json);
	return doctor->findings.has_failed ? cli_no_memory(cli)
	                                   : statuses[verdict];
}

static enum status print_page(struct doctor *doctor,
                              struct questions *questions)
{
	TKB_AUTO(examination_end)
	struct examination it = { .source = { .bundle = NULL } };
	struct tkb_error err = { .status = 0 };
	struct remote_facts remote;
	enum status status;
	int rc;

	end_places(doctor, questions);
	rc = open_source(doctor, &it.source, &err);
	end_rest(doctor, questions);
	json_out_text(&doctor->cli->json, doctor->is_file ? "bundle" : "root",
	              root_name(&doctor->root));
	print_machine(doctor);
	print_places(doctor);
	if (rc == 0)
		rc = examine(doctor, &it, &err);
	if (rc == TKB_ERR_NOMEM)
		return cli_no_memory(doctor->cli);
	status = remote_look(doctor, &remote);
	if (status != STATUS_DONE)
		return status;
	if (rc >= 0)
		note_empty(doctor, &it.fits, &remote);
	else
		note_damage(doctor, FINDING_COLD, &err);
	if (rc == 0)
		note_source(doctor, &it);
	return print_verdict(doctor);
}

enum status doctor_run(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(doctor_release)
	struct doctor *doctor = calloc(1, sizeof(*doctor));
	struct questions *questions = calloc(1, sizeof(*questions));
	struct tkb_error err = { .status = 0 };
	enum status status;
	int rc;

	json_out_text(&cli->json, "verb", "doctor");
	if (doctor == NULL || questions == NULL) {
		free(questions);
		return cli_no_memory(cli);
	}
	doctor->cli = cli;
	doctor->args = args;
	rc = root_choose_all(args, args_operand(args, 0), &doctor->root, &err);
	if (rc != 0) {
		free(questions);
		return cli_failed(cli, rc, &err, "~");
	}
	add_places(doctor);
	begin(doctor, questions);
	status = print_page(doctor, questions);
	free(questions);
	return status;
}
