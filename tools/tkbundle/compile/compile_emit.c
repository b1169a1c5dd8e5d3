/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compile_emit.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "diff/sass.h"

const char *compile_emit_word(enum compile_stage stage)
{
	static const char *const words[] = {
		"ttir",  "ttgir", "llir",   "ptx",
		"cubin", "sass",  "amdgcn", "hsaco"
	};

	return words[stage];
}

enum compile_stage compile_emit_source(enum compile_stage stage)
{
	return stage == COMPILE_STAGE_SASS ? COMPILE_STAGE_CUBIN : stage;
}

bool compile_emit_is_folder(const char *output)
{
	const size_t length = strlen(output);

	return length != 0 && output[length - 1] == '/';
}

/*
 * In a folder, name the file after the key: two inputs may have the same name.
 */
static int open_draft(const char *output, const char *key, const char *stage,
                      struct tkb_draft **out, struct tkb_error *err)
{
	char path[PATH_MAX];
	int length;

	if (!compile_emit_is_folder(output))
		return tkb_draft_open(output, out, err);
	length = snprintf(path, sizeof(path), "%s%s.%s", output, key, stage);
	if (length < 0 || (size_t)length >= sizeof(path))
		return cli_error(err, TKB_ERR_IO, "the path '%s' is too long",
		                 output);
	if (mkdir(output, 0777) != 0 && errno != EEXIST)
		return cli_error_errno(err, "make the folder", output);
	return tkb_draft_open(path, out, err);
}

static int write_stage(enum compile_stage stage, struct tkb_bytes product,
                       const struct tkb_sink *sink, struct tkb_error *err)
{
	return stage == COMPILE_STAGE_SASS
	               ? sass_write(product, sink, err)
	               : sink->write(sink->self, product, err);
}

int compile_emit_write(struct cli *cli, const struct arguments *args,
                       const char *key, struct tkb_bytes product,
                       struct tkb_error *err)
{
	const enum compile_stage stage =
		(enum compile_stage)args->compile.emit.value;
	TKB_AUTO(cli_close_draft) struct tkb_draft *draft = NULL;
	struct tkb_sink sink = cli_sink(cli);
	int rc;

	if (strcmp(args->output, "-") == 0)
		return write_stage(stage, product, &sink, err);
	rc = open_draft(args->output, key, compile_emit_word(stage), &draft,
	                err);
	if (rc < 0)
		return rc;
	sink = tkb_draft_sink(draft);
	rc = write_stage(stage, product, &sink, err);
	return rc == 0 ? tkb_draft_publish(draft, err) : rc;
}
