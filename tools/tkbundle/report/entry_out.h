/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ENTRY_OUT_H
#define TKBUNDLE_ENTRY_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <tkbundle/entry.h>

#include "cli/json_out.h"
#include "report/kernel_facts.h"

/* Print an entry, as text and as JSON. */

/*
 * Write the target, "cuda:90"; for a unit, its tree's name; "-" if there is
 * neither.
 */
void entry_out_target(const struct tkb_entry *entry, char *out, size_t size);

/*
 * Write the devices, "0-3,7", or "-" for a unit; devices that do not fit become
 * "...". `size` must be at least 8.
 */
void entry_out_devices(const struct tkb_entry *entry, char *out, size_t size);

/* The size of a buffer for a number. */
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
 * @param is_moved  NULL if it has no meaning, as for a bundle
 * @param facts     facts of its launch; NULL: leave them out
 */
void entry_out_json(struct json_out *json, const char *name,
                    const struct tkb_entry *entry, const bool *is_moved,
                    const struct kernel_facts *facts, bool has_files);

#endif
