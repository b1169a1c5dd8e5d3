/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t read_report_count(const struct count *count, const void *report)
{
	uint64_t value;

	(void)memcpy(&value, (const char *)report + count->offset,
	             sizeof(value));
	return value;
}

void counts_json(struct count_list counts, const void *report,
                 struct json_out *json)
{
	for (size_t i = 0; i < counts.count; i++) {
		const struct count *const count = &counts.items[i];

		if (count->name != NULL)
			json_out_number(json, count->name,
			                read_report_count(count, report));
	}
}

void counts_words(struct count_list counts, const void *report, char *out,
                  size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < counts.count && used < size; i++) {
		const struct count *const count = &counts.items[i];
		const uint64_t value = read_report_count(count, report);

		if (count->word != NULL && value != 0)
			used += (size_t)snprintf(out + used, size - used,
			                         ", %s %" PRIu64, count->word,
			                         value);
	}
}

void counts_metrics(struct count_list counts, const void *report,
                    struct metrics *metrics)
{
	for (size_t i = 0; i < counts.count; i++) {
		const struct count *const count = &counts.items[i];

		if (count->metric != NULL)
			metrics_add(metrics, count->metric, count->help,
			            (double)read_report_count(count, report));
	}
}
