/* SPDX-License-Identifier: Apache-2.0 */
#include "starts/fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/auto.h"
#include "starts/start_report.h"

enum {
	ROWS_LIMIT = 20000, /* rows of a table; more rows are dropped */
	NODE_SIZE = 224
};

static void rows_release(struct fleet_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->items[i].name);
	free(rows->items);
	json_decref(rows->places);
}

void fleet_release(struct fleet *fleet)
{
	rows_release(&fleet->nodes);
	rows_release(&fleet->kernels);
	rows_release(&fleet->idle);
}

/* Find the row of that name, or add one. NULL: no room. */
static struct fleet_row *row_of(struct fleet *fleet, struct fleet_rows *rows,
                                const char *name)
{
	const json_t *place;
	struct fleet_row *items;
	char *copy;

	if (rows->places == NULL)
		rows->places = json_object();
	place = json_object_get(rows->places, name);
	if (place != NULL)
		return &rows->items[json_integer_value(place)];
	if (rows->count == ROWS_LIMIT)
		return NULL;
	items = table_grow(rows->items, rows->count, sizeof(*items));
	rows->items = items != NULL ? items : rows->items;
	copy = strdup(name);
	/* A name that was cut need not be UTF-8. */
	if (copy == NULL || items == NULL ||
	    json_object_set_new_nocheck(rows->places, name,
	                                json_integer((json_int_t)rows->count)) <
	            0) {
		free(copy);
		fleet->is_failed = true;
		return NULL;
	}
	rows->items[rows->count] =
		(struct fleet_row){ .name = copy, .newest_s = UINT64_MAX };
	return &rows->items[rows->count++];
}

/*
 * Count a start once, even if it has the row twice, as with two keys of a
 * kernel.
 */
static void count_row(const struct fleet *fleet, struct fleet_row *row,
                      uint64_t compiled, bool is_cold, uint64_t age_s)
{
	const bool is_new = row != NULL && row->last != fleet->starts;

	if (row == NULL)
		return;
	row->starts += is_new ? 1 : 0;
	row->cold += is_new && is_cold ? 1 : 0;
	row->last = fleet->starts;
	row->compiled += compiled;
	if (age_s < row->newest_s)
		row->newest_s = age_s;
}

/*
 * The node's name, or else its facts: "NVIDIA H200, driver 580.65.06, triton
 * 3.6.0".
 */
static void name_node(const json_t *report, char out[NODE_SIZE])
{
	static const char *const facts[] = { "driver", "triton", "torch",
		                             "engine" };
	const char *const gpu = start_report_text(report, "gpu");
	size_t length;

	(void)snprintf(out, NODE_SIZE, "%s", start_report_text(report, "node"));
	if (out[0] != '\0')
		return;
	(void)snprintf(out, NODE_SIZE, "%.60s",
	               gpu[0] != '\0' ? gpu : "unknown GPU");
	for (size_t i = 0; i < TKB_COUNT_OF(facts); i++) {
		const char *const text = start_report_text(report, facts[i]);

		length = strlen(out);
		if (text[0] != '\0')
			(void)snprintf(out + length, NODE_SIZE - length,
			               ", %s%s%.40s", i < 3 ? facts[i] : "",
			               i < 3 ? " " : "", text);
	}
}

static void count_reasons(struct fleet *fleet, const json_t *report)
{
	uint64_t counts[REASON_COUNT];

	start_report_reasons(report, counts);
	for (size_t i = 0; i < REASON_COUNT; i++) {
		fleet->reasons[i].compiled += counts[i];
		fleet->reasons[i].starts += counts[i] != 0 ? 1 : 0;
	}
}

static const char *item_text(const json_t *item, size_t index)
{
	const char *const text = json_string_value(json_array_get(item, index));

	return text != NULL ? text : "";
}

static void count_made(struct fleet *fleet, const json_t *report,
                       uint64_t age_s)
{
	size_t index;
	json_t *item;

	json_array_foreach(json_object_get(report, "made"), index, item)
	{
		const char *const name = item_text(item, 0);
		struct fleet_row *const row =
			row_of(fleet, &fleet->kernels,
		               name[0] != '\0' ? name : item_text(item, 1));

		if (row != NULL && age_s < row->newest_s)
			row->reason = REASON_UNKNOWN;
		if (row != NULL && age_s < row->newest_s)
			(void)reason_find(item_text(item, 2), &row->reason);
		count_row(fleet, row, 1, true, age_s);
	}
	json_array_foreach(json_object_get(report, "idle"), index, item)
	{
		if (json_is_string(item))
			count_row(fleet,
			          row_of(fleet, &fleet->idle,
			                 json_string_value(item)),
			          0, false, age_s);
	}
}

void fleet_add(struct fleet *fleet, const json_t *report, uint64_t age_s)
{
	const uint64_t compiled = start_report_number(report, "compiled");
	const bool has_failed =
		json_array_size(json_object_get(report, "failures")) != 0;
	const bool is_cold = compiled != 0 || has_failed;
	const uint64_t delay_ms = start_report_number(report, "delay_ms");
	char node[NODE_SIZE];

	if (report == NULL) {
		fleet->unread++;
		return;
	}
	fleet->starts++;
	fleet->cold += is_cold ? 1 : 0;
	fleet->first +=
		is_cold && start_report_number(report, "first") != 0 ? 1 : 0;
	fleet->failed += has_failed ? 1 : 0;
	fleet->emitted += start_report_number(report, "emitted");
	fleet->used += start_report_number(report, "used");
	fleet->compiled += compiled;
	fleet->saved_ms += start_report_number(report, "saved_ms");
	if (delay_ms > fleet->delay_ms)
		fleet->delay_ms = delay_ms;
	if (age_s > fleet->oldest_s)
		fleet->oldest_s = age_s;
	name_node(report, node);
	count_row(fleet, row_of(fleet, &fleet->nodes, node), compiled, is_cold,
	          age_s);
	count_reasons(fleet, report);
	count_made(fleet, report, age_s);
}

static int compare_rows(const void *a, const void *b)
{
	const struct fleet_row *const left = a;
	const struct fleet_row *const right = b;

	if (left->compiled != right->compiled)
		return left->compiled > right->compiled ? -1 : 1;
	if (left->cold != right->cold)
		return left->cold > right->cold ? -1 : 1;
	if (left->starts != right->starts)
		return left->starts > right->starts ? -1 : 1;
	return strcmp(left->name, right->name);
}

static void sort_rows(struct fleet_rows *rows)
{
	if (rows->count > 1)
		qsort(rows->items, rows->count, sizeof(*rows->items),
		      compare_rows);
	json_decref(rows->places);
	rows->places = NULL;
}

void fleet_sort(struct fleet *fleet)
{
	sort_rows(&fleet->nodes);
	sort_rows(&fleet->kernels);
	sort_rows(&fleet->idle);
	for (size_t i = 0; i < REASON_COUNT; i++) {
		size_t at = i;

		while (at > 0 && fleet->reasons[fleet->order[at - 1]].compiled <
		                         fleet->reasons[i].compiled) {
			fleet->order[at] = fleet->order[at - 1];
			at--;
		}
		fleet->order[at] = (enum reason)i;
	}
}
