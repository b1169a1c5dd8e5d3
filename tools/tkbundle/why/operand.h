/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_OPERAND_H
#define TKBUNDLE_OPERAND_H

#include <stdio.h>

#include <tkbundle/holdings.h>

#include "config/remote_use.h"
#include "report/source.h"
#include "why/start.h"

/*
 * What `why` compares: a cache, a folder of vLLM's or Inductor's with its
 * trees, a bundle, or the note of a start. Anything else is a ref of the
 * remote.
 */
struct operand {
	const char *name;                /* as it was given; borrowed */
	struct source source;            /* unless it is a note */
	char tree[START_PATH_SIZE + 64]; /* as --tree has it */
	struct trees trees;
	struct tkb_makers *noted; /* owned: of a cache, what made its entries */
	FILE *bundle;             /* of a ref: its bytes */
	struct tkb_holdings *holdings; /* of a ref, owned: its records */
	const struct remote_use *use;  /* of a ref; borrowed */
	struct start start;
	bool is_note;
};

/*
 * Open it. A ref is pulled as one bundle into a file that has no name.
 *
 * @param cli  shows how far it is
 * @param use  begun; NULL: no remote is named
 * @return 0, TKB_MISS, or as of source_open(), start_read() or tkb_pull_bundle()
 */
TKB_NODISCARD int operand_open(const char *name, struct cli *cli,
                               struct remote_use *use, struct operand *out,
                               struct tkb_error *err);

/* What made its entries; NULL: it is not known. */
const struct tkb_makers *operand_makers(const struct operand *operand);

/* For TKB_AUTO; a zeroed one is allowed. */
void operand_close(struct operand *operand);

#endif
