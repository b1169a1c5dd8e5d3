/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FOLLOW_H
#define TKBUNDLE_FOLLOW_H

#include <stdbool.h>

#include "cli/cli.h"
#include "cli/deadline.h"
#include "cli/progress.h"

/*
 * Follow long work of the library: draw the bar, print a line for each entry
 * that was not done, list entries in the document, and watch for signals.
 *
 *     options.watch = follow_begin(&follow, cli, "entries", FOLLOW_ALL);
 *     rc = tkb_emit(bundle, root, &options, &report, &err);
 *     follow_end(&follow);
 *
 * The library calls back from its threads, but one at a time, and not after
 * it has returned.
 */
enum follow_list {
	FOLLOW_ALL, /* list every entry, with its outcome */
	FOLLOW_BAD  /* list what was left out, skipped as busy, or failed */
};

struct follow {
	struct cli *cli;
	struct progress progress;
	enum follow_list list;
	struct deadline *deadline; /* or NULL; may be set after the start */
	struct tkb_watch watch;    /* its callbacks use this struct */
	bool has_untrusted;        /* other than busy or unreadable */
	struct tkb_error missing;  /* the first one that is missing: a key, or
	                              the device */
};

/*
 * Without a list in the document, for work that reports no entries.
 *
 * @return the watch for the options of the library
 */
const struct tkb_watch *follow_begin_alone(struct follow *follow,
                                           struct cli *cli);
void follow_end_alone(struct follow *follow);

/* `name` is the name of the list in the document; not kept. @return likewise */
const struct tkb_watch *follow_begin(struct follow *follow, struct cli *cli,
                                     const char *name, enum follow_list list);
void follow_end(struct follow *follow);

/*
 * Return `rc`. If a requested key or device is missing, `err` names it.
 */
int follow_missed(const struct follow *follow, int rc, struct tkb_error *err);

#endif
