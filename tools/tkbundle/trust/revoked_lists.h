/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REVOKED_LISTS_H
#define TKBUNDLE_REVOKED_LISTS_H

#include <tkbundle/trust.h>

#include "cli/cli.h"

/*
 * The lists of what is revoked that count by a policy. They are collected while
 * a remote is read, and shown when the verb is done.
 */
enum {
	REVOKED_LISTS_LIMIT = 64 /* a policy has no more keys */
};

/* A zeroed struct has none. */
struct revoked_lists {
	struct tkb_revoked_list items[REVOKED_LISTS_LIMIT]; /* the names are the
	                                                       policy's */
	size_t count;
};

/* Add a list. Of each key, the one that counts for the longest time is kept. */
void revoked_lists_add(struct revoked_lists *lists,
                       const struct tkb_revoked_list *list);

/* Add "lists" to the document: key, digests, sequence and expiry time of each. */
void revoked_lists_json(const struct revoked_lists *lists,
                        struct json_out *json);

/* Print a line for each. */
void revoked_lists_print(const struct revoked_lists *lists, const char *indent,
                         FILE *out);

/*
 * Write when nothing of the remote is used any more, unless somebody renews a
 * list, if that is soon; see signed_list_ending().
 *
 * @return false: it is not soon
 */
bool revoked_lists_ending(const struct revoked_lists *lists, char *out,
                          size_t size);

/* Print that as a warning. */
void revoked_lists_warn(const struct revoked_lists *lists,
                        const struct cli *cli);

#endif
