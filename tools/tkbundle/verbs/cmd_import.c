/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/archive_child.h"
#include "archive/archive_import.h"
#include "cli/cli.h"
#include "cli/counts.h"
#include "cli/fd.h"
#include "cli/follow.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "image/image_fetch.h"
#include "image/image_name.h"
#include "report/collect_out.h"

static const struct option_spec options[] = {
	ARGS_BUNDLE,
	ARGS_ENGINES,
	{ OPTION(TEXTS, "tree", "NAME[:KIND]=PATH", trees,
	         "the folder PATH of the archive, under this name") },
	ARGS_PROFILE,
	ARGS_NO_MODULES,
	ARGS_TRUST,
	ARGS_STRICT("write nothing if an entry would be left out"),
	ARGS_DEADLINE,
	ARGS_JOBS,
	ARGS_JSON,
	ARGS_DRY_RUN("check everything, write nothing"),
	ARGS_VERBOSE("say which caches were found, and which links left out"),
};

/* The state of an import. */
struct work {
	struct cli *cli;
	const struct arguments *args;
	const char *archive;
	struct deadline deadline;
	struct archive_folder folder;
	struct archive_found found;
	uint64_t link_count;
	struct tkb_collect_report report;
};

static const struct count counts[] = {
	COUNT(work, link_count, "links", "links"),
};

static void work_release(struct work *work)
{
	archive_found_release(&work->found);
	archive_folder_remove(&work->folder);
}

/* An archive that is open: `fd` is owned; -1: none. */
struct input {
	int fd;
	uint64_t size;
};

static void input_close(const struct input *input)
{
	fd_close(&input->fd);
}

static int open_archive(const char *path, struct input *out,
                        struct tkb_error *err)
{
	struct stat status = { .st_size = 0 };
	const int fd = strcmp(path, "-") == 0
	                       ? dup(STDIN_FILENO)
	                       : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return cli_error(err, TKB_MISS, "there is no archive '%s'",
		                 path);
	if (fd < 0 || fstat(fd, &status) < 0)
		return cli_error_errno(err, "open", path);
	out->fd = fd;
	if (S_ISDIR(status.st_mode))
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%s' is a folder: `tkbundle collect` takes "
		                 "those",
		                 path);
	out->size = (uint64_t)status.st_size;
	return 0;
}

/* Unpack the archive into the folder. */
static int unpack_input(struct work *work, const struct input *input,
                        struct tkb_error *err)
{
	static char name[] = "tkbundle-archive";
	static char verb[] = "unpack";
	char *const argv[] = { name, verb, NULL };
	TKB_AUTO(archive_child_release)
	struct archive_child child = {
		.cli = work->cli,
		.archive = work->archive,
		.what = "import",
		.deadline = &work->deadline,
		.is_verbose = work->args->is_verbose,
		.size = input->size,
	};
	const struct archive_child_files files = {
		.in_fd = input->fd,
		.out_fd = -1,
		.folder_fd = work->folder.fd,
	};
	int rc;

	rc = archive_child_start(&child, argv, &files, err);
	if (rc == 0)
		rc = archive_child_finish(&child, err);
	work->link_count = child.link_count;
	/* A bundle is an archive, too, whose paths stand for others. */
	if (rc == 0 &&
	    faccessat(work->folder.fd, "tkbundle.json", F_OK, 0) == 0)
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%s' is a bundle: `tkbundle emit` writes it "
		                 "into a cache, `tkbundle merge` joins some",
		                 work->archive);
	return rc;
}

/*
 * If the archive contained an image, replace its files by those of its layer.
 */
static int unpack_layer(struct work *work, const char *layer,
                        struct tkb_error *err)
{
	const char *const inside = layer + strlen(work->folder.files);
	TKB_AUTO(text_free)
	char *aside = text_format("%s/image", work->folder.path);
	TKB_AUTO(text_free)
	char *moved = text_format("%s/image%s", work->folder.path, inside);
	TKB_AUTO(input_close) struct input input = { .fd = -1 };
	int rc;

	if (aside == NULL || moved == NULL)
		return cli_error_nomem(err);
	fd_close(&work->folder.fd);
	work->folder.fd = -1;
	if (rename(work->folder.files, aside) < 0 ||
	    mkdir(work->folder.files, 0700) < 0)
		return cli_error_errno(err, "move", work->folder.files);
	work->folder.fd =
		open(work->folder.files, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = open_archive(moved, &input, err);
	return rc == 0 ? unpack_input(work, &input, err) : rc;
}

static int unpack(struct work *work, struct tkb_error *err)
{
	TKB_AUTO(text_free) char *fetched = NULL;
	TKB_AUTO(text_free) char *layer = NULL;
	TKB_AUTO(input_close) struct input input = { .fd = -1 };
	const bool is_url = image_name_is_url(work->archive);
	int rc = 0;

	/* Open the archive first: that may take long if it is a pipe. */
	if (!is_url)
		rc = open_archive(work->archive, &input, err);
	if (rc == 0)
		rc = archive_folder_make(work->args->output, &work->folder,
		                         err);
	if (rc == 0 && is_url)
		rc = image_fetch(work->cli, work->archive, work->args,
		                 &work->deadline, &work->folder, &fetched, err);
	if (rc == 0 && is_url)
		rc = open_archive(fetched, &input, err);
	if (rc == 0)
		rc = unpack_input(work, &input, err);
	if (rc == 0)
		rc = image_layer_of_folder(work->folder.files, &layer, err);
	return rc == 0 && layer != NULL ? unpack_layer(work, layer, err) : rc;
}

static void print_found(const struct work *work)
{
	const struct archive_found *const found = &work->found;
	struct json_out *const json = &work->cli->json;

	json_out_open_array(json, "caches");
	for (size_t i = 0; i < found->kernel_count + found->trees.count; i++) {
		const struct tkb_tree kernels = {
			.name = "triton",
			.path = i < found->kernel_count ? found->kernels[i]
			                                : NULL,
		};
		const struct tkb_tree *const tree =
			kernels.path != NULL
				? &kernels
				: &found->trees.items[i - found->kernel_count];
		const char *const path =
			archive_import_shown(&work->folder, tree->path);

		json_out_open_object(json, NULL);
		json_out_text(json, "name", tree->name);
		json_out_text(json, "path", path);
		json_out_close(json);
		if (work->args->is_verbose)
			cli_say(work->cli, "found '%s' in '%s'", tree->name,
			        path);
	}
	json_out_close(json);
}

static int find_caches(struct work *work, struct tkb_error *err)
{
	int rc;

	rc = archive_find(work->folder.files, work->args, &work->found, err);
	if (rc != 0)
		return rc;
	if (work->found.kernel_count + work->found.trees.count == 0)
		return cli_error(err, TKB_MISS,
		                 "there is no cache in '%s' that is known: "
		                 "name its folder by --tree",
		                 work->archive);
	print_found(work);
	return 0;
}

static int collect_archive(struct work *work, const char *output,
                           struct tkb_error *err)
{
	struct follow follow;
	struct archive_import import = {
		.args = work->args,
		.folder = &work->folder,
		.found = &work->found,
	};
	int rc;

	if (work->deadline.time_ms != 0)
		import.deadline_ms =
			deadline_left_ms(&work->deadline, UINT32_MAX) + 1;
	import.watch = follow_begin(&follow, work->cli, "left_out", FOLLOW_BAD);
	rc = archive_import_collect(&import, output, &work->report, err);
	follow_end(&follow);
	return rc;
}

/*
 * Print after the folder was removed: if the reader closes the pipe, this
 * process ends.
 */
static int send_bundle(struct work *work, const char *path,
                       struct tkb_error *err)
{
	const struct tkb_sink out = cli_sink(work->cli);
	TKB_AUTO(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char bytes[64 * 1024];
	ssize_t got;
	int rc = 0;

	if (fd < 0)
		return cli_error(err, TKB_ERR_IO, "cannot open '%s'", path);
	archive_folder_remove(&work->folder);
	while (rc == 0 && (got = fd_read(fd, bytes, sizeof(bytes))) > 0)
		rc = out.write(out.self,
		               (struct tkb_bytes){ bytes, (size_t)got }, err);
	return rc == 0 ? cli_flush(work->cli, err) : rc;
}

static int import(struct work *work, struct tkb_error *err)
{
	TKB_AUTO(text_free) char *spare = NULL;
	const char *output = work->args->is_dry_run ? NULL : work->args->output;
	int sent = 0;
	int rc;

	signals_catch();
	deadline_begin(&work->deadline, work->args->deadline.value);
	rc = unpack(work, err);
	if (rc == 0)
		rc = find_caches(work, err);
	if (rc != 0)
		return rc;
	if (output != NULL && output_is_stdout(work->args)) {
		spare = text_format("%s/out.tkb", work->folder.path);
		if (spare == NULL)
			return cli_error_nomem(err);
		output = spare;
	}
	rc = collect_archive(work, output, err);
	if (cli_is_done(rc) && spare != NULL)
		sent = send_bundle(work, spare, err);
	return sent != 0 ? sent : rc;
}

static void summarize_import(const struct work *work)
{
	char links[64];

	counts_words(COUNTS(counts), work, links, sizeof(links));
	collect_out_summarize(
		work->cli, work->args, &work->report,
		&(struct collect_words){ "import", "imported", links });
}

static enum status check_import(const struct cli *cli,
                                const struct arguments *args)
{
	if (args->trust.policy != NULL &&
	    !image_name_is_url(args_operand(args, 0)))
		return cli_misused(cli, "'--trust' is for images of a "
		                        "registry: their signatures are "
		                        "beside them");
	if (output_check_input(cli, args, args_operand(args, 0)) != STATUS_DONE)
		return STATUS_USAGE;
	return collect_out_check(cli, args);
}

static enum status cmd_import(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(work_release)
	struct work work = {
		.cli = cli,
		.args = args,
		.archive = args_operand(args, 0),
		.folder = ARCHIVE_FOLDER_NONE,
		.report = { .struct_size = sizeof(work.report) },
	};
	struct tkb_error err = { .status = 0 };
	const enum status status = check_import(cli, args);
	int rc;

	if (status != STATUS_DONE || cli_is_disabled(cli))
		return status;
	/* Only the user knows on which GPU the archive was tuned. */
	(void)setenv("TKBUNDLE_GPU", "", 0);
	json_out_text(&cli->json, "archive", work.archive);
	json_out_text(&cli->json, "bundle", text_or_empty(args->output));
	json_out_flag(&cli->json, "dry_run", args->is_dry_run);
	rc = import(&work, &err);
	if (rc == TKB_ERR_LEFT_OUT)
		json_out_number(&cli->json, "left_out_count",
		                work.report.left_out_count);
	if (!cli_is_done(rc))
		return cli_failed(cli, rc, &err, work.archive);
	collect_out_json(&work.report, &cli->json);
	counts_json(COUNTS(counts), &work, &cli->json);
	if (!args->is_json)
		summarize_import(&work);
	return status_of(rc);
}

const struct command command_import = {
	.name = "import",
	.operands = { "ARCHIVE|IMAGE|-" },
	.required_operands = 1,
	.summary = "make a bundle from the archive of another tool",
	.details =
		"ARCHIVE is a tar, as it is or compressed with gzip, bzip2, "
		"xz or zstd, a layer of an image, or a ZIP; '-' is standard "
		"input. IMAGE is an image in a registry, such as "
		"oci://host/name:tag; it has one layer. Caches of kernels, of "
		"PyTorch and of vLLM are recognized by their contents, others "
		"are found by --engine or --tree. All are packed as collect "
		"packs them: paths of the machine that the archive comes from "
		"are not kept.",
	COMMAND_OPTIONS(options),
	.run = cmd_import,
};
