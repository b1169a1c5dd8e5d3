/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/archive_export.h"
#include "archive/archive_folder.h"
#include "archive/archive_stage.h"
#include "cli/cli.h"
#include "cli/counts.h"
#include "cli/fd.h"
#include "cli/follow.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "report/source.h"

#define FORMATS "tar.gz|tar.zst|zip"

static const struct option_spec options[] = {
	{ OPTION(WORD, "format", FORMATS, format,
	         "the archive's format; by default from its name") },
	{ OPTION(TEXT, "output", "FILE|-", output,
	         "write the archive to FILE, or to standard output"),
	  .letter = 'o', .is_required = true },
	{ OPTION(TEXT, "root", "PATH", archive_root,
	         "where it will be unpacked; by default, where emit puts it") },
	ARGS_LAYOUT,
	ARGS_DEADLINE,
	ARGS_JOBS,
	ARGS_JSON,
	ARGS_VERBOSE("say which parts of the sandbox are not supported"),
};

static const struct count counts[] = {
	COUNT(tkb_emit_report, emitted_count, "exported", NULL),
	COUNT(tkb_emit_report, skipped_count, "skipped", "skipped"),
};

static const struct count counts_of_files[] = {
	COUNT(archive_export, file_count, "files", NULL),
	COUNT(archive_export, size, "size", NULL),
};

/* The state of an export. */
struct work {
	struct cli *cli;
	const struct arguments *args;
	const char *bundle_path;
	const char *format;
	struct deadline deadline;
	struct archive_folder folder;
	struct archive_stage stage;
	struct tkb_emit_report report;
	struct archive_export done;
	uint64_t
		launcher_count; /* saved launchers of the bundle; a cache has no
		                   files for them */
};

static const struct count counts_of_launchers[] = {
	COUNT(work, launcher_count, "left_launchers", "launchers left out"),
};

static void work_release(struct work *work)
{
	archive_stage_release(&work->stage);
	archive_folder_remove(&work->folder);
}

static const char *format_of(const struct arguments *args)
{
	static const char *const formats[] = { "tar.gz", "tar.zst", "zip" };

	if (args->format.is_set)
		return formats[args->format.value];
	for (size_t i = 0; i < TKB_COUNT_OF(formats); i++) {
		char ending[16];

		(void)snprintf(ending, sizeof(ending), ".%s", formats[i]);
		if (text_ends_with(args->output, ending))
			return formats[i];
	}
	return NULL;
}

static enum status check_export(struct work *work)
{
	const struct arguments *args = work->args;

	if (args->output == NULL)
		return cli_misused(work->cli, "'-o FILE' is missing");
	if (output_is_stdout(args) && args->is_json)
		return cli_misused(work->cli, "'-o -' and '--json' both want "
		                              "standard output");
	if (output_is_stdout(args) && isatty(fileno(work->cli->out)))
		return cli_misused(work->cli, "an archive is not written to a "
		                              "terminal");
	work->format = format_of(args);
	if (work->format == NULL)
		return cli_misused(work->cli,
		                   "'--format FORMAT' is missing, and '%s' "
		                   "does not tell it",
		                   args->output);
	if (args->archive_root != NULL && args->archive_root[0] != '/')
		return cli_misused(work->cli, "'%s' is not an absolute path",
		                   args->archive_root);
	if (!archive_export_read_time(NULL))
		return cli_misused(
			work->cli,
			"SOURCE_DATE_EPOCH is not a number of seconds");
	return output_check_input(work->cli, args, work->bundle_path);
}

static int emit_to_folder(struct work *work, const struct tkb_bundle *bundle,
                          struct tkb_error *err)
{
	const struct arguments *args = work->args;
	struct tkb_emit_options chosen = {
		.struct_size = sizeof(chosen),
		.layout = (enum tkb_layout)args->layout.value,
		.threads = args->jobs.value,
		.trees = work->stage.trees,
		.tree_count = work->stage.tree_count,
		.staged_in = work->folder.files,
	};
	struct follow follow;
	int rc;

	if (chosen.layout == TKB_LAYOUT_AUTO && work->stage.is_inductor)
		chosen.layout = TKB_LAYOUT_INDUCTOR;
	if (work->deadline.time_ms != 0)
		chosen.deadline_ms =
			deadline_left_ms(&work->deadline, UINT32_MAX - 1) + 1;
	chosen.watch = follow_begin(&follow, work->cli, "entries", FOLLOW_ALL);
	rc = tkb_emit(bundle, work->stage.kernels, &chosen, &work->report, err);
	follow_end(&follow);
	/*
	 * Fail: otherwise an archive of a part would look like one of the
	 * whole.
	 */
	if (rc == TKB_ERR_PARTIAL)
		return cli_error(err, TKB_ERR_IO,
		                 "cannot export '%s': see above; it is put "
		                 "together in '%s', and TMPDIR places that",
		                 work->bundle_path, work->folder.path);
	return rc;
}

static int pack_archive(struct work *work, int out_fd, struct tkb_error *err)
{
	const struct archive_export_options how = {
		.cli = work->cli,
		.name = work->bundle_path,
		.output = output_name(work->args),
		.folder = work->stage.root,
		.format = work->format,
		.deadline = &work->deadline,
		.is_verbose = work->args->is_verbose,
	};

	return archive_export_pack(&how, out_fd, &work->done, err);
}

static int pack_to_file(struct work *work, const char *path,
                        struct tkb_error *err)
{
	TKB_AUTO(cli_close_draft) struct tkb_draft *draft = NULL;
	TKB_AUTO(fd_close) int device = -1;
	int rc;

	rc = tkb_draft_open(path, &draft, err);
	if (rc < 0)
		return rc;
	if (tkb_draft_fd(draft) < 0) {
		device = open(path, O_WRONLY | O_CLOEXEC);
		if (device < 0)
			return cli_error_errno(err, "open", path);
	}
	rc = pack_archive(work, device >= 0 ? device : tkb_draft_fd(draft),
	                  err);
	return rc == 0 ? tkb_draft_publish(draft, err) : rc;
}

static int export(struct work *work, struct tkb_error *err)
{
	TKB_AUTO(source_close_bundle) struct tkb_bundle *bundle = NULL;
	const struct arguments *args = work->args;
	int rc;

	signals_catch();
	deadline_begin(&work->deadline, args->deadline.value);
	rc = source_open_bundle(work->bundle_path, &bundle, err);
	if (rc == 0)
		work->launcher_count = tkb_bundle_launcher_count(bundle);
	if (rc == 0)
		rc = archive_folder_make(args->output, &work->folder, err);
	if (rc == 0)
		rc = archive_stage_plan(bundle, args->archive_root,
		                        ARCHIVE_STAGE_ROOTS, &work->folder,
		                        &work->stage, err);
	if (rc != 0)
		return rc;
	json_out_text(&work->cli->json, "root", work->stage.place);
	rc = emit_to_folder(work, bundle, err);
	if (rc == 0)
		rc = output_is_stdout(args)
		             ? pack_archive(work, STDOUT_FILENO, err)
		             : pack_to_file(work, args->output, err);
	return rc;
}

static void summarize_export(const struct work *work)
{
	FILE *const to = output_log(work->cli, work->args);
	char size[TEXT_SIZE_SIZE];
	char rest[96];
	char launchers[64];

	text_size(work->done.size, size);
	counts_words(COUNTS(counts), &work->report, rest, sizeof(rest));
	counts_words(COUNTS(counts_of_launchers), work, launchers,
	             sizeof(launchers));
	text_line(to,
	          "exported %" PRIu64 " %s (%" PRIu64
	          " %s, %s) into %s%s%s, to be unpacked in %s",
	          work->report.emitted_count,
	          text_plural(work->report.emitted_count, "entry", "entries"),
	          work->done.file_count,
	          text_plural(work->done.file_count, "file", "files"), size,
	          output_name(work->args), rest, launchers, work->stage.place);
}

static enum status cmd_export(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(work_release)
	struct work work = {
		.cli = cli,
		.args = args,
		.bundle_path = args_operand(args, 0),
		.folder = ARCHIVE_FOLDER_NONE,
		.report = { .struct_size = sizeof(work.report) },
	};
	struct tkb_error err = { .status = 0 };
	const enum status status = check_export(&work);
	int rc;

	if (status != STATUS_DONE || cli_is_disabled(cli))
		return status;
	json_out_text(&cli->json, "bundle", work.bundle_path);
	json_out_text(&cli->json, "archive", args->output);
	json_out_text(&cli->json, "format", work.format);
	rc = export(&work, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, work.bundle_path);
	json_out_text(&cli->json, "layout",
	              work.report.is_inductor ? "inductor" : "triton");
	counts_json(COUNTS(counts), &work.report, &cli->json);
	counts_json(COUNTS(counts_of_files), &work.done, &cli->json);
	counts_json(COUNTS(counts_of_launchers), &work, &cli->json);
	if (!args->is_json)
		summarize_export(&work);
	return STATUS_DONE;
}

const struct command command_export = {
	.name = "export",
	.operands = { "FILE|-" },
	.required_operands = 1,
	.summary = "make an archive for other tools from a bundle",
	.details =
		"The archive has what emit would write to PATH, with that path "
		"in its files: it must be unpacked there, as by `tar "
		"-C PATH -xf`. By default PATH is the cache root that emit "
		"uses. For a bundle with trees, each root is a folder in PATH, "
		"with kernels in triton, and PATH is by default the folder "
		"that run uses. The same bundle gives the same archive.",
	COMMAND_OPTIONS(options),
	.run = cmd_export,
};
