/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <string.h>

#include "report/entry_out.h"
#include "report/kernel_facts.h"
#include "diff/sass.h"
#include "report/source_out.h"
#include "cli/text.h"

#define STAGES "ptx|llir|ttir|ttgir|glir|source|cubin|sass|amdgcn|hsaco"

static const struct option_spec options[] = {
	{ OPTION(TEXT, "file", "NAME", file, "print this file as it is") },
	{ OPTION(WORD, "stage", STAGES, stage,
	         "print the result of this step of the compile") },
	ARGS_JSON,
};

/* The requested entry. */
struct shown {
	struct source source;
	size_t index;
	const struct tkb_entry *entry;
	struct kernel_facts facts;
};

static void close_shown(struct shown *shown)
{
	source_close(&shown->source);
	kernel_facts_release(&shown->facts);
}

static void print_launch(const struct cli *cli,
                         const struct kernel_facts *facts)
{
	char warps[ENTRY_OUT_NUMBER_SIZE];
	char stages[ENTRY_OUT_NUMBER_SIZE];

	entry_out_number(facts->numbers.num_warps, warps);
	entry_out_number(facts->numbers.num_stages, stages);
	text_line(cli->out, "warps     %s", warps);
	text_line(cli->out, "stages    %s", stages);
	text_line(cli->out, "signature %s",
	          facts->signature != NULL ? facts->signature : "-");
}

/* Print facts that units of trees do not have. */
static void print_origin(const struct cli *cli, const struct shown *shown)
{
	const struct tkb_entry *const entry = shown->entry;
	char target[64];
	char devices[256];

	entry_out_target(entry, target, sizeof(target));
	entry_out_devices(entry, devices, sizeof(devices));
	if (entry->target.warp_size > 0)
		text_line(cli->out, "target    %s, %u threads a warp", target,
		          entry->target.warp_size);
	else
		text_line(cli->out, "target    %s", target);
	if (entry->kind == TKB_KIND_KERNEL)
		print_launch(cli, &shown->facts);
	text_line(cli->out, "producer  %s %s", entry->producer,
	          entry->producer_version[0] != '\0' ? entry->producer_version
	                                             : "(version unknown)");
	text_line(cli->out, "devices   %s", devices);
	text_line(cli->out, "platform  %s",
	          entry->platform[0] != '\0' ? entry->platform : "-");
}

static void print_facts(const struct cli *cli, const struct shown *shown)
{
	const struct tkb_entry *const entry = shown->entry;

	text_line(cli->out, "key       %s", entry->key);
	text_line(cli->out, "kind      %s", tkb_kind_name(entry->kind));
	text_line(cli->out, "name      %s", entry->name);
	if (entry->kind == TKB_KIND_UNIT)
		text_line(cli->out, "tree      %s", entry->tree);
	else
		print_origin(cli, shown);
	if (entry->kind == TKB_KIND_UNIT && entry->platform[0] != '\0')
		text_line(cli->out, "platform  %s", entry->platform);
	if (source_is_moved(&shown->source, shown->index))
		text_line(cli->out,
		          "place     recorded elsewhere: Triton would "
		          "not find it here");
	text_line(cli->out, "files");
	entry_out_files(cli->out, entry, shown->source.bundle != NULL);
}

static void fill_show_json(struct json_out *json, const struct shown *shown,
                           const char *path)
{
	const bool is_moved = source_is_moved(&shown->source, shown->index);

	source_out_head(json, &shown->source, path);
	entry_out_json(json, "entry", shown->entry,
	               shown->source.cache != NULL ? &is_moved : NULL,
	               &shown->facts, true);
}

static enum status show_entry_facts(struct cli *cli,
                                    const struct arguments *args,
                                    struct shown *shown)
{
	const char *const path = args_operand(args, 0);
	struct tkb_error err = { .status = 0 };
	const int rc = kernel_facts_read(&shown->source, shown->index,
	                                 &shown->facts, &err);

	if (rc != 0)
		return cli_failed(cli, rc, &err, path);
	fill_show_json(&cli->json, shown, path);
	if (!args->is_json)
		print_facts(cli, shown);
	return STATUS_DONE;
}

/* The names of an entry's files, separated by ", "; NULL: out of memory. */
static char *join_names(const struct tkb_entry *entry)
{
	char *names = NULL;
	size_t size = 0;
	FILE *const stream = open_memstream(&names, &size);

	if (stream == NULL)
		return NULL;
	for (size_t i = 0; i < entry->file_count; i++)
		(void)fprintf(stream, "%s%s", i > 0 ? ", " : "",
		              entry->files[i].name);
	(void)fclose(stream);
	return names;
}

/*
 * Find the file called `name`, or, if `is_suffix` and `name` begins with a dot,
 * the one that ends with it. If there is none, the error lists the files.
 */
static enum status find_shown_file(const struct cli *cli,
                                   const struct shown *shown, const char *name,
                                   bool is_suffix, size_t *out)
{
	TKB_AUTO(text_free) char *names = NULL;
	const struct tkb_entry *const entry = shown->entry;

	for (size_t i = 0; i < entry->file_count; i++) {
		const char *const there = entry->files[i].name;

		if (is_suffix ? text_ends_with(there, name)
		              : strcmp(there, name) == 0) {
			*out = i;
			return STATUS_DONE;
		}
	}

	names = join_names(entry);
	cli_say(cli, "entry '%s' has no file '%s%s'; it has %s", entry->key,
	        is_suffix ? "*" : "", name, names != NULL ? names : "others");
	return STATUS_ABSENT;
}

/* Write a file as it is, or a cubin disassembled. */
static enum status write_file(struct cli *cli, const struct shown *shown,
                              size_t file, bool is_sass)
{
	const struct tkb_sink out = cli_sink(cli);
	struct tkb_error err = { .status = 0 };
	const int rc = is_sass ? sass_print(cli, &shown->source, shown->index,
	                                    file, &err)
	                       : source_read(&shown->source, shown->index, file,
	                                     &out, &err);

	return rc == 0 ? STATUS_DONE
	               : cli_failed(cli, rc, &err,
	                            shown->entry->files[file].name);
}

static enum status show_entry(struct cli *cli, const struct arguments *args,
                              struct shown *shown)
{
	char suffix[16];
	const char *stage;
	size_t length;
	size_t file = 0;
	bool is_sass;
	enum status status;

	if (args->file != NULL) {
		status = find_shown_file(cli, shown, args->file, false, &file);
		return status == STATUS_DONE
		               ? write_file(cli, shown, file, false)
		               : status;
	}
	if (!args->stage.is_set)
		return show_entry_facts(cli, args, shown);

	length = args_word(STAGES, args->stage.value, &stage);
	is_sass = strncmp(stage, "sass", length) == 0;
	(void)snprintf(suffix, sizeof(suffix), ".%.*s",
	               is_sass ? 5 : (int)length, is_sass ? "cubin" : stage);

	status = find_shown_file(cli, shown, suffix, true, &file);
	return status == STATUS_DONE ? write_file(cli, shown, file, is_sass)
	                             : status;
}

static enum status cmd_show(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(close_shown) struct shown shown = { .entry = NULL };
	const char *const path = args_operand(args, 0);
	const char *const key = args_operand(args, 1);
	struct tkb_error err = { .status = 0 };
	int rc;

	if (args->file != NULL && args->stage.is_set)
		return cli_misused(cli, "'--file' and '--stage' exclude each "
		                        "other");
	if (args->is_json && (args->file != NULL || args->stage.is_set))
		return cli_misused(cli,
		                   "'--json' excludes '--file' and '--stage'");

	rc = source_open(path, false, &shown.source, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, path);

	rc = source_find(&shown.source, path, key, &shown.index, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, key);

	shown.entry = source_entry(&shown.source, shown.index);
	return show_entry(cli, args, &shown);
}

const struct command command_show = {
	.name = "show",
	.operands = { "FILE|CACHE_ROOT", "KEY" },
	.required_operands = 2,
	.summary = "show one entry, or one of its files",
	.details =
		"KEY may be shortened as long as it fits one entry only; write "
		"'--' before one that begins with a dash. The stage sass is "
		"the cubin, disassembled with the lines of its source by the "
		"nvdisasm of $TRITON_NVDISASM_PATH, or by nvdisasm or "
		"cuobjdump from the PATH, the CUDA toolkit or the folder of "
		"$TRITON_PTXAS_PATH.",
	COMMAND_OPTIONS(options),
	.run = cmd_show,
};
