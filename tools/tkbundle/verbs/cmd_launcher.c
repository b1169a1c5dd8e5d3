/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <stdlib.h>
#include <string.h>
#include <tkbundle/c_launcher.h>

#include "compile/compile_input.h"
#include "report/launcher_pair.h"
#include "report/source.h"
#include "cli/text.h"

#define HEADER_LIMIT ((size_t)1024 * 1024)

static const struct option_spec options[] = {
	{ OPTION(TEXT, "signature", "ITEMS", launcher.signature,
	         "the kernel's parameters, as '*fp32:16, i32, 1024'") },
	{ OPTION(NUMBER, "num-warps", "W", launcher.num_warps,
	         "fail unless the entry has W warps"),
	  .min = 1, .max = 32 },
	{ OPTION(NUMBER, "num-stages", "S", launcher.num_stages,
	         "fail unless the entry has S stages"),
	  .min = 1, .max = 999 },
	{ OPTION(TEXT, "grid", "X,Y,Z", launcher.grid,
	         "its size: arguments, numbers, + - * / % and ()") },
	{ OPTION(TEXT, "out-name", "NAME", launcher.out_name,
	         "name of the function; by default the kernel's") },
	{ OPTION(SWITCH, "link", NULL, launcher.is_link,
	         "write a function that picks one of these launchers") },
	{ OPTION(TEXT, "output", "NAME", output,
	         "name of the files, without their suffixes"),
	  .letter = 'o', .is_required = true },
};

/* The contents of an entry's files. */
struct files {
	struct tkb_memory metadata;
	struct tkb_memory cubin;
	struct tkb_memory ptx;
	struct tkb_memory ttir;
};

static void files_release(struct files *files)
{
	tkb_memory_release(&files->metadata);
	tkb_memory_release(&files->cubin);
	tkb_memory_release(&files->ptx);
	tkb_memory_release(&files->ttir);
}

/* The member of `files` for the file `name`; NULL: it is not needed. */
static struct tkb_memory *member_for(struct files *files, const char *name)
{
	const char *const end = strrchr(name, '.');

	if (end == NULL)
		return NULL;
	if (strcmp(end, ".cubin") == 0)
		return &files->cubin;
	if (strcmp(end, ".ptx") == 0)
		return &files->ptx;
	if (strcmp(end, ".ttir") == 0)
		return &files->ttir;
	if (strcmp(end, ".json") == 0 && !source_is_group(name))
		return &files->metadata;
	return NULL;
}

static int read_files(const struct source *source, size_t index,
                      struct files *out, struct tkb_error *err)
{
	const struct tkb_entry *const entry = source_entry(source, index);
	int rc = 0;

	for (size_t i = 0; i < entry->file_count && rc == 0; i++) {
		struct tkb_memory *const place =
			member_for(out, entry->files[i].name);

		if (place != NULL)
			rc = source_read_file(source, index, i, place, err);
	}
	return rc;
}

/* A path without its folders. */
static const char *base_of(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

TKB_AUTO_POINTER(free_launcher, struct tkb_c_launcher, tkb_c_launcher_free)

static int write_launcher(struct cli *cli, const struct arguments *args,
                          const struct tkb_entry *entry,
                          const struct files *files, struct tkb_error *err)
{
	TKB_AUTO(free_launcher) struct tkb_c_launcher *launcher = NULL;
	const struct tkb_c_kernel kernel = {
		.struct_size = sizeof(kernel),
		.key = entry->key,
		.metadata = source_bytes(&files->metadata),
		.cubin = source_bytes(&files->cubin),
		.ptx = source_bytes(&files->ptx),
		.ttir = source_bytes(&files->ttir),
	};
	const struct tkb_c_launcher_options chosen = {
		.struct_size = sizeof(chosen),
		.signature = args->launcher.signature,
		.num_warps = args->launcher.num_warps.value,
		.num_stages = args->launcher.num_stages.value,
		.grid = args->launcher.grid,
		.name = args->launcher.out_name,
		.file_name = base_of(args->output),
	};
	TKB_AUTO(launcher_pair_discard)
	struct launcher_pair pair = { .source = NULL };
	TKB_AUTO(text_free) char *middle = NULL;
	struct tkb_sink sink;
	int rc;

	rc = tkb_c_launcher_new(&kernel, &chosen, &launcher, err);
	if (rc != 0)
		return rc;
	middle = text_format(".%s", tkb_c_launcher_suffix(launcher));
	if (middle == NULL)
		return cli_error_nomem(err);
	rc = launcher_pair_open(args->output, middle, &pair, err);
	if (rc != 0)
		return rc;
	sink = tkb_draft_sink(pair.source);
	rc = tkb_c_launcher_write_source(launcher, &sink, err);
	sink = tkb_draft_sink(pair.header);
	if (rc == 0)
		rc = tkb_c_launcher_write_header(launcher, &sink, err);
	return rc == 0 ? launcher_pair_publish(cli, &pair, err) : rc;
}

static enum status launch(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(source_close) struct source source = { .cli = cli };
	TKB_AUTO(files_release) struct files files = { .cubin = { .size = 0 } };
	const char *const path = args_operand(args, 0);
	const char *const key = args_operand(args, 1);
	struct tkb_error err = { .status = 0 };
	const struct tkb_entry *entry;
	size_t index = 0;
	int rc;

	rc = source_open(path, false, &source, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, path);
	rc = source_find(&source, path, key, &index, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, key);

	entry = source_entry(&source, index);
	if (entry->kind != TKB_KIND_KERNEL) {
		cli_say(cli, "entry '%s' is no kernel but of kind '%s'",
		        entry->key, tkb_kind_name(entry->kind));
		return STATUS_FAILED;
	}
	rc = read_files(&source, index, &files, &err);
	if (rc == 0 && files.cubin.size == 0) {
		cli_say(cli, "entry '%s' has no cubin", entry->key);
		return STATUS_FAILED;
	}
	if (rc == 0)
		rc = write_launcher(cli, args, entry, &files, &err);
	return rc == 0 ? STATUS_DONE : cli_failed(cli, rc, &err, entry->key);
}

/* The headers that were read. */
struct headers {
	struct tkb_c_header *items; /* owned, with their texts */
	size_t count;
};

static void headers_release(struct headers *headers)
{
	for (size_t i = 0; i < headers->count; i++)
		free((void *)(uintptr_t)headers->items[i].text.data);
	free(headers->items);
}

static int read_header(const char *path, struct tkb_c_header *out,
                       struct tkb_error *err)
{
	int rc;

	out->name = path;
	rc = compile_input_file(path, &out->text, err);
	if (rc == TKB_MISS)
		return cli_error(err, TKB_MISS, "there is no file '%s'", path);
	if (rc == 0 && out->text.size >= HEADER_LIMIT)
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%s' is no header of a launcher: it is too "
		                 "large",
		                 path);
	return rc;
}

TKB_AUTO_POINTER(free_link, struct tkb_c_link, tkb_c_link_free)

static int link_headers(struct cli *cli, const struct arguments *args,
                        struct headers *headers, struct tkb_error *err)
{
	TKB_AUTO(free_link) struct tkb_c_link *link = NULL;
	TKB_AUTO(launcher_pair_discard)
	struct launcher_pair pair = { .source = NULL };
	struct tkb_sink sink;
	int rc = 0;

	for (size_t i = 0; i < args->operands.count && rc == 0; i++) {
		headers->count++;
		rc = read_header(args->operands.items[i], &headers->items[i],
		                 err);
	}
	if (rc == 0)
		rc = tkb_c_link_new(headers->items, headers->count,
		                    base_of(args->output), &link, err);
	if (rc == 0)
		rc = launcher_pair_open(args->output, "", &pair, err);
	if (rc != 0)
		return rc;
	sink = tkb_draft_sink(pair.source);
	rc = tkb_c_link_write_source(link, &sink, err);
	sink = tkb_draft_sink(pair.header);
	if (rc == 0)
		rc = tkb_c_link_write_header(link, &sink, err);
	return rc == 0 ? launcher_pair_publish(cli, &pair, err) : rc;
}

static enum status run_link(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(headers_release) struct headers headers = { .count = 0 };
	struct tkb_error err = { .status = 0 };
	int rc;

	headers.items = calloc(args->operands.count, sizeof(*headers.items));
	if (headers.items == NULL)
		return cli_no_memory(cli);
	rc = link_headers(cli, args, &headers, &err);
	return rc == 0 ? STATUS_DONE : cli_failed(cli, rc, &err, args->output);
}

static enum status cmd_launcher(struct cli *cli, const struct arguments *args)
{
	const struct launcher_arguments *const own = &args->launcher;
	const bool has_choice = own->signature != NULL || own->grid != NULL ||
	                        own->out_name != NULL ||
	                        own->num_warps.is_set || own->num_stages.is_set;

	if (args->output == NULL)
		return cli_misused(cli, "'-o' is missing");
	if (own->is_link && has_choice)
		return cli_misused(cli, "'--link' takes only headers and '-o'");
	if (own->is_link)
		return run_link(cli, args);
	if (args->operands.count < 2)
		return cli_misused(cli, "KEY is missing");
	if (args->operands.count > 2)
		return cli_misused(cli, "unexpected operand '%s'",
		                   args_operand(args, 2));
	if (own->signature == NULL)
		return cli_misused(cli, "'--signature' is missing");
	return launch(cli, args);
}

const struct command command_launcher = {
	.name = "launcher",
	.operands = { "FILE|CACHE_ROOT KEY|HEADER" },
	.required_operands = 1,
	.repeats_operand = true,
	.summary = "write C that starts a kernel",
	.details = "Writes NAME.<hash>_<suffix>.c and .h, named as Triton "
		   "names them. They contain the cubin of the entry KEY and "
		   "need only the CUDA driver. KEY may be shortened as long as "
		   "it fits one entry only. With --link, writes NAME.c and "
		   "NAME.h instead: a function that picks one of the launchers "
		   "whose headers are given.",
	COMMAND_OPTIONS(options),
	.run = cmd_launcher,
};
