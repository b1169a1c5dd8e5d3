/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>

#include "harness.h"
#include "starts/start_report.h"

enum {
	MADE = 64, /* more than a report has room for */
	LONGEST_NODE = 64
};

/* How many entries the report of a start by `node` lists. */
static size_t count_listed(const struct start *start, const char *node)
{
	const struct start_report_more more = {
		.node = node, .idle = "5DJUWXT22BVR\nKRJX2HQ7F5A3\n"
	};
	char text[TKB_START_SIZE_LIMIT];
	const size_t size = start_report_write(start, &more, text);
	json_t *report;
	size_t count;

	CHECK(size > 0);
	report = start_report_read((struct tkb_bytes){ text, size });
	CHECK(report != NULL);
	CHECK(json_is_array(json_object_get(report, "idle")));
	count = json_array_size(json_object_get(report, "made"));
	json_decref(report);
	return count;
}

/* Each length of the name leaves another number of bytes behind the last entry. */
TEST(start_report, lists_what_it_has_room_for)
{
	TKB_AUTO(start_release) struct start start;
	char node[LONGEST_NODE + 1] = "";

	start_init(&start);
	for (size_t i = 0; i < MADE; i++) {
		char name[] = "triton_poi_fused_add";
		char key[] = "KRJX2HQ7F5A3";
		char nothing[] = "";
		const struct start_made made = { .kind = nothing,
			                         .key = key,
			                         .name = name,
			                         .detail = nothing,
			                         .advice = nothing };

		start_add_made(&start, &made);
	}
	for (size_t i = 0; i < LONGEST_NODE; i++) {
		const size_t count = count_listed(&start, node);

		CHECK(count > MADE / 4 && count < MADE);
		node[i] = 'n';
	}
}
