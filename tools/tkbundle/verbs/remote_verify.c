/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/remote_verify.h"

#include <inttypes.h>

#include "cli/counts.h"
#include "report/entry_out.h"
#include "config/remote_use.h"
#include "cli/text.h"

static const struct count counts[] = {
	COUNT(tkb_remote_verify_report, ref_count, "refs", NULL),
	COUNT(tkb_remote_verify_report, record_count, "records", NULL),
	COUNT(tkb_remote_verify_report, blob_count, "blobs", NULL),
	COUNT(tkb_remote_verify_report, size, "size", NULL),
	COUNT(tkb_remote_verify_report, damaged_count, "damaged", "damaged"),
	COUNT(tkb_remote_verify_report, missing_count, "missing", "missing"),
	COUNT(tkb_remote_verify_report, unread_count, "unread", "unread"),
	COUNT(tkb_remote_verify_report, newer_count, "newer", "newer"),
	COUNT(tkb_remote_verify_report, dropped_count, "dropped", "dropped"),
};

static const char *trouble_name(enum tkb_remote_trouble trouble)
{
	switch (trouble) {
	case TKB_REMOTE_TROUBLE_DAMAGED:
		return "damaged";
	case TKB_REMOTE_TROUBLE_MISSING:
		return "missing";
	case TKB_REMOTE_TROUBLE_UNREAD:
		return "unread";
	default:
		return "newer";
	}
}

static void on_fault(void *self, const struct tkb_remote_fault *fault)
{
	struct follow *const follow = self;
	struct cli *const cli = follow->cli;
	struct json_out *const json = &cli->json;

	progress_erase(&follow->progress);
	cli_say(cli, "%s%s: %s", trouble_name(fault->trouble),
	        fault->is_dropped ? ", dropped" : "", fault->message);
	json_out_open_object(json, NULL);
	json_out_text(json, "trouble", trouble_name(fault->trouble));
	json_out_text(json, "kind", fault->is_blob ? "blob" : "record");
	json_out_text(json, "ref", fault->ref);
	entry_out_digest(json, "digest", fault->digest);
	json_out_flag(json, "dropped", fault->is_dropped);
	json_out_text(json, "message", fault->message);
	json_out_close(json);
}

static void fill_remote_verify_json(
	struct json_out *json, const struct tkb_remote_verify_report *report)
{
	json_out_flag(json, "intact",
	              report->damaged_count + report->missing_count +
	                              report->unread_count +
	                              report->newer_count ==
	                      0);
	counts_json(COUNTS(counts), report, json);
}

static void summarize_remote_verify(
	const struct cli *cli, const char *name,
	const struct tkb_remote_verify_report *report)
{
	char size[TEXT_SIZE_SIZE];
	char rest[128];

	text_size(report->size, size);
	counts_words(COUNTS(counts), report, rest, sizeof(rest));
	text_line(cli->out,
	          "verified %" PRIu64 " %s (%s) in %s: %" PRIu64
	          " %s of %" PRIu64 " %s%s",
	          report->blob_count,
	          text_plural(report->blob_count, "blob", "blobs"), size, name,
	          report->record_count,
	          text_plural(report->record_count, "record", "records"),
	          report->ref_count,
	          text_plural(report->ref_count, "ref", "refs"), rest);
}

/*
 * Check the ref against the policy, as a pull does, and name untrusted records.
 */
static enum status check_trust(struct remote_use *use,
                               const struct arguments *args)
{
	struct tkb_error err = { .status = 0 };
	uint64_t count = 0;
	int rc;

	use->policy.says_all = true;
	rc = use->library.ref_judge(use->remote, use->ref, &count, &err);
	if (rc < 0)
		return remote_use_failed(use, rc, &err, use->ref);
	json_out_number(&use->cli->json, "untrusted", count);
	remote_use_signatures(use, !args->is_json, use->cli->out);
	return count > 0 ? STATUS_UNTRUSTED : STATUS_DONE;
}

static enum status verify_remote(struct remote_use *use,
                                 const struct arguments *args, const char *ref)
{
	TKB_AUTO(text_free) char *name = remote_use_name(use);
	struct follow follow;
	struct tkb_remote_verify_options chosen = {
		.struct_size = sizeof(chosen),
		.ref = ref,
		.is_repair = args->is_repair,
		.threads = args->jobs.value,
		.on_fault = on_fault,
		.self = &follow,
	};
	struct tkb_remote_verify_report report = { .struct_size =
		                                           sizeof(report) };
	struct json_out *const json = &use->cli->json;
	struct tkb_error err = { .status = 0 };
	int rc;

	if (name == NULL)
		return cli_no_memory(use->cli);
	chosen.watch = remote_use_follow_alone(use, &follow);
	json_out_open_array(json, "faults");
	rc = use->library.verify(use->remote, &chosen, &report, &err);
	follow_end_alone(&follow);
	json_out_close(json);
	if (!cli_is_done(rc) && rc != TKB_ERR_CORRUPT)
		return remote_use_failed(use, rc, &err, name);
	fill_remote_verify_json(json, &report);
	if (!args->is_json)
		summarize_remote_verify(use->cli, name, &report);
	return status_of(rc);
}

enum status remote_verify_run(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(remote_use_end) struct remote_use use = { .cli = cli };
	const char *const pattern = args_operand(args, 0);
	enum status status = STATUS_DONE;

	if (args->trust.policy != NULL && pattern == NULL)
		return cli_misused(cli, "'--trust' wants a REF, or a cache and "
		                        "no '--remote'");
	if (args->is_repair && cli_is_disabled(cli))
		return STATUS_DONE;
	status = remote_use_begin(&use, args, false);
	if (status == STATUS_DONE && pattern != NULL)
		status = remote_use_ref(&use, pattern, NULL);
	if (status != STATUS_DONE)
		return status;
	remote_use_json(&use);
	if (pattern != NULL)
		json_out_text(&cli->json, "ref", use.ref);
	status = verify_remote(&use, args, pattern != NULL ? use.ref : NULL);
	if (pattern != NULL && policy_trust(&use.policy) != NULL)
		status = status_merge(status, check_trust(&use, args));
	return status;
}
