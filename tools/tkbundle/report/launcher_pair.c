/* SPDX-License-Identifier: Apache-2.0 */
#include "report/launcher_pair.h"

#include <stdlib.h>

#include "cli/text.h"

static int open_pair_file(const char *path, const char *middle, const char *end,
                          char **path_out, struct tkb_draft **out,
                          struct tkb_error *err)
{
	*path_out = text_format("%s%s%s", path, middle, end);
	return *path_out != NULL ? tkb_draft_open(*path_out, out, err)
	                         : cli_error_nomem(err);
}

int launcher_pair_open(const char *path, const char *middle,
                       struct launcher_pair *out, struct tkb_error *err)
{
	const int rc = open_pair_file(path, middle, ".c", &out->source_path,
	                              &out->source, err);

	return rc < 0 ? rc
	              : open_pair_file(path, middle, ".h", &out->header_path,
	                               &out->header, err);
}

int launcher_pair_publish(struct cli *cli, struct launcher_pair *pair,
                          struct tkb_error *err)
{
	int rc;

	rc = tkb_draft_publish(pair->source, err);
	if (rc == 0)
		rc = tkb_draft_publish(pair->header, err);
	if (rc == 0)
		text_line(cli->out, "wrote %s and %s", pair->source_path,
		          pair->header_path);
	return rc;
}

void launcher_pair_discard(struct launcher_pair *pair)
{
	tkb_draft_close(pair->source);
	tkb_draft_close(pair->header);
	free(pair->source_path);
	free(pair->header_path);
}
