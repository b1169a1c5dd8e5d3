/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/output.h"
#include "cli/text.h"
#include "config/remote_use.h"
#include "config/root.h"
#include "page/page.h"
#include "report/remote_source.h"
#include "report/source_out.h"
#include "starts/starts_read.h"

static const struct option_spec options[] = {
	{ OPTION(TEXT, "output", "FILE|-", output,
	         "write the page to FILE, or to standard output"),
	  .letter = 'o', .is_required = true },
	{ OPTION(SECRET, "remote", "URL[,URL...]|-", remote,
	         "report on a ref of this remote; - means $TKBUNDLE_REMOTE") },
	ARGS_DEADLINE,
};

static void add_frames(struct json_out *json, const struct tkb_bundle *bundle)
{
	uint64_t packed_sum = 0;

	page_begin_parts(json);
	for (size_t i = 0; bundle != NULL && i < tkb_bundle_frame_count(bundle);
	     i++) {
		uint64_t packed = 0;
		uint64_t size = 0;
		uint64_t entries = 0;

		tkb_bundle_frame_sizes(bundle, i, &packed, &size, &entries);
		page_add_part(json, "frame", packed, size, entries);
		packed_sum += packed;
	}
	page_end_parts(json, packed_sum);
}

/* @param path path of a cache or bundle */
static int describe_source(struct json_out *json, const struct source *source,
                           const char *path, struct tkb_error *err)
{
	const bool is_cache = source->cache != NULL;
	const struct page_facts facts = { .root = is_cache ? path : NULL };
	int rc;

	page_begin(json, is_cache ? "cache" : "bundle", path);
	rc = page_add_source(json, source, &facts, err);
	if (rc != 0)
		return rc;
	add_frames(json, source->bundle);
	page_begin_starts(json);
	page_end(json);
	return 0;
}

static void fact_of_item(void *self, size_t index, uint32_t *time_ms_out,
                         uint64_t *part_out)
{
	const struct remote_source *const at = self;
	const struct tkb_holdings_item *const item =
		at->use.library.holdings_item(at->holdings, index);

	*time_ms_out = item->time_ms;
	*part_out = item->record;
}

static void on_start(void *self, const struct json_t *report, uint64_t age_s)
{
	(void)age_s;
	page_add_start(self, report);
}

static int describe_ref(struct json_out *json, struct remote_source *at,
                        struct tkb_error *err)
{
	const struct remote_library *const library = &at->use.library;
	const struct page_facts facts = { .of_entry = fact_of_item,
		                          .self = at };
	const struct starts_visitor visitor = { on_start, json };
	int rc;

	page_begin(json, "ref", at->use.ref);
	rc = page_add_source(json, &at->source, &facts, err);
	if (rc != 0)
		return rc;
	page_begin_parts(json);
	for (size_t i = 0; i < library->holdings_record_count(at->holdings);
	     i++) {
		const struct tkb_holdings_record *const record =
			library->holdings_record(at->holdings, i);

		page_add_part(json, record->is_gone ? "blob, gone" : "blob",
		              record->size, 0, record->entry_count);
	}
	page_end_parts(json, remote_source_size(at));
	page_begin_starts(json);
	rc = starts_read(&at->use, at->use.ref, &visitor, err);
	page_end(json);
	return rc == TKB_MISS ? 0 : rc;
}

static int store_page(const struct cli *cli, const struct arguments *args,
                      struct json_out *json, struct tkb_error *err)
{
	TKB_AUTO(cli_close_draft) struct tkb_draft *draft = NULL;
	TKB_AUTO(text_free) char *text = NULL;
	size_t size = 0;
	FILE *stream;
	struct tkb_sink sink;
	int rc;

	if (output_is_stdout(args))
		return page_write(json, cli->out, err);
	stream = open_memstream(&text, &size);
	rc = stream != NULL ? page_write(json, stream, err) : TKB_ERR_NOMEM;
	if (stream == NULL || fclose(stream) != 0)
		return cli_error_nomem(err);
	if (rc == 0)
		rc = tkb_draft_open(args->output, &draft, err);
	if (rc != 0)
		return rc;
	sink = tkb_draft_sink(draft);
	rc = sink.write(sink.self, (struct tkb_bytes){ text, size }, err);
	return rc != 0 ? rc : tkb_draft_publish(draft, err);
}

static enum status report_on_ref(struct cli *cli, const struct arguments *args,
                                 struct json_out *json)
{
	TKB_AUTO(remote_source_close) struct remote_source at = { .cli = cli };
	struct tkb_error err = { .status = 0 };
	const enum status status = remote_source_open(&at, args);
	int rc;

	if (at.holdings == NULL)
		return status;
	rc = describe_ref(json, &at, &err);
	if (rc == 0)
		rc = store_page(cli, args, json, &err);
	return rc != 0 ? remote_use_failed(&at.use, rc, &err, args->output)
	               : status;
}

static enum status report_path(struct cli *cli, const struct arguments *args,
                               struct json_out *json)
{
	TKB_AUTO(source_close) struct source source = { .cli = cli };
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	struct tkb_error err = { .status = 0 };
	int rc;

	rc = root_choose(args_operand(args, 0), &root, &err);
	if (rc == 0)
		rc = source_open_root(&root, true, &source, &err);
	if (rc == 0)
		source_out_say_left_out(cli, &source, "");
	if (rc == 0)
		rc = describe_source(json, &source, root.path, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err,
		                  root.path != NULL ? root.path : "~");
	rc = store_page(cli, args, json, &err);
	return rc != 0 ? cli_failed(cli, rc, &err, args->output) : STATUS_DONE;
}

static enum status cmd_report(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(json_out_release)
	struct json_out json = { .is_wanted = false };

	if (args->output == NULL)
		return cli_misused(cli, "'-o FILE' is missing");
	if (args->remote == NULL && args->deadline.is_set)
		return cli_misused(cli, "'--deadline' needs '--remote'");
	if (args->remote == NULL &&
	    output_check_input(cli, args, args_operand(args, 0)) != STATUS_DONE)
		return STATUS_USAGE;
	json_out_init(&json, true, NULL);
	return args->remote != NULL ? report_on_ref(cli, args, &json)
	                            : report_path(cli, args, &json);
}

const struct command command_report = {
	.name = "report",
	.operands = { "FILE|CACHE_ROOT|REF" },
	.summary = "write a page that shows what fills a cache, bundle or ref",
	.details = "The page is one file of HTML that needs no network. It "
		   "shows what fills the cache, bundle or ref, by kernel, "
		   "stage and tree, and sizes, targets, first use, duplicates "
		   "and, for a ref, how its starts were. Without an operand "
		   "it is the cache that collect uses; with --remote, the "
		   "operand is a ref.",
	COMMAND_OPTIONS(options),
	.run = cmd_report,
};
