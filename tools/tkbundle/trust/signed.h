/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SIGNED_H
#define TKBUNDLE_SIGNED_H

#include <tkbundle/trust.h>

#include "cli/cli.h"

/*
 * By whom that is signed which a policy trusts: it is told while records are read,
 * and shown when the verb is done.
 */
struct signed_record {
	char *ref; /* owned */
	struct tkb_digest record;
	struct tkb_signature *signatures; /* owned; names are the policy's */
	size_t signature_count;
};

/* Zeroed it is empty. */
struct signed_list {
	struct signed_record *items; /* owned */
	size_t count;
	size_t capacity;
	bool is_cut; /* there was no memory for more */
};

enum {
	SIGNED_BRIEF_SIZE = 160
};

void signed_list_release(struct signed_list *list);

/* Add a record, unless it was told of before. */
void signed_list_add(struct signed_list *list,
                     const struct tkb_trusted *record);

/* Nothing of this ref is trusted after all. */
void signed_list_forget(struct signed_list *list, const char *ref);

/*
 * Add to the document the list "signatures": for each record of `ref` its own, with
 * key, role, stage, sequence and end.
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

/* Write "signed by ci until 2027-02-21", of the first end; "" where nobody has. */
void signed_list_brief(const struct signed_list *list, const char *ref,
                       char out[SIGNED_BRIEF_SIZE]);

/*
 * Write what ends soon: within 14 days, and a quarter of the time that it holds.
 *
 * @return false: nothing does
 */
bool signed_list_ending(const struct signed_list *list, const char *ref,
                        char *out, size_t size);

/* Say that, if so. */
void signed_list_warn(const struct signed_list *list, const char *ref,
                      const struct cli *cli);

#endif
