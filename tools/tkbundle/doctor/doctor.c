/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "config/config.h"
#include "doctor/examination.h"
#include "doctor/machine/finding.h"
#include "doctor/machine/gpus.h"
#include "doctor/machine/limits.h"
#include "doctor/machine/place.h"
#include "doctor/remote/remote_look.h"
#include "doctor/machine/settings.h"
#include "doctor/machine/state.h"
#include "doctor/machine/tools.h"
#include "doctor/machine/versions.h"

enum {
	ASKS_MORE = 2 /* in addition to tools and places */
};

/* The questions for child processes, in this order. */
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

static void begin_questions(struct doctor *doctor, struct questions *questions)
{
	const struct root *const root = &doctor->root;
	struct ask *next = questions->rest;

	/*
	 * Python and the driver take longest: start them first, and find the
	 * other tools and places meanwhile.
	 */
	versions_add(&doctor->versions, "triton");
	versions_add(&doctor->versions, "torch");
	if (root->trees.engine_count > 0)
		doctor->versions.engine =
			tkb_engine_package(root->trees.engines[0]);
	for (size_t i = 0; i < root->trees.engine_count; i++)
		versions_add(&doctor->versions,
		             tkb_engine_package(root->trees.engines[i]));
	questions->has_python =
		versions_begin(&doctor->versions, doctor_engine(doctor),
	                       doctor->args->is_deep, next);
	next += questions->has_python;
	gpus_begin(&doctor->gpus, next++);
	asks_begin(questions->rest, (size_t)(next - questions->rest));
	for (size_t i = 0; i < doctor->place_count; i++)
		place_begin(&doctor->places[i], &questions->places[i]);
	asks_begin(questions->places, doctor->place_count);
	tools_begin(&doctor->tools, doctor_engine(doctor), next);
	asks_begin(next, doctor->tools.count);
	next += doctor->tools.count;
	questions->rest_count = (size_t)(next - questions->rest);
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
	if (questions->has_python)
		versions_end(&doctor->versions, next++);
	gpus_end(&doctor->gpus, next++);
	tools_end(&doctor->tools, next);
}

/*
 * The page
 */

static void print_machine(struct doctor *doctor)
{
	struct cli *const cli = doctor->cli;

	json_out_open_object(&cli->json, "machine");
	cli_print(cli, "this machine");
	gpus_print(&doctor->gpus, cli, &doctor->findings);
	versions_print(&doctor->versions, cli, &doctor->findings);
	tools_print(&doctor->tools, cli, &doctor->findings);
	settings_print(&doctor->versions, cli, &doctor->findings);
	limits_print(cli, &doctor->findings);
	json_out_close(&cli->json);
}

static void print_places(struct doctor *doctor)
{
	struct cli *const cli = doctor->cli;

	json_out_open_array(&cli->json, "places");
	cli_print(cli, "%s", doctor->is_file ? "the bundle" : "caches");
	if (doctor->is_file)
		cli_print(cli, "  %s", doctor->root.path);
	for (size_t i = 0; i < doctor->place_count && !doctor->is_file; i++)
		place_print(&doctor->places[i], cli, &doctor->findings);
	json_out_close(&cli->json);
}

static enum status print_verdict(struct doctor *doctor)
{
	static const enum status statuses[] = { STATUS_DONE, STATUS_PARTIAL,
		                                STATUS_ABSENT };
	const enum verdict verdict = findings_verdict(&doctor->findings);
	struct cli *const cli = doctor->cli;

	cli_print(cli, "verdict: %s", verdict_word(verdict));
	json_out_text(&cli->json, "verdict", verdict_word(verdict));
	findings_print(&doctor->findings, cli);
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
	rc = examination_open(doctor, &it.source, &err);
	end_rest(doctor, questions);
	json_out_text(&doctor->cli->json, doctor->is_file ? "bundle" : "root",
	              root_name(&doctor->root));
	print_machine(doctor);
	print_places(doctor);
	if (rc == 0)
		rc = examination_take(doctor, &it, &err);
	if (rc == TKB_ERR_NOMEM)
		return cli_no_memory(doctor->cli);
	status = remote_look(doctor, &remote);
	if (status != STATUS_DONE)
		return status;
	examination_note(doctor, &it, rc, &remote, &err);
	return print_verdict(doctor);
}

/* --wait without a remote is a mistake. */
static enum status check_wait(const struct cli *cli,
                              const struct arguments *args)
{
	TKB_AUTO(config_release) struct config config = { .fault_count = 0 };
	struct tkb_error err = { .status = 0 };

	/* remote_look() reports errors of the configuration. */
	if (!args->wait.is_set || config_load(args, &config, &err) != 0 ||
	    config.values[CONFIG_REMOTE].text != NULL)
		return STATUS_DONE;
	return cli_misused(cli, "'--wait' is for a remote, and none is named: "
	                        "'--remote URL' names one");
}

enum status doctor_run(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(doctor_release)
	struct doctor *doctor = calloc(1, sizeof(*doctor));
	struct questions *questions = calloc(1, sizeof(*questions));
	struct tkb_error err = { .status = 0 };
	enum status status;
	int rc;

	if (doctor == NULL || questions == NULL) {
		free(questions);
		return cli_no_memory(cli);
	}
	status = check_wait(cli, args);
	if (status != STATUS_DONE) {
		free(questions);
		return status;
	}
	doctor->cli = cli;
	doctor->args = args;
	rc = root_choose_all(args, args_operand(args, 0), &doctor->root, &err);
	if (rc != 0) {
		free(questions);
		return cli_failed(cli, rc, &err, "~");
	}
	add_places(doctor);
	begin_questions(doctor, questions);
	status = print_page(doctor, questions);
	free(questions);
	return status;
}
