/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_DRAFT_H
#define TKB_BASE_DRAFT_H

/*
 * A draft is a file that nobody can see until it is published.
 *
 *   open     makes it in its destination's folder, without a name where the
 *            file system can do that, else under a private one;
 *   write    (through fd or a sink) fills it, any number of times;
 *   publish  moves it into place in one step, over what is there;
 *   discard  removes it; does nothing once published.
 *
 * A destination that is there and no regular file (a pipe, /dev/null) is
 * written to as it is: to replace it would destroy it.
 *
 * A draft is locked while its writer lives; to open one removes what dead
 * writers of the same file left.
 *
 * Declare it with TKB_AUTO(tkb_draft_discard) and every early return is right.
 */

#include "base/base.h"
#include "base/buf.h"

struct tkb_draft {
	int fd;     /* owned; -1 once published or discarded */
	char *path; /* owned: where it goes; NULL: it is there already */
	char *private_name; /* owned: what it is called before, or is for a
	                       moment if the destination exists */
	bool is_named;      /* it has its private name now */
	const char *name;   /* for messages: what open() was given, which must
	                       live as long */
};

#define TKB_DRAFT_INIT                                                         \
	{                                                                      \
		.fd = -1                                                       \
	}

TKB_NODISCARD int tkb_draft_open(struct tkb_draft *draft, const char *path,
                                 struct tkb_error *err);

/* A sink that writes to the draft. */
struct tkb_sink tkb_draft_sink(struct tkb_draft *draft);

/*
 * What was written is on the disk then, so that no loss of power leaves an empty
 * file under a name that says more. Before it is published.
 */
TKB_NODISCARD int tkb_draft_sync(const struct tkb_draft *draft,
                                 struct tkb_error *err);

TKB_NODISCARD int tkb_draft_publish(struct tkb_draft *draft,
                                    struct tkb_error *err);
void tkb_draft_discard(struct tkb_draft *draft);

#endif
