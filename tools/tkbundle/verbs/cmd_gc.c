/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <inttypes.h>

#include "config/config.h"
#include "cli/counts.h"
#include "cli/follow.h"
#include "verbs/remote_gc.h"
#include "config/revoked.h"
#include "config/root.h"
#include "cli/text.h"
#include "trust/signers.h"

static const struct option_spec options[] = {
	{ OPTION(SECRET, "remote", "URL[,URL...]|-", remote,
	         "clean up a remote; - means $TKBUNDLE_REMOTE") },
	ARGS_ENGINES,
	ARGS_TREES,
	{ OPTION(SIZE, "max-size", "SIZE", max_size,
	         "bytes that entries may take, as 500M or 20Gi") },
	{ OPTION(NUMBER, "max-entries", "N", max_entries,
	         "number of entries that may stay"),
	  .max = 999999999 },
	{ OPTION(AGE, "max-age", "AGE", max_age,
	         "remove entries unused for this time, as 30d or 12h") },
	{ OPTION(SWITCH, "revoked", NULL, trust.is_revoked,
	         "remove entries that came from something revoked") },
	ARGS_TRUST,
	ARGS_SIGN("merge bundles that only this key has signed"),
	ARGS_EXPIRES,
	ARGS_PASSPHRASE_FILE,
	ARGS_PASSPHRASE_COMMAND,
	ARGS_DEADLINE,
	ARGS_METRICS,
	ARGS_JSON,
	ARGS_DRY_RUN("check everything, write nothing"),
};

static const struct count counts[] = {
	COUNT(tkb_gc_report, removed_count, "removed", NULL),
	COUNT(tkb_gc_report, removed_size, "removed_size", NULL),
	COUNT(tkb_gc_report, kept_count, "kept", NULL),
	COUNT(tkb_gc_report, kept_size, "kept_size", NULL),
	COUNT(tkb_gc_report, busy_count, "busy", "busy"),
	COUNT(tkb_gc_report, failed_count, "failed", "failed"),
	COUNT(tkb_gc_report, unfinished_count, "unfinished", "unfinished"),
};

static int gc_cache(struct cli *cli, const struct arguments *args,
                    const struct root *root, const struct tkb_origins *revoked,
                    struct tkb_gc_report *report, struct tkb_error *err)
{
	struct tkb_gc_options chosen = {
		.struct_size = sizeof(chosen),
		.has_max_size = args->max_size.is_set,
		.max_size = args->max_size.value,
		.has_max_entries = args->max_entries.is_set,
		.max_entries = args->max_entries.value,
		.has_max_age = args->max_age.is_set,
		.max_age_s = args->max_age.value,
		.is_dry_run = args->is_dry_run,
		.trees = root->trees.items,
		.tree_count = root->trees.count,
		.revoked = revoked,
	};
	struct follow follow;
	int rc;

	chosen.watch = follow_begin(&follow, cli, "entries", FOLLOW_ALL);
	rc = tkb_gc(root->path, &chosen, report, err);
	follow_end(&follow);
	return cli_missed(err, rc, "folder", root_name(root));
}

static void summarize_gc(const struct cli *cli, const struct arguments *args,
                         const struct root *root,
                         const struct tkb_gc_report *report)
{
	char removed[TEXT_SIZE_SIZE];
	char kept[TEXT_SIZE_SIZE];
	char rest[128];
	const char *const unknown = report->has_uses ? "" : ", use unknown";
	const char *const layout = report->is_inductor ? "Inductor" : "Triton";

	text_size(report->removed_size, removed);
	text_size(report->kept_size, kept);
	counts_words(COUNTS(counts), report, rest, sizeof(rest));
	text_line(cli->out,
	          "%sremoved %" PRIu64 " (%s), kept %" PRIu64
	          " (%s)%s in %s%s%s%s%s",
	          args->is_dry_run ? "would have " : "", report->removed_count,
	          removed, report->kept_count, kept, rest, root_name(root),
	          root->path != NULL ? " (" : "",
	          root->path != NULL ? layout : "", unknown,
	          root->path != NULL ? ")" : "");
}

/*
 * If a remote is configured and no root is given, the user may mean either:
 * print which one it is before removing anything.
 */
static void say_which_cache(const struct cli *cli, const struct arguments *args,
                            const char *root)
{
	TKB_AUTO(config_release) struct config config = { .fault_count = 0 };
	const struct config_value *const remote = &config.values[CONFIG_REMOTE];
	struct tkb_error err = { .status = 0 };

	if (args->operands.count > 0)
		return;
	if (config_load(NULL, &config, &err) != 0)
		err.status = 0; /* valid values are set even after a failure */
	if (remote->text != NULL)
		cli_say(cli,
		        "this cleans up the cache '%s'; the remote that %s "
		        "names is cleaned up with '--remote -'",
		        root, remote->origin);
}

/* Check options that only apply to a remote, or only with a policy. */
static enum status check_gc_of_cache(const struct cli *cli,
                                     const struct arguments *args)
{
	const bool is_revoked = args->trust.is_revoked;

	if (args->trust.sign.count > 0)
		return cli_misused(cli, "'--sign' needs '--remote', and is not "
		                        "for '--revoked'");
	if (args->trust.policy != NULL && !is_revoked)
		return cli_misused(cli, "'--trust' is for '--revoked'");
	if ((args->deadline.is_set && !is_revoked) || args->metrics != NULL)
		return cli_misused(
			cli, "'--deadline' and '--metrics' need '--remote'");
	return STATUS_DONE;
}

static enum status check_gc(const struct cli *cli, const struct arguments *args)
{
	if (args->remote != NULL &&
	    (args->engines.count > 0 || args->trees.count > 0))
		return cli_misused(cli, "'--remote' excludes '--engine' and "
		                        "'--tree'");
	return signers_check(cli, args);
}

static enum status gc_of_cache(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	TKB_AUTO(revoked_close) struct tkb_origins *revoked = NULL;
	struct tkb_gc_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { .status = 0 };
	enum status status = STATUS_DONE;
	int rc;

	rc = root_choose_all(args, args_operand(args, 0), &root, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, "~");
	if (!cli->is_disabled)
		say_which_cache(cli, args, root_name(&root));
	if (!args->max_size.is_set && !args->max_entries.is_set &&
	    !args->max_age.is_set && !args->trust.is_revoked)
		return cli_misused(cli, "'--max-size', '--max-entries', "
		                        "'--max-age' or '--revoked' is "
		                        "missing");
	if (args->trust.is_revoked && root.path == NULL)
		return cli_misused(cli, "'--revoked' is for a cache, not for "
		                        "trees alone");
	if (cli_is_disabled(cli))
		return STATUS_DONE;
	if (args->trust.is_revoked)
		status = revoked_open(cli, args, root.path, &revoked);
	if (status != STATUS_DONE)
		return status;

	json_out_text(&cli->json, "root", root_name(&root));
	json_out_flag(&cli->json, "dry_run", args->is_dry_run);

	rc = gc_cache(cli, args, &root, revoked, &report, &err);
	if (!cli_is_done(rc))
		return cli_failed(cli, rc, &err, root_name(&root));

	json_out_text(&cli->json, "layout",
	              report.is_inductor ? "inductor" : "triton");
	json_out_flag(&cli->json, "knows_use", report.has_uses);
	counts_json(COUNTS(counts), &report, &cli->json);
	if (!args->is_json)
		summarize_gc(cli, args, &root, &report);
	return status_of(rc);
}

static enum status cmd_gc(struct cli *cli, const struct arguments *args)
{
	const bool is_of_remote =
		args->remote != NULL && !args->trust.is_revoked;
	enum status status = check_gc(cli, args);

	if (status == STATUS_DONE && !is_of_remote)
		status = check_gc_of_cache(cli, args);
	if (status != STATUS_DONE)
		return status;
	return is_of_remote ? remote_gc_run(cli, args) : gc_of_cache(cli, args);
}

const struct command command_gc = {
	.name = "gc",
	.operands = { "CACHE_ROOT" },
	.summary = "remove unused entries from a cache or a remote",
	.details =
		"Removes whole entries, least recently used first, until "
		"every given bound holds. Writing an entry counts as a use. "
		"Access times show when an entry was used; if the file system "
		"keeps none, only the age counts. Entries that are being "
		"written stay; then the exit status is 4. With --engine or "
		"--tree, units of trees count and are removed like entries. "
		"CACHE_ROOT is by default the one that collect uses, even "
		"where a remote is configured. A compiler may use the cache "
		"at the same time. With --revoked, it removes entries that "
		"were pulled under a policy and are revoked now, by the list "
		"of the remote.\n\nWith --remote alone: removes records that "
		"were not used for --max-age, records whose blob is gone, and "
		"blobs that are a day old and that no record names. Then it "
		"removes the least recently used records until the rest takes "
		"no more than --max-size. Small bundles of a ref are merged, "
		"except signed ones. With --sign, those that only this key "
		"has signed are merged, too, and the result is signed.",
	COMMAND_OPTIONS(options),
	.run = cmd_gc,
};
