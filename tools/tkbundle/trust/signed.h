/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SIGNED_H
#define TKBUNDLE_SIGNED_H

#include <tkbundle/trust.h>

#include "cli/cli.h"

/*
 * The signers of the records that a policy trusts. They are collected while
 * records are read, and shown when the verb is done.
 */
struct signed_record {
	char *ref; /* owned */
	struct tkb_digest record;
	struct tkb_signature *signatures; /* owned; names are the policy's */
	size_t signature_count;
};

/* A zeroed list is empty. */
struct signed_list {
	struct signed_record *items; /* owned */
	size_t count;
	bool is_cut; /* out of memory: some are missing */
};

enum {
	SIGNED_BRIEF_SIZE = 160,
	SIGNED_WHEN_SIZE = 40
};

/* Write a time, in seconds since 1970, as 2027-02-21T12:00:00Z. */
void signed_when(uint64_t seconds, char out[SIGNED_WHEN_SIZE]);

/*
 * Does what was signed expire soon: within 14 days, and in the last quarter of
 * its lifetime? Its sequence number is at least the time of signing, so it shows
 * its lifetime.
 */
bool signed_ends_soon(uint64_t sequence, uint64_t end_s, uint64_t now_s);

void signed_list_release(struct signed_list *list);

/* Add a record, unless it is in the list. */
void signed_list_add(struct signed_list *list,
                     const struct tkb_trusted *record);

/* Remove the records of this ref, because it is not trusted after all. */
void signed_list_forget(struct signed_list *list, const char *ref);

/*
 * Add the list "signatures" to the document: those of each record of `ref`,
 * with key, role, stage, sequence and expiry time.
 */
void signed_list_json(const struct signed_list *list, const char *ref,
                      struct json_out *json);

/*
 * Print a line for each key and stage.
 *
 * @param out  NULL: messages
 */
void signed_list_print(const struct signed_list *list, const char *ref,
                       const struct cli *cli, FILE *out);

/* Write "signed by ci until 2027-02-21", the first expiry; "" if nobody has. */
void signed_list_brief(const struct signed_list *list, const char *ref,
                       char out[SIGNED_BRIEF_SIZE]);

/*
 * Write which signature expires soon, as signed_ends_soon() says.
 *
 * @return false: none does
 */
bool signed_list_ending(const struct signed_list *list, const char *ref,
                        char *out, size_t size);

/* Print that as a warning, if a signature expires soon. */
void signed_list_warn(const struct signed_list *list, const char *ref,
                      const struct cli *cli);

#endif
