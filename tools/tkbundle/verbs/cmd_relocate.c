/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <inttypes.h>

#include "cli/counts.h"
#include "cli/follow.h"
#include "config/root.h"
#include "cli/text.h"

static const struct option_spec options[] = {
	ARGS_ENGINES,
	ARGS_TREES,
	ARGS_DEADLINE,
	ARGS_JSON,
	ARGS_DRY_RUN("check everything, write nothing"),
};

static const struct count counts[] = {
	COUNT(tkb_relocate_report, relocated_count, "relocated", NULL),
	COUNT(tkb_relocate_report, present_count, "present", NULL),
	COUNT(tkb_relocate_report, left_out_count, "left_out", "left out"),
	COUNT(tkb_relocate_report, failed_count, "failed", "failed"),
};

static int relocate_cache(struct cli *cli, const struct arguments *args,
                          const struct root *root,
                          struct tkb_relocate_report *report,
                          struct tkb_error *err)
{
	struct tkb_relocate_options chosen = {
		.struct_size = sizeof(chosen),
		.is_dry_run = args->is_dry_run,
		.deadline_ms = (uint32_t)args->deadline.value,
		.trees = root->trees.items,
		.tree_count = root->trees.count,
	};
	struct follow follow;
	int rc;

	chosen.watch = follow_begin(&follow, cli, "entries", FOLLOW_ALL);
	rc = tkb_relocate(root->path, &chosen, report, err);
	follow_end(&follow);
	return cli_missed(err, rc, "folder", root_name(root));
}

static void summarize_relocate(const struct cli *cli,
                               const struct arguments *args,
                               const struct root *root,
                               const struct tkb_relocate_report *report)
{
	char rest[96];

	counts_words(COUNTS(counts), report, rest, sizeof(rest));
	text_line(cli->out,
	          "%srelocated %" PRIu64 ", present %" PRIu64 "%s in %s%s",
	          args->is_dry_run ? "would have " : "",
	          report->relocated_count, report->present_count, rest,
	          root_name(root),
	          root_layout_words(root, report->is_inductor));
}

static enum status cmd_relocate(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	struct tkb_relocate_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { .status = 0 };
	int rc;

	if (cli_is_disabled(cli))
		return STATUS_DONE;

	rc = root_choose_all(args, args_operand(args, 0), &root, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, "~");

	json_out_text(&cli->json, "root", root_name(&root));
	json_out_flag(&cli->json, "dry_run", args->is_dry_run);

	rc = relocate_cache(cli, args, &root, &report, &err);
	if (!cli_is_done(rc))
		return cli_failed(cli, rc, &err, root_name(&root));

	json_out_text(&cli->json, "layout",
	              report.is_inductor ? "inductor" : "triton");
	counts_json(COUNTS(counts), &report, &cli->json);
	if (!args->is_json)
		summarize_relocate(cli, args, &root, &report);
	return status_of(rc);
}

const struct command command_relocate = {
	.name = "relocate",
	.operands = { "CACHE_ROOT" },
	.summary = "make a moved cache work at its new path",
	.details = "A compiler compiles each kernel of a moved cache again. "
		   "This rewrites the group file of each entry with the path "
		   "CACHE_ROOT as given: give the compiler the same path. By "
		   "default it is the one that "
		   "collect uses. Files in the trees of --engine and --tree "
		   "are rewritten, too. Incomplete entries are left out; then "
		   "the exit status is 4.",
	COMMAND_OPTIONS(options),
	.run = cmd_relocate,
};
