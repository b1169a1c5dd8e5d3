/* SPDX-License-Identifier: Apache-2.0 */
#include "fail.h"

#include <stdarg.h>
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
