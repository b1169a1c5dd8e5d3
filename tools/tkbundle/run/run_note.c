/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_note.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/deadline.h"
#include "config/profiles.h"
#include "run/run_count.h"
#include "run/run_document.h"
#include "run/run_engine.h"
#include "run/run_figures.h"
#include "run/run_report.h"
#include "why/explain.h"
#include "keys/facts_here.h"
#include "why/maker.h"

#define EXPLAIN_MS                                                             \
	2000 /* time to find reasons; entries left after it have
                           none */

/* The entries that the command made; texts are owned. */
struct made {
	struct tkb_made *items;
	size_t count;
};

static void release_made_entries(struct made *made)
{
	for (size_t i = 0; i < made->count; i++) {
		free((char *)made->items[i].tree);
		free((char *)made->items[i].name);
	}
	free(made->items);
}

/* Without memory, entries are left out of the note. */
static void add_made_entry(void *self, const char *tree, const char *name)
{
	struct made *const made = self;
	struct tkb_made item = { .tree = NULL };
	struct tkb_made *const items =
		table_grow(made->items, made->count, sizeof(*items));

	if (items == NULL)
		return;
	made->items = items;
	item.tree = tree != NULL ? strdup(tree) : NULL;
	item.name = strdup(name);
	if (item.name == NULL || (tree != NULL && item.tree == NULL)) {
		free((char *)item.tree);
		free((char *)item.name);
		return;
	}
	items[made->count++] = item;
}

static const char *engine_of(const struct run_plan *plan)
{
	return plan->engines_size != 0 ? plan->engines : "";
}

static void add_failure(void *self, const char *of, const char *message)
{
	start_add_failure(self, of, message);
}

void run_note_figures(const struct run *run, struct start *start)
{
	const int state = run->command_state;
	struct run_figures figures;

	run_figures_take(run, &figures);
	start->time_ms = (uint64_t)(run->command_ns / 1000000);
	start->emitted = figures.emitted;
	start->used = figures.used;
	start->compiled = figures.compiled;
	start->pushed = figures.pushed;
	start->saved_ms = figures.saved_ms;
	start->delay_ms = run->delay_ms;
	start->ready_ms = figures.ready_ms;
	if (run->command == 0)
		start->status =
			(uint64_t)(WIFEXITED(state) ? WEXITSTATUS(state)
		                                    : 128 + WTERMSIG(state));
}

/* Note names only: the command line itself may hold secrets. */
static void take_names(const struct run *run, struct start *start)
{
	const struct run_plan *const plan = &run->shared->plan;
	const char *const command = run->args->operands.items[0];
	const char *const slash = strrchr(command, '/');
	const char *const ref =
		run->args->ref != NULL && strcmp(run->args->ref, "-") != 0
			? run->args->ref
			: cli_variable("TKBUNDLE_REF");

	start->command = strdup(slash != NULL ? slash + 1 : command);
	start->ref = ref != NULL ? strdup(ref) : NULL;
	start->root = strdup(plan->root);
}

static void take_facts(const struct run *run, struct facts *out)
{
	const char *const engine = engine_of(&run->shared->plan);
	struct tkb_engine *profile = NULL;

	if (engine[0] != '\0' &&
	    profile_open(engine, NULL, &profile, NULL) != 0)
		profile = NULL;
	facts_here_find(out, run->args->operands.items[0], engine,
	                profile != NULL ? tkb_engine_package(profile) : "");
	tkb_engine_close(profile);
}

/* Units that the pull has skipped; texts are owned. */
struct skipped {
	struct explain_skipped *items;
	size_t count;
};

static void release_skipped(struct skipped *skipped)
{
	for (size_t i = 0; i < skipped->count; i++) {
		free((char *)skipped->items[i].name);
		free((char *)skipped->items[i].platform);
	}
	free(skipped->items);
}

/* Without memory, a unit is left out, and its reason is not known. */
static void add_skipped(void *self, const char *name, const char *platform)
{
	struct skipped *const skipped = self;
	const struct explain_skipped item = { strdup(name), strdup(platform) };
	struct explain_skipped *const items =
		table_grow(skipped->items, skipped->count, sizeof(*items));

	if (items != NULL)
		skipped->items = items;
	if (items != NULL && item.name != NULL && item.platform != NULL) {
		items[skipped->count++] = item;
		return;
	}
	free((char *)item.name);
	free((char *)item.platform);
}

/* Did the pull fail to bring something? */
static void take_pull(const struct run *run, struct explain *out)
{
	const struct run_child *const pull = &run->children[RUN_PULL];
	int status = 0;

	if (!pull->has_begun)
		return;
	/* A ref without records is not a failure. */
	out->is_pull_failed = !run_child_has_exited(pull, &status) ||
	                      (status != 0 && !run_child_found_nothing(pull));
	out->is_pull_untrusted = run_document_is_untrusted(pull);
	out->is_pull_damaged = status == STATUS_UNTRUSTED;
}

static void explain_made(const struct run *run, const struct trees *trees,
                         const struct made *made, struct start *start)
{
	const struct run_plan *const plan = &run->shared->plan;
	const struct tkb_cache_options options = {
		.struct_size = sizeof(options),
		.trees = trees->items,
		.tree_count = trees->count,
		.threads = 1,
	};
	TKB_AUTO(source_close) struct source source = { .bundle = NULL };
	TKB_AUTO(release_skipped) struct skipped skipped = { .count = 0 };
	TKB_AUTO(start_release) struct start before = { .made_count = 0 };
	struct tkb_makers *makers = NULL;
	int rc;
	struct explain asked = {
		.made = made->items,
		.made_count = made->count,
		.engine = engine_of(plan),
		.deadline_ms = deadline_now_ms() + EXPLAIN_MS,
	};

	take_pull(run, &asked);
	run_document_tuned(&run->children[RUN_PULL], add_skipped, &skipped);
	asked.skipped = skipped.items;
	asked.skipped_count = skipped.count;
	if (start_read_before(start, &before, NULL) == 0)
		asked.before = &before.facts;
	if (tkb_makers_open(plan->root, &makers, NULL) == 0)
		asked.makers = makers;
	if (made->count != 0 &&
	    tkb_cache_open(plan->root, &options, &source.cache, NULL) == 0)
		asked.source = &source;
	/* Without memory, kernels are not listed. */
	rc = explain_all(&asked, start, NULL);
	tkb_makers_close(makers);
	if (rc != 0)
		return;
}

/* Ignore a failure to write them: it is harmless. */
static void note_makers(const struct run *run, const struct facts *facts,
                        const struct made *made)
{
	char maker[TKB_MAKER_SIZE];

	if (made->count == 0 || !maker_write(facts, maker) ||
	    tkb_makers_note(run->shared->plan.root, maker, made->items,
	                    made->count, NULL) != 0)
		return;
}

void run_note_makers(void *self)
{
	struct run *const run = self;
	TKB_AUTO(facts_release) struct facts facts = { .count = 0 };
	TKB_AUTO(release_made_entries) struct made made = { .count = 0 };
	const struct run_made_visitor visitor = { add_made_entry, &made };

	take_facts(run, &facts);
	run_count_made(run, &visitor);
	note_makers(run, &facts, &made);
}

void run_note(void *self)
{
	struct run *const run = self;
	const struct run_plan *const plan = &run->shared->plan;
	TKB_AUTO(start_release) struct start start = { .made_count = 0 };
	TKB_AUTO(release_made_entries) struct made made = { .count = 0 };
	TKB_AUTO(trees_release) struct trees trees = { .engines = NULL };
	const struct run_made_visitor visitor = { add_made_entry, &made };

	start_init(&start);
	run_note_figures(run, &start);
	take_names(run, &start);
	take_facts(run, &start.facts);
	run_report_failures(run, add_failure, &start);
	run_count_made(run, &visitor);
	note_makers(run, &start.facts, &made);
	if (plan->has_trees &&
	    run_engine_trees(run->args, plan, &trees, NULL) != 0)
		trees.count = 0;
	explain_made(run, &trees, &made, &start);
	/* A note that cannot be written is not a failure of the run. */
	if (start_write(&start, (uint64_t)getppid(), NULL) != 0)
		return;
}
