/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_SOURCE_H
#define TKBUNDLE_REMOTE_SOURCE_H

#include <tkbundle/holdings.h>

#include "config/remote_use.h"
#include "report/source.h"

/*
 * A ref of a remote, looked into without fetching it.
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
 * Read what the ref of args' first operand holds, and begin the document with
 * "ref" and "remotes".
 *
 * @return STATUS_DONE; STATUS_PARTIAL: it is open, and lacks something, which has
 *         been said; or how it failed
 */
enum status remote_source_open(struct remote_source *out,
                               const struct arguments *args);

/* For TKB_AUTO. */
void remote_source_close(struct remote_source *source);

/* The sum of the sizes of the blobs that are there, in bytes. */
uint64_t remote_source_size(const struct remote_source *source);

/* The list "records" of the document. */
void remote_source_json(const struct remote_source *source);

#endif
