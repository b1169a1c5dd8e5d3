/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ATTEST_H
#define TKBUNDLE_ATTEST_H

#include "archive/archive_folder.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/deadline.h"
#include "cli/follow.h"

/*
 * Compare records with what a compiler makes here: each kernel of a record is
 * compiled again, from what is recorded with it, and must get the same key and
 * the same bytes in each file. A record with something that cannot be compiled
 * again, such as a module, is not signed.
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
	struct follow follow;         /* array of the records, opened by the
	                                 caller */
	uint64_t same;                /* kernels that came out the same */
	uint64_t different;           /* kernels that came out different */
	uint64_t other;               /* other things, which were not compiled
	                                 again */
};

/* Make the private folder. */
TKB_NODISCARD int attest_begin(struct attest *attest, struct tkb_error *err);

/* The vouch() of struct tkb_sign_options. Prints each kernel that differs. */
int attest_vouch(void *self, const struct tkb_digest *record,
                 const struct tkb_source *blob, struct tkb_error *err);

/* For TKB_AUTO. */
void attest_end(struct attest *attest);

#endif
