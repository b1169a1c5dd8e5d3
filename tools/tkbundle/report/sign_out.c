/* SPDX-License-Identifier: Apache-2.0 */
#include "report/sign_out.h"

#include <inttypes.h>

#include "cli/counts.h"
#include "cli/signals.h"
#include "cli/text.h"

static const struct count counts[] = {
	COUNT(tkb_sign_report, signed_count, "signed", NULL),
	COUNT(tkb_sign_report, present_count, "present", NULL),
	COUNT(tkb_sign_report, untrusted_count, "untrusted",
	      "untrusted records"),
	COUNT(tkb_sign_report, gone_count, "gone", "gone blobs"),
	COUNT(tkb_sign_report, unreadable_count, "unreadable",
	      "unreadable records"),
	COUNT(tkb_sign_report, refused_count, "refused", "refused records"),
};

enum status sign_begin(struct remote_use *use, const struct arguments *args,
                       const struct tkb_signing *signing,
                       struct tkb_sign_options *out)
{
	struct json_out *const json = &use->cli->json;
	const enum status status =
		remote_use_ref(use, args_operand(args, 0), NULL);

	*out = (struct tkb_sign_options){
		.struct_size = sizeof(*out),
		.signing = signing,
		.is_renewal = args->trust.is_renewal,
		.is_dry_run = args->is_dry_run,
	};
	if (status != STATUS_DONE)
		return status;
	json_out_text(json, "ref", use->ref);
	remote_use_json(use);
	json_out_flag(json, "dry_run", args->is_dry_run);
	return STATUS_DONE;
}

enum status sign_run(struct cli *cli, const struct arguments *args,
                     enum tkb_trust_stage stage,
                     enum status (*work)(struct remote_use *use,
                                         const struct arguments *args,
                                         const struct tkb_signing *signing))
{
	TKB_AUTO(remote_use_end) struct remote_use use = { .cli = cli };
	struct signers signers = { .count = 0 };
	struct tkb_error err = { .status = 0 };
	enum status status = passphrase_check(cli, args);
	int rc;

	if (status != STATUS_DONE || cli_is_disabled(cli))
		return status;
	status = remote_use_begin(&use, args, true);
	if (status != STATUS_DONE)
		return status;
	signals_catch();
	rc = signers_read(&signers, cli, &use.library, args, &err);
	signers.signing.stage = stage;
	status = rc == 0 ? work(&use, args, signers_signing(&signers))
	                 : cli_failed(cli, rc, &err, "the key");
	signers_release(&signers, &use.library);
	return status;
}

int sign_follow(struct remote_use *use, const char *from,
                struct tkb_sign_options *chosen, struct follow *follow,
                struct tkb_sign_report *report, struct tkb_error *err)
{
	int rc;

	chosen->watch = remote_use_follow_alone(use, follow);
	rc = from == NULL
	             ? use->library.ref_sign(use->remote, use->ref, chosen,
	                                     report, err)
	             : use->library.ref_promote(use->remote, from, use->ref,
	                                        chosen, report, err);
	follow_end_alone(follow);
	if (report->signed_count + report->present_count > 0)
		remote_use_warn(use, chosen->signing, false);
	return rc;
}

enum status sign_out(struct remote_use *use, const struct arguments *args,
                     int rc, const struct tkb_error *err,
                     const struct tkb_sign_report *report, const char *verb,
                     const char *ref)
{
	char rest[160];

	if (rc != 0 && rc != TKB_ERR_PARTIAL && rc != TKB_ERR_UNTRUSTED)
		return remote_use_failed(use, rc, err, ref);
	counts_json(COUNTS(counts), report, &use->cli->json);
	counts_words(COUNTS(counts), report, rest, sizeof(rest));
	if (!args->is_json &&
	    (rc == 0 || report->signed_count + report->present_count > 0))
		text_line(use->cli->out,
		          "%s%s %" PRIu64 ", present %" PRIu64 "%s: %s",
		          args->is_dry_run ? "would have " : "", verb,
		          report->signed_count, report->present_count, rest,
		          ref);
	return rc == 0 ? STATUS_DONE : remote_use_failed(use, rc, err, ref);
}
