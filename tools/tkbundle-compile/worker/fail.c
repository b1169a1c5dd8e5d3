/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/fail.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int fail(struct tkb_error *err, int status, const char *format, ...)
{
	va_list arguments;

	err->status = status;
	err->reason = 0;
	va_start(arguments, format);
	(void)vsnprintf(err->message, sizeof(err->message), format, arguments);
	va_end(arguments);
	err->message[strcspn(err->message, "\n")] = '\0';
	return status;
}

/* Does this line mention an error? */
static bool is_error(const char *line, size_t length)
{
	static const char *const words[] = { "error", "fatal", "ERROR" };

	for (size_t i = 0; i < 3; i++) {
		if (memmem(line, length, words[i], strlen(words[i])) != NULL)
			return true;
	}
	return false;
}

void fail_first_error(const char *words, char out[FAIL_LINE_SIZE])
{
	const char *at = words == NULL ? "" : words;
	bool is_found = false;

	(void)snprintf(out, FAIL_LINE_SIZE, "no output");
	for (bool is_first = true; *at != '\0' && !is_found;) {
		const size_t length = strcspn(at, "\n");

		is_found = is_error(at, length);
		if (length > 0 && (is_first || is_found)) {
			(void)snprintf(out, FAIL_LINE_SIZE, "%.*s",
			               (int)(length < FAIL_LINE_SIZE
			                             ? length
			                             : FAIL_LINE_SIZE),
			               at);
			is_first = false;
		}
		at += length + (at[length] == '\n');
	}
}
