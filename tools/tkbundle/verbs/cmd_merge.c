/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/entry_out.h"
#include "cli/cli.h"
#include "cli/counts.h"
#include "cli/follow.h"
#include "cli/output.h"
#include "report/source.h"
#include "cli/text.h"

static const struct option_spec options[] = {
	ARGS_BUNDLE,
	ARGS_JSON,
};

static const struct count counts[] = {
	COUNT(tkb_merge_report, entry_count, "entry_count", NULL),
	COUNT(tkb_merge_report, launcher_count, "launcher_count", "launchers"),
	COUNT(tkb_merge_report, skipped_count, "skipped", "skipped"),
	COUNT(tkb_merge_report, frame_count, "frames", NULL),
	COUNT(tkb_merge_report, unused_size, "unused_size", NULL),
	COUNT(tkb_merge_report, size, "size", NULL),
	COUNT(tkb_merge_report, bundle_size, "bundle_size", NULL),
};

/* The bundles to merge. */
struct inputs {
	struct tkb_bundle **items; /* owned, and so is each */
	size_t count;
};

static void inputs_close(struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++)
		tkb_bundle_close(inputs->items[i]);
	free(inputs->items);
}

static enum status check_inputs(const struct cli *cli,
                                const struct arguments *args)
{
	size_t from_stdin = 0;

	for (size_t i = 0; i < args->operands.count; i++)
		from_stdin += strcmp(args->operands.items[i], "-") == 0;
	if (from_stdin > 1)
		return cli_misused(cli, "standard input is one bundle only");
	if (args->output == NULL)
		return cli_misused(cli, "'-o FILE' is missing");
	return output_check(cli, args);
}

static enum status open_inputs(struct cli *cli, const struct arguments *args,
                               struct inputs *out)
{
	struct tkb_error err = { .status = 0 };

	out->items =
		calloc(args->operands.count + 1, sizeof(struct tkb_bundle *));
	if (out->items == NULL)
		return cli_no_memory(cli);
	while (out->count < args->operands.count) {
		const char *const path = args->operands.items[out->count];
		const int rc =
			source_open_bundle(path, &out->items[out->count], &err);

		if (rc != 0)
			return cli_failed(cli, rc, &err, path);
		out->count++;
	}
	return STATUS_DONE;
}

static int merge_inputs(struct cli *cli, const struct arguments *args,
                        const struct inputs *inputs,
                        struct tkb_merge_report *report, struct tkb_error *err)
{
	const struct tkb_bundle *const *const bundles =
		(const struct tkb_bundle *const *)inputs->items;
	const struct tkb_sink out = cli_sink(cli);
	struct tkb_merge_options chosen = { .struct_size = sizeof(chosen) };
	struct follow follow;
	int rc;

	chosen.watch = follow_begin(&follow, cli, "entries", FOLLOW_ALL);
	if (output_is_stdout(args))
		rc = tkb_merge(bundles, inputs->count, &chosen, &out, report,
		               err);
	else
		rc = tkb_merge_to_file(bundles, inputs->count, &chosen,
		                       args->output, report, err);
	follow_end(&follow);
	return rc == 0 && output_is_stdout(args) ? cli_flush(cli, err) : rc;
}

static void summarize_merge(const struct cli *cli, const struct arguments *args,
                            const struct tkb_merge_report *report)
{
	FILE *const to = output_log(cli, args);
	char size[TEXT_SIZE_SIZE];
	char unused[TEXT_SIZE_SIZE];
	char rest[96];

	text_size(report->bundle_size, size);
	text_size(report->unused_size, unused);
	counts_words(COUNTS(counts), report, rest, sizeof(rest));
	text_line(to,
	          "merged %zu %s into %s: %" PRIu64 " %s in %" PRIu64
	          " %s (%s)%s%s%s",
	          args->operands.count,
	          text_plural(args->operands.count, "bundle", "bundles"),
	          output_name(args), report->entry_count,
	          text_plural(report->entry_count, "entry", "entries"),
	          report->frame_count,
	          text_plural(report->frame_count, "frame", "frames"), size,
	          rest, report->unused_size != 0 ? ", unused " : "",
	          report->unused_size != 0 ? unused : "");
}

static enum status cmd_merge(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(inputs_close) struct inputs inputs = { .count = 0 };
	struct tkb_merge_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { .status = 0 };
	enum status status = check_inputs(cli, args);
	int rc;

	if (status != STATUS_DONE)
		return status;
	json_out_text(&cli->json, "bundle", args->output);
	json_out_open_array(&cli->json, "inputs");
	for (size_t i = 0; i < args->operands.count; i++)
		json_out_text(&cli->json, NULL, args->operands.items[i]);
	json_out_close(&cli->json);

	status = open_inputs(cli, args, &inputs);
	if (status != STATUS_DONE)
		return status;
	rc = merge_inputs(cli, args, &inputs, &report, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, args->output);
	entry_out_digest(&cli->json, "id", &report.id);
	counts_json(COUNTS(counts), &report, &cli->json);
	if (!args->is_json)
		summarize_merge(cli, args, &report);
	return STATUS_DONE;
}

const struct command command_merge = {
	.name = "merge",
	.operands = { "BUNDLE" },
	.required_operands = 1,
	.repeats_operand = true,
	.summary = "combine several bundles into one",
	.details =
		"The result has all their entries and launchers. Frames are "
		"copied; nothing is packed again. If several bundles have an "
		"entry for the same GPU, the first one's is used. Bytes of "
		"a copied frame that nothing uses are reported as unused. FILE "
		"may be one of the bundles; '-' is a bundle on standard input.",
	COMMAND_OPTIONS(options),
	.run = cmd_merge,
};
