/* SPDX-License-Identifier: Apache-2.0 */
#include "report/launcher_pair.h"

#include <stdlib.h>

#include "cli/outfile.h"
#include "cli/text.h"

/* A file that is written under the name `path` and `end`. */
struct output {
	struct outfile file;
	char *path; /* owned */
};

static void output_discard(struct output *output)
{
	outfile_discard(&output->file);
	free(output->path);
}

static int output_open(const char *path, const char *middle, const char *end,
                       struct output *out, struct tkb_error *err)
{
	if (asprintf(&out->path, "%s%s%s", path, middle, end) < 0) {
		out->path = NULL;
		return cli_error(err, TKB_ERR_NOMEM, "out of memory");
	}
	return outfile_open(out->path, &out->file, err);
}

int launcher_pair_write(struct cli *cli, const char *path,
                        const struct launcher_pair *pair, struct tkb_error *err)
{
	TKB_AUTO(output_discard)
	struct output source = { .file = OUTFILE_INIT };
	TKB_AUTO(output_discard)
	struct output header = { .file = OUTFILE_INIT };
	struct tkb_sink sink;
	int rc;

	rc = output_open(path, pair->middle, ".c", &source, err);
	if (rc == 0)
		rc = output_open(path, pair->middle, ".h", &header, err);
	sink = outfile_sink(&source.file);
	if (rc == 0)
		rc = pair->write_source(pair->made, &sink, err);
	sink = outfile_sink(&header.file);
	if (rc == 0)
		rc = pair->write_header(pair->made, &sink, err);
	if (rc == 0)
		rc = outfile_publish(&source.file, err);
	if (rc == 0)
		rc = outfile_publish(&header.file, err);
	if (rc == 0)
		text_line(cli->out, "wrote %s and %s", source.path,
		          header.path);
	return rc;
}
