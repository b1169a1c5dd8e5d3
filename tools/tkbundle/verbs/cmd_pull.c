/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <inttypes.h>

#include "cli/counts.h"
#include "cli/follow.h"
#include "cli/output.h"
#include "config/choices.h"
#include "config/remote_use.h"
#include "config/root.h"
#include "cli/text.h"

static const struct option_spec options[] = {
	ARGS_REMOTE,
	ARGS_ENGINES,
	ARGS_TREES,
	{ OPTION(TEXT, "output", "FILE|-", output,
	         "write the whole ref as a bundle, emit nothing"),
	  .letter = 'o' },
	{ OPTION(SWITCH, "best-effort", NULL, is_best_effort,
	         "exit with 0 even if something fails") },
	ARGS_TRUST,
	ARGS_DEADLINE,
	ARGS_METRICS,
	ARGS_KEYS,
	ARGS_DEVICES,
	ARGS_TARGETS,
	ARGS_LAYOUT,
	ARGS_SYNC,
	ARGS_JOBS,
	ARGS_JSON,
	ARGS_DRY_RUN("report what is missing, fetch nothing"),
	ARGS_VERBOSE("say which certificates TLS trusts, and who has signed"),
};

static const struct count entry_counts[] = {
	COUNT_AND_METRIC(tkb_pull_report, emitted_count, "emitted", NULL,
	                 "emitted", "Entries that were emitted."),
	COUNT(tkb_pull_report, present_count, "present", "present"),
	COUNT_AND_METRIC(tkb_pull_report, repaired_count, "repaired",
	                 "repaired", "repaired", "Entries that were repaired."),
	COUNT(tkb_pull_report, skipped_count, "skipped", "skipped"),
	COUNT(tkb_pull_report, busy_count, "busy", "busy"),
	COUNT(tkb_pull_report, failed_count, "failed", "failed"),
	COUNT(tkb_pull_report, damaged_count, "damaged", "damaged"),
	COUNT(tkb_pull_report, unsafe_count, "unsafe", "unsafe"),
	COUNT(tkb_pull_report, size, "size", NULL),
};

static const struct count blob_counts[] = {
	COUNT_AND_METRIC(tkb_pull_report, record_count, "records", NULL,
	                 "records", "Records of the ref."),
	COUNT(tkb_pull_report, wanted_count, "wanted_blobs", NULL),
	COUNT_AND_METRIC(tkb_pull_report, fetched_count, "fetched_blobs", NULL,
	                 "fetched_blobs", "Blobs that were fetched."),
	COUNT_AND_METRIC(tkb_pull_report, fetched_size, "fetched_size", NULL,
	                 "fetched_bytes", "Bytes that were fetched."),
	COUNT_AND_METRIC(tkb_pull_report, gone_count, "gone_blobs",
	                 "gone blobs", "gone_blobs",
	                 "Blobs that the remote lost."),
	COUNT_AND_METRIC(tkb_pull_report, unfetched_count, "failed_blobs",
	                 "failed blobs", "failed_blobs",
	                 "Blobs that could not be fetched, or are damaged."),
	COUNT(tkb_pull_report, unreadable_count, "unreadable",
	      "unreadable records"),
	COUNT_AND_METRIC(tkb_pull_report, untrusted_count, "untrusted",
	                 "untrusted records", "untrusted_records",
	                 "Records that the policy does not trust."),
};

/* With -o, the whole ref is written, and no cache is used. */
static enum status check_pull(const struct cli *cli,
                              const struct arguments *args)
{
	if (cli_exclude(cli, args->devices.count > 0, "--device",
	                args->layout.value == TKB_LAYOUT_TRITON,
	                "--layout triton") != STATUS_DONE)
		return STATUS_USAGE;
	if (args->output == NULL)
		return STATUS_DONE;
	if (args->operands.count > 1)
		return cli_misused(cli, "CACHE_ROOT and '-o' exclude each "
		                        "other");
	if (args->keys.count + args->devices.count + args->targets.count +
	                    args->engines.count + args->trees.count >
	            0 ||
	    args->layout.is_set || args->is_sync || args->is_dry_run)
		return cli_misused(
			cli, "'-o' excludes '--key', '--device', '--target', "
			     "'--engine', '--tree', '--layout', '--sync' and "
			     "'--dry-run'");
	return output_check(cli, args);
}

/* The file appears when it is complete. */
static int to_file(struct remote_use *use, const char *path,
                   const struct tkb_pull_options *chosen,
                   struct tkb_pull_report *report, struct tkb_error *err)
{
	TKB_AUTO(cli_close_draft) struct tkb_draft *draft = NULL;
	struct tkb_sink sink;
	int published;
	int rc;

	rc = tkb_draft_open(path, &draft, err);
	if (rc != 0)
		return rc;
	sink = tkb_draft_sink(draft);
	rc = use->library.pull_bundle(use->remote, use->ref, chosen, &sink,
	                              report, err);
	if (!cli_is_done(rc))
		return rc;
	published = tkb_draft_publish(draft, err);
	return published < 0 ? published : rc;
}

static int to_stdout(struct remote_use *use,
                     const struct tkb_pull_options *chosen,
                     struct tkb_pull_report *report, struct tkb_error *err)
{
	const struct tkb_sink out = cli_sink(use->cli);
	const int rc = use->library.pull_bundle(use->remote, use->ref, chosen,
	                                        &out, report, err);
	const int flushed = cli_is_done(rc) ? cli_flush(use->cli, err) : 0;

	return flushed < 0 ? flushed : rc;
}

static int pull_entries(struct remote_use *use, const struct arguments *args,
                        const struct root *root, struct tkb_pull_report *report,
                        struct tkb_error *err)
{
	struct tkb_emit_options emit = choices_for_emit(args, root);
	const struct tkb_pull_options chosen = { .struct_size = sizeof(chosen),
		                                 .emit = &emit };
	struct follow follow;
	int rc;

	emit.watch = remote_use_follow(use, &follow, "entries", FOLLOW_ALL);
	/* The time for checking existing entries counts, too. */
	emit.deadline_ms = remote_use_left_ms(use);
	if (args->output == NULL)
		rc = use->library.pull(use->remote, use->ref, root->path,
		                       &chosen, report, err);
	else if (output_is_stdout(args))
		rc = to_stdout(use, &chosen, report, err);
	else
		rc = to_file(use, args->output, &chosen, report, err);
	follow_end(&follow);
	return follow_missed(&follow, rc, err);
}

/* Write "5 blobs (1.2 MB), gone 1". */
static void describe_blobs(const struct tkb_pull_report *report, char *out,
                           size_t size)
{
	const uint64_t count = report->fetched_count;
	char bytes[TEXT_SIZE_SIZE];
	char rest[128];

	text_size(report->fetched_size, bytes);
	counts_words(COUNTS(blob_counts), report, rest, sizeof(rest));
	(void)snprintf(out, size, "%" PRIu64 " %s (%s)%s", count,
	               text_plural(count, "blob", "blobs"), bytes, rest);
}

static void summarize_pull(const struct remote_use *use,
                           const struct arguments *args,
                           const struct root *root,
                           const struct tkb_pull_report *report)
{
	char blobs[192];
	char rest[160];

	describe_blobs(report, blobs, sizeof(blobs));
	if (args->output != NULL) {
		text_line(output_log(use->cli, args), "pulled %s into %s: %s",
		          use->ref, output_name(args), blobs);
		return;
	}
	counts_words(COUNTS(entry_counts), report, rest, sizeof(rest));
	if (args->is_dry_run)
		text_line(use->cli->out,
		          "would have fetched %" PRIu64 " %s for %s",
		          report->wanted_count,
		          text_plural(report->wanted_count, "blob", "blobs"),
		          root_name(root));
	else
		text_line(use->cli->out, "emitted %" PRIu64 "%s to %s%s: %s",
		          report->emitted_count, rest, root_name(root),
		          root_layout_words(root, report->is_inductor), blobs);
}

static enum status status_of_pull(int rc, const struct tkb_pull_report *report)
{
	enum status status = status_of(rc);

	if (report->damaged_count > 0 || report->unsafe_count > 0)
		status = status_merge(status, STATUS_UNTRUSTED);
	return status;
}

static enum status pull_from_remote(struct remote_use *use,
                                    const struct arguments *args,
                                    struct tkb_pull_report *report)
{
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	struct json_out *const json = &use->cli->json;
	struct tkb_error err = { .status = 0 };
	enum status status;
	int rc;

	status = remote_use_choose(use, args, true, args->output, &root);
	if (status != STATUS_DONE)
		return status;
	rc = pull_entries(use, args, &root, report, &err);
	if (rc == TKB_MISS && report->gone_count > 0)
		(void)cli_error(&err, rc, "the blobs of ref '%s' are gone",
		                use->ref);
	if (!cli_is_done(rc) ||
	    (args->output != NULL && rc != 0 && report->unreadable_count > 0))
		(void)remote_use_failed(use, rc, &err, use->ref);
	if (rc == TKB_ERR_CORRUPT)
		remote_use_say_repair(use);
	if (rc == TKB_ERR_UNTRUSTED)
		json_out_flag(json, "is_untrusted", true);
	if (cli_is_done(rc) && report->gone_count > 0)
		cli_say(use->cli,
		        "%" PRIu64
		        " %s of ref '%s' %s gone: 'tkbundle push %s' "
		        "from a machine that has the entries brings them again",
		        report->gone_count,
		        text_plural(report->gone_count, "blob", "blobs"),
		        use->ref, text_plural(report->gone_count, "is", "are"),
		        use->ref);
	/*
	 * If single blobs failed, the rest was emitted. A bundle is written
	 * whole or not at all.
	 */
	if (!cli_is_done(rc) &&
	    (report->record_count == 0 || args->output != NULL))
		return status_of(rc);
	if (args->output == NULL) {
		json_out_text(json, "layout",
		              report->is_inductor ? "inductor" : "triton");
		counts_json(COUNTS(entry_counts), report, json);
	}
	counts_json(COUNTS(blob_counts), report, json);
	remote_use_signatures(use, args->is_verbose, NULL);
	if (!args->is_json)
		summarize_pull(use, args, &root, report);
	return status_of_pull(rc, report);
}

static enum status cmd_pull(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(remote_use_end) struct remote_use use = { .cli = cli };
	struct tkb_pull_report report = { .struct_size = sizeof(report) };
	TKB_AUTO(metrics_release)
	struct metrics metrics = { .verb = "pull",
		                   .label = "ref",
		                   .label_value = use.ref };
	enum status status = check_pull(cli, args);

	if (status != STATUS_DONE || cli_is_disabled(cli))
		return status;
	status = remote_use_begin(&use, args, true);
	if (status == STATUS_DONE)
		status = pull_from_remote(&use, args, &report);
	counts_metrics(COUNTS(entry_counts), &report, &metrics);
	metrics_add(&metrics, "failed",
	            "Entries that failed or were left to a compiler.",
	            (double)(report.failed_count + report.busy_count));
	counts_metrics(COUNTS(blob_counts), &report, &metrics);
	status = remote_use_measure(&use, args, &metrics, status);
	return args->is_best_effort ? STATUS_DONE : status;
}

const struct command command_pull = {
	.name = "pull",
	.operands = { "REF", "CACHE_ROOT" },
	.summary = "fetch missing entries from a remote",
	.details = "Fetches the bundles of the ref that hold entries which "
		   "CACHE_ROOT lacks, and emits them. CACHE_ROOT is by default "
		   "the one that collect uses. REF may contain {arch}, {gpu}, "
		   "{driver}, {triton} and {env:NAME}; without it, or as '-', "
		   "it is $TKBUNDLE_REF. The exit status is 4 if part of the "
		   "ref is gone or cannot be emitted.",
	COMMAND_OPTIONS(options),
	.run = cmd_pull,
};
