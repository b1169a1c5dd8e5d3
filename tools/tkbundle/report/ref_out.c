/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ref_out.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/auto.h"
#include "cli/text.h"

#define TIME_SIZE 32
#define LABELS_SIZE 512

/* Texts and pushes of all records of a ref, without duplicates. */
struct made {
	char (*texts)[80]; /* owned */
	size_t count;
	const struct tkb_push_note **pushes; /* owned; the newest first */
	size_t push_count;
};

static void made_release(struct made *made)
{
	free(made->texts);
	free(made->pushes);
}

static void add_made_text(struct made *made, const char *prefix,
                          const char *text)
{
	char whole[80];

	(void)snprintf(whole, sizeof(whole), "%s%s", prefix, text);
	for (size_t i = 0; i < made->count; i++) {
		if (strcmp(made->texts[i], whole) == 0)
			return;
	}
	memcpy(made->texts[made->count++], whole, sizeof(whole));
}

static int compare_pushes(const void *a, const void *b)
{
	const struct tkb_push_note *const left =
		*(const struct tkb_push_note *const *)a;
	const struct tkb_push_note *const right =
		*(const struct tkb_push_note *const *)b;

	return (left->time_ms < right->time_ms) -
	       (left->time_ms > right->time_ms);
}

/* @return false: out of memory */
static bool gather_pushes(const struct remote_library *library,
                          const struct tkb_holdings *holdings, struct made *out)
{
	const size_t count = library->holdings_record_count(holdings);
	size_t most = 1;

	for (size_t i = 0; i < count; i++)
		most += library->holdings_record(holdings, i)->push_count;
	out->pushes = calloc(most, sizeof(*out->pushes));
	if (out->pushes == NULL)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct tkb_holdings_record *const record =
			library->holdings_record(holdings, i);

		for (size_t k = 0; k < record->push_count; k++)
			out->pushes[out->push_count++] = &record->pushes[k];
	}
	qsort(out->pushes, out->push_count, sizeof(*out->pushes),
	      compare_pushes);
	return true;
}

/*
 * Add versions and targets, all of which are short. @return false: out of
 * memory
 */
static bool gather_texts(const struct remote_library *library,
                         const struct tkb_holdings *holdings, bool is_target,
                         const char *prefix, struct made *out)
{
	const size_t count = library->holdings_record_count(holdings);
	size_t most = 1;

	for (size_t i = 0; i < count; i++) {
		const struct tkb_holdings_record *const record =
			library->holdings_record(holdings, i);

		most += is_target ? record->target_count : record->triton_count;
	}
	out->texts = calloc(most, sizeof(*out->texts));
	for (size_t i = 0; out->texts != NULL && i < count; i++) {
		const struct tkb_holdings_record *const record =
			library->holdings_record(holdings, i);

		for (size_t k = 0; !is_target && k < record->triton_count; k++)
			add_made_text(out, prefix, record->tritons[k]);
		for (size_t k = 0; is_target && k < record->target_count; k++) {
			char backend[40];

			(void)snprintf(backend, sizeof(backend),
			               "%s:", record->targets[k].backend);
			add_made_text(out, backend, record->targets[k].arch);
		}
	}
	return out->texts != NULL;
}

/* Append the part that fits. */
static void append_separated(char *out, size_t size, const char *separator,
                             const char *text)
{
	const size_t used = strlen(out);

	if (used + strlen(text) + strlen(separator) + 4 < size)
		(void)snprintf(out + used, size - used, "%s%s",
		               used > 0 ? separator : "", text);
	else if (used < 3 || strcmp(out + used - 3, "...") != 0)
		(void)snprintf(out + used, size - used, "...");
}

static void write_labels(const struct tkb_push_note *note,
                         char out[LABELS_SIZE])
{
	out[0] = '\0';
	for (size_t i = 0; i < note->label_count; i++) {
		char label[256];

		(void)snprintf(label, sizeof(label), "%s=%s",
		               note->labels[i].name, note->labels[i].value);
		append_separated(out, LABELS_SIZE, " ", label);
	}
}

void ref_out_made(const struct remote_library *library,
                  const struct tkb_holdings *holdings, char out[REF_OUT_SIZE])
{
	static const char *const prefixes[] = { "triton ", "" };
	char labels[LABELS_SIZE];

	out[0] = '\0';
	for (size_t is_target = 0; is_target < 2; is_target++) {
		TKB_AUTO(made_release) struct made made = { .count = 0 };

		if (!gather_texts(library, holdings, is_target != 0,
		                  prefixes[is_target], &made))
			return;
		for (size_t i = 0; i < made.count; i++)
			append_separated(out, REF_OUT_SIZE - LABELS_SIZE, ", ",
			                 made.texts[i]);
	}
	TKB_AUTO(made_release) struct made made = { .count = 0 };

	if (!gather_pushes(library, holdings, &made) || made.push_count == 0)
		return;
	write_labels(made.pushes[0], labels);
	append_separated(out, REF_OUT_SIZE, ", ", labels);
}

static void write_time(uint64_t time_ms, char out[TIME_SIZE])
{
	const time_t seconds = (time_t)(time_ms / 1000);
	struct tm parts;

	if (gmtime_r(&seconds, &parts) == NULL ||
	    strftime(out, TIME_SIZE, "%Y-%m-%d %H:%M:%SZ", &parts) == 0)
		(void)snprintf(out, TIME_SIZE, "-");
}

void ref_out_pushes(FILE *to, const struct remote_library *library,
                    const struct tkb_holdings *holdings)
{
	TKB_AUTO(made_release) struct made made = { .count = 0 };

	if (!gather_pushes(library, holdings, &made))
		return;
	for (size_t i = 0; i < made.push_count; i++) {
		char time[TIME_SIZE];
		char labels[LABELS_SIZE];

		write_time(made.pushes[i]->time_ms, time);
		write_labels(made.pushes[i], labels);
		text_line(to, "  %s  %6" PRIu64 "  %s", time,
		          made.pushes[i]->entry_count, labels);
	}
}

static void put_texts(struct json_out *json, const char *name,
                      const struct remote_library *library,
                      const struct tkb_holdings *holdings, bool is_target)
{
	TKB_AUTO(made_release) struct made made = { .count = 0 };

	json_out_open_array(json, name);
	if (!gather_texts(library, holdings, is_target, "", &made))
		json->is_failed = true;
	for (size_t i = 0; i < made.count; i++)
		json_out_text(json, NULL, made.texts[i]);
	json_out_close(json);
}

void ref_out_json(struct json_out *json, const struct remote_library *library,
                  const struct tkb_holdings *holdings)
{
	TKB_AUTO(made_release) struct made made = { .count = 0 };

	put_texts(json, "triton", library, holdings, false);
	put_texts(json, "targets", library, holdings, true);
	if (!gather_pushes(library, holdings, &made))
		json->is_failed = true;
	json_out_open_array(json, "pushes");
	for (size_t i = 0; i < made.push_count; i++) {
		const struct tkb_push_note *const note = made.pushes[i];

		json_out_open_object(json, NULL);
		json_out_real(json, "time", (double)note->time_ms / 1000);
		json_out_number(json, "entries", note->entry_count);
		json_out_open_object(json, "labels");
		for (size_t k = 0; k < note->label_count; k++)
			json_out_text(json, note->labels[k].name,
			              note->labels[k].value);
		json_out_close(json);
		json_out_close(json);
	}
	json_out_close(json);
}
