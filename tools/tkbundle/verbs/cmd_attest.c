/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <inttypes.h>

#include "attest/attest.h"
#include "config/remote_use.h"
#include "report/sign_out.h"

static const struct option_spec options[] = {
	ARGS_REMOTE,
	ARGS_SIGN("sign what came out the same with the key in KEY_FILE"),
	ARGS_EXPIRES,
	{ OPTION(WORD, "stage", "dev|prod", trust.stage,
	         "sign for this stage; default dev") },
	ARGS_PASSPHRASE_FILE,
	ARGS_PASSPHRASE_COMMAND,
	{ OPTION(TEXTS, "python", "PYTHON", compile.pythons,
	         "the Python whose Triton compiles") },
	{ OPTION(TEXT, "ptxas", "PATH", compile.ptxas,
	         "use this ptxas, not the one that is found") },
	{ OPTION(NUMBER, "jobs", "N", jobs,
	         "use N workers, not one for each core"),
	  .letter = 'j', .min = 1, .max = 256 },
	ARGS_DEADLINE,
	ARGS_JSON,
	ARGS_DRY_RUN("compile and compare, sign nothing"),
};

static void summarize_attest(const struct attest *attest)
{
	struct json_out *const json = &attest->cli->json;

	json_out_number(json, "same_kernels", attest->same);
	json_out_number(json, "different_kernels", attest->different);
	json_out_number(json, "other", attest->other);
	cli_print(attest->cli,
	          "same %" PRIu64 ", different %" PRIu64
	          ", not compiled again %" PRIu64,
	          attest->same, attest->different, attest->other);
}

static enum status attest(struct remote_use *use, const struct arguments *args,
                          const struct tkb_signing *signing)
{
	TKB_AUTO(attest_end)
	struct attest attest = { .cli = use->cli,
		                 .args = args,
		                 .folder = ARCHIVE_FOLDER_NONE };
	struct tkb_sign_report report = { .struct_size = sizeof(report) };
	struct tkb_sign_options chosen;
	struct tkb_error err = { .status = 0 };
	enum status status = sign_begin(use, args, signing, &chosen);
	int rc;

	if (status != STATUS_DONE)
		return status;
	chosen.vouch = attest_vouch;
	chosen.self = &attest;
	rc = attest_begin(&attest, &err);
	if (rc != 0)
		return cli_failed(use->cli, rc, &err, "");
	json_out_open_array(&use->cli->json, "records");
	rc = sign_follow(use, NULL, &chosen, &attest.follow, &report, &err);
	json_out_close(&use->cli->json);
	if (rc == 0 || rc == TKB_ERR_PARTIAL)
		summarize_attest(&attest);
	status = sign_out(use, args, rc, &err, &report, "attested", use->ref);
	/*
	 * A kernel that differs is worse than one that was not compiled again.
	 */
	return attest.different > 0 && status == STATUS_PARTIAL
	               ? STATUS_UNTRUSTED
	               : status;
}

static enum status cmd_attest(struct cli *cli, const struct arguments *args)
{
	if (args->trust.sign.count == 0 && !args->is_dry_run)
		return cli_misused(cli, "'--sign' names the key that signs, "
		                        "and '-n' only compares");
	return sign_run(cli, args,
	                (enum tkb_trust_stage)args->trust.stage.value, attest);
}

const struct command command_attest = {
	.name = "attest",
	.operands = { "REF" },
	.required_operands = 1,
	.summary = "compile again what a ref holds, and sign what is the same",
	.details = "Compiles each Triton kernel that the ref holds again, "
		   "from its source, as its specialisation or IR says, with "
		   "the installed Python and Triton. With --sign, a record is "
		   "signed if all its kernels come out with the same keys and "
		   "bytes. Any other record is left as it is, and each kernel "
		   "that differs is named; then the exit status is 5. What "
		   "cannot be compiled again, such as a module, is named, "
		   "too; then it is 4.",
	COMMAND_OPTIONS(options),
	.run = cmd_attest,
};
