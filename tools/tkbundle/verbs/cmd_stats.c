/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/root.h"
#include "report/source_out.h"
#include "report/stats_out.h"
#include "report/stats_paths.h"
#include "cli/text.h"
#include "report/uses_out.h"

static const struct option_spec options[] = {
	{ OPTION(SWITCH, "paths", NULL, has_paths,
	         "count the absolute paths in the files") },
	{ OPTION(SWITCH, "used", NULL, has_uses,
	         "show what was read after it was emitted") },
	ARGS_ENGINES,
	ARGS_TREES,
	ARGS_JSON,
};

TKB_AUTO_POINTER(close_uses, struct tkb_uses, tkb_uses_close)

/* Read the facts of the whole bundle; the size of a pipe is unknown. */
static void measure_bundle(struct stats_out *shown, const char *path)
{
	const bool is_input = strcmp(path, "-") == 0;
	const struct tkb_bundle *const bundle = shown->source->bundle;
	struct stat info;
	int rc;

	for (size_t i = 0; i < tkb_bundle_launcher_count(bundle); i++) {
		shown->launchers.count++;
		shown->launchers.size += tkb_bundle_launcher(bundle, i)->size;
	}

	rc = is_input ? fstat(STDIN_FILENO, &info) : stat(path, &info);
	if (rc == 0 && S_ISREG(info.st_mode)) {
		shown->has_packed = true;
		shown->packed = (uint64_t)info.st_size;
	}
}

static enum status show_stats(struct cli *cli, const struct arguments *args,
                              const char *path, const struct source *source)
{
	TKB_AUTO(stats_release) struct stats stats = { .type_count = 0 };
	TKB_AUTO(path_table_release) struct path_table paths = { .count = 0 };
	struct stats_out shown = { .source = source, .stats = &stats };
	struct tkb_error err = { .status = 0 };
	int rc = stats_gather(source, &stats, &err);

	if (rc == 0 && args->has_paths) {
		rc = stats_paths(source, &stats, &paths, &err);
		shown.paths = &paths;
	}
	if (rc != 0)
		return cli_failed(cli, rc, &err, path);

	if (source->bundle != NULL)
		measure_bundle(&shown, path);
	stats_out_json(&cli->json, &shown);
	if (!args->is_json)
		stats_out_print(cli->out, &shown);
	return STATUS_DONE;
}

static enum status show_uses(struct cli *cli, const struct arguments *args,
                             const struct root *root)
{
	const struct tkb_uses_options chosen = {
		.struct_size = sizeof(chosen),
		.trees = root->trees.items,
		.tree_count = root->trees.count,
	};
	TKB_AUTO(close_uses) struct tkb_uses *uses = NULL;
	struct tkb_error err = { .status = 0 };
	const int rc = cli_missed(
		&err, tkb_uses_open(root->path, &chosen, &uses, &err), "folder",
		root_name(root));

	if (rc != 0)
		return cli_failed(cli, rc, &err, root_name(root));

	uses_out_json(&cli->json, uses);
	if (args->is_json)
		return STATUS_DONE;

	text_line(cli->out, "%s", "");
	uses_out_print(cli->out, uses);
	return STATUS_DONE;
}

static enum status cmd_stats(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(source_close) struct source source = { .cli = cli };
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	struct tkb_error err = { .status = 0 };
	enum status status;
	int rc;

	rc = source_choose(args, &root, &err);
	if (rc == 0)
		rc = source_open_root(&root, true, &source, &err);
	if (rc == 0 && args->has_uses && source.cache == NULL)
		return cli_misused(cli,
		                   "'--used' wants a cache root, and '%s' "
		                   "is a bundle",
		                   root.path);

	if (rc != 0)
		return cli_failed(cli, rc, &err,
		                  root.path != NULL ? root.path : "~");

	source_out_head(&cli->json, &source, root_name(&root));
	status = show_stats(cli, args, root_name(&root), &source);
	if (status == STATUS_DONE && args->has_uses)
		status = show_uses(cli, args, &root);
	source_out_left_out(cli, &source, "");
	return status;
}

const struct command command_stats = {
	.name = "stats",
	.operands = { "FILE|CACHE_ROOT" },
	.summary = "show what a bundle or a cache consists of",
	.details = "Counts files and bytes by type and by name, duplicates, "
		   "and what a lean bundle would omit. An "
		   "entry for several GPUs counts once. '-' is a bundle on "
		   "standard input; without an operand it is the cache that "
		   "collect uses. Absolute paths that remain do no harm: most "
		   "are debug locations. Paths that collect would replace are "
		   "counted separately, as the entries' own. With --engine or "
		   "--tree, units of trees beside a cache are counted, too. "
		   "--json is complete where the tables are cut short.",
	COMMAND_OPTIONS(options),
	.run = cmd_stats,
};
