/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ENTRY_OUT_H
#define TKBUNDLE_ENTRY_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <tkbundle/entry.h>

#include "cli/json_out.h"
#include "report/kernel_facts.h"

/* How an entry is shown, in words and in JSON. */

/* Write "cuda:90", of a unit its tree's name, or "-" where there is no target. */
void entry_out_target(const struct tkb_entry *entry, char *out, size_t size);

/*
 * Write "0-3,7", or "-" of a unit; what has no room becomes "...". `size` is at
 * least 8.
 */
void entry_out_devices(const struct tkb_entry *entry, char *out, size_t size);

/* Room for a number as text. */
#define ENTRY_OUT_NUMBER_SIZE 16

/* Write a number, or "-" for 0, which means unknown. */
void entry_out_number(uint32_t number, char out[ENTRY_OUT_NUMBER_SIZE]);

/* Print a line for each file; with its digest, if it has one. */
void entry_out_files(FILE *to, const struct tkb_entry *entry, bool has_digests);

/* Add a digest, in hexadecimal. */
void entry_out_digest(struct json_out *json, const char *name,
                      const struct tkb_digest *digest);

/*
 * Add an object to the open array, or called `name` to the open object.
 *
 * @param is_moved  NULL where that has no meaning: in a bundle
 * @param facts     of its launch; NULL where nobody asked
 */
void entry_out_json(struct json_out *json, const char *name,
                    const struct tkb_entry *entry, const bool *is_moved,
                    const struct kernel_facts *facts, bool has_files);

#endif
