/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/remote_use.h"
#include "config/root.h"
#include "cli/counts.h"
#include "cli/metrics.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "starts/fleet.h"
#include "starts/starts_read.h"

#define ROW_LIMIT 10   /* rows of a printed table */
#define REASON_LIMIT 3 /* likewise */

static const struct option_spec options[] = {
	ARGS_REMOTE,
	ARGS_DEADLINE,
	ARGS_METRICS,
	ARGS_JSON,
};

static const struct count counts[] = {
	COUNT_AND_METRIC(fleet, starts, "starts", NULL, "starts",
	                 "Starts that left a report."),
	COUNT(fleet, unread, "unread", NULL),
	COUNT_AND_METRIC(fleet, cold, "cold", NULL, "cold_starts",
	                 "Starts that compiled something, or failed."),
	COUNT_AND_METRIC(fleet, failed, "failed", NULL, "failed_starts",
	                 "Starts in which a pull or push failed."),
	COUNT_AND_METRIC(fleet, first, "first", NULL, "first_starts",
	                 "Cold starts before anything was published."),
	COUNT_AND_METRIC(fleet, emitted, "emitted", NULL, "emitted",
	                 "Entries that were emitted."),
	COUNT_AND_METRIC(fleet, used, "used", NULL, "used",
	                 "Entries that were used."),
	COUNT_AND_METRIC(fleet, compiled, "compiled", NULL, "compiled",
	                 "Entries that were compiled anew."),
};

/* The refs that have reports. */
struct refs {
	char **names; /* owned, and each of them */
	size_t count;
};

static void refs_release(struct refs *refs)
{
	for (size_t i = 0; i < refs->count; i++)
		free(refs->names[i]);
	free(refs->names);
}

static int add_ref(void *self, const char *ref, struct tkb_error *err)
{
	struct refs *const refs = self;
	char **const names =
		table_grow(refs->names, refs->count, sizeof(*names));

	if (names == NULL)
		return cli_error_nomem(err);
	refs->names = names;
	names[refs->count] = strdup(ref);
	if (names[refs->count] == NULL)
		return cli_error_nomem(err);
	refs->count++;
	return 0;
}

static void on_start(void *self, const struct json_t *report, uint64_t age_s)
{
	fleet_add(self, report, age_s);
}

static double share_of(const struct fleet *fleet, uint64_t count)
{
	return fleet->compiled > 0
	               ? 100 * (double)count / (double)fleet->compiled
	               : 0;
}

static void put_rows(struct json_out *json, const char *name,
                     const struct fleet_rows *rows, bool is_idle)
{
	json_out_open_array(json, name);
	for (size_t i = 0; i < rows->count; i++) {
		const struct fleet_row *const row = &rows->items[i];

		json_out_open_object(json, NULL);
		json_out_text(json, is_idle ? "key" : "name", row->name);
		json_out_number(json, "starts", row->starts);
		if (!is_idle) {
			json_out_number(json, "cold", row->cold);
			json_out_number(json, "compiled", row->compiled);
		}
		json_out_number(json, "age", row->newest_s);
		json_out_close(json);
	}
	json_out_close(json);
}

static void put_reasons(struct json_out *json, const struct fleet *fleet)
{
	json_out_open_array(json, "reasons");
	for (size_t i = 0; i < REASON_COUNT; i++) {
		const enum reason reason = fleet->order[i];

		if (fleet->reasons[reason].compiled == 0)
			break;
		json_out_open_object(json, NULL);
		json_out_text(json, "reason", reason_word(reason));
		json_out_text(json, "text", reason_text(reason));
		json_out_number(json, "compiled",
		                fleet->reasons[reason].compiled);
		json_out_number(json, "starts", fleet->reasons[reason].starts);
		json_out_close(json);
	}
	json_out_close(json);
}

static void fill_fleet_json(struct json_out *json, const char *ref,
                            const struct fleet *fleet)
{
	json_out_open_object(json, NULL);
	json_out_text(json, "ref", ref);
	counts_json(COUNTS(counts), fleet, json);
	json_out_real(json, "saved_seconds", (double)fleet->saved_ms / 1000);
	json_out_real(json, "delay_seconds", (double)fleet->delay_ms / 1000);
	json_out_number(json, "oldest", fleet->oldest_s);
	put_reasons(json, fleet);
	put_rows(json, "nodes", &fleet->nodes, false);
	put_rows(json, "kernels", &fleet->kernels, false);
	put_rows(json, "idle", &fleet->idle, true);
	json_out_close(json);
}

static void print_nodes(FILE *to, const struct fleet_rows *nodes)
{
	text_line(to, "starts  cold  compiled  newest  node");
	for (size_t i = 0; i < nodes->count && i < ROW_LIMIT; i++) {
		const struct fleet_row *const row = &nodes->items[i];
		char age[TEXT_AGE_SIZE];

		text_age(row->newest_s, age);
		text_line(
			to, "%6" PRIu64 "  %4" PRIu64 "  %8" PRIu64 "  %6s  %s",
			row->starts, row->cold, row->compiled, age, row->name);
	}
	if (nodes->count > ROW_LIMIT)
		text_line(to, "and %zu more", nodes->count - ROW_LIMIT);
}

static void print_kernels(FILE *to, const struct fleet *fleet)
{
	const struct fleet_rows *const kernels = &fleet->kernels;
	const struct fleet_rows *const idle = &fleet->idle;

	if (kernels->count > 0)
		text_line(to, "compiled  starts  kernel");
	for (size_t i = 0; i < kernels->count && i < ROW_LIMIT; i++)
		text_line(to, "%8" PRIu64 "  %6" PRIu64 "  %s: %s",
		          kernels->items[i].compiled, kernels->items[i].starts,
		          kernels->items[i].name,
		          reason_text(kernels->items[i].reason));
	if (kernels->count > ROW_LIMIT)
		text_line(to, "and %zu more", kernels->count - ROW_LIMIT);
	if (idle->count > 0)
		text_line(to, "starts  emitted and not used");
	for (size_t i = 0; i < idle->count && i < ROW_LIMIT; i++)
		text_line(to, "%6" PRIu64 "  %s", idle->items[i].starts,
		          idle->items[i].name);
	if (idle->count > ROW_LIMIT)
		text_line(to, "and %zu more", idle->count - ROW_LIMIT);
}

static void print_fleet(FILE *to, const char *ref, const struct fleet *fleet)
{
	char age[TEXT_AGE_SIZE];
	char first[64] = "";

	text_age(fleet->oldest_s, age);
	if (fleet->first > 0)
		(void)snprintf(first, sizeof(first),
		               " (%" PRIu64 " with nothing published yet)",
		               fleet->first);
	text_line(to,
	          "%s: %" PRIu64 " %s in %s, %" PRIu64
	          " cold%s; compiled anew %" PRIu64 ", emitted %" PRIu64
	          ", used %" PRIu64 ", saved about %" PRIu64 " s of compiling",
	          ref, fleet->starts,
	          text_plural(fleet->starts, "start", "starts"), age,
	          fleet->cold, first, fleet->compiled, fleet->emitted,
	          fleet->used, (fleet->saved_ms + 500) / 1000);
	if (fleet->unread > 0)
		text_line(
			to,
			"%" PRIu64 " %s not read: malformed, or written by a "
			"newer tkbundle",
			fleet->unread,
			text_plural(fleet->unread, "report is", "reports are"));
	for (size_t i = 0; i < REASON_LIMIT; i++) {
		const enum reason reason = fleet->order[i];
		const uint64_t count = fleet->reasons[reason].compiled;

		if (count == 0)
			break;
		text_line(to, "%5.0f%%  %6" PRIu64 "  %s (%s)",
		          share_of(fleet, count), count, reason_text(reason),
		          reason_word(reason));
	}
	print_nodes(to, &fleet->nodes);
	print_kernels(to, fleet);
}

static void measure_fleet(struct metrics *metrics, const char *ref,
                          const struct fleet *fleet)
{
	const size_t first = metrics->count;

	counts_metrics(COUNTS(counts), fleet, metrics);
	for (size_t i = first; i < metrics->count; i++)
		metrics->items[i].labels[0] = ref;
	metrics_add_labelled(metrics, "saved_seconds",
	                     "How long what was used took, when compiled.",
	                     (double)fleet->saved_ms / 1000, ref, NULL);
	metrics_add_labelled(metrics, "idle",
	                     "Keys that were emitted and never used.",
	                     (double)fleet->idle.count, ref, NULL);
	for (size_t i = 0; i < REASON_COUNT; i++) {
		const enum reason reason = fleet->order[i];

		if (fleet->reasons[reason].compiled != 0)
			metrics_add_labelled(
				metrics, "reason_compiled",
				"Entries that were compiled anew for a reason.",
				(double)fleet->reasons[reason].compiled, ref,
				reason_word(reason));
	}
}

/* Metrics with the same name must follow each other in the file. */
static int compare_metrics(const void *a, const void *b)
{
	const struct metric *const left = a;
	const struct metric *const right = b;
	const int order = strcmp(left->name, right->name);

	return order != 0 ? order : strcmp(left->labels[0], right->labels[0]);
}

static int survey(struct remote_use *use, const struct arguments *args,
                  const char *ref, struct metrics *metrics,
                  struct tkb_error *err)
{
	TKB_AUTO(fleet_release) struct fleet fleet = { .starts = 0 };
	const struct starts_visitor visitor = { on_start, &fleet };
	int rc;

	if (deadline_is_cancelled(&use->deadline))
		return cli_error(err, TKB_ERR_CANCELLED, "cancelled");
	remote_use_wait(use);
	rc = starts_read(use, ref, &visitor, err);
	remote_use_waited(use);
	if (rc != 0)
		return rc;
	if (fleet.is_failed)
		return cli_error_nomem(err);
	fleet_sort(&fleet);
	fill_fleet_json(&use->cli->json, ref, &fleet);
	if (!args->is_json)
		print_fleet(use->cli->out, ref, &fleet);
	measure_fleet(metrics, ref, &fleet);
	return 0;
}

static int survey_all(struct remote_use *use, const struct arguments *args,
                      struct refs *refs, struct metrics *metrics,
                      struct tkb_error *err)
{
	const struct tkb_ref_visitor visitor = { add_ref, refs };
	int rc = 0;

	if (use->ref[0] != '\0')
		rc = add_ref(refs, use->ref, err);
	else {
		remote_use_wait(use);
		rc = use->library.starts_refs(use->remote, &visitor, err);
		remote_use_waited(use);
	}
	for (size_t i = 0; i < refs->count && rc == 0; i++) {
		rc = survey(use, args, refs->names[i], metrics, err);
		if (rc == TKB_MISS && use->ref[0] == '\0')
			rc = 0; /* all reports are too old */
	}
	return rc;
}

static enum status summarize_starts(struct remote_use *use,
                                    const struct arguments *args,
                                    struct metrics *metrics, struct refs *refs)
{
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	struct tkb_error err = { .status = 0 };
	enum status status = STATUS_DONE;
	int rc;

	if (args_operand(args, 0) != NULL &&
	    root_choose(NULL, &root, &err) == 0)
		status = remote_use_ref(use, args_operand(args, 0), root.path);
	if (status != STATUS_DONE)
		return status;
	remote_use_json(use);
	json_out_open_array(&use->cli->json, "refs");
	rc = survey_all(use, args, refs, metrics, &err);
	json_out_close(&use->cli->json);
	if (rc == TKB_MISS)
		(void)cli_error(&err, TKB_MISS,
		                "ref '%s' has no report of a start", use->ref);
	if (rc != 0)
		return remote_use_failed(use, rc, &err, "the remote");
	if (metrics->count == 0)
		cli_print(use->cli, "no start has left a report");
	if (metrics->count > 1)
		qsort(metrics->items, metrics->count, sizeof(metrics->items[0]),
		      compare_metrics);
	return STATUS_DONE;
}

static enum status cmd_fleet(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(remote_use_end) struct remote_use use = { .cli = cli };
	TKB_AUTO(refs_release) struct refs refs = { .count = 0 };
	TKB_AUTO(metrics_release)
	struct metrics metrics = { .verb = "fleet",
		                   .labels = { "ref", "reason" } };
	enum status status = remote_use_begin(&use, args, false);

	if (status != STATUS_DONE)
		return status;
	signals_catch();
	status = summarize_starts(&use, args, &metrics, &refs);
	return remote_use_measure(&use, args, &metrics, status);
}

const struct command command_fleet = {
	.name = "fleet",
	.operands = { "REF" },
	.summary = "show how warm the starts of a fleet were, and why not",
	.details = "Adds up the reports that run leaves in the remote: how "
		   "many starts were cold, why most kernels were compiled "
		   "anew, by node and by kernel, what was emitted and never "
		   "used, and how much compiling was saved. Without REF, it "
		   "does so for each ref that has reports. The last 1,000 "
		   "reports of a ref count, for 30 days.",
	COMMAND_OPTIONS(options),
	.run = cmd_fleet,
};
