/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/remote/remote_ref.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/text.h"
#include "config/choices.h"
#include "doctor/remote/remote_trust.h"

enum {
	PATH_SIZE = 4096,
	DISTANCE_LIMIT = 4,
	REFS_LIMIT = 10000,
	LIST_SIZE = 64
};

/*
 * The number of letters that must be changed to turn one text into the other,
 * up to a limit.
 */
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

static void note_missing_ref(struct remote_looking *looking)
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
		             "'%s' has no refs, and so no '%s'\tname the "
		             "right remote; if this is it, 'tkbundle push %s' "
		             "makes the ref",
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
static int count_missing(struct remote_looking *looking,
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
static int count_holes(struct remote_looking *looking, uint64_t *holes_out,
                       struct tkb_error *err)
{
	const char *const wanted = cli_variable("TMPDIR");
	const char *const temporary = wanted != NULL ? wanted : "/tmp";
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
	               temporary);
	if (mkdtemp(folder) == NULL) {
		findings_add(&looking->doctor->findings, FINDING_RISK, "disk",
		             "no folder can be made in '%s' (%s), so it is "
		             "not known whether all blobs of ref '%s' "
		             "exist\texport TMPDIR=FOLDER, one that can be "
		             "written, for the server, too",
		             temporary, strerror(errno), looking->use.ref);
		return 0;
	}
	rc = looking->use.library.push(looking->use.remote, looking->use.ref,
	                               folder, &options, &report, err);
	(void)rmdir(folder);
	*holes_out = report.dropped_count;
	return rc;
}

/*
 * The targets or versions that the entries of a ref are for, from its records.
 */
struct makers {
	char archs[LIST_SIZE];   /* "sm_90, sm_100" */
	char tritons[LIST_SIZE]; /* "3.5.0, 3.6.0" */
	bool has_arch;           /* one of them fits this machine, or that is
	                            unknown */
	bool has_triton;
};

/* Add a text to the list, unless it is in it or does not fit. */
static void add_listed_word(const char *prefix, const char *text,
                            char list[LIST_SIZE])
{
	const size_t length = strlen(list);
	char word[32];

	(void)snprintf(word, sizeof(word), "%s%s", prefix, text);
	if (strstr(list, word) == NULL && length + strlen(word) + 2 < LIST_SIZE)
		(void)snprintf(list + length, LIST_SIZE - length, "%s%s",
		               length > 0 ? ", " : "", word);
}

static void add_record(const struct doctor *doctor,
                       const struct tkb_holdings_record *record,
                       struct makers *makers)
{
	const char *const triton = versions_find(&doctor->versions, "triton");

	for (size_t i = 0; i < record->target_count; i++) {
		const struct tkb_target *const target = &record->targets[i];

		makers->has_arch |= gpus_have_arch(&doctor->gpus, target->arch);
		add_listed_word(strcmp(target->backend, "cuda") == 0 ? "sm_"
		                                                     : "",
		                target->arch, makers->archs);
	}
	for (size_t i = 0; i < record->triton_count; i++) {
		makers->has_triton |= strcmp(record->tritons[i], triton) == 0;
		add_listed_word("", record->tritons[i], makers->tritons);
	}
}

static void find_makers(struct remote_looking *looking, struct makers *out)
{
	const struct remote_library *const library = &looking->use.library;
	const struct doctor *const doctor = looking->doctor;
	const struct tkb_holdings_options options = {
		.struct_size = sizeof(options),
		.deadline_ms = remote_use_left_ms(&looking->use),
		.watch = &looking->use.watch,
		.is_brief = true
	};
	struct tkb_holdings *holdings = NULL;

	*out = (struct makers){ .has_arch = doctor->gpus.visible_count == 0,
		                .has_triton =
		                        versions_find(&doctor->versions,
		                                      "triton")[0] == '\0' };
	if (library->holdings_open(looking->use.remote, looking->use.ref,
	                           &options, &holdings, NULL) < 0 &&
	    holdings == NULL)
		return;
	for (size_t i = 0; i < library->holdings_record_count(holdings); i++)
		add_record(doctor, library->holdings_record(holdings, i), out);
	library->holdings_close(holdings);
}

/* Note if a ref is only for other machines. */
static void note_makers(struct remote_looking *looking)
{
	struct doctor *const doctor = looking->doctor;
	struct makers makers;
	char ours[128];

	find_makers(looking, &makers);
	if (makers.archs[0] != '\0' && !makers.has_arch) {
		gpus_archs(&doctor->gpus, ours, sizeof(ours));
		looking->out->is_enough = false;
		findings_add(&doctor->findings, FINDING_FAULT, "target",
		             "ref '%s' is for %s, and here is %s\tname the "
		             "ref for this GPU, or start here once by "
		             "'tkbundle run --ref %s -- COMMAND', which "
		             "compiles and pushes",
		             looking->use.ref, makers.archs, ours,
		             looking->use.ref);
	}
	if (makers.tritons[0] != '\0' && !makers.has_triton) {
		looking->out->is_enough = false;
		findings_add(&doctor->findings, FINDING_FAULT, "triton",
		             "the kernels of ref '%s' were made by Triton %s, "
		             "and here is %s\tinstall the Triton that made "
		             "them, or start here once by 'tkbundle run --ref "
		             "%s -- COMMAND', which compiles and pushes",
		             looking->use.ref, makers.tritons,
		             versions_find(&doctor->versions, "triton"),
		             looking->use.ref);
	}
}

static void print_ref(struct remote_looking *looking,
                      const struct tkb_ref_info *info, uint64_t missing,
                      uint64_t holes)
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
	cli_print(cli,
	          "  ref %s: %" PRIu64 " %s, used %s ago; missing here "
	          "%" PRIu64 ", holes %" PRIu64,
	          looking->use.ref, info->entry_count,
	          text_plural(info->entry_count, "entry", "entries"), age,
	          missing, holes);
	looking->out->entry_count = info->entry_count;
	looking->out->is_enough = holes < info->record_count;
	looking->out->is_empty = holes >= info->record_count;
	looking->out->is_all_here = missing == 0 && !looking->doctor->is_file;
	note_makers(looking);
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
			"%" PRIu64 " %s of ref '%s' %s not here\t"
			"tkbundle pull %s, or start by 'tkbundle run --ref "
			"%s -- COMMAND', which pulls what is missing; then "
			"doctor can say what fits",
			missing, text_plural(missing, "entry", "entries"),
			looking->use.ref, text_plural(missing, "is", "are"),
			looking->use.ref, looking->use.ref);
}

static void look_at_ref(struct remote_looking *looking)
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
		rc = remote_trust_ask(looking, &err);
	remote_use_waited(use);
	json_out_flag(&use->cli->json, "is_ref_found", info.record_count != 0);
	if (rc == TKB_MISS && info.record_count == 0)
		note_missing_ref(looking);
	else if (rc != 0)
		remote_look_failed(looking, rc, &err);
	else
		print_ref(looking, &info, missing, holes);
	remote_trust_print(looking);
}

/*
 * Find out which ref is used, if any. A placeholder without a value is a fault.
 */
static bool choose_ref(struct remote_looking *looking)
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
	/* A pattern may need the driver, which did not answer. */
	if (doctor->gpus.is_late && strchr(pattern, '{') != NULL)
		return false;
	if (use->library.ref_expand(pattern, &facts, use->ref, &err) == 0)
		return true;
	findings_add(&doctor->findings, FINDING_FAULT, "ref",
	             "%s\twrite the ref in full, as --ref my-model/h200",
	             err.message);
	return false;
}

void remote_look_ref(struct remote_looking *looking)
{
	if (choose_ref(looking))
		look_at_ref(looking);
}
