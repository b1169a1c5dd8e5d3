/* SPDX-License-Identifier: Apache-2.0 */
#include "starts/start_report.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "cli/auto.h"

#define REPORT_FORMAT "tkbundle-start-report"
#define REPORT_VERSION 1

enum {
	FACT_SHOWN = 64,     /* most bytes of a fact */
	FAILURE_SHOWN = 160, /* most bytes of a failure */
	FAILURES_SHOWN = 3,
	KEY_SHOWN = 12, /* digits of a key: 60 bits */
	NAME_SHOWN = 60 /* most bytes of a kernel's name */
};

/* Larger than any real time or count; 1,000 of them can be added up. */
#define NUMBER_LIMIT ((json_int_t)1000000000000000)

/* Facts that identify no person and no host. */
static const char *const facts[] = { "capability", "driver", "engine", "gpu",
	                             "libtriton",  "torch",  "triton" };

/* A JSON text of at most `size` bytes; the result is always valid UTF-8. */
static json_t *make_cut_text(const char *text, size_t size)
{
	char copy[512];
	json_t *made;

	(void)snprintf(copy, sizeof(copy), "%.*s",
	               (int)(size < sizeof(copy) ? size : sizeof(copy) - 1),
	               text);
	made = json_string(copy);
	/*
	 * If the text is not UTF-8, for example because it was cut, replace all
	 * bytes that are not ASCII.
	 */
	for (size_t i = 0; made == NULL && copy[i] != '\0'; i++)
		copy[i] = (unsigned char)copy[i] < 0x80 ? copy[i] : '?';
	return made != NULL ? made : json_string(copy);
}

static void put_number(json_t *report, const char *name, uint64_t value)
{
	if (value != START_UNKNOWN)
		(void)json_object_set_new(report, name,
		                          json_integer((json_int_t)value));
}

static void put_text(json_t *report, const char *name, const char *text,
                     size_t size)
{
	if (text != NULL && text[0] != '\0')
		(void)json_object_set_new(report, name,
		                          make_cut_text(text, size));
}

static void put_numbers(json_t *report, const struct start *start)
{
	put_number(report, "time_ms", start->time_ms);
	put_number(report, "emitted", start->emitted);
	put_number(report, "used", start->used);
	put_number(report, "compiled", start->compiled);
	put_number(report, "pushed", start->pushed);
	put_number(report, "saved_ms", start->saved_ms);
	put_number(report, "delay_ms", start->delay_ms);
	put_number(report, "ready_ms", start->ready_ms);
	put_number(report, "status", start->status);
}

static void put_reasons(json_t *report, const struct start *start)
{
	json_t *const reasons = json_object();

	for (size_t i = 0; i < REASON_COUNT; i++) {
		if (start->reasons[i] != 0)
			put_number(reasons, reason_word((enum reason)i),
			           start->reasons[i]);
	}
	(void)json_object_set_new(report, "reasons", reasons);
}

/* Copy a message without its quoted parts: they may be paths or host names. */
static void take_words(const char *message, char *out, size_t size)
{
	static const char gap[] = "'...'";
	bool is_quoted = false;
	size_t length = 0;

	for (const char *at = message;
	     *at != '\0' && length + sizeof(gap) < size; at++) {
		/* A quote within a word is an apostrophe. */
		const bool is_quote =
			*at == '\'' &&
			(is_quoted ? !isalnum((unsigned char)at[1])
		                   : at == message ||
		                             !isalnum((unsigned char)at[-1]));

		if (is_quote && !is_quoted)
			length += (size_t)snprintf(out + length, sizeof(gap),
			                           "%s", gap);
		else if (!is_quote && !is_quoted)
			out[length++] = *at;
		if (is_quote)
			is_quoted = !is_quoted;
	}
	out[length] = '\0';
}

static void put_failures(json_t *report, const struct start *start,
                         bool is_first)
{
	json_t *const failures = json_array();

	for (size_t i = 0; i < start->failure_count && i < FAILURES_SHOWN;
	     i++) {
		char line[START_TEXT_SIZE + 64];
		char words[FAILURE_SHOWN];

		if (is_first && strcmp(start->failures[i].of, "pull") == 0)
			continue;
		(void)snprintf(line, sizeof(line), "%s: %s",
		               start->failures[i].of,
		               start->failures[i].message);
		take_words(line, words, sizeof(words));
		(void)json_array_append_new(
			failures, make_cut_text(words, sizeof(words)));
	}
	(void)json_object_set_new(report, "failures", failures);
}

static size_t dump(const json_t *report, char *out, size_t size)
{
	return json_dumpb(report, out, size, JSON_COMPACT | JSON_SORT_KEYS);
}

/* Add an item, if the report then has room for it. */
static bool append_if_it_fits(json_t *report, json_t *list, json_t *item)
{
	if (json_array_append_new(list, item) == 0 &&
	    dump(report, NULL, 0) <= TKB_START_SIZE_LIMIT)
		return true;
	(void)json_array_remove(list, json_array_size(list) - 1);
	return false;
}

/* Add an empty list; NULL if out of memory. */
static json_t *put_list(json_t *report, const char *name)
{
	json_t *const list = json_array();

	(void)json_object_set_new(report, name, list);
	return list;
}

static void fill_made(json_t *report, json_t *list, const struct start *start)
{
	for (size_t i = 0; i < start->made_count; i++) {
		const struct start_made *const made = &start->made[i];
		json_t *const item = json_array();

		(void)json_array_append_new(
			item, make_cut_text(made->name, NAME_SHOWN));
		(void)json_array_append_new(
			item, make_cut_text(made->key, KEY_SHOWN));
		(void)json_array_append_new(
			item, json_string(reason_word(made->reason)));
		if (!append_if_it_fits(report, list, item))
			return;
	}
}

static void fill_idle(json_t *report, json_t *list, const char *line)
{
	while (line != NULL && *line != '\0') {
		const size_t length = strcspn(line, "\n");

		if (!append_if_it_fits(
			    report, list,
			    make_cut_text(line, length < KEY_SHOWN
		                                        ? length
		                                        : KEY_SHOWN)))
			return;
		line += length + (line[length] == '\n');
	}
}

size_t start_report_write(const struct start *start,
                          const struct start_report_more *more,
                          char out[TKB_START_SIZE_LIMIT])
{
	json_auto_t *report = json_object();
	json_t *made;
	json_t *idle;
	char id[17];
	size_t size;

	if (report == NULL)
		return 0;
	put_text(report, "format", REPORT_FORMAT, FACT_SHOWN);
	put_number(report, "version", REPORT_VERSION);
	(void)snprintf(id, sizeof(id), "%016" PRIx64, more->id);
	put_text(report, "id", id, sizeof(id));
	put_text(report, "node", more->node, FACT_SHOWN);
	for (size_t i = 0; i < TKB_COUNT_OF(facts); i++)
		put_text(report, facts[i], facts_find(&start->facts, facts[i]),
		         FACT_SHOWN);
	put_numbers(report, start);
	put_number(report, "first", more->is_first ? 1 : START_UNKNOWN);
	put_reasons(report, start);
	put_failures(report, start, more->is_first);
	/* Both lists are there before the first takes all the room. */
	made = put_list(report, "made");
	idle = put_list(report, "idle");
	fill_made(report, made, start);
	fill_idle(report, idle, more->idle);
	size = dump(report, out, TKB_START_SIZE_LIMIT);
	return size <= TKB_START_SIZE_LIMIT ? size : 0;
}

uint64_t start_report_number(const json_t *report, const char *name)
{
	const json_t *const value = json_object_get(report, name);
	const json_int_t number = json_integer_value(value);

	return number > 0 && number <= NUMBER_LIMIT ? (uint64_t)number : 0;
}

void start_report_reasons(const json_t *report, uint64_t out[REASON_COUNT])
{
	const json_t *const reasons = json_object_get(report, "reasons");
	const uint64_t compiled = start_report_number(report, "compiled");
	uint64_t told = 0;

	for (size_t i = 0; i < REASON_COUNT; i++) {
		out[i] = start_report_number(reasons,
		                             reason_word((enum reason)i));
		told += out[i];
	}
	if (told < compiled)
		out[REASON_UNKNOWN] += compiled - told;
}

const char *start_report_text(const json_t *report, const char *name)
{
	const char *const text =
		json_string_value(json_object_get(report, name));

	return text != NULL ? text : "";
}

json_t *start_report_read(struct tkb_bytes text)
{
	json_t *const report = json_loadb(text.data, text.size, 0, NULL);

	if (report != NULL &&
	    strcmp(start_report_text(report, "format"), REPORT_FORMAT) == 0 &&
	    start_report_number(report, "version") == REPORT_VERSION)
		return report;
	json_decref(report);
	return NULL;
}
