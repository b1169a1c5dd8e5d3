/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_LAUNCHER_PAIR_H
#define TKBUNDLE_LAUNCHER_PAIR_H

#include <tkbundle/entry.h>

#include "cli/cli.h"

/*
 * A source file and its header. Both appear only when both are complete:
 *
 *     TKB_AUTO(launcher_pair_discard) struct launcher_pair pair = { 0 };
 *
 *     rc = launcher_pair_open("add", ".1a2b", &pair, err);
 *     sink = tkb_draft_sink(pair.source);
 *     ...
 *     rc = launcher_pair_publish(cli, &pair, err);
 */
struct launcher_pair {
	struct tkb_draft *source; /* owned, as all here */
	struct tkb_draft *header;
	char *source_path;
	char *header_path;
};

/* Open "<path><middle>.c" and ".h". */
TKB_NODISCARD int launcher_pair_open(const char *path, const char *middle,
                                     struct launcher_pair *out,
                                     struct tkb_error *err);

/* Publish both files, and print their names. */
TKB_NODISCARD int launcher_pair_publish(struct cli *cli,
                                        struct launcher_pair *pair,
                                        struct tkb_error *err);

/* For TKB_AUTO; a zeroed pair is allowed. */
void launcher_pair_discard(struct launcher_pair *pair);

#endif
