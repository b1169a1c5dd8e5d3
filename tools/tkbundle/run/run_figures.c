/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_figures.h"

#include <math.h>
#include <sys/resource.h>

#include "cli/deadline.h"
#include "run/run_count.h"

#define NICENESS 10

/*
 * How many entries our pull emitted; unknown if the pull printed no document.
 */
static uint64_t count_emitted(const struct run *run)
{
	const struct run_child *const pull = &run->children[RUN_PULL];
	uint64_t emitted = 0;
	uint64_t repaired = 0;
	int status;

	if (!pull->has_begun || pull->error != 0)
		return 0;
	if (run_child_number(pull, "emitted", &emitted) &&
	    run_child_number(pull, "repaired", &repaired))
		return emitted + repaired;
	/* The pull found nothing, or ended before it knew. */
	return run_child_has_exited(pull, &status) ? emitted : START_UNKNOWN;
}

void run_figures_take(const struct run *run, struct run_figures *out)
{
	const struct run_shared *const shared = run->shared;
	const struct run_counts *const counts = &shared->counts;
	const struct run_child *const pull = &run->children[RUN_PULL];
	const bool has_uses = counts->is_made && counts->has_access_times;

	*out = (struct run_figures){
		.emitted = count_emitted(run),
		.used = has_uses ? counts->used : START_UNKNOWN,
		.compiled = counts->is_made ? counts->compiled : START_UNKNOWN,
		.pushed = run->pushed_count,
		.left_out = run->left_out_count,
		.saved_ms = has_uses ? counts->saved_ms : START_UNKNOWN,
		.ready_ms = shared->ready_ms != 0
		                    ? shared->ready_ms - run->start_ms -
		                              run->delay_ms
		                    : START_UNKNOWN,
	};
	if (!pull->has_begun ||
	    !run_child_number(pull, "gone_blobs", &out->gone))
		out->gone = START_UNKNOWN;
}

/* Did the pull and the last push succeed, even if late? */
static bool is_good(const struct run *run)
{
	int status = 0;

	return run_child_has_exited(&run->children[RUN_PULL], &status) &&
	       status == 0 && !run->has_push_reason;
}

/* The sum of a count over all kinds. @return whether it is known */
static void name_kinds(const struct run_counts *counts, struct metrics *metrics)
{
	const struct run_kind *const kinds = counts->kinds;
	size_t i;

	for (i = 0; i < counts->kind_count; i++)
		metrics_add_labelled(metrics, "kind_emitted",
		                     "Entries of a kind that were emitted.",
		                     (double)kinds[i].emitted, kinds[i].engine,
		                     kinds[i].name);
	for (i = 0; counts->has_access_times && i < counts->kind_count; i++)
		metrics_add_labelled(metrics, "kind_used",
		                     "Entries of a kind that were used.",
		                     (double)kinds[i].used, kinds[i].engine,
		                     kinds[i].name);
	for (i = 0; counts->has_access_times && i < counts->kind_count; i++)
		metrics_add_labelled(metrics, "kind_saved_seconds",
		                     "How long those used took to compile.",
		                     (double)kinds[i].saved_ms / 1000,
		                     kinds[i].engine, kinds[i].name);
	for (i = 0; i < counts->kind_count; i++)
		metrics_add_labelled(metrics, "kind_compiled",
		                     "Entries of a kind that were compiled.",
		                     (double)kinds[i].compiled, kinds[i].engine,
		                     kinds[i].name);
}

static double known(uint64_t figure)
{
	return figure == START_UNKNOWN ? NAN : (double)figure;
}

void run_figures_name(const struct run *run, struct metrics *metrics)
{
	struct run_figures figures;

	run_figures_take(run, &figures);
	*metrics = (struct metrics){ .verb = "run",
		                     .label = run->args->ref != NULL ? "ref"
		                                                     : NULL,
		                     .label_value = run->args->ref,
		                     .labels = { "engine", "kind" } };
	metrics_add(metrics, "emitted", "Entries that were emitted.",
	            known(figures.emitted));
	metrics_add(metrics, "used", "Entries that were used.",
	            known(figures.used));
	metrics_add(metrics, "compiled", "Entries that were compiled anew.",
	            known(figures.compiled));
	metrics_add(metrics, "pushed", "Entries that were pushed.",
	            (double)figures.pushed);
	metrics_add(metrics, "left_out", "Entries that the last push left out.",
	            (double)figures.left_out);
	metrics_add(metrics, "gone_blobs", "Blobs that are not there any more.",
	            known(figures.gone));
	metrics_add(metrics, "delay_seconds",
	            "How much later the command was started.",
	            (double)run->delay_ms / 1000);
	metrics_add(metrics, "ready_seconds",
	            "How long the command took to be ready.",
	            known(figures.ready_ms) / 1000);
	metrics_add(metrics, "saved_seconds",
	            "How long the entries used took to compile.",
	            known(figures.saved_ms) / 1000);
	metrics_add_end(metrics, is_good(run),
	                deadline_now_ms() - run->start_ms);
	if (run->shared->counts.is_made)
		name_kinds(&run->shared->counts, metrics);
}

void run_figures_measure(void *self)
{
	struct run *const run = self;
	struct tkb_error err = { .status = 0 };
	TKB_AUTO(metrics_release) struct metrics metrics = { .count = 0 };

	run_figures_name(run, &metrics);
	if (metrics_write(&metrics, run->args->metrics, &err) == 0)
		err.message[0] = '\0';
	(void)snprintf(run->shared->metrics_error,
	               sizeof(run->shared->metrics_error), "%s", err.message);
}

void run_figures_renew(void *self)
{
	const struct run *const run = self;

	/* Use one thread: leave the cores to the command. */
	(void)setpriority(PRIO_PROCESS, 0, NICENESS);
	if (run->shared->plan.has_root)
		run_count(self);
	if (run->args->metrics != NULL)
		run_figures_measure(self);
}
