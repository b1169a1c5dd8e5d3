/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COUNTS_H
#define TKBUNDLE_COUNTS_H

#include <stddef.h>

#include "cli/json_out.h"
#include "cli/metrics.h"

/*
 * The numbers of a report of the library. One table describes how they appear
 * in the document, in the summary and in the metrics.
 *
 *     static const struct count counts[] = {
 *             COUNT(tkb_gc_report, removed_count, "removed", NULL),
 *             COUNT(tkb_gc_report, busy_count, "busy", "busy"),
 *     };
 *
 *     counts_json(COUNTS(counts), &report, &cli->json);
 */
struct count {
	size_t offset;      /* offset of a uint64_t in the report */
	const char *name;   /* in the document; NULL: not there */
	const char *word;   /* in the summary; NULL: not there */
	const char *metric; /* its name; NULL: none */
	const char *help;   /* of the metric: a sentence */
};

struct count_list {
	const struct count *items;
	size_t count;
};

#define COUNT(report, member, name, word)                                      \
	{                                                                      \
		offsetof(struct report, member), name, word, NULL, NULL        \
	}
#define COUNT_AND_METRIC(report, member, name, word, metric, help)             \
	{                                                                      \
		offsetof(struct report, member), name, word, metric, help      \
	}
#define COUNTS(array) ((struct count_list){ (array), TKB_COUNT_OF(array) })

void counts_json(struct count_list counts, const void *report,
                 struct json_out *json);

/* Write ", skipped 2, busy 1": the words of the counts that are not 0. */
void counts_words(struct count_list counts, const void *report, char *out,
                  size_t size);

void counts_metrics(struct count_list counts, const void *report,
                    struct metrics *metrics);

#endif
