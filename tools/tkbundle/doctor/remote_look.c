/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/remote_look.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/text.h"
#include "config/choices.h"
#include "config/remote_use.h"
#include "config/revoked.h"
#include "doctor/remote_folders.h"
#include "doctor/scratch.h"

enum {
	PATH_SIZE = 4096,
	CLOCK_LIMIT_S = 60,
	DISTANCE_LIMIT = 4,
	REFS_LIMIT = 10000
};

struct looking {
	struct doctor *doctor;
	struct remote_use use;
	char *name; /* owned; without secrets */
	struct remote_facts *out;
};

static void looking_end(struct looking *looking)
{
	free(looking->name);
	remote_use_end(&looking->use);
}

/*
 * Failures
 */

static bool has_word(const char *message, const char *const words[])
{
	for (size_t i = 0; words[i] != NULL; i++) {
		if (strstr(message, words[i]) != NULL)
			return true;
	}
	return false;
}

/* What is said of a clock that is wrong: by S3, and by TLS. */
static bool is_of_clock(const char *message)
{
	static const char *const words[] = {
		"RequestTimeTooSkewed", "RequestExpired", "not yet valid",
		"has expired",          "clock",          NULL
	};

	return has_word(message, words);
}

static void note_failure(struct looking *looking, int rc,
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
		findings_add(
			findings, FINDING_FAULT, "trust",
			"%s	let somebody sign it whom the policy '%s' "
			"trusts, as by 'tkbundle sign', or look at that "
			"policy",
			err->message, looking->use.policy.path);
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

static enum status open_remote(struct looking *looking)
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

static int pass_over(void *self, const struct tkb_digest *digest,
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
 * Is the remote there? It is asked for the records of a ref that does not
 * exist.
 */
static int ask_latency(struct looking *looking, struct tkb_error *err)
{
	const struct tkb_record_visitor visitor = { .on_record = pass_over };
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
	if (rc == 0 && !looking->doctor->args->is_json)
		text_line(cli->out, "  reached in %" PRIu64 " ms", time_ms);
	return rc;
}

static void try_rights(struct looking *looking)
{
	struct findings *const findings = &looking->doctor->findings;
	struct cli *const cli = looking->use.cli;
	struct scratch scratch;

	remote_use_wait(&looking->use);
	scratch_try(&looking->use, &scratch);
	remote_use_waited(&looking->use);
	json_out_flag(&cli->json, "can_write", scratch.can_write);
	if (!looking->doctor->args->is_json)
		text_line(cli->out, "  %s",
		          scratch.can_write ? "may be read and written"
		                            : "may be read");
	if (!scratch.can_write && is_of_clock(scratch.err.message))
		note_failure(looking, scratch.err.status, &scratch.err);
	else if (!scratch.can_write)
		findings_add(findings, FINDING_RISK, "rights",
		             "what is compiled here cannot be pushed: %s\tgive "
		             "'--push never' if that is intended, else "
		             "credentials that may write",
		             scratch.err.message);
	else if (!scratch.can_remove)
		findings_add(findings, FINDING_RISK, "rights",
		             "remote '%s' may be written, and nothing removed: "
		             "a scratch blob of 33 bytes is left\tlet somebody "
		             "else run 'tkbundle gc --remote'",
		             looking->name);
	if (scratch.can_write && scratch.age_s > CLOCK_LIMIT_S)
		findings_add(findings, FINDING_RISK, "clock",
		             "what is written to remote '%s' is %" PRIu64
		             " s old at once: its clock is behind that of this "
		             "machine\tset both clocks, as by NTP",
		             looking->name, scratch.age_s);
}

/*
 * The ref
 */

/* How many letters must be changed to make one of the other, up to a limit. */
static size_t distance(const char *a, const char *b)
{
	const size_t a_size = strlen(a);
	const size_t b_size = strlen(b);
	size_t row[TKB_REF_SIZE + 1];

	if (a_size >= TKB_REF_SIZE || b_size >= TKB_REF_SIZE)
		return SIZE_MAX;
	for (size_t j = 0; j <= b_size; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_size; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_size; j++) {
			const size_t above = row[j];
			size_t best = corner + (a[i - 1] != b[j - 1]);

			best = above + 1 < best ? above + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			corner = above;
			row[j] = best;
		}
	}
	return row[b_size];
}

struct nearest {
	const char *wanted;
	char ref[TKB_REF_SIZE];
	size_t distance;
	size_t count;
};

static int compare_ref(void *self, const char *ref, struct tkb_error *err)
{
	struct nearest *const nearest = self;
	size_t own;

	(void)err;
	if (++nearest->count > REFS_LIMIT)
		return 0;
	own = distance(nearest->wanted, ref);
	if (own < nearest->distance) {
		nearest->distance = own;
		(void)snprintf(nearest->ref, sizeof(nearest->ref), "%s", ref);
	}
	return 0;
}

static void note_missing_ref(struct looking *looking)
{
	struct remote_use *const use = &looking->use;
	struct nearest nearest = { .wanted = use->ref, .distance = SIZE_MAX };
	const struct tkb_ref_visitor visitor = { compare_ref, &nearest };
	struct findings *const findings = &looking->doctor->findings;
	const bool is_listed =
		use->library.refs(use->remote, &visitor, NULL) == 0;

	looking->out->is_missing = true;
	if (is_listed && nearest.distance <= DISTANCE_LIMIT)
		findings_add(
			findings, FINDING_FAULT, "ref",
			"ref '%s' has no record in '%s', but '%s' "
			"has\texport TKBUNDLE_REF=%s, or give --ref %s, if "
			"that is meant",
			use->ref, looking->name, nearest.ref, nearest.ref,
			nearest.ref);
	else if (is_listed && nearest.count == 0)
		findings_add(findings, FINDING_FAULT, "ref",
		             "'%s' holds no ref at all, and so not '%s'\t"
		             "name the right remote; if this is it, "
		             "'tkbundle push %s' makes the ref",
		             looking->name, use->ref, use->ref);
	else
		findings_add(findings, FINDING_FAULT, "ref",
		             "ref '%s' has no record in '%s', which has %zu "
		             "other %s\t'tkbundle refs' lists them; 'tkbundle "
		             "push %s' or 'tkbundle run --ref %s' makes this "
		             "one",
		             use->ref, looking->name, nearest.count,
		             text_plural(nearest.count, "ref", "refs"),
		             use->ref, use->ref);
}

/* Count the ref's entries that are missing here, by a dry run of a pull. */
static int count_missing(struct looking *looking,
                         const struct tkb_ref_info *info, uint64_t *missing_out,
                         struct tkb_error *err)
{
	struct doctor *const doctor = looking->doctor;
	struct tkb_emit_options emit =
		choices_for_emit(doctor->args, &doctor->root);
	const struct tkb_pull_options chosen = { .struct_size = sizeof(chosen),
		                                 .emit = &emit };
	struct tkb_pull_report report = { .struct_size = sizeof(report) };
	uint64_t here;
	int rc;

	emit.is_dry_run = true;
	emit.watch = &looking->use.watch;
	emit.deadline_ms = remote_use_left_ms(&looking->use);
	rc = looking->use.library.pull(looking->use.remote, looking->use.ref,
	                               doctor->root.path, &chosen, &report,
	                               err);
	if (!cli_is_done(rc))
		return rc;
	here = report.present_count + report.skipped_count;
	*missing_out = report.wanted_count == 0 || here >= info->entry_count
	                       ? 0
	                       : info->entry_count - here;
	return 0;
}

/*
 * Count records whose blob is gone, by a dry run of a push from an empty
 * folder.
 */
static int count_holes(struct looking *looking, uint64_t *holes_out,
                       struct tkb_error *err)
{
	const char *const temporary = cli_variable("TMPDIR");
	const struct tkb_collect_options collect = {
		.struct_size = sizeof(collect),
		.is_dry_run = true,
		.watch = &looking->use.watch,
		.deadline_ms = remote_use_left_ms(&looking->use)
	};
	const struct tkb_push_options options = { .struct_size =
		                                          sizeof(options),
		                                  .collect = &collect,
		                                  .is_compaction_off = true };
	struct tkb_push_report report = { .struct_size = sizeof(report) };
	char folder[PATH_SIZE];
	int rc;

	(void)snprintf(folder, sizeof(folder), "%s/tkbundle-doctor.XXXXXX",
	               temporary != NULL ? temporary : "/tmp");
	if (mkdtemp(folder) == NULL)
		return cli_error(err, TKB_ERR_IO, "cannot make '%s'", folder);
	rc = looking->use.library.push(looking->use.remote, looking->use.ref,
	                               folder, &options, &report, err);
	(void)rmdir(folder);
	*holes_out = report.dropped_count;
	return rc;
}

/* Add to the list "sm_90, sm_100" what is not in it and has room. */
static void add_arch(const struct tkb_target *target, char *archs, size_t size)
{
	const size_t length = strlen(archs);
	char arch[32];

	(void)snprintf(arch, sizeof(arch), "%s%s",
	               strcmp(target->backend, "cuda") == 0 ? "sm_" : "",
	               target->arch);
	if (strstr(archs, arch) == NULL && length + strlen(arch) + 2 < size)
		(void)snprintf(archs + length, size - length, "%s%s",
		               length > 0 ? ", " : "", arch);
}

/* Has the ref entries for other GPUs alone? Then `archs` tells whose. */
static bool is_for_others(struct looking *looking, char *archs, size_t size)
{
	const struct remote_library *const library = &looking->use.library;
	const struct gpus *const gpus = &looking->doctor->gpus;
	const struct tkb_holdings_options options = {
		.struct_size = sizeof(options),
		.deadline_ms = remote_use_left_ms(&looking->use),
		.watch = &looking->use.watch,
		.is_brief = true
	};
	struct tkb_holdings *holdings = NULL;
	bool is_other = false;
	bool fits = gpus->visible_count == 0;

	archs[0] = '\0';
	if (fits)
		return false;
	if (library->holdings_open(looking->use.remote, looking->use.ref,
	                           &options, &holdings, NULL) < 0 &&
	    holdings == NULL)
		return false;
	for (size_t i = 0; i < library->holdings_record_count(holdings); i++) {
		const struct tkb_holdings_record *const record =
			library->holdings_record(holdings, i);

		for (size_t j = 0; j < record->target_count; j++) {
			const struct tkb_target *const target =
				&record->targets[j];

			fits |= gpus_have_arch(gpus, target->arch);
			is_other = true;
			add_arch(target, archs, size);
		}
	}
	library->holdings_close(holdings);
	return is_other && !fits;
}

static void note_target(struct looking *looking)
{
	char theirs[64];
	char ours[128];

	if (!is_for_others(looking, theirs, sizeof(theirs)))
		return;
	gpus_archs(&looking->doctor->gpus, ours, sizeof(ours));
	looking->out->is_enough = false;
	findings_add(&looking->doctor->findings, FINDING_FAULT, "target",
	             "ref '%s' is for %s, and here is %s\tname the ref for "
	             "this GPU, or start here once by 'tkbundle run --ref %s "
	             "-- COMMAND', which compiles and pushes",
	             looking->use.ref, theirs, ours, looking->use.ref);
}

static void print_ref(struct looking *looking, const struct tkb_ref_info *info,
                      uint64_t missing, uint64_t holes)
{
	struct findings *const findings = &looking->doctor->findings;
	struct cli *const cli = looking->use.cli;
	char age[TEXT_AGE_SIZE] = "an unknown time";

	if (info->age_s != UINT64_MAX)
		text_age(info->age_s, age);
	json_out_number(&cli->json, "records", info->record_count);
	json_out_number(&cli->json, "entries", info->entry_count);
	json_out_number(&cli->json, "missing", missing);
	json_out_number(&cli->json, "holes", holes);
	if (info->age_s != UINT64_MAX)
		json_out_number(&cli->json, "age", info->age_s);
	if (!looking->doctor->args->is_json)
		text_line(cli->out,
		          "  ref %s: %" PRIu64 " %s, used %s ago; missing here "
		          "%" PRIu64 ", holes %" PRIu64,
		          looking->use.ref, info->entry_count,
		          text_plural(info->entry_count, "entry", "entries"),
		          age, missing, holes);
	looking->out->entry_count = info->entry_count;
	looking->out->is_enough = holes < info->record_count;
	looking->out->is_empty = holes >= info->record_count;
	note_target(looking);
	if (holes > 0)
		findings_add(
			findings, FINDING_FAULT, "holes",
			"%" PRIu64 " of %" PRIu64 " %s of ref '%s' cannot be "
			"used: what was pushed is gone or damaged\ttkbundle "
			"push %s, from a machine that is warm; and give "
			"the remote more room, if it evicts",
			holes, info->record_count,
			text_plural(info->record_count, "record", "records"),
			looking->use.ref, looking->use.ref);
	if (missing > 0 && looking->out->is_enough)
		findings_add(
			findings, FINDING_RISK, "not-pulled",
			"%" PRIu64 " entries of ref '%s' are not here\t"
			"tkbundle pull %s, or start by 'tkbundle run --ref "
			"%s -- COMMAND', which pulls them",
			missing, looking->use.ref, looking->use.ref,
			looking->use.ref);
}

/* Who has signed what of it is trusted? */
static int look_at_trust(struct looking *looking, struct tkb_error *err)
{
	struct remote_use *const use = &looking->use;
	uint64_t count = 0;

	return policy_trust(&use->policy) == NULL
	               ? 0
	               : use->library.ref_judge(use->remote, use->ref, &count,
	                                        err);
}

static void print_trust(struct looking *looking)
{
	struct remote_use *const use = &looking->use;
	const struct signed_list *const list = &use->policy.trusted;
	char words[512];

	if (policy_trust(&use->policy) == NULL)
		return;
	signed_list_json(list, use->ref, &use->cli->json);
	if (!looking->doctor->args->is_json)
		signed_list_print(list, use->ref, use->cli, use->cli->out);
	if (signed_list_ending(list, use->ref, words, sizeof(words)))
		findings_add(&looking->doctor->findings, FINDING_RISK, "trust",
		             "%s	'tkbundle sign --all' signs it anew",
		             words);
}

static void look_at_ref(struct looking *looking)
{
	struct remote_use *const use = &looking->use;
	struct tkb_ref_info info = { .struct_size = sizeof(info) };
	struct tkb_error err = { .status = 0 };
	uint64_t missing = 0;
	uint64_t holes = 0;
	int rc;

	json_out_text(&use->cli->json, "ref", use->ref);
	(void)snprintf(looking->out->ref, sizeof(looking->out->ref), "%s",
	               use->ref);
	remote_use_wait(use);
	rc = use->library.ref_look(use->remote, use->ref, &info, &err);
	if (rc == 0 && !looking->doctor->is_file)
		rc = count_missing(looking, &info, &missing, &err);
	if (rc == 0)
		rc = count_holes(looking, &holes, &err);
	if (rc == 0)
		rc = look_at_trust(looking, &err);
	remote_use_waited(use);
	json_out_flag(&use->cli->json, "is_ref_found", info.record_count != 0);
	if (rc == TKB_MISS && info.record_count == 0)
		note_missing_ref(looking);
	else if (rc != 0)
		note_failure(looking, rc, &err);
	else
		print_ref(looking, &info, missing, holes);
	print_trust(looking);
}

/*
 * Find out which ref is used, if any. A placeholder without a value is a fault.
 */
static bool choose_ref(struct looking *looking)
{
	struct doctor *const doctor = looking->doctor;
	struct remote_use *const use = &looking->use;
	const char *const pattern = use->config.values[CONFIG_REF].text;
	const struct tkb_ref_facts facts = {
		.struct_size = sizeof(facts),
		.cache_root = doctor->is_file ? NULL : doctor->root.path,
		.watch = &use->watch
	};
	struct tkb_error err = { .status = 0 };

	if (pattern == NULL)
		return false;
	/* The placeholder may need the driver, which has just not answered. */
	if (doctor->gpus.is_late && strchr(pattern, '{') != NULL)
		return false;
	if (use->library.ref_expand(pattern, &facts, use->ref, &err) == 0)
		return true;
	findings_add(&doctor->findings, FINDING_FAULT, "ref",
	             "%s\twrite the ref in full, as --ref my-model/h200",
	             err.message);
	return false;
}

/* What lies in the cache, and is revoked since? A dry run of a gc counts it. */
static void look_for_revoked(struct looking *looking)
{
	TKB_AUTO(revoked_close) struct tkb_origins *revoked = NULL;
	struct doctor *const doctor = looking->doctor;
	const char *const root = doctor->root.path;
	struct tkb_gc_options options = { .struct_size = sizeof(options),
		                          .is_dry_run = true,
		                          .is_enabled = true,
		                          .watch = &looking->use.watch };
	struct tkb_gc_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { .status = 0 };
	int rc;

	if (policy_trust(&looking->use.policy) == NULL || doctor->is_file ||
	    root == NULL)
		return;
	rc = revoked_find(&looking->use, root, &revoked, &err);
	if (rc == 0) {
		options.revoked = revoked;
		rc = tkb_gc(root, &options, &report, &err);
	}
	json_out_number(&looking->use.cli->json, "revoked",
	                report.removed_count);
	if (report.removed_count > 0)
		findings_add(
			&doctor->findings, FINDING_FAULT, "revoked",
			"%" PRIu64 " %s of '%s' %s from something that is "
			"revoked	tkbundle gc --revoked %s",
			report.removed_count,
			text_plural(report.removed_count, "entry", "entries"),
			root,
			text_plural(report.removed_count, "comes", "come"),
			root);
	if (rc < 0 && rc != TKB_ERR_PARTIAL)
		note_failure(looking, rc, &err);
}

static void inspect_remote(struct looking *looking)
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
		note_failure(looking, rc, &err);
		return;
	}
	if (folders == REMOTE_FOLDERS_THERE)
		try_rights(looking);
	if (choose_ref(looking))
		look_at_ref(looking);
	look_for_revoked(looking);
}

enum status remote_look(struct doctor *doctor, struct remote_facts *out)
{
	struct cli *const cli = doctor->cli;
	TKB_AUTO(looking_end)
	struct looking looking = { .doctor = doctor,
		                   .use = { .cli = cli },
		                   .out = out };
	enum status status;

	*out = (struct remote_facts){ .is_named = false };
	status = open_remote(&looking);
	if (status != STATUS_DONE || !out->is_named)
		return status;
	json_out_open_object(&cli->json, "remote");
	json_out_text(&cli->json, "name", looking.name);
	if (!doctor->args->is_json)
		text_line(cli->out, "remote %s", looking.name);
	inspect_remote(&looking);
	json_out_close(&cli->json);
	return STATUS_DONE;
}
