/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_LAUNCHER_PAIR_H
#define TKBUNDLE_LAUNCHER_PAIR_H

#include <tkbundle/entry.h>

#include "cli/cli.h"

/* A source file and its header, which appear together. */
struct launcher_pair {
	int (*write_source)(const void *made, const struct tkb_sink *sink,
	                    struct tkb_error *err);
	int (*write_header)(const void *made, const struct tkb_sink *sink,
	                    struct tkb_error *err);
	const void *made;   /* given to both; borrowed */
	const char *middle; /* between `path` and the end of a file's name */
};

/*
 * Write "<path><middle>.c" and ".h", and print what they are called. Neither
 * appears before both are written.
 */
TKB_NODISCARD int launcher_pair_write(struct cli *cli, const char *path,
                                      const struct launcher_pair *pair,
                                      struct tkb_error *err);

#endif
