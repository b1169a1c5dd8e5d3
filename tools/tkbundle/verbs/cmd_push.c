/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/file_source.h"
#include "cli/counts.h"
#include "cli/follow.h"
#include "config/choices.h"
#include "config/labels.h"
#include "config/engine_version.h"
#include "config/remote_use.h"
#include "config/root.h"
#include "image/image_push.h"
#include "report/source.h"
#include "cli/text.h"
#include "trust/signers.h"

static const struct option_spec options[] = {
	ARGS_REMOTE,
	ARGS_ENGINES,
	ARGS_TREES,
	{ OPTION(TEXT, "bundle", "FILE|-", bundle,
	         "push this bundle as it is, not a cache") },
	{ OPTION(WORD, "layout", "tkb|triton", layout,
	         "bundles, or values for Triton's Redis backend") },
	{ OPTION(WORD, "as", "bundle|image", as,
	         "into the ref, or as an image that can be mounted") },
	{ OPTION(TEXT, "mount", "PATH", mount,
	         "where the image will be mounted") },
	{ OPTION(WORD, "format", "tar.gz|tar.zst", format,
	         "the format of the image's layer; default tar.gz") },
	{ OPTION(TEXTS, "label", "NAME=VALUE", labels,
	         "store this with what is pushed, as commit=4f2a") },
	ARGS_SIGN("sign what is pushed with the private key in KEY_FILE"),
	ARGS_EXPIRES,
	ARGS_TRUST,
	ARGS_PASSPHRASE_FILE,
	ARGS_PASSPHRASE_COMMAND,
	ARGS_DEADLINE,
	ARGS_METRICS,
	ARGS_KEYS,
	ARGS_DEVICE,
	ARGS_PROFILE,
	ARGS_NO_MODULES,
	{ OPTION(SWITCH, "no-compaction", NULL, is_compaction_off,
	         "do not merge small bundles of the ref") },
	{ OPTION(TEXTS, "again", "TREE/UNIT", again,
	         "push this unit, which was made again, for the ref's one") },
	ARGS_SETTLE,
	ARGS_STRICT("push nothing if an entry would be left out"),
	ARGS_JOBS,
	ARGS_JSON,
	ARGS_DRY_RUN("report what the ref lacks, push nothing"),
	ARGS_VERBOSE("say which engine and which certificates are used"),
};

static const struct count counts[] = {
	COUNT_AND_METRIC(tkb_push_report, pushed_count, "pushed", NULL,
	                 "pushed", "Entries that the ref lacked."),
	COUNT_AND_METRIC(tkb_push_report, present_count, "present", NULL,
	                 "present", "Entries that the ref had."),
	COUNT_AND_METRIC(tkb_push_report, left_out_count, "left_out_count",
	                 "left out", "left_out",
	                 "Entries that cannot be packed."),
	COUNT_AND_METRIC(tkb_push_report, record_count, "records", NULL,
	                 "records", "Records that the ref had."),
	COUNT_AND_METRIC(tkb_push_report, dropped_count, "dropped", "dropped",
	                 "dropped", "Records whose blob was gone."),
	COUNT_AND_METRIC(tkb_push_report, compacted_count, "compacted",
	                 "compacted", "compacted", "Records that became one."),
	COUNT(tkb_push_report, blob_count, "blobs", NULL),
	COUNT_AND_METRIC(tkb_push_report, size, "uploaded_size", NULL,
	                 "uploaded_bytes", "Bytes that were uploaded."),
};

/* The words of --layout are in the enum's order. */
static bool is_for_triton(const struct arguments *args)
{
	return args->layout.value == TKB_PUSH_LAYOUT_TRITON;
}

static bool is_for_image(const struct arguments *args)
{
	return args->as.value == 1;
}

static bool is_utf8(const char *text)
{
	return tkb_text_repair(text, NULL, 0) == strlen(text);
}

/* What an image's JSON holds. */
static enum status check_image_texts(const struct cli *cli,
                                     const struct arguments *args)
{
	if (!is_utf8(args->mount))
		return cli_misused(cli,
		                   "'--mount' wants a path in UTF-8, not '%s'",
		                   args->mount);
	for (size_t i = 0; i < args->labels.count; i++) {
		const char *const label = args->labels.items[i];

		if (label[0] == '=' || !is_utf8(label))
			return cli_misused(cli,
			                   "'--label' wants a name, and UTF-8, "
			                   "not '%s'",
			                   label);
	}
	return STATUS_DONE;
}

static enum status check_image(const struct cli *cli,
                               const struct arguments *args)
{
	const bool is_image = is_for_image(args);

	if (!is_image && (args->mount != NULL || args->format.is_set))
		return cli_misused(cli, "'--mount' and '--format' are for "
		                        "'--as image'");
	if (!is_image)
		return STATUS_DONE;
	if (args->mount == NULL)
		return cli_misused(cli, "'--mount PATH' is missing: files of "
		                        "an image say where it is mounted");
	if (args->mount[0] != '/')
		return cli_misused(cli, "'%s' is not an absolute path",
		                   args->mount);
	if (check_image_texts(cli, args) != STATUS_DONE)
		return STATUS_USAGE;
	if (!archive_export_read_time(NULL))
		return cli_misused(
			cli, "SOURCE_DATE_EPOCH is not a number of seconds");
	if (cli_exclude(cli, true, "--as image", is_for_triton(args),
	                "--layout triton") != STATUS_DONE ||
	    cli_exclude(cli, true, "--as image", args->is_compaction_off,
	                "--no-compaction") != STATUS_DONE)
		return STATUS_USAGE;
	if (cli_exclude(cli, true, "--as image", args->again.count > 0,
	                "--again") != STATUS_DONE)
		return STATUS_USAGE;
	return cli_exclude(cli, true, "--as image", args->metrics != NULL,
	                   "--metrics");
}

/*
 * Refuse options without effect: a bundle is pushed as it is, and Triton's
 * layout has no refs.
 */
static enum status check_push(const struct cli *cli,
                              const struct arguments *args)
{
	const char *const ref = args_operand(args, 0);

	if (is_for_triton(args) && ref != NULL && source_is_cache(ref))
		return cli_misused(cli,
		                   "'--layout triton' needs a REF before "
		                   "CACHE_ROOT, too: '- %s'",
		                   ref);
	/* Triton's layout has no bundles that could be compacted. */
	if (cli_exclude(cli, args->is_compaction_off, "--no-compaction",
	                is_for_triton(args), "--layout triton") != STATUS_DONE)
		return STATUS_USAGE;
	if (cli_exclude(cli, args->labels.count > 0, "--label",
	                is_for_triton(args), "--layout triton") != STATUS_DONE)
		return STATUS_USAGE;
	if (cli_exclude(cli, args->again.count > 0, "--again",
	                is_for_triton(args), "--layout triton") != STATUS_DONE)
		return STATUS_USAGE;
	if (cli_exclude(cli, args->trust.sign.count > 0, "--sign",
	                is_for_triton(args), "--layout triton") != STATUS_DONE)
		return STATUS_USAGE;
	if (cli_exclude(cli, args->trust.policy != NULL, "--trust",
	                is_for_triton(args), "--layout triton") != STATUS_DONE)
		return STATUS_USAGE;
	if (signers_check(cli, args) != STATUS_DONE ||
	    check_image(cli, args) != STATUS_DONE)
		return STATUS_USAGE;
	if (args->bundle == NULL)
		return STATUS_DONE;
	if (args->operands.count > 1)
		return cli_misused(cli, "CACHE_ROOT and '--bundle' exclude "
		                        "each other");
	if (is_for_triton(args))
		return cli_misused(
			cli, "'--layout triton' needs a cache, not '--bundle'");
	if (args->keys.count > 0 || args->device.is_set ||
	    args->profile.is_set || args->is_kernels_only || args->is_strict ||
	    args->jobs.is_set || args->settle.is_set || args->again.count > 0)
		return cli_misused(
			cli,
			"'--bundle' excludes '--key', '--device', '--profile', "
			"'--no-modules', '--again', '--settle', '--strict' and "
			"'--jobs'");
	return STATUS_DONE;
}

static int push_bundle(struct remote_use *use, const struct arguments *args,
                       const struct tkb_push_options *chosen,
                       struct tkb_push_report *report, struct tkb_error *err)
{
	TKB_AUTO(file_source_close) struct file_source file = FILE_SOURCE_INIT;
	struct tkb_source source;
	int rc;

	rc = file_source_open(args->bundle, &file, err);
	if (rc != 0)
		return rc;
	source = file_source_of(&file);
	return use->library.push_bundle(use->remote, use->ref, &source, chosen,
	                                report, err);
}

/* The units of --again. */
struct again {
	struct tkb_unit_name *items; /* owned; so are the trees' names */
	size_t count;
};

static void again_release(struct again *again)
{
	for (size_t i = 0; i < again->count; i++)
		free((char *)again->items[i].tree);
	free(again->items);
}

static int read_again(const struct arguments *args, struct again *out,
                      struct tkb_error *err)
{
	out->items = calloc(args->again.count + 1, sizeof(*out->items));
	if (out->items == NULL)
		return cli_error_nomem(err);
	for (size_t i = 0; i < args->again.count; i++) {
		const char *const text = args->again.items[i];
		const size_t size = strcspn(text, "/");

		out->items[i].tree = strndup(text, size);
		out->items[i].name = text + size + (text[size] == '/');
		if (out->items[i].tree == NULL)
			return cli_error_nomem(err);
		out->count++;
	}
	return 0;
}

static int push_entries(struct remote_use *use, const struct arguments *args,
                        const struct root *root, const struct labels *labels,
                        const struct signers *signers,
                        struct tkb_push_report *report, struct tkb_error *err)
{
	TKB_AUTO(again_release) struct again again = { .items = NULL };
	struct tkb_collect_options collect = choices_for_collect(args, root);
	struct tkb_push_options chosen = {
		.struct_size = sizeof(chosen),
		.collect = &collect,
		.layout = (enum tkb_push_layout)args->layout.value,
		.is_compaction_off = args->is_compaction_off,
		.labels = labels->items,
		.label_count = labels->count,
		.signing = signers_signing(signers),
		.base_ref = use->base[0] != '\0' ? use->base : NULL,
	};
	struct follow follow;
	int rc;

	rc = read_again(args, &again, err);
	if (rc != 0)
		return rc;
	chosen.again = again.items;
	chosen.again_count = again.count;
	collect.watch = remote_use_follow(use, &follow, "left_out", FOLLOW_BAD);
	if (args->bundle != NULL)
		rc = push_bundle(use, args, &chosen, report, err);
	else
		rc = use->library.push(use->remote,
		                       is_for_triton(args) ? NULL : use->ref,
		                       root->path, &chosen, report, err);
	follow_end(&follow);
	return follow_missed(&follow, rc, err);
}

static enum status summarize_push(const struct remote_use *use,
                                  const struct arguments *args,
                                  const struct tkb_push_report *report)
{
	TKB_AUTO(text_free) char *name = remote_use_name(use);
	char size[TEXT_SIZE_SIZE];
	char rest[160];

	if (name == NULL)
		return cli_no_memory(use->cli);
	text_size(report->size, size);
	counts_words(COUNTS(counts), report, rest, sizeof(rest));
	text_line(use->cli->out,
	          "%spushed %" PRIu64 ", present %" PRIu64 "%s to %s: %" PRIu64
	          " %s (%s)",
	          args->is_dry_run ? "would have " : "", report->pushed_count,
	          report->present_count, rest,
	          is_for_triton(args) ? name : use->ref, report->blob_count,
	          is_for_triton(args)
	                  ? text_plural(report->blob_count, "value", "values")
	                  : text_plural(report->blob_count, "blob", "blobs"),
	          size);
	return STATUS_DONE;
}

static const struct count image_counts[] = {
	COUNT(image_push, emitted.emitted_count, "pushed", NULL),
	COUNT(image_push, emitted.skipped_count, "skipped", "skipped"),
	COUNT(image_push, collected.left_out_count, "left_out_count",
	      "left out"),
	COUNT(image_push, packed.file_count, "files", NULL),
	COUNT(image_push, packed.size, "size", NULL),
	COUNT(image_push, layer_size, "layer_size", NULL),
};

static void tell_image(const struct image_push *push)
{
	const struct cli *cli = push->use->cli;
	char size[TEXT_SIZE_SIZE];
	char layer[TEXT_SIZE_SIZE];
	char rest[160];

	text_size(push->packed.size, size);
	text_size(push->layer_size, layer);
	counts_words(COUNTS(image_counts), push, rest, sizeof(rest));
	text_line(cli->out,
	          "%spushed %" PRIu64 " %s (%" PRIu64 " %s, %s)%s as "
	          "%s@sha256:%s (%s), to be mounted at %s",
	          push->args->is_dry_run ? "would have " : "",
	          push->emitted.emitted_count,
	          text_plural(push->emitted.emitted_count, "entry", "entries"),
	          push->packed.file_count,
	          text_plural(push->packed.file_count, "file", "files"), size,
	          rest, push->name, push->digest, layer, push->args->mount);
}

static enum status run_image(struct remote_use *use,
                             const struct arguments *args,
                             const struct root *root,
                             const struct labels *labels,
                             const struct signers *signers)
{
	struct image_push push = {
		.use = use,
		.args = args,
		.root = root,
		.labels = labels,
		.signers = signers,
		.collected = { .struct_size = sizeof(push.collected) },
		.emitted = { .struct_size = sizeof(push.emitted) },
	};
	struct json_out *json = &use->cli->json;
	struct tkb_error err = { .status = 0 };
	int rc;

	rc = image_push(&push, &err);
	if (rc == TKB_MISS)
		return cli_failed(use->cli,
		                  cli_missed(&err, rc, "folder", root->path),
		                  &err, "");
	if (!cli_is_done(rc))
		return remote_use_failed(
			use, rc, &err,
			args->bundle != NULL ? args->bundle : root_name(root));
	remote_use_warn(use, signers_signing(signers), true);
	json_out_text(json, "image", push.name);
	json_out_text(json, "digest", push.digest);
	json_out_text(json, "mount", args->mount);
	counts_json(COUNTS(image_counts), &push, json);
	if (!args->is_json)
		tell_image(&push);
	return status_of(rc);
}

static enum status push_to_remote(struct remote_use *use,
                                  const struct arguments *args,
                                  const struct signers *signers,
                                  struct tkb_push_report *report)
{
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	TKB_AUTO(labels_release) struct labels labels = { .count = 0 };
	struct tkb_error err = { .status = 0 };
	enum status status;
	int rc;

	/* An image is pushed under a tag, for which there is no inbox. */
	use->is_keyless = signers->count == 0 && !is_for_image(args);
	/* Records that the policy does not trust do not matter for a push. */
	use->policy.is_quiet = true;
	/* Triton's layout has no refs. */
	status = remote_use_choose(use, args, !is_for_triton(args),
	                           args->bundle, &root);
	if (status != STATUS_DONE)
		return status;
	if (args->bundle == NULL)
		root_say_others(use->cli, &root);
	engine_version_say(use->cli, args, root.trees.engines);
	rc = labels_read(args, &labels, &err);
	if (rc != 0)
		return cli_misused(use->cli, "%s", err.message);
	if (is_for_image(args))
		return run_image(use, args, &root, &labels, signers);
	rc = push_entries(use, args, &root, &labels, signers, report, &err);
	/* A miss is about the local cache or bundle, not about the remote. */
	if (rc == TKB_MISS)
		return cli_failed(use->cli,
		                  cli_missed(&err, rc, "folder", root.path),
		                  &err, "");
	if (!cli_is_done(rc))
		return remote_use_failed(
			use, rc, &err,
			args->bundle != NULL ? args->bundle : root_name(&root));
	remote_use_warn(use, signers_signing(signers), false);
	counts_json(COUNTS(counts), report, &use->cli->json);
	if (!args->is_json)
		status = summarize_push(use, args, report);
	return status_merge(status, status_of(rc));
}

/* Read the keys of --sign, and push. */
static enum status push_signed(struct remote_use *use,
                               const struct arguments *args,
                               struct tkb_push_report *report)
{
	struct signers signers = { .count = 0 };
	struct tkb_error err = { .status = 0 };
	enum status status;
	int rc;

	rc = signers_read(&signers, use->cli, &use->library, args, &err);
	status = rc == 0 ? push_to_remote(use, args, &signers, report)
	                 : cli_failed(use->cli, rc, &err, "--sign");
	signers_release(&signers, &use->library);
	return status;
}

static enum status cmd_push(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(remote_use_end) struct remote_use use = { .cli = cli };
	struct tkb_push_report report = { .struct_size = sizeof(report) };
	TKB_AUTO(metrics_release)
	struct metrics metrics = { .verb = "push",
		                   .label = "ref",
		                   .label_value = use.ref };
	enum status status = check_push(cli, args);

	if (status != STATUS_DONE || cli_is_disabled(cli))
		return status;
	status = remote_use_begin(&use, args, true);
	if (status == STATUS_DONE)
		status = push_signed(&use, args, &report);
	counts_metrics(COUNTS(counts), &report, &metrics);
	return remote_use_measure(&use, args, &metrics, status);
}

const struct command command_push = {
	.name = "push",
	.operands = { "REF", "CACHE_ROOT" },
	.summary = "share a cache's entries through a remote",
	.details =
		"Packs what the ref lacks of CACHE_ROOT, uploads it and "
		"adds it to the ref. CACHE_ROOT is by default the one that "
		"collect uses. REF may contain {arch}, {gpu}, {driver}, "
		"{triton} and {env:NAME}; without it, or as '-', it is "
		"$TKBUNDLE_REF. An entry that cannot be packed is left out; "
		"then the exit status is 4. Triton's layout has no refs: "
		"write '-' before CACHE_ROOT. Labels are stored with what "
		"is pushed; refs shows them. An image holds all entries, "
		"and is mounted at PATH as it is: no emit is needed. Of "
		"units with one name a pull uses the newest; push leaves out "
		"those whose name the ref has, except those of --again.",
	COMMAND_OPTIONS(options),
	.run = cmd_push,
};
