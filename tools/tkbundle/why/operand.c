/* SPDX-License-Identifier: Apache-2.0 */
#include "why/operand.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/fd.h"

/* Names of engines' folders of graphs, and the kinds of their trees. */
static const struct {
	const char *folder;
	const char *kind;
	bool has_kernels; /* kernels, beside its trees */
} kinds[] = {
	{ "torch_compile_cache", "vllm", false },
	{ "fxgraph", "inductor", true },
};

/* The kind of tree whose root the path is; the count of kinds if it is none. */
static size_t kind_of_folder(const char *folder)
{
	const size_t count = TKB_COUNT_OF(kinds);
	char path[START_PATH_SIZE];
	size_t kind = 0;

	while (kind < count &&
	       (!folder_join(path, sizeof(path), folder, kinds[kind].folder) ||
	        access(path, F_OK) != 0))
		kind++;
	return kind;
}

static int open_operand_folder(struct operand *out, struct tkb_error *err)
{
	struct cli *const cli = out->source.cli;
	struct progress progress;
	struct tkb_cache_options options = { .struct_size = sizeof(options),
		                             .has_digests = true,
		                             .watch = &progress.watch };
	const size_t kind = kind_of_folder(out->name);
	const bool has_tree = kind < TKB_COUNT_OF(kinds);
	const char *items[] = { out->tree };
	const struct arguments wanted = { .trees = { items, 1 } };
	int rc = 0;

	if (has_tree) {
		(void)snprintf(out->tree, sizeof(out->tree), "%s:%s=%s",
		               kinds[kind].kind, kinds[kind].kind, out->name);
		rc = trees_choose(&wanted, &out->trees, err);
	}
	if (rc != 0)
		return rc;
	/* A maker that cannot be read stays unknown. */
	if (tkb_makers_open(out->name, &out->noted, NULL) != 0)
		out->noted = NULL;
	options.trees = out->trees.items;
	options.tree_count = out->trees.count;
	progress_init(&progress, cli->log, cli->is_tty);
	progress.is_count = true;
	rc = tkb_cache_open(has_tree && !kinds[kind].has_kernels ? NULL
	                                                         : out->name,
	                    &options, &out->source.cache, err);
	progress_erase(&progress);
	return rc;
}

/* A bundle begins with zstd's magic number, a note with a bracket. */
static bool is_note(const char *path)
{
	TKB_AUTO(fd_close)
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char byte = '\0';

	return fd >= 0 && fd_read(fd, &byte, 1) == 1 && byte == '{';
}

static int write_to(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	FILE *const file = self;

	return fd_write(fileno(file), bytes)
	               ? 0
	               : cli_error(err, TKB_ERR_IO,
	                           "cannot write a temporary file");
}

/*
 * Open the ref's records, which say what made its entries. Without records,
 * that is unknown.
 */
static void open_records(struct operand *out, struct remote_use *use)
{
	const struct tkb_holdings_options brief = { .struct_size =
		                                            sizeof(brief),
		                                    .is_brief = true };

	out->use = use;
	if (!cli_is_done(use->library.holdings_open(
		    use->remote, out->name, &brief, &out->holdings, NULL)))
		out->holdings = NULL;
}

static int open_ref(struct operand *out, struct remote_use *use,
                    struct tkb_error *err)
{
	const struct tkb_pull_options options = { .struct_size =
		                                          sizeof(options) };
	struct tkb_pull_report report = { .struct_size = sizeof(report) };
	struct tkb_sink sink = { .write = write_to };
	int rc;

	out->bundle = tmpfile();
	if (out->bundle == NULL)
		return cli_error(err, TKB_ERR_IO,
		                 "cannot make a temporary file");
	sink.self = out->bundle;
	remote_use_wait(use);
	rc = use->library.pull_bundle(use->remote, out->name, &options, &sink,
	                              &report, err);
	remote_use_waited(use);
	if (!cli_is_done(rc))
		return cli_missed(err, rc, "file, and no ref,", out->name);
	open_records(out, use);
	return tkb_bundle_open_fd(fileno(out->bundle), out->name, NULL,
	                          &out->source.bundle, err);
}

int operand_open(const char *name, struct cli *cli, struct remote_use *use,
                 struct operand *out, struct tkb_error *err)
{
	*out = (struct operand){ .name = name, .source.cli = cli };
	if (source_is_cache(name))
		return open_operand_folder(out, err);
	if (strcmp(name, "-") != 0 && access(name, F_OK) != 0 && use != NULL)
		return open_ref(out, use, err);
	if (strcmp(name, "-") != 0 && is_note(name)) {
		out->is_note = true;
		return start_read(name, &out->start, err);
	}
	return source_open_bundle(name, &out->source.bundle, err);
}

const struct tkb_makers *operand_makers(const struct operand *operand)
{
	return operand->holdings != NULL
	               ? operand->use->library.holdings_makers(
				 operand->holdings)
	               : operand->noted;
}

void operand_close(struct operand *operand)
{
	if (operand->holdings != NULL)
		operand->use->library.holdings_close(operand->holdings);
	operand->holdings = NULL;
	tkb_makers_close(operand->noted);
	operand->noted = NULL;
	source_close(&operand->source);
	trees_release(&operand->trees);
	if (operand->bundle != NULL)
		(void)fclose(operand->bundle);
	if (operand->is_note)
		start_release(&operand->start);
	operand->bundle = NULL;
}
