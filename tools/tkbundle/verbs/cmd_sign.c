/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include "attest/sigstore.h"
#include "cli/cli.h"
#include "config/remote_use.h"
#include "report/sign_out.h"

static const struct option_spec options[] = {
	ARGS_REMOTE,
	{ OPTION(TEXTS, "key", "KEY_FILE", trust.sign,
	         "sign with the private key in KEY_FILE") },
	ARGS_EXPIRES,
	{ OPTION(WORD, "stage", "dev|prod", trust.stage,
	         "sign for this stage; default dev") },
	{ OPTION(SWITCH, "all", NULL, trust.is_renewal,
	         "also sign again what this key has signed") },
	{ OPTION(TEXT, "export", "FOLDER", trust.exported,
	         "write this key's signatures as Sigstore bundles") },
	{ OPTION(TEXTS, "import", "FILE", trust.imported,
	         "add this key's signature in a Sigstore bundle") },
	ARGS_PASSPHRASE_FILE,
	ARGS_PASSPHRASE_COMMAND,
	ARGS_DEADLINE,
	ARGS_JSON,
	ARGS_DRY_RUN("report what would be signed, sign nothing"),
};

static enum status sign_ref(struct remote_use *use,
                            const struct arguments *args,
                            const struct tkb_signing *signing)
{
	struct tkb_sign_report report = { .struct_size = sizeof(report) };
	struct tkb_sign_options chosen;
	struct follow follow;
	struct tkb_error err = { .status = 0 };
	const enum status status = sign_begin(use, args, signing, &chosen);
	int rc;

	if (status != STATUS_DONE)
		return status;
	if (args->trust.exported != NULL)
		return sigstore_export(use, signing, args->trust.exported);
	if (args->trust.imported.count > 0)
		return sigstore_import(use, signing, &args->trust.imported);
	rc = sign_follow(use, NULL, &chosen, &follow, &report, &err);
	return sign_out(use, args, rc, &err, &report, "signed", use->ref);
}

static enum status cmd_sign(struct cli *cli, const struct arguments *args)
{
	if (args->trust.sign.count == 0)
		return cli_misused(cli, "'--key' names the key that signs");
	if ((args->trust.exported != NULL) + (args->trust.imported.count > 0) +
	            (args->trust.expires.is_set || args->trust.stage.is_set ||
	             args->trust.is_renewal || args->is_dry_run) >
	    1)
		return cli_misused(cli,
		                   "'--export' and '--import' exclude each "
		                   "other, and '--expires', '--stage', "
		                   "'--all' and '--dry-run'");
	return sign_run(cli, args,
	                (enum tkb_trust_stage)args->trust.stage.value,
	                sign_ref);
}

const struct command command_sign = {
	.name = "sign",
	.operands = { "REF" },
	.required_operands = 1,
	.summary = "sign what a ref holds",
	.details =
		"Signs each record that the ref holds now, and that these "
		"keys have not signed, so that a policy trusts what was "
		"pushed without a key. Whoever signs vouches for everything "
		"that the ref holds, no matter who pushed it.\n\nWith "
		"--export, the signatures of the key are written to files for "
		"other programs, each with a DSSE envelope; with --import, a "
		"signature that another program made with the key is added. "
		"For both, a public key is enough.",
	COMMAND_OPTIONS(options),
	.run = cmd_sign,
};
