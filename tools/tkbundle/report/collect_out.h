/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COLLECT_OUT_H
#define TKBUNDLE_COLLECT_OUT_H

#include <tkbundle/collect.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/counts.h"

/*
 * Common code of collect and import: both write a bundle, and print a summary.
 */

/*
 * Check that an output is named, and that the bundle may be written to it.
 *
 * @return STATUS_DONE or STATUS_USAGE
 */
enum status collect_out_check(const struct cli *cli,
                              const struct arguments *args);

/* Add the report's members to the document. */
void collect_out_json(const struct tkb_collect_report *report,
                      struct json_out *json);

/* The words of a summary. */
struct collect_words {
	const char *will; /* "collect" */
	const char *has;  /* "collected" */
	const char *rest; /* printed after all counts */
};

void collect_out_summarize(const struct cli *cli, const struct arguments *args,
                           const struct tkb_collect_report *report,
                           const struct collect_words *words);

#endif
