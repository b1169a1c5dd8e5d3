/* SPDX-License-Identifier: Apache-2.0 */
#include "starts/starts_read.h"

#include <stdlib.h>

#include <jansson.h>

#include "starts/start_report.h"

/* The reports that were read, the newest first. */
struct read {
	struct {
		json_t *report; /* owned; NULL: it cannot be read */
		uint64_t age_s;
	} items[TKB_STARTS_LIMIT];
	size_t count;
	json_t *places; /* owned; an object that maps an id to the index of its
	                   report */
};

static void release_reports(struct read *read)
{
	for (size_t i = 0; i < read->count; i++)
		json_decref(read->items[i].report);
	json_decref(read->places);
	free(read);
}

static void release_at(struct read **read)
{
	if (*read != NULL)
		release_reports(*read);
}

static bool has_ended(const json_t *report)
{
	return json_object_get(report, "status") != NULL;
}

/*
 * Ages are whole seconds, so two reports of one start may be in either order.
 */
static int on_report(void *self, struct tkb_bytes text, uint64_t age_s,
                     struct tkb_error *err)
{
	struct read *const read = self;
	json_t *const report = start_report_read(text);
	const char *const id = start_report_text(report, "id");
	const json_t *const place =
		id[0] != '\0' ? json_object_get(read->places, id) : NULL;

	if (place != NULL) {
		json_t **const kept =
			&read->items[json_integer_value(place)].report;
		json_t *const other = has_ended(report) ? *kept : report;

		*kept = has_ended(report) ? report : *kept;
		json_decref(other);
		return 0;
	}
	if (read->count == TKB_STARTS_LIMIT ||
	    (id[0] != '\0' &&
	     json_object_set_new(read->places, id,
	                         json_integer((json_int_t)read->count)) < 0)) {
		json_decref(report);
		return cli_error_nomem(err);
	}
	read->items[read->count].report = report;
	read->items[read->count].age_s = age_s;
	read->count++;
	return 0;
}

int starts_read(struct remote_use *use, const char *ref,
                const struct starts_visitor *visitor, struct tkb_error *err)
{
	TKB_AUTO(release_at)
	struct read *read = calloc(1, sizeof(*read));
	const struct tkb_starts_visitor reader = { on_report, read };
	int rc;

	if (read != NULL)
		read->places = json_object();
	if (read == NULL || read->places == NULL)
		return cli_error_nomem(err);
	rc = use->library.starts_read(use->remote, ref, &reader, err);
	for (size_t i = 0; i < read->count && rc == 0; i++)
		visitor->on_start(visitor->self, read->items[i].report,
		                  read->items[i].age_s);
	return rc;
}
