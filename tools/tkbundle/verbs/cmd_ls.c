/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <inttypes.h>
#include <string.h>

#include "report/entry_out.h"
#include "report/kernel_facts.h"
#include "report/launcher_out.h"
#include "report/remote_source.h"
#include "report/source_out.h"
#include "report/stats_out.h"
#include "config/root.h"
#include "cli/text.h"

#define KEY_WIDTH 12  /* 60 bits of a key's hash */
#define NAME_WIDTH 40 /* longer names move the rest of their line */

static const struct option_spec options[] = {
	{ OPTION(SECRET, "remote", "URL[,URL...]|-", remote,
	         "list a ref of this remote; - means $TKBUNDLE_REMOTE") },
	ARGS_DEADLINE,
	{ OPTION(SWITCH, "files", NULL, has_files, "list each entry's files") },
	{ OPTION(SWITCH, "long", NULL, has_facts,
	         "show each kernel's warps, stages and signature"),
	  .letter = 'l' },
	ARGS_JSON,
};

struct totals {
	uint64_t file_count;
	uint64_t size;
	uint64_t moved_count;
};

static struct totals add_up(const struct source *source)
{
	struct totals totals = { .size = 0 };

	for (size_t i = 0; i < source_entry_count(source); i++) {
		const struct tkb_entry *const entry = source_entry(source, i);

		totals.file_count += entry->file_count;
		totals.size += tkb_entry_size(entry);
		totals.moved_count += source_is_moved(source, i) ? 1 : 0;
	}

	return totals;
}

static int name_width(const struct source *source)
{
	size_t width = 0;

	for (size_t i = 0; i < source_entry_count(source); i++) {
		const size_t length = strlen(source_entry(source, i)->name);

		if (length > width && length <= NAME_WIDTH)
			width = length;
	}

	return (int)width;
}

static void print_entry(const struct cli *cli, const struct tkb_entry *entry,
                        int width)
{
	char size[TEXT_SIZE_SIZE];
	char target[64];
	char devices[24];

	text_size(tkb_entry_size(entry), size);
	entry_out_target(entry, target, sizeof(target));
	entry_out_devices(entry, devices, sizeof(devices));
	text_line(cli->out, "%-*.*s  %-8s  %-*s  %-9s  %-3s  %2zu  %6s",
	          KEY_WIDTH, KEY_WIDTH, entry->key, tkb_kind_name(entry->kind),
	          width, entry->name, target, devices, entry->file_count, size);
}

/* Signatures are long: print each on a line of its own. */
static void print_facts(const struct cli *cli, const struct kernel_facts *facts)
{
	char warps[ENTRY_OUT_NUMBER_SIZE];
	char stages[ENTRY_OUT_NUMBER_SIZE];

	entry_out_number(facts->numbers.num_warps, warps);
	entry_out_number(facts->numbers.num_stages, stages);
	text_line(cli->out, "  warps %s, stages %s: %s", warps, stages,
	          facts->signature != NULL ? facts->signature : "-");
}

static void print_totals(const struct cli *cli, const struct source *source)
{
	const struct totals totals = add_up(source);
	const struct tkb_cache *const cache = source->cache;
	const size_t count = source_entry_count(source);
	struct text_count counts[] = {
		{ "moved", totals.moved_count },
		{ "unfinished", 0 },
		{ "stray", 0 },
		{ "left out", 0 },
	};
	char size[TEXT_SIZE_SIZE];
	char rest[160];

	if (cache != NULL) {
		counts[1].count = tkb_cache_unfinished_count(cache);
		counts[2].count = tkb_cache_stray_count(cache);
		counts[3].count = tkb_cache_left_out_count(cache);
	}

	text_counts(counts, TKB_COUNT_OF(counts), rest, sizeof(rest));
	text_size(totals.size, size);
	text_line(cli->out, "%zu %s, %" PRIu64 " %s, %s%s%s%s", count,
	          text_plural(count, "entry", "entries"), totals.file_count,
	          text_plural(totals.file_count, "file", "files"), size,
	          cache == NULL ? ", " : "",
	          cache == NULL ? tkb_bundle_profile(source->bundle) : "",
	          rest);
}

static void print_entries(const struct cli *cli, const struct arguments *args,
                          const struct source *source,
                          const struct kernel_facts *facts)
{
	const int width = name_width(source);

	for (size_t i = 0; i < source_entry_count(source); i++) {
		const struct tkb_entry *const entry = source_entry(source, i);

		print_entry(cli, entry, width);
		if (facts != NULL && entry->kind == TKB_KIND_KERNEL)
			print_facts(cli, &facts[i]);
		if (args->has_files)
			entry_out_files(cli->out, entry, false);
	}
}

static void fill_ls_json(struct json_out *json, const struct source *source,
                         const struct kernel_facts *facts, bool has_files)
{
	const struct totals totals = add_up(source);
	const struct tkb_cache *const cache = source->cache;

	json_out_open_array(json, "entries");
	for (size_t i = 0; i < source_entry_count(source); i++) {
		const bool is_moved = source_is_moved(source, i);

		entry_out_json(json, NULL, source_entry(source, i),
		               cache != NULL ? &is_moved : NULL,
		               facts != NULL ? &facts[i] : NULL, has_files);
	}
	json_out_close(json);

	json_out_number(json, "entry_count", source_entry_count(source));
	json_out_number(json, "files", totals.file_count);
	json_out_number(json, "size", totals.size);
	if (cache == NULL)
		return;

	json_out_number(json, "moved", totals.moved_count);
	json_out_number(json, "unfinished", tkb_cache_unfinished_count(cache));
	json_out_number(json, "stray", tkb_cache_stray_count(cache));
}

static enum status list_source(struct cli *cli, const struct arguments *args,
                               const struct source *source, const char *path)
{
	struct kernel_facts *facts = NULL;
	struct tkb_error err = { .status = 0 };
	int rc = 0;

	source_out_head(&cli->json, source, path);
	if (args->has_facts)
		rc = kernel_facts_read_all(source, &facts, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, path);

	fill_ls_json(&cli->json, source, facts, args->has_files);
	if (!args->is_json) {
		print_entries(cli, args, source, facts);
		print_totals(cli, source);
	}
	kernel_facts_free(facts, source_entry_count(source));
	return STATUS_DONE;
}

/* Print the files by type, which for a kernel is the stage, and by tree. */
static enum status print_stages(const struct remote_source *at,
                                const struct arguments *args)
{
	TKB_AUTO(stats_release) struct stats stats = { .type_count = 0 };
	const struct stats_out shown = { .source = &at->source,
		                         .stats = &stats };
	struct tkb_error err = { .status = 0 };
	const int rc = stats_gather(&at->source, &stats, &err);

	if (rc != 0)
		return cli_failed(at->cli, rc, &err, at->use.ref);
	stats_out_json_parts(&at->cli->json, &shown);
	if (!args->is_json)
		stats_out_print_parts(at->cli->out, &shown);
	return STATUS_DONE;
}

static void print_records(const struct remote_source *at)
{
	const size_t count =
		at->use.library.holdings_record_count(at->holdings);
	const struct totals totals = add_up(&at->source);
	char size[TEXT_SIZE_SIZE];
	char packed[TEXT_SIZE_SIZE];

	text_size(totals.size, size);
	text_size(remote_source_size(at), packed);
	text_line(at->cli->out, "%zu %s, %" PRIu64 " %s, %s, in %zu %s (%s)",
	          at->source.entry_count,
	          text_plural(at->source.entry_count, "entry", "entries"),
	          totals.file_count,
	          text_plural(totals.file_count, "file", "files"), size, count,
	          text_plural(count, "record", "records"), packed);
}

static enum status list_ref(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(remote_source_close) struct remote_source at = { .cli = cli };
	enum status status;

	if (args->has_facts)
		return cli_misused(cli, "'--long' reads the kernels' files, "
		                        "which '--remote' does not fetch");
	status = remote_source_open(&at, args);
	if (at.holdings == NULL)
		return status;
	remote_source_json(&at);
	fill_ls_json(&cli->json, &at.source, NULL, args->has_files);
	json_out_number(&cli->json, "packed_size", remote_source_size(&at));
	if (!args->is_json) {
		print_entries(cli, args, &at.source, NULL);
		print_records(&at);
	}
	remote_use_signatures(&at.use, !args->is_json, cli->out);
	return status_merge(status, print_stages(&at, args));
}

static enum status cmd_ls(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(source_close) struct source source = { .cli = cli };
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	struct tkb_error err = { .status = 0 };
	enum status status;
	int rc;

	if (args->remote != NULL)
		return list_ref(cli, args);
	if (args->deadline.is_set)
		return cli_misused(cli, "'--deadline' needs '--remote'");
	rc = root_choose(args_operand(args, 0), &root, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, "~");
	rc = source_open_root(&root, false, &source, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, root.path);

	status = list_source(cli, args, &source, root.path);
	/*
	 * Entries that were left out are reported, but are not a failure of a
	 * list.
	 */
	if (source.cache != NULL)
		source_out_left_out(cli, &source, "");
	else
		launcher_out_saved(cli, source.bundle);
	return status;
}

const struct command command_ls = {
	.name = "ls",
	.operands = { "FILE|CACHE_ROOT|REF" },
	.summary = "list the entries of a bundle, a cache or a ref",
	.details = "Prints key, kind, name, target, GPUs, number of files and "
		   "size of each entry, and a line of totals. A folder is a "
		   "cache; anything else is a bundle, and '-' is one on "
		   "standard input. Without an operand it is the cache that "
		   "collect uses. --long also reads the kernels' files; its "
		   "signature omits the arguments that are constants.\n\nWith "
		   "--remote: lists what REF holds, then its files by type "
		   "and by tree. Only the start of each blob is read.",
	COMMAND_OPTIONS(options),
	.run = cmd_ls,
};
