/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/fd.h"
#include "report/entry_out.h"
#include "cli/counts.h"
#include "cli/follow.h"
#include "verbs/remote_verify.h"
#include "config/choices.h"
#include "config/root.h"
#include "config/revoked.h"
#include "report/source.h"
#include "cli/text.h"
#include "trust/detached.h"

static const struct option_spec options[] = {
	{ OPTION(SECRET, "remote", "URL[,URL...]|-", remote,
	         "check a remote, or REF of it; - means $TKBUNDLE_REMOTE") },
	{ OPTION(SWITCH, "repair", NULL, is_repair,
	         "drop damaged records and blobs of the remote") },
	ARGS_ENGINES,
	ARGS_TREES,
	ARGS_TRUST,
	ARGS_DEADLINE,
	ARGS_JOBS,
	ARGS_JSON,
};

static const struct count bundle_counts[] = {
	COUNT(tkb_verify_report, verified_count, "verified", NULL),
	COUNT(tkb_verify_report, failed_count, "failed_count", "failed"),
	COUNT(tkb_verify_report, file_count, "files", NULL),
	COUNT(tkb_verify_report, size, "size", NULL),
	COUNT(tkb_verify_report, launcher_count, "launchers", "launchers"),
	COUNT(tkb_verify_report, failed_launcher_count, "failed_launchers",
	      "failed launchers"),
};

static const struct count cache_counts[] = {
	COUNT(tkb_collect_report, collected_count, "verified", NULL),
	COUNT(tkb_collect_report, left_out_count, "left_out_count", "left out"),
	COUNT(tkb_collect_report, unfinished_count, "unfinished", "unfinished"),
	COUNT(tkb_collect_report, stray_count, "stray", "stray"),
	COUNT(tkb_collect_report, moved_count, "moved", "moved"),
	COUNT(tkb_collect_report, file_count, "files", NULL),
	COUNT(tkb_collect_report, size, "size", NULL),
};

enum {
	PATH_LIMIT = 4096
};

static void summarize_verify(const struct cli *cli, const char *path,
                             uint64_t entry_count, uint64_t file_count,
                             uint64_t total_size, const char *rest)
{
	char size[TEXT_SIZE_SIZE];

	text_size(total_size, size);
	text_line(cli->out,
	          "verified %" PRIu64 " %s (%" PRIu64 " %s, %s) in %s%s",
	          entry_count, text_plural(entry_count, "entry", "entries"),
	          file_count, text_plural(file_count, "file", "files"), size,
	          path, rest);
}

static enum status verify_bundle(struct cli *cli, const struct arguments *args,
                                 const char *path)
{
	TKB_AUTO(source_close_bundle) struct tkb_bundle *bundle = NULL;
	struct tkb_verify_options chosen = { .struct_size = sizeof(chosen),
		                             .threads = args->jobs.value };
	struct tkb_verify_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { .status = 0 };
	struct follow follow;
	char rest[96];
	int rc;

	json_out_text(&cli->json, "bundle", path);
	rc = source_open_bundle(path, &bundle, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, path);

	chosen.watch = follow_begin(&follow, cli, "failed", FOLLOW_BAD);
	rc = tkb_bundle_verify(bundle, &chosen, &report, &err);
	follow_end(&follow);

	if (rc != 0)
		(void)cli_failed(cli, rc, &err, path);
	if (rc != 0 && rc != TKB_ERR_CORRUPT)
		return status_of(rc);

	entry_out_digest(&cli->json, "id", tkb_bundle_id(bundle));
	json_out_text(&cli->json, "profile", tkb_bundle_profile(bundle));
	json_out_flag(&cli->json, "intact", rc == 0);
	counts_json(COUNTS(bundle_counts), &report, &cli->json);
	if (args->is_json)
		return status_of(rc);

	counts_words(COUNTS(bundle_counts), &report, rest, sizeof(rest));
	summarize_verify(cli, path, report.verified_count, report.file_count,
	                 report.size, rest);
	return status_of(rc);
}

/* With a policy, check the bundle's signature first. */
static enum status verify_signed(struct cli *cli, const struct arguments *args,
                                 const char *path)
{
	enum status status = STATUS_DONE;

	if (args->trust.policy != NULL && strcmp(path, "-") == 0)
		return cli_misused(cli, "'--trust' wants a file with its "
		                        "signature beside it, and not '-'");
	if (args->trust.policy != NULL)
		status = detached_check(cli, args, path);
	return status == STATUS_DONE ? verify_bundle(cli, args, path) : status;
}

static void summarize_cache(const struct cli *cli, const struct root *root,
                            const struct tkb_collect_report *report)
{
	char rest[160];

	counts_words(COUNTS(cache_counts), report, rest, sizeof(rest));
	summarize_verify(cli, root_name(root), report->collected_count,
	                 report->file_count, report->size, rest);
	if (report->moved_count > 0)
		text_line(
			cli->out,
			"what is moved is recorded at another place: %s would "
			"not find it here",
			root->trees.count > 0 ? "its engine" : "Triton");
}

/* Is it the folder of a remote, without entries of a cache? */
static bool is_remote(const char *path, const struct tkb_collect_report *report)
{
	static const char *const names[] = { "cas", "ref" };
	struct stat info;

	if (path == NULL ||
	    report->collected_count + report->left_out_count > 0)
		return false;
	for (size_t i = 0; i < TKB_COUNT_OF(names); i++) {
		char inside[PATH_LIMIT];

		if (folder_join(inside, sizeof(inside), path, names[i]) &&
		    stat(inside, &info) == 0 && S_ISDIR(info.st_mode))
			return true;
	}
	return false;
}

/*
 * Follows a verify, and stores messages about units that cannot be used yet.
 * The follow comes first: what its watch calls gets this struct, too.
 */
struct inspection {
	struct follow follow;
	struct tkb_results *useless; /* owned */
	struct tkb_watch watch;      /* that of the follow, but for results */
	const struct tkb_origins *revoked; /* the entries that are revoked; or
	                                      NULL */
	size_t revoked_count;
};

static void inspection_release(struct inspection *inspection)
{
	tkb_results_free(inspection->useless);
}

static bool is_revoked(const struct inspection *inspection,
                       const struct tkb_result *result)
{
	return inspection->revoked != NULL && result->key != NULL &&
	       tkb_origins_is_revoked(inspection->revoked, result->key);
}

static void inspect_result(void *self, const struct tkb_result *result)
{
	struct inspection *const inspection = self;
	const struct tkb_watch *kept = tkb_results_watch(inspection->useless);

	if (is_revoked(inspection, result) ||
	    result->outcome == TKB_OUTCOME_UNFINISHED ||
	    (result->outcome == TKB_OUTCOME_COLLECTED &&
	     result->message[0] != '\0'))
		kept->on_result(kept->self, result);
	else
		inspection->follow.watch.on_result(self, result);
}

/* Begin, with the list "left_out" in the document. */
static int inspection_begin(struct inspection *inspection, struct cli *cli,
                            struct tkb_error *err)
{
	const int rc = tkb_results_new(&inspection->useless, err);

	if (rc != 0)
		return rc;
	inspection->watch =
		*follow_begin(&inspection->follow, cli, "left_out", FOLLOW_BAD);
	inspection->watch.on_result = inspect_result;
	return 0;
}

/*
 * Report a unit or entry that is whole, but cannot be used: its name, and why.
 */
struct useless {
	const char *path;
	const char *state;
	const char *message;
};

static struct useless useless_of(struct inspection *inspection,
                                 const struct tkb_result *result)
{
	const bool is_moved = result->outcome == TKB_OUTCOME_COLLECTED;
	const char *const path = is_moved ? result->name : result->key;

	if (is_revoked(inspection, result)) {
		inspection->revoked_count++;
		return (struct useless){ result->key, "revoked",
			                 "it comes from something that is "
			                 "revoked; 'gc --revoked' removes it" };
	}
	return (struct useless){ path,
		                 is_moved ? "moved"
		                          : tkb_outcome_name(result->outcome),
		                 result->message };
}

/*
 * Report entries that are revoked, and units that are whole, but moved or
 * unfinished.
 */
static void inspection_end(struct inspection *inspection, struct cli *cli)
{
	const struct tkb_results *const useless = inspection->useless;

	follow_end(&inspection->follow);
	json_out_open_array(&cli->json, "useless");
	for (size_t i = 0; i < tkb_results_count(useless); i++) {
		const struct tkb_result *const unit =
			tkb_results_at(useless, i);
		const struct useless it = useless_of(inspection, unit);

		cli_say(cli, "%s %s: %s", it.state, it.path, it.message);
		json_out_open_object(&cli->json, NULL);
		json_out_text(&cli->json, "unit", it.path);
		json_out_text(&cli->json, "root", unit->root);
		json_out_text(&cli->json, "state", it.state);
		json_out_text(&cli->json, "message", it.message);
		json_out_close(&cli->json);
	}
	if (tkb_results_is_cut(useless))
		cli_say(cli, "out of memory: not all are named");
	json_out_close(&cli->json);
}

/* Verify a cache and trees by a collect that writes nothing. */
static enum status verify_cache(struct cli *cli, const struct arguments *args,
                                const struct root *root,
                                const struct tkb_origins *revoked)
{
	struct tkb_collect_options chosen = choices_for_collect(args, root);
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { .status = 0 };
	TKB_AUTO(inspection_release)
	struct inspection inspection = { .useless = NULL };
	int rc;

	chosen.is_dry_run = true;
	chosen.is_enabled = true;
	json_out_text(&cli->json, "root", root_name(root));
	rc = inspection_begin(&inspection, cli, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, root_name(root));
	inspection.revoked = revoked;
	chosen.watch = &inspection.watch;
	rc = tkb_collect(root->path, &chosen, NULL, &report, &err);
	inspection_end(&inspection, cli);
	rc = cli_missed(&err, rc, "folder", root_name(root));
	if (!cli_is_done(rc))
		return cli_failed(cli, rc, &err, root_name(root));
	if (is_remote(root->path, &report))
		return cli_misused(cli,
		                   "'%s' is a remote's folder, not a "
		                   "cache: 'tkbundle verify --remote' "
		                   "checks it",
		                   root->path);

	json_out_text(&cli->json, "layout",
	              report.is_inductor ? "inductor" : "triton");
	json_out_flag(&cli->json, "intact", report.left_out_count == 0);
	counts_json(COUNTS(cache_counts), &report, &cli->json);
	if (!args->is_json)
		summarize_cache(cli, root, &report);

	return inspection.follow.has_untrusted || inspection.revoked_count > 0
	               ? STATUS_UNTRUSTED
	               : status_of(rc);
}

/* With a policy, find the entries of the cache that are revoked now. */
static enum status verify_root(struct cli *cli, const struct arguments *args,
                               const struct root *root)
{
	TKB_AUTO(revoked_close) struct tkb_origins *revoked = NULL;
	enum status status = STATUS_DONE;

	if (args->trust.policy != NULL && root->path == NULL)
		return cli_misused(cli, "'--trust' is for a cache, not for "
		                        "trees alone");
	if (args->trust.policy != NULL)
		status = revoked_open(cli, args, root->path, &revoked);
	return status == STATUS_DONE ? verify_cache(cli, args, root, revoked)
	                             : status;
}

static enum status cmd_verify(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	struct tkb_error err = { .status = 0 };
	int rc;

	if (args->remote != NULL && args->engines.count + args->trees.count > 0)
		return cli_misused(cli, "'--remote' excludes '--engine' and "
		                        "'--tree'");
	if (args->remote != NULL)
		return remote_verify_run(cli, args);
	if (args->is_repair || args->deadline.is_set)
		return cli_misused(
			cli, "'--repair' and '--deadline' need '--remote'");
	rc = source_choose(args, &root, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, "~");
	if (source_is_root(&root))
		return verify_root(cli, args, &root);
	return verify_signed(cli, args, root.path);
}

const struct command command_verify = {
	.name = "verify",
	.operands = { "FILE|CACHE_ROOT|REF" },
	.summary = "check every byte of a bundle, a cache or a remote",
	.details = "A bundle is compared with its manifest. A cache's entries "
		   "must be whole, their metadata must have the hash in the "
		   "key, and their binaries must fit. The exit status is 5 if "
		   "something is damaged, 4 if something is only busy or "
		   "cannot be read. Without an operand it is the cache that "
		   "collect uses. With --engine or --tree, units of trees are "
		   "checked like entries. With --trust, it names entries that "
		   "were pulled under a policy and are revoked now, by the "
		   "list of the configured remote.\n\nWith --remote: reads "
		   "all records and blobs, or those of REF, and reports what "
		   "is damaged. --repair drops it, and the next push uploads "
		   "it again. The exit status is 5 if something is damaged, 4 "
		   "if something is missing or cannot be read. With --trust "
		   "or a configured policy, records of REF that the policy "
		   "does not trust are named, too. With --trust, a bundle's "
		   "file must be signed by minisign, in FILE.minisig, by a key "
		   "of the policy.",
	COMMAND_OPTIONS(options),
	.run = cmd_verify,
};
