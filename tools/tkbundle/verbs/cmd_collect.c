/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <errno.h>
#include <unistd.h>

#include "report/collect_out.h"
#include "cli/counts.h"
#include "cli/follow.h"
#include "cli/output.h"
#include "cli/text.h"
#include "config/choices.h"
#include "config/engine_version.h"
#include "config/root.h"

static const struct option_spec options[] = {
	ARGS_BUNDLE,
	ARGS_ENGINES,
	ARGS_TREES,
	ARGS_KEYS,
	ARGS_DEVICE,
	ARGS_PROFILE,
	ARGS_NO_MODULES,
	{ OPTION(SWITCH, "strip-locations", NULL, strips_locations,
	         "remove source file names from IR, PTX and cubins") },
	ARGS_SETTLE,
	ARGS_STRICT("write nothing if an entry would be left out"),
	ARGS_JOBS,
	ARGS_JSON,
	ARGS_DRY_RUN("check everything, write nothing"),
	ARGS_VERBOSE("say which version of an engine is installed"),
};

/* Not for import: all entries of an archive were moved. */
static const struct count counts[] = {
	COUNT(tkb_collect_report, moved_count, "moved", "moved"),
};

/* Report success only after the whole bundle was written. */
static int to_stdout(struct cli *cli, const char *root,
                     const struct tkb_collect_options *chosen,
                     struct tkb_collect_report *report, struct tkb_error *err)
{
	const struct tkb_sink out = cli_sink(cli);
	const int rc = tkb_collect(root, chosen, &out, report, err);
	const int flushed = cli_is_done(rc) ? cli_flush(cli, err) : 0;

	return flushed < 0 ? flushed : rc;
}

static int collect_to_output(struct cli *cli, const struct arguments *args,
                             const struct root *root,
                             struct tkb_collect_report *report,
                             struct tkb_error *err)
{
	struct tkb_collect_options chosen = choices_for_collect(args, root);
	struct follow follow;
	int rc;

	chosen.watch = follow_begin(&follow, cli, "left_out", FOLLOW_BAD);

	if (args->is_dry_run)
		rc = tkb_collect(root->path, &chosen, NULL, report, err);
	else if (output_is_stdout(args))
		rc = to_stdout(cli, root->path, &chosen, report, err);
	else
		rc = tkb_collect_to_file(root->path, &chosen, args->output,
		                         report, err);

	follow_end(&follow);
	return cli_missed(err, follow_missed(&follow, rc, err), "folder",
	                  root->path);
}

/*
 * Look for the folders that --tree names. An engine has not made all of its
 * own, but these are what the user asks for.
 *
 * @return 0, or TKB_MISS
 */
static int check_trees(const struct arguments *args, const struct trees *trees,
                       struct tkb_error *err)
{
	for (size_t i = trees->count - args->trees.count; i < trees->count;
	     i++) {
		const char *const path = trees->items[i].path;

		if (access(path, F_OK) < 0 &&
		    (errno == ENOENT || errno == ENOTDIR))
			return cli_missed(err, TKB_MISS, "folder", path);
	}
	return 0;
}

static void summarize_collect(const struct cli *cli,
                              const struct arguments *args,
                              const struct tkb_collect_report *report)
{
	char moved[64];

	counts_words(COUNTS(counts), report, moved, sizeof(moved));
	collect_out_summarize(
		cli, args, report,
		&(struct collect_words){ "collect", "collected", moved });
}

static enum status cmd_collect(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { .status = 0 };
	enum status status = collect_out_check(cli, args);
	int rc;

	if (status != STATUS_DONE || cli_is_disabled(cli))
		return status;

	rc = root_choose_all(args, args_operand(args, 0), &root, &err);
	if (rc == 0)
		rc = check_trees(args, &root.trees, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, "~");

	root_say_others(cli, &root);
	engine_version_say(cli, args, root.trees.engines);
	json_out_text(&cli->json, "root", root_name(&root));
	json_out_text(&cli->json, "bundle", text_or_empty(args->output));
	json_out_text(&cli->json, "profile",
	              args->profile.value == TKB_PROFILE_LEAN ? "lean"
	                                                      : "full");
	json_out_flag(&cli->json, "dry_run", args->is_dry_run);

	rc = collect_to_output(cli, args, &root, &report, &err);
	if (rc == TKB_ERR_LEFT_OUT)
		json_out_number(&cli->json, "left_out_count",
		                report.left_out_count);
	if (!cli_is_done(rc))
		return cli_failed(cli, rc, &err, root_name(&root));

	json_out_text(&cli->json, "layout",
	              report.is_inductor ? "inductor" : "triton");
	collect_out_json(&report, &cli->json);
	counts_json(COUNTS(counts), &report, &cli->json);
	if (!args->is_json)
		summarize_collect(cli, args, &report);
	return status_of(rc);
}

const struct command command_collect = {
	.name = "collect",
	.operands = { "CACHE_ROOT" },
	.summary = "pack a cache into a bundle",
	.details = "CACHE_ROOT is a Triton cache root or an Inductor cache "
		   "folder. By default it is $TRITON_CACHE_DIR, "
		   "$TORCHINDUCTOR_CACHE_DIR, $TRITON_HOME/.triton/cache or "
		   "~/.triton/cache: the first that is set. An entry is packed "
		   "whole or left out with a reason; then the exit status is "
		   "4. Nothing in the cache is changed.",
	COMMAND_OPTIONS(options),
	.run = cmd_collect,
};
