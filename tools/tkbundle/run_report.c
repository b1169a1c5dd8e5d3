/* SPDX-License-Identifier: Apache-2.0 */
#include "run_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "deadline.h"
#include "metrics.h"
#include "run_command.h"

#define NUMBER_SIZE 24
#define REASONS_SIZE 2048
#define PARTIAL 4 /* an exit status */

__attribute__((format(printf, 2, 3))) static void add(char *reasons,
                                                      const char *format, ...)
{
	const size_t length = strlen(reasons);
	va_list values;

	va_start(values, format);
	(void)vsnprintf(reasons + length, REASONS_SIZE - length, format,
	                values);
	va_end(values);
}

/* "2 s" */
static void show_time(uint64_t time_ms, char out[NUMBER_SIZE])
{
	if (time_ms % 1000 == 0)
		(void)snprintf(out, NUMBER_SIZE, "%" PRIu64 " s",
		               time_ms / 1000);
	else
		(void)snprintf(out, NUMBER_SIZE, "%" PRIu64 " ms", time_ms);
}

static void show_count(bool is_known, uint64_t count, char out[NUMBER_SIZE])
{
	(void)snprintf(out, NUMBER_SIZE, "unknown");
	if (is_known)
		(void)snprintf(out, NUMBER_SIZE, "%" PRIu64, count);
}

/* It had so long: until we no longer waited, or until it was told to end. */
static void show_limit(const struct run *run, char out[NUMBER_SIZE])
{
	const struct run_plan *const plan = &run->shared->plan;
	const struct run_child *const pull = &run->children[RUN_PULL];
	const bool is_over = pull->is_told &&
	                     pull->told_ms - run->start_ms >= plan->deadline_ms;

	show_time(is_over ? plan->deadline_ms : plan->wait_ms, out);
}

static void add_pull(const struct run *run, char *reasons)
{
	const struct run_child *const pull = &run->children[RUN_PULL];
	char reason[RUN_REASON_SIZE];
	char limit[NUMBER_SIZE];
	int status = 0;

	if (!pull->has_begun)
		return;

	/* It is loud wherever it is. */
	if (run_child_line(pull, ": verify=false:", reason))
		add(reasons, "; %s", reason);

	show_limit(run, limit);
	if (pull->pid == 0 && !pull->is_told &&
	    (!run_child_has_exited(pull, &status) || status != 0)) {
		run_child_reason(pull, reason);
		add(reasons, "; pull: %s", reason);
	} else if (pull->pid != 0 || pull->is_told || run->is_late) {
		add(reasons, "; pull: not done after %s", limit);
	}
}

static void add_root(const struct run *run, char *reasons)
{
	const char *const elsewhere = run_command_elsewhere(run);

	if (run->shared->plan.message[0] != '\0')
		add(reasons, "; cache: %s", run->shared->plan.message);
	if (elsewhere != NULL)
		add(reasons, "; cache: %s names '%s', not '%s'", elsewhere,
		    getenv(elsewhere), run->shared->plan.root);
}

/*
 * How many entries we put there. What a pull did that prints no document is
 * not known.
 */
static bool count_emitted(const struct run *run, uint64_t *out)
{
	const struct run_child *const pull = &run->children[RUN_PULL];
	uint64_t repaired = 0;
	int status;

	*out = 0;
	if (!pull->has_begun || pull->error != 0)
		return true;
	if (run_child_number(pull, "emitted", out) &&
	    run_child_number(pull, "repaired", &repaired)) {
		*out += repaired;
		return true;
	}
	/* It found nothing, or got nowhere. */
	return run_child_has_exited(pull, &status);
}

void run_report_push(struct run *run)
{
	struct run_child *const push = &run->children[RUN_PUSH];
	uint64_t count = 0;
	char limit[NUMBER_SIZE];
	int status = 0;

	run->has_push_reason = false;
	if (!push->has_begun)
		return;
	if (run_child_number(push, "pushed", &count))
		run->pushed_count += count;
	if (run_child_has_exited(push, &status) && status == 0)
		return;

	/* What is being compiled is left out: the last push takes it. */
	run->is_dirty = true;
	if (run_child_has_exited(push, &status) && status == PARTIAL)
		return;

	run->has_push_reason = true;
	if (push->pid != 0 || push->is_told) {
		/* It was given what was left of the deadline. */
		show_time((push->told_ms - push->begin_ms + 50) / 100 * 100,
		          limit);
		(void)snprintf(run->push_reason, sizeof(run->push_reason),
		               "not done after %s", limit);
	} else {
		run_child_reason(push, run->push_reason);
	}
}

/* Have pull and push done what they were to do? */
static bool is_good(const struct run *run)
{
	int status = 0;

	return run_child_has_exited(&run->children[RUN_PULL], &status) &&
	       status == 0 && !run->has_push_reason && !run->is_late;
}

void run_report_measure(void *self)
{
	struct run *const run = self;
	const struct run_counts *const counts = &run->shared->counts;
	struct metrics metrics = { .verb = "run",
		                   .label = run->args->ref != NULL ? "ref"
		                                                   : NULL,
		                   .label_value = run->args->ref };
	struct tkb_error err = { .status = 0 };
	uint64_t emitted = 0;

	if (count_emitted(run, &emitted))
		metrics_add(&metrics, "emitted", "Entries that were emitted.",
		            (double)emitted);
	if (counts->is_made && counts->is_known)
		metrics_add(&metrics, "used", "Entries that were used.",
		            (double)counts->used);
	if (counts->is_made)
		metrics_add(&metrics, "compiled",
		            "Entries that were compiled anew.",
		            (double)counts->compiled);
	metrics_add(&metrics, "pushed", "Entries that were pushed.",
	            (double)run->pushed_count);
	metrics_add(&metrics, "delay_seconds",
	            "How much later the command was started.",
	            (double)run->delay_ms / 1000);
	metrics_add_end(&metrics, is_good(run),
	                deadline_now_ms() - run->start_ms);
	if (metrics_write(&metrics, run->args->metrics, &err) == 0)
		err.message[0] = '\0';
	(void)snprintf(run->shared->metrics_error,
	               sizeof(run->shared->metrics_error), "%s", err.message);
}

void run_report_print(const struct run *run)
{
	const struct run_counts *const counts = &run->shared->counts;
	char reasons[REASONS_SIZE] = "";
	char emitted[NUMBER_SIZE];
	char used[NUMBER_SIZE];
	char compiled[NUMBER_SIZE];
	uint64_t count = 0;
	bool is_known = count_emitted(run, &count);

	show_count(is_known, count, emitted);
	show_count(counts->is_made && counts->is_known, counts->used, used);
	show_count(counts->is_made, counts->compiled, compiled);
	add_root(run, reasons);
	add_pull(run, reasons);
	if (run->has_push_reason)
		add(reasons, "; push: %s", run->push_reason);
	if (run->shared->metrics_error[0] != '\0')
		add(reasons, "; metrics: %s", run->shared->metrics_error);
	cli_say(run->cli,
	        "emitted %s, used %s, compiled anew %s, pushed %" PRIu64 "%s",
	        emitted, used, compiled, run->pushed_count, reasons);
}
