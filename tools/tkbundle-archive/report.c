/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE_SIZE 1024

void report(enum report_kind kind, const char *format, ...)
{
	char message[MESSAGE_SIZE] = { (char)kind };
	size_t sent = 0;
	size_t size;
	va_list values;

	va_start(values, format);
	(void)vsnprintf(message + 1, sizeof(message) - 1, format, values);
	va_end(values);
	size = strlen(message) + 1;
	while (sent < size) {
		const ssize_t put =
			write(REPORT_FD, message + sent, size - sent);

		if (put < 0 && errno != EINTR)
			_exit(1); /* the parent is gone */
		sent += put > 0 ? (size_t)put : 0;
	}
}
