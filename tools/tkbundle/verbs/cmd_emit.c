/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <inttypes.h>

#include "cli/counts.h"
#include "cli/follow.h"
#include "config/choices.h"
#include "report/launcher_out.h"
#include "config/root.h"
#include "report/source.h"
#include "cli/text.h"

static const struct option_spec options[] = {
	ARGS_ENGINES,
	ARGS_TREES,
	ARGS_KEYS,
	ARGS_DEVICES,
	ARGS_TARGETS,
	ARGS_LAYOUT,
	ARGS_SYNC,
	ARGS_DEADLINE,
	ARGS_JOBS,
	ARGS_JSON,
	ARGS_DRY_RUN("inspect the cache, write nothing"),
};

static const struct count counts[] = {
	COUNT(tkb_emit_report, emitted_count, "emitted", NULL),
	COUNT(tkb_emit_report, present_count, "present", NULL),
	COUNT(tkb_emit_report, repaired_count, "repaired", NULL),
	COUNT(tkb_emit_report, skipped_count, "skipped", "skipped"),
	COUNT(tkb_emit_report, busy_count, "busy", "busy"),
	COUNT(tkb_emit_report, failed_count, "failed", "failed"),
	COUNT(tkb_emit_report, damaged_count, "damaged", "damaged"),
	COUNT(tkb_emit_report, unsafe_count, "unsafe", "unsafe"),
	COUNT(tkb_emit_report, size, "size", NULL),
};

static const struct count counts_of_launchers[] = {
	COUNT(launcher_counts, ready, NULL, "launchers"),
	COUNT(launcher_counts, dropped, NULL, "dropped launchers"),
};

static int emit_bundle(struct cli *cli, const struct arguments *args,
                       const struct tkb_bundle *bundle, const struct root *root,
                       struct tkb_emit_report *report, struct tkb_error *err)
{
	struct tkb_emit_options chosen = choices_for_emit(args, root);
	struct follow follow;
	int rc;

	chosen.deadline_ms = (uint32_t)args->deadline.value;
	chosen.watch = follow_begin(&follow, cli, "entries", FOLLOW_ALL);
	rc = tkb_emit(bundle, root->path, &chosen, report, err);
	follow_end(&follow);
	return follow_missed(&follow, rc, err);
}

static void summarize_emit(const struct cli *cli, const struct arguments *args,
                           const struct root *root,
                           const struct tkb_emit_report *report,
                           const struct launcher_counts *launchers)
{
	char rest[160];
	char launchers_rest[96];

	counts_words(COUNTS(counts), report, rest, sizeof(rest));
	counts_words(COUNTS(counts_of_launchers), launchers, launchers_rest,
	             sizeof(launchers_rest));
	text_line(cli->out,
	          "%semitted %" PRIu64 ", present %" PRIu64
	          ", repaired %" PRIu64 "%s%s to %s%s",
	          args->is_dry_run ? "would have " : "", report->emitted_count,
	          report->present_count, report->repaired_count, rest,
	          launchers_rest, root_name(root),
	          root_layout_words(root, report->is_inductor));
}

static enum status status_of_emit(int rc, const struct tkb_emit_report *report,
                                  const struct launcher_counts *launchers)
{
	enum status status = status_of(rc);

	if (report->damaged_count > 0 || report->unsafe_count > 0 ||
	    launchers->damaged > 0)
		status = status_merge(status, STATUS_UNTRUSTED);
	return status;
}

static enum status cmd_emit(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	TKB_AUTO(source_close_bundle) struct tkb_bundle *bundle = NULL;
	const char *const path = args_operand(args, 0);
	struct launcher_counts launchers = { .ready = 0 };
	struct tkb_emit_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { .status = 0 };
	enum status status;
	int launchers_rc = 0;
	int rc;

	/* A folder of keys has no GPUs. */
	status = cli_exclude(cli, args->devices.count > 0, "--device",
	                     args->layout.value == TKB_LAYOUT_TRITON,
	                     "--layout triton");
	if (status != STATUS_DONE || cli_is_disabled(cli))
		return status;

	rc = root_choose_all(args, args_operand(args, 1), &root, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, "~");

	json_out_text(&cli->json, "bundle", path);
	json_out_text(&cli->json, "root", root_name(&root));
	json_out_flag(&cli->json, "dry_run", args->is_dry_run);

	rc = source_open_bundle(path, &bundle, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, path);

	rc = emit_bundle(cli, args, bundle, &root, &report, &err);
	if (!cli_is_done(rc))
		(void)cli_failed(cli, rc, &err, path);
	if (!cli_is_done(rc) && rc != TKB_ERR_CORRUPT)
		return status_of(rc);

	json_out_text(&cli->json, "layout",
	              report.is_inductor ? "inductor" : "triton");
	counts_json(COUNTS(counts), &report, &cli->json);
	if (!args->is_dry_run && root.path != NULL)
		launchers_rc = launcher_out_ready(cli, bundle, root.path,
		                                  &launchers, &err);
	if (launchers_rc != 0)
		(void)cli_failed(cli, launchers_rc, &err, root.path);
	if (!args->is_json)
		summarize_emit(cli, args, &root, &report, &launchers);
	return status_merge(status_of_emit(rc, &report, &launchers),
	                    status_of(launchers_rc));
}

const struct command command_emit = {
	.name = "emit",
	.operands = { "FILE|-", "CACHE_ROOT" },
	.required_operands = 1,
	.summary = "put a bundle's entries where compilers find them",
	.details = "CACHE_ROOT is created if necessary; by default it is the "
		   "one that collect uses. Whole entries that exist are kept, "
		   "incomplete ones are repaired, and each new one appears "
		   "in one step. The layout is Inductor's for "
		   "$TORCHINDUCTOR_CACHE_DIR, for a folder named "
		   "torchinductor..., for one that holds triton/N/, and, in a "
		   "folder without entries, for a bundle of several GPUs.",
	COMMAND_OPTIONS(options),
	.run = cmd_emit,
};
