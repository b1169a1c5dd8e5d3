/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <string.h>

#include "cli/cli.h"
#include "config/remote_use.h"
#include "report/sign_out.h"

static const struct option_spec options[] = {
	{ OPTION(TEXT, "to", "REF", trust.to, "promote to this ref"),
	  .is_required = true },
	ARGS_REMOTE,
	ARGS_SIGN("sign with the private key in KEY_FILE"),
	ARGS_EXPIRES,
	ARGS_TRUST,
	ARGS_PASSPHRASE_FILE,
	ARGS_PASSPHRASE_COMMAND,
	ARGS_DEADLINE,
	ARGS_JSON,
	ARGS_DRY_RUN("report what would be promoted, change nothing"),
};

static enum status promote(struct remote_use *use, const struct arguments *args,
                           const struct tkb_signing *signing)
{
	struct tkb_sign_report report = { .struct_size = sizeof(report) };
	struct tkb_sign_options chosen;
	struct follow follow;
	char from[TKB_REF_SIZE];
	struct tkb_error err = { .status = 0 };
	enum status status = sign_begin(use, args, signing, &chosen);
	int rc;

	if (status != STATUS_DONE)
		return status;
	(void)stpcpy(from, use->ref);
	status = remote_use_ref(use, args->trust.to, NULL);
	if (status != STATUS_DONE)
		return status;
	json_out_text(&use->cli->json, "to", use->ref);
	rc = sign_follow(use, from, &chosen, &follow, &report, &err);
	if (rc == TKB_MISS)
		(void)cli_error(&err, TKB_MISS, "ref '%s' has no record", from);
	return sign_out(use, args, rc, &err, &report, "promoted", use->ref);
}

static enum status cmd_promote(struct cli *cli, const struct arguments *args)
{
	if (args->trust.to == NULL)
		return cli_misused(cli, "'--to' names the ref to promote to");
	if (args->trust.sign.count == 0)
		return cli_misused(cli, "'--sign' names the key that signs");
	return sign_run(cli, args, TKB_TRUST_STAGE_PROD, promote);
}

const struct command command_promote = {
	.name = "promote",
	.operands = { "REF" },
	.required_operands = 1,
	.summary = "give what a ref holds another name, and sign it for that "
		   "name",
	.details = "Adds the records of REF that the policy trusts to another "
		   "ref, and signs them for that ref and for the stage "
		   "'prod'. Nothing is fetched or uploaded, and what the "
		   "other ref holds stays. If the policy names keys that may "
		   "promote to the other ref, one of them must sign. A record "
		   "that the policy does not trust is named and left out; "
		   "then the exit status is 5.",
	COMMAND_OPTIONS(options),
	.run = cmd_promote,
};
