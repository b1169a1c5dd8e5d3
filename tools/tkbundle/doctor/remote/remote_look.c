/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/remote/remote_look.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "doctor/remote/remote_folders.h"
#include "doctor/remote/looking.h"
#include "doctor/remote/remote_ref.h"
#include "doctor/remote/remote_trust.h"
#include "doctor/remote/scratch.h"

enum {
	CLOCK_LIMIT_S = 60
};

static void looking_end(struct remote_looking *looking)
{
	free(looking->name);
	remote_use_end(&looking->use);
}

/*
 * Failures
 */

static bool has_any_word(const char *message, const char *const words[])
{
	for (size_t i = 0; words[i] != NULL; i++) {
		if (strstr(message, words[i]) != NULL)
			return true;
	}
	return false;
}

/* Words in the messages of S3 and TLS about a wrong clock. */
static bool is_of_clock(const char *message)
{
	static const char *const words[] = {
		"RequestTimeTooSkewed", "RequestExpired", "not yet valid",
		"has expired",          "clock",          NULL
	};

	return has_any_word(message, words);
}

/* The advice depends on why it is not trusted. */
static void add_untrusted(struct remote_looking *looking, const char *message)
{
	static const struct {
		const char *words;
		const char *advice;
	} cases[] = {
		{ "revocation list",
		  "let somebody whose key may revoke sign a new list, by "
		  "'tkbundle revoke'" },
		{ "it is revoked",
		  "let CI make what replaces it, push and sign that: what is "
		  "revoked stays so" },
		{ "it is in the inbox",
		  "let CI look at it, and promote it, by 'tkbundle promote'" },
	};
	struct findings *const findings = &looking->doctor->findings;

	looking->out->is_untrusted = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strstr(message, cases[i].words) == NULL)
			continue;
		findings_add(findings, FINDING_FAULT, "trust", "%s\t%s",
		             message, cases[i].advice);
		return;
	}
	findings_add(findings, FINDING_FAULT, "trust",
	             "%s\tlet somebody whom the policy '%s' trusts sign it, "
	             "as by 'tkbundle sign', or check that policy",
	             message, looking->use.policy.path);
}

void remote_look_failed(struct remote_looking *looking, int rc,
                        const struct tkb_error *err)
{
	struct findings *const findings = &looking->doctor->findings;
	char time[TEXT_TIME_SIZE];

	text_time(looking->use.deadline.time_ms, time);
	if (is_of_clock(err->message))
		findings_add(findings, FINDING_FAULT, "clock",
		             "%s\tset the clock of this machine, as by NTP",
		             err->message);
	else if (rc == TKB_ERR_CANCELLED)
		findings_add(findings, FINDING_FAULT, "remote",
		             "remote '%s' did not answer within %s\tlook at "
		             "its load and the network, or give 'tkbundle run' "
		             "more time, as --wait 20s",
		             looking->name, time);
	else if (rc == TKB_ERR_UNTRUSTED)
		add_untrusted(looking, err->message);
	else if (strstr(err->message, ": give it ") != NULL)
		findings_add(
			findings, FINDING_FAULT, "remote",
			"%s\tset the server up as is said, or name another "
			"remote",
			err->message);
	else if (rc == TKB_ERR_DENIED)
		findings_add(findings, FINDING_FAULT, "rights",
		             "%s\tgive this machine credentials that may read "
		             "the remote",
		             err->message);
	else
		findings_add(findings, FINDING_FAULT, "remote",
		             "%s\tlet this machine reach the remote, or name "
		             "another one: 'tkbundle config' shows it",
		             err->message);
}

/*
 * The remote
 */

static enum status open_remote(struct remote_looking *looking)
{
	struct doctor *const doctor = looking->doctor;
	struct remote_use *const use = &looking->use;
	struct tkb_error err = { .status = 0 };
	const struct config_value *values = use->config.values;
	int rc;

	rc = config_load(doctor->args, &use->config, &err);
	if (rc != 0)
		return cli_failed(use->cli, rc, &err, "the configuration");
	if (values[CONFIG_REMOTE].text == NULL) {
		if (values[CONFIG_REF].text != NULL)
			findings_add(&doctor->findings, FINDING_FAULT, "remote",
			             "ref '%s' is named, and no remote that "
			             "could have it\texport "
			             "TKBUNDLE_REMOTE=URL, or give --remote "
			             "URL",
			             values[CONFIG_REF].text);
		return STATUS_DONE;
	}
	looking->out->is_named = true;
	deadline_begin(&use->deadline, values[CONFIG_DEADLINE].number != 0
	                                       ? values[CONFIG_DEADLINE].number
	                                       : values[CONFIG_WAIT].number);
	rc = remote_use_open_configured(use, &err);
	if (rc != 0)
		return cli_failed(use->cli, rc, &err, "the remote");
	looking->name = remote_use_name(use);
	return looking->name == NULL ? cli_no_memory(use->cli) : STATUS_DONE;
}

static int ignore_record(void *self, const struct tkb_digest *digest,
                         struct tkb_bytes record, uint64_t age_s,
                         struct tkb_error *err)
{
	(void)self;
	(void)digest;
	(void)record;
	(void)age_s;
	(void)err;
	return 0;
}

/*
 * Can the remote be reached? Ask it for the records of a ref that does not
 * exist.
 */
static int ask_latency(struct remote_looking *looking, struct tkb_error *err)
{
	const struct tkb_record_visitor visitor = { .on_record =
		                                            ignore_record };
	struct cli *const cli = looking->use.cli;
	const uint64_t begin_ms = deadline_now_ms();
	uint64_t time_ms;
	int rc;

	remote_use_wait(&looking->use);
	rc = looking->use.library.records(
		looking->use.remote, "tkbundle-doctor/none", &visitor, err);
	remote_use_waited(&looking->use);
	time_ms = deadline_now_ms() - begin_ms;
	json_out_flag(&cli->json, "is_reachable", rc == 0);
	json_out_number(&cli->json, "latency_ms", time_ms);
	if (rc == 0)
		cli_print(cli, "  reached in %" PRIu64 " ms", time_ms);
	return rc;
}

/* Is the shared tier a folder? */
static bool is_folder(const struct remote_use *use)
{
	const size_t count = use->library.tier_count(use->remote);

	return use->library.tier_folder(use->remote, count - 1) != NULL;
}

static void try_rights(struct remote_looking *looking)
{
	struct findings *const findings = &looking->doctor->findings;
	struct cli *const cli = looking->use.cli;
	struct scratch scratch;

	remote_use_wait(&looking->use);
	scratch_try(&looking->use, &scratch);
	remote_use_waited(&looking->use);
	json_out_flag(&cli->json, "can_write", scratch.can_write);
	cli_print(cli, "  %s",
	          scratch.can_write ? "may be read and written"
	                            : "may be read");
	if (!scratch.can_write && is_of_clock(scratch.err.message))
		remote_look_failed(looking, scratch.err.status, &scratch.err);
	else if (!scratch.can_write)
		findings_add(findings, FINDING_RISK, "rights",
		             "what is compiled here cannot be pushed: %s\tgive "
		             "'--push never' if that is intended, else %s",
		             scratch.err.message,
		             is_folder(&looking->use)
		                     ? "let this user write the folder"
		                     : "credentials that may write");
	else if (!scratch.can_remove)
		findings_add(findings, FINDING_RISK, "rights",
		             "remote '%s' may be written, but nothing may be "
		             "removed: a scratch blob of 33 bytes is "
		             "left\tlet somebody else run 'tkbundle gc "
		             "--remote'",
		             looking->name);
	if (scratch.can_write && scratch.age_s > CLOCK_LIMIT_S)
		findings_add(findings, FINDING_RISK, "clock",
		             "what is written to remote '%s' is %" PRIu64
		             " s old at once: its clock is behind that of this "
		             "machine\tset both clocks, as by NTP",
		             looking->name, scratch.age_s);
}

static void inspect_remote(struct remote_looking *looking)
{
	const enum remote_folders folders =
		remote_folders_look(&looking->use, &looking->doctor->findings);
	struct tkb_error err = { .status = 0 };
	int rc;

	if (folders == REMOTE_FOLDERS_MISSING) {
		json_out_flag(&looking->use.cli->json, "is_reachable", false);
		return;
	}
	rc = ask_latency(looking, &err);
	if (rc != 0) {
		remote_look_failed(looking, rc, &err);
		return;
	}
	if (folders == REMOTE_FOLDERS_THERE)
		try_rights(looking);
	remote_look_ref(looking);
	remote_trust_look_revoked(looking);
}

enum status remote_look(struct doctor *doctor, struct remote_facts *out)
{
	struct cli *const cli = doctor->cli;
	TKB_AUTO(looking_end)
	struct remote_looking looking = { .doctor = doctor,
		                          .use = { .cli = cli },
		                          .out = out };
	enum status status;

	*out = (struct remote_facts){ .is_named = false };
	status = open_remote(&looking);
	if (status != STATUS_DONE || !out->is_named)
		return status;
	json_out_open_object(&cli->json, "remote");
	json_out_text(&cli->json, "name", looking.name);
	cli_print(cli, "remote %s", looking.name);
	inspect_remote(&looking);
	json_out_close(&cli->json);
	return STATUS_DONE;
}
