/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/text.h"

void metrics_release(struct metrics *metrics)
{
	free(metrics->items);
}

void metrics_add(struct metrics *metrics, const char *name, const char *help,
                 double value)
{
	struct metric *items;

	if (isnan(value))
		return;
	items = table_grow(metrics->items, metrics->count, sizeof(*items));
	if (items == NULL) {
		metrics->is_failed = true;
		return;
	}
	metrics->items = items;
	items[metrics->count++] =
		(struct metric){ .name = name, .help = help, .value = value };
}

void metrics_add_labelled(struct metrics *metrics, const char *name,
                          const char *help, double value, const char *first,
                          const char *second)
{
	const size_t index = metrics->count;

	metrics_add(metrics, name, help, value);
	if (index == metrics->count)
		return;
	metrics->items[index].labels[0] = first;
	metrics->items[index].labels[1] = second;
}

const struct metric *metrics_find(const struct metrics *metrics,
                                  const char *name)
{
	for (size_t i = 0; i < metrics->count; i++) {
		if (strcmp(metrics->items[i].name, name) == 0)
			return &metrics->items[i];
	}
	return NULL;
}

void metrics_add_end(struct metrics *metrics, bool is_success,
                     uint64_t duration_ms)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);
	metrics_add(metrics, "success", "Whether all went well, 1 or 0.",
	            is_success ? 1 : 0);
	metrics_add(metrics, "duration_seconds", "How long it took.",
	            (double)duration_ms / 1000);
	metrics_add(metrics, "timestamp_seconds",
	            "When it ended, in Unix time.",
	            (double)now.tv_sec + (double)now.tv_nsec / 1e9);
}

/*
 * Write a label's value: backslash, quote and newline are escaped, and what is not
 * UTF-8 is replaced, or else Prometheus takes none of the figures.
 */
static void put_value(FILE *to, const char *raw)
{
	const size_t size = tkb_text_repair(raw, NULL, 0) + 1;
	TKB_AUTO(text_free) char *copy = malloc(size);

	if (copy != NULL)
		(void)tkb_text_repair(raw, copy, size);
	for (const char *text = copy != NULL ? copy : raw; *text != '\0';
	     text++) {
		if (*text == '\n')
			(void)fputs("\\n", to);
		else if (*text == '\\' || *text == '"')
			(void)fprintf(to, "\\%c", *text);
		else
			(void)fputc(*text, to);
	}
}

static void put_label(FILE *to, const char *name, const char *value,
                      bool is_first)
{
	(void)fprintf(to, "%s%s=\"", is_first ? "{" : ",", name);
	put_value(to, value);
	(void)fputc('"', to);
}

static void put_labels(FILE *to, const struct metrics *metrics,
                       const struct metric *item)
{
	const bool has_one = metrics->label != NULL;

	if (has_one)
		put_label(to, metrics->label, metrics->label_value, true);
	if (item->labels[0] != NULL) {
		put_label(to, metrics->labels[0], item->labels[0], !has_one);
		if (item->labels[1] != NULL)
			put_label(to, metrics->labels[1], item->labels[1],
			          false);
	}
	if (has_one || item->labels[0] != NULL)
		(void)fputc('}', to);
}

/* Metrics with one name have one help text. */
static void put_help(FILE *to, const struct metrics *metrics, size_t index)
{
	const struct metric *const item = &metrics->items[index];

	if (index > 0 && strcmp(item[-1].name, item->name) == 0)
		return;
	(void)fprintf(to, "# HELP tkbundle_%s_%s %s\n", metrics->verb,
	              item->name, item->help);
	(void)fprintf(to, "# TYPE tkbundle_%s_%s gauge\n", metrics->verb,
	              item->name);
}

static void put_item(FILE *to, const struct metrics *metrics, size_t index)
{
	const struct metric *const item = &metrics->items[index];
	const bool is_whole = item->value == (double)(uint64_t)item->value;

	put_help(to, metrics, index);
	(void)fprintf(to, "tkbundle_%s_%s", metrics->verb, item->name);
	put_labels(to, metrics, item);
	(void)fprintf(to, " %.*f\n", is_whole ? 0 : 3, item->value);
}

int metrics_write(const struct metrics *metrics, const char *path,
                  struct tkb_error *err)
{
	TKB_AUTO(text_free) char *text = NULL;
	size_t size = 0;
	FILE *const stream = open_memstream(&text, &size);

	for (size_t i = 0; stream != NULL && i < metrics->count; i++)
		put_item(stream, metrics, i);
	if (stream == NULL || fclose(stream) != 0 || metrics->is_failed)
		return cli_error_nomem(err);
	/* Readable by all: the node exporter runs as another user. */
	return cli_write_file(path, (struct tkb_bytes){ text, size }, 0644,
	                      err);
}
