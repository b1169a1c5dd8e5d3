/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_SOURCE_H
#define TKBUNDLE_REMOTE_SOURCE_H

#include <tkbundle/holdings.h>

#include "config/remote_use.h"
#include "report/source.h"

/*
 * The entries of a ref, which are listed without fetching the ref.
 *
 *     TKB_AUTO(remote_source_close) struct remote_source at = { .cli = cli };
 *
 *     status = remote_source_open(&at, args);
 *     print(&at.source);
 */
struct remote_source {
	struct cli *cli;
	struct remote_use use;
	struct tkb_holdings *holdings; /* owned */
	struct source source;          /* its entries */
};

/*
 * List the entries of the ref in args' first operand, and begin the document
 * with "ref" and "remotes".
 *
 * @return STATUS_DONE; STATUS_PARTIAL: it is open, but something is missing,
 *         which was printed; or the status of the failure
 */
enum status remote_source_open(struct remote_source *out,
                               const struct arguments *args);

/* For TKB_AUTO. */
void remote_source_close(struct remote_source *source);

/* The sum of the sizes of the existing blobs, in bytes. */
uint64_t remote_source_size(const struct remote_source *source);

/* Add the list "records" to the document. */
void remote_source_json(const struct remote_source *source);

#endif
