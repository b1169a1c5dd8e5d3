/* SPDX-License-Identifier: Apache-2.0 */
#include "report/launcher_pair.h"

#include <stdlib.h>

#include "cli/text.h"

/* A file that is written under the name `path` and `end`. */
struct output {
	struct tkb_draft *draft; /* owned */
	char *path;              /* owned */
};

static void output_discard(struct output *output)
{
	tkb_draft_close(output->draft);
	free(output->path);
}

static int output_open(const char *path, const char *middle, const char *end,
                       struct output *out, struct tkb_error *err)
{
	if (asprintf(&out->path, "%s%s%s", path, middle, end) < 0) {
		out->path = NULL;
		return cli_error(err, TKB_ERR_NOMEM, "out of memory");
	}
	return tkb_draft_open(out->path, &out->draft, err);
}

int launcher_pair_write(struct cli *cli, const char *path,
                        const struct launcher_pair *pair, struct tkb_error *err)
{
	TKB_AUTO(output_discard)
	struct output source = { .draft = NULL };
	TKB_AUTO(output_discard)
	struct output header = { .draft = NULL };
	struct tkb_sink sink;
	int rc;

	rc = output_open(path, pair->middle, ".c", &source, err);
	if (rc == 0)
		rc = output_open(path, pair->middle, ".h", &header, err);
	if (rc < 0)
		return rc;
	sink = tkb_draft_sink(source.draft);
	rc = pair->write_source(pair->made, &sink, err);
	sink = tkb_draft_sink(header.draft);
	if (rc == 0)
		rc = pair->write_header(pair->made, &sink, err);
	if (rc == 0)
		rc = tkb_draft_publish(source.draft, err);
	if (rc == 0)
		rc = tkb_draft_publish(header.draft, err);
	if (rc == 0)
		text_line(cli->out, "wrote %s and %s", source.path,
		          header.path);
	return rc;
}
