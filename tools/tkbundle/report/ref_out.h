/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REF_OUT_H
#define TKBUNDLE_REF_OUT_H

#include <stdio.h>

#include <tkbundle/holdings.h>

#include "cli/json_out.h"
#include "cli/remote_library.h"

/*
 * Print what the records of a ref say about their pushes, as text and as JSON.
 */

/* The size of a buffer for ref_out_made(). */
#define REF_OUT_SIZE 1024

/*
 * Write "triton 3.6.0, cuda:90, by=ci commit=4f2a": the versions, the targets,
 * and the labels of the newest push that has some. A part that does not fit
 * becomes "...".
 */
void ref_out_made(const struct remote_library *library,
                  const struct tkb_holdings *holdings, char out[REF_OUT_SIZE]);

/* Print a line for each push that had labels, the newest first. */
void ref_out_pushes(FILE *to, const struct remote_library *library,
                    const struct tkb_holdings *holdings);

/* Add the lists "triton", "targets" and "pushes". */
void ref_out_json(struct json_out *json, const struct remote_library *library,
                  const struct tkb_holdings *holdings);

#endif
