/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/remote_gc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/counts.h"
#include "report/entry_out.h"
#include "config/remote_use.h"
#include "cli/text.h"
#include "trust/signers.h"

static const struct count counts[] = {
	COUNT_AND_METRIC(tkb_remote_gc_report, ref_count, "refs", NULL, "refs",
	                 "Refs of the remote."),
	COUNT_AND_METRIC(tkb_remote_gc_report, record_count, "records", NULL,
	                 "records", "Records of the remote, before."),
	COUNT_AND_METRIC(tkb_remote_gc_report, expired_count, "expired",
	                 "expired", "expired_records",
	                 "Records that were dropped for their age."),
	COUNT_AND_METRIC(tkb_remote_gc_report, evicted_count, "evicted",
	                 "evicted", "evicted_records",
	                 "Records that were dropped for the size."),
	COUNT_AND_METRIC(
		tkb_remote_gc_report, hole_count, "holes", "holes",
		"hole_records",
		"Records that were dropped because their blob was gone."),
	COUNT_AND_METRIC(tkb_remote_gc_report, compacted_count, "compacted",
	                 "compacted", "compacted_records",
	                 "Records that became fewer."),
	COUNT_AND_METRIC(tkb_remote_gc_report, removed_count, "removed", NULL,
	                 "removed_blobs", "Blobs that were removed."),
	COUNT_AND_METRIC(tkb_remote_gc_report, removed_size, "removed_size",
	                 NULL, "removed_bytes", "Bytes of the removed blobs."),
	COUNT_AND_METRIC(tkb_remote_gc_report, kept_count, "kept", NULL,
	                 "kept_blobs", "Blobs that stayed."),
	COUNT_AND_METRIC(tkb_remote_gc_report, kept_size, "kept_size", NULL,
	                 "kept_bytes", "Bytes of the blobs that stayed."),
	COUNT_AND_METRIC(tkb_remote_gc_report, start_count, "start_reports",
	                 "start reports", "removed_start_reports",
	                 "Reports of starts that were removed."),
	COUNT_AND_METRIC(tkb_remote_gc_report, envelope_count, "signatures",
	                 "signatures", "removed_signatures",
	                 "Signatures that were removed: their record is gone."),
	COUNT_AND_METRIC(tkb_remote_gc_report, refused_count, "refused",
	                 "refused", "refused",
	                 "What the remote refused to delete."),
};

/*
 * Limit of objects that a remote refuses to delete; the library ends a gc after
 * that many.
 */
enum {
	REFUSALS_LIMIT = 100
};

struct refusal {
	char *ref;     /* owned; NULL: a blob */
	char *message; /* owned; NULL: out of memory */
	bool has_digest;
	struct tkb_digest digest;
};

static enum status check_remote_gc(const struct cli *cli,
                                   const struct arguments *args)
{
	if (args->operands.count > 0)
		return cli_misused(cli, "CACHE_ROOT and '--remote' exclude "
		                        "each other");
	return cli_exclude(cli, args->max_entries.is_set, "--max-entries", true,
	                   "--remote");
}

/*
 * The two lists of the document: records that cannot be read, then what is
 * removed.
 */
struct gc_lists {
	struct cli *cli;
	bool is_removing;
	bool has_damage;
	struct follow follow;
	struct refusal refusals[REFUSALS_LIMIT];
	size_t refusal_count;
};

static void lists_release(struct gc_lists *lists)
{
	for (size_t i = 0; i < lists->refusal_count; i++) {
		free(lists->refusals[i].ref);
		free(lists->refusals[i].message);
	}
}

/* Keep them until the list of removed items ends. */
static void on_refused(void *self, const char *ref,
                       const struct tkb_digest *digest, const char *message)
{
	struct gc_lists *const lists = self;
	struct refusal *refusal;

	if (lists->refusal_count == REFUSALS_LIMIT)
		return;
	refusal = &lists->refusals[lists->refusal_count++];
	refusal->ref = ref != NULL ? strdup(ref) : NULL;
	refusal->message = strdup(message);
	refusal->has_digest = digest != NULL;
	if (digest != NULL)
		refusal->digest = *digest;
}

static void say_refusal(const struct cli *cli, const struct refusal *refusal)
{
	char hex[TKB_DIGEST_HEX_SIZE] = "";

	if (refusal->has_digest)
		tkb_digest_to_hex(&refusal->digest, hex);
	if (refusal->ref != NULL && refusal->has_digest)
		cli_say(cli, "record %.12s of ref '%s' stays: %s", hex,
		        refusal->ref, refusal->message);
	else if (refusal->has_digest)
		cli_say(cli, "blob %.12s stays: %s", hex, refusal->message);
	else
		cli_say(cli, "a part of ref '%s' stays: %s",
		        refusal->ref != NULL ? refusal->ref : "-",
		        refusal->message);
}

static void list_refusals(const struct gc_lists *lists)
{
	struct json_out *const json = &lists->cli->json;

	json_out_open_array(json, "refused_items");
	for (size_t i = 0; i < lists->refusal_count; i++) {
		const struct refusal *const refusal = &lists->refusals[i];

		if (refusal->message == NULL)
			continue;
		json_out_open_object(json, NULL);
		json_out_text(json, "ref", refusal->ref);
		if (refusal->has_digest)
			entry_out_digest(json, "digest", &refusal->digest);
		json_out_text(json, "message", refusal->message);
		json_out_close(json);
		say_refusal(lists->cli, refusal);
	}
	json_out_close(json);
}

static void begin_removing(struct gc_lists *lists)
{
	struct json_out *const json = &lists->cli->json;

	if (lists->is_removing)
		return;
	lists->is_removing = true;
	json_out_close(json);
	json_out_open_array(json, "removed_items");
}

static void on_fault(void *self, const struct tkb_remote_fault *fault)
{
	struct gc_lists *const lists = self;
	struct json_out *const json = &lists->cli->json;

	progress_erase(&lists->follow.progress);
	cli_say(lists->cli, "ref '%s': %s", fault->ref, fault->message);
	if (fault->trouble == TKB_REMOTE_TROUBLE_DAMAGED)
		lists->has_damage = true;
	if (lists->is_removing)
		return;
	json_out_open_object(json, NULL);
	json_out_text(json, "ref", fault->ref);
	entry_out_digest(json, "digest", fault->digest);
	json_out_text(json, "message", fault->message);
	json_out_close(json);
}

static void on_removed(void *self, const char *ref,
                       const struct tkb_digest *digest, uint64_t size)
{
	struct gc_lists *const lists = self;
	struct json_out *const json = &lists->cli->json;

	begin_removing(lists);
	json_out_open_object(json, NULL);
	json_out_text(json, "ref", ref);
	entry_out_digest(json, "digest", digest);
	json_out_number(json, "size", size);
	json_out_close(json);
}

static int gc_tiers(struct remote_use *use, const struct arguments *args,
                    const struct tkb_signing *signing,
                    struct tkb_remote_gc_report *report, bool *is_damaged,
                    struct tkb_error *err)
{
	struct json_out *const json = &use->cli->json;
	TKB_AUTO(lists_release) struct gc_lists lists = { .cli = use->cli };
	struct tkb_remote_gc_options chosen = {
		.struct_size = sizeof(chosen),
		.has_max_age = args->max_age.is_set,
		.max_age_s = args->max_age.value,
		.has_max_size = args->max_size.is_set,
		.max_size = args->max_size.value,
		.is_dry_run = args->is_dry_run,
		.on_removed = on_removed,
		.on_fault = on_fault,
		.on_refused = on_refused,
		.self = &lists,
		.signing = signing,
	};
	int rc;

	chosen.watch = remote_use_follow_alone(use, &lists.follow);
	json_out_open_array(json, "unread");
	rc = use->library.gc(use->remote, &chosen, report, err);
	follow_end_alone(&lists.follow);
	begin_removing(&lists);
	json_out_close(json);
	list_refusals(&lists);
	*is_damaged = lists.has_damage;
	return rc;
}

static void summarize_remote_gc(const struct cli *cli,
                                const struct arguments *args, const char *name,
                                const struct tkb_remote_gc_report *report)
{
	char removed[TEXT_SIZE_SIZE];
	char kept[TEXT_SIZE_SIZE];
	char rest[128];

	text_size(report->removed_size, removed);
	text_size(report->kept_size, kept);
	counts_words(COUNTS(counts), report, rest, sizeof(rest));
	text_line(cli->out,
	          "%sremoved %" PRIu64 " %s (%s), kept %" PRIu64
	          " (%s) in %s: %" PRIu64 " %s of %" PRIu64 " %s%s",
	          args->is_dry_run ? "would have " : "", report->removed_count,
	          text_plural(report->removed_count, "blob", "blobs"), removed,
	          report->kept_count, kept, name, report->record_count,
	          text_plural(report->record_count, "record", "records"),
	          report->ref_count,
	          text_plural(report->ref_count, "ref", "refs"), rest);
}

static enum status gc_remote(struct remote_use *use,
                             const struct arguments *args,
                             const struct tkb_signing *signing)
{
	TKB_AUTO(text_free) char *name = remote_use_name(use);
	TKB_AUTO(metrics_release)
	struct metrics metrics = { .verb = "gc",
		                   .label = "remote",
		                   .label_value = name };
	struct tkb_remote_gc_report report = { .struct_size = sizeof(report) };
	struct json_out *const json = &use->cli->json;
	struct tkb_error err = { .status = 0 };
	enum status status = STATUS_DONE;
	bool is_damaged = false;
	int rc;

	if (name == NULL)
		return cli_no_memory(use->cli);
	remote_use_json(use);
	json_out_flag(json, "dry_run", args->is_dry_run);
	rc = gc_tiers(use, args, signing, &report, &is_damaged, &err);
	if (!cli_is_done(rc)) {
		status = remote_use_failed(use, rc, &err, name);
		if (is_damaged)
			remote_use_say_repair(use);
	} else {
		counts_json(COUNTS(counts), &report, json);
		if (!args->is_json)
			summarize_remote_gc(use->cli, args, name, &report);
		status = status_of(rc);
	}
	counts_metrics(COUNTS(counts), &report, &metrics);
	return remote_use_measure(use, args, &metrics, status);
}

enum status remote_gc_run(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(remote_use_end) struct remote_use use = { .cli = cli };
	struct signers signers = { .count = 0 };
	struct tkb_error err = { .status = 0 };
	enum status status = check_remote_gc(cli, args);
	int rc;

	if (status != STATUS_DONE || cli_is_disabled(cli))
		return status;
	status = remote_use_begin(&use, args, false);
	if (status != STATUS_DONE)
		return status;
	rc = signers_read(&signers, cli, &use.library, args, &err);
	status = rc == 0 ? gc_remote(&use, args, signers_signing(&signers))
	                 : cli_failed(cli, rc, &err, "--sign");
	signers_release(&signers, &use.library);
	return status;
}
