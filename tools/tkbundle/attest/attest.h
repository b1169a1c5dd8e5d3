/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ATTEST_H
#define TKBUNDLE_ATTEST_H

#include "archive/archive_folder.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/deadline.h"
#include "cli/follow.h"

/*
 * Compares records with what a compiler makes here: each kernel of a record is
 * compiled again, from what is recorded with it, and must get the same key and the
 * same bytes in each file. A record with something that cannot be compiled again,
 * such as a module, is not signed.
 *
 *     struct attest attest = { .cli = cli, .args = args,
 *                              .folder = ARCHIVE_FOLDER_NONE };
 *
 *     chosen.vouch = attest_vouch;
 *     chosen.self = &attest;
 */
struct attest {
	struct cli *cli;
	const struct arguments *args;
	struct deadline deadline;
	struct archive_folder folder; /* made by attest_begin() */
	struct follow follow;         /* of the records, begun by the caller */
	uint64_t same;                /* kernels that came out the same */
	uint64_t different;           /* those that did not */
	uint64_t other;               /* what was not compiled again */
};

/* Make the folder that it works in. */
TKB_NODISCARD int attest_begin(struct attest *attest, struct tkb_error *err);

/* As vouch() of struct tkb_sign_options. Prints each kernel that differs. */
int attest_vouch(void *self, const struct tkb_digest *record,
                 const struct tkb_source *blob, struct tkb_error *err);

/* For TKB_AUTO. */
void attest_end(struct attest *attest);

#endif
