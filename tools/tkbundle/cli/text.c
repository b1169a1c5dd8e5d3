/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tkbundle/error.h>

#include "cli/auto.h"

static void put_harmless(FILE *to, const char *text)
{
	const size_t size = tkb_text_show(text, NULL, 0) + 1;
	TKB_AUTO(text_free) char *shown = malloc(size);

	if (shown == NULL) {
		(void)fputs("tkbundle: out of memory\n", to);
		return;
	}
	(void)tkb_text_show(text, shown, size);
	(void)fputs(shown, to);
}

void text_line_around(FILE *to, const char *prefix, const char *suffix,
                      const char *format, va_list values)
{
	TKB_AUTO(text_free) char *line = NULL;

	if (vasprintf(&line, format, values) < 0) {
		line = NULL; /* vasprintf() leaves it undefined */
		(void)fputs("tkbundle: out of memory\n", to);
		return;
	}

	put_harmless(to, prefix);
	put_harmless(to, line);
	put_harmless(to, suffix);
	(void)fputc('\n', to);
}

void text_line(FILE *to, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	text_line_around(to, "", "", format, values);
	va_end(values);
}

void text_size(uint64_t size, char out[TEXT_SIZE_SIZE])
{
	static const char *const units[] = {
		"kB", "MB", "GB", "TB", "PB", "EB"
	};
	double value = (double)size / 1000;
	size_t unit = 0;

	if (size < 1000) {
		(void)snprintf(out, TEXT_SIZE_SIZE, "%u B", (unsigned)size);
		return;
	}

	/*
	 * A value that would be rounded to 1000 becomes 1.0 of the next unit.
	 */
	while (value >= 999.5) {
		value /= 1000;
		unit++;
	}

	(void)snprintf(out, TEXT_SIZE_SIZE,
	               value < 9.95 ? "%.1f %s" : "%.0f %s", value,
	               units[unit]);
}

void text_age(uint64_t seconds, char out[TEXT_AGE_SIZE])
{
	static const struct {
		uint64_t seconds;
		char name;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	size_t unit = 0;

	while (unit < 3 && seconds < units[unit].seconds)
		unit++;
	(void)snprintf(out, TEXT_AGE_SIZE, "%" PRIu64 "%c",
	               seconds / units[unit].seconds, units[unit].name);
}

void text_time(uint64_t time_ms, char out[TEXT_TIME_SIZE])
{
	/* From the smallest to the largest. */
	static const struct {
		const char *name;
		uint64_t factor;
	} units[] = { { "ms", 1 },
		      { "s", 1000 },
		      { "m", 60000 },
		      { "h", 3600000 },
		      { "d", 86400000 } };
	size_t unit = 0;

	while (unit < 4 && time_ms != 0 &&
	       time_ms % units[unit + 1].factor == 0)
		unit++;
	(void)snprintf(out, TEXT_TIME_SIZE, "%" PRIu64 "%s",
	               time_ms / units[unit].factor, units[unit].name);
}

void text_counts(const struct text_count *counts, size_t count, char *out,
                 size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < count && used < size; i++) {
		if (counts[i].count == 0)
			continue;
		used += (size_t)snprintf(out + used, size - used,
		                         ", %s %" PRIu64, counts[i].word,
		                         counts[i].count);
	}
}

const char *text_plural(uint64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

const char *text_or_empty(const char *text)
{
	return text != NULL ? text : "";
}

bool text_is_among(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(words[i], text) == 0)
			return true;
	}
	return false;
}

bool text_ends_with(const char *text, const char *end)
{
	const size_t length = strlen(text);
	const size_t size = strlen(end);

	return length >= size && strcmp(text + length - size, end) == 0;
}

char *text_format(const char *format, ...)
{
	va_list values;
	char *text;
	int length;

	va_start(values, format);
	length = vasprintf(&text, format, values);
	va_end(values);
	/* After a failure, vasprintf() leaves the text undefined. */
	return length < 0 ? NULL : text;
}

void text_free(char **text)
{
	free(*text);
}

char *text_beside(const char *from, const char *file)
{
	const char *const slash = strrchr(from, '/');

	if (file[0] == '/' || slash == NULL)
		return strdup(file);
	return text_format("%.*s/%s", (int)(slash - from), from, file);
}
