/* SPDX-License-Identifier: Apache-2.0 */
#include "report/collect_out.h"

#include <inttypes.h>

#include "cli/output.h"
#include "cli/text.h"
#include "report/entry_out.h"

static const struct count counts[] = {
	COUNT(tkb_collect_report, collected_count, "collected", NULL),
	COUNT(tkb_collect_report, left_out_count, "left_out_count", "left out"),
	COUNT(tkb_collect_report, unfinished_count, "unfinished", "unfinished"),
	COUNT(tkb_collect_report, stray_count, "stray", "stray"),
	COUNT(tkb_collect_report, file_count, "files", NULL),
	COUNT(tkb_collect_report, size, "size", NULL),
	COUNT(tkb_collect_report, bundle_size, "bundle_size", NULL),
};

enum status collect_out_check(const struct cli *cli,
                              const struct arguments *args)
{
	if (args->output == NULL && !args->is_dry_run)
		return cli_misused(cli, "'-o FILE' is missing");
	return output_check(cli, args);
}

void collect_out_json(const struct tkb_collect_report *report,
                      struct json_out *json)
{
	entry_out_digest(json, "id", &report->id);
	counts_json(COUNTS(counts), report, json);
}

void collect_out_summarize(const struct cli *cli, const struct arguments *args,
                           const struct tkb_collect_report *report,
                           const struct collect_words *words)
{
	FILE *const to = output_log(cli, args);
	char size[TEXT_SIZE_SIZE];
	char what[128];
	char rest[160];

	text_size(report->size, size);
	(void)snprintf(what, sizeof(what),
	               "%" PRIu64 " %s (%" PRIu64 " %s, %s)",
	               report->collected_count,
	               text_plural(report->collected_count, "entry", "entries"),
	               report->file_count,
	               text_plural(report->file_count, "file", "files"), size);
	counts_words(COUNTS(counts), report, rest, sizeof(rest));
	if (args->is_dry_run) {
		text_line(to, "would %s %s%s%s", words->will, what, rest,
		          words->rest);
		return;
	}
	text_size(report->bundle_size, size);
	text_line(to, "%s %s into %s (%s)%s%s", words->has, what,
	          output_name(args), size, rest, words->rest);
}
