/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_OPERAND_H
#define TKBUNDLE_OPERAND_H

#include <stdio.h>

#include <tkbundle/holdings.h>

#include "config/remote_use.h"
#include "report/source.h"
#include "why/start.h"

/*
 * An operand of `why`: a cache, a folder of vLLM's or Inductor's with its
 * trees, a bundle, or the note of a start. Anything else is a ref of the
 * remote.
 */
struct operand {
	const char *name;                /* as it was given; borrowed */
	struct source source;            /* set unless it is a note */
	char tree[START_PATH_SIZE + 64]; /* in the form of --tree */
	struct trees trees;
	struct tkb_makers *noted;      /* owned; makers of a cache's entries */
	FILE *bundle;                  /* of a ref: the bytes of its bundle */
	struct tkb_holdings *holdings; /* of a ref, owned: its records */
	const struct remote_use *use;  /* of a ref; borrowed */
	struct start start;
	bool is_note;
};

/*
 * Open the operand. A ref is pulled as one bundle into a file without a name.
 *
 * @param cli  shows progress
 * @param use  begun; NULL: no remote is named
 * @return 0, TKB_MISS, or a result of source_open(), start_read() or
 *         tkb_pull_bundle()
 */
TKB_NODISCARD int operand_open(const char *name, struct cli *cli,
                               struct remote_use *use, struct operand *out,
                               struct tkb_error *err);

/* The makers of its entries; NULL: unknown. */
const struct tkb_makers *operand_makers(const struct operand *operand);

/* For TKB_AUTO; a zeroed one is allowed. */
void operand_close(struct operand *operand);

#endif
