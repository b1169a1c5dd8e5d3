/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void set_error(struct tkb_error *err, int status, enum tkb_reason reason,
                      const char *format, va_list arguments)
{
	char raw[sizeof(err->message)];

	if (err == NULL)
		return;

	err->status = status;
	err->reason = (int32_t)reason;
	/* Names from outside may hold any bytes; a message is one line. */
	(void)vsnprintf(raw, sizeof(raw), format, arguments);
	(void)tkb_text_show(raw, err->message, sizeof(err->message));
}

/* error.h defines these as macros for clang's analyzer. */
#undef tkb_fail
#undef tkb_fail_entry
#undef tkb_fail_errno
#undef tkb_fail_nomem

int tkb_fail(struct tkb_error *err, int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	set_error(err, status, TKB_REASON_NONE, format, arguments);
	va_end(arguments);
	return status;
}

int tkb_fail_entry(struct tkb_error *err, enum tkb_reason reason,
                   const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	set_error(err, TKB_ERR_CORRUPT, reason, format, arguments);
	va_end(arguments);
	return TKB_ERR_CORRUPT;
}

/* Advice, where the system's own message suggests none. */
static const char *remedy(int number)
{
	return number == ENOSPC || number == EDQUOT
	               ? ": make room there, or use another folder"
	               : "";
}

int tkb_fail_errno(struct tkb_error *err, const char *format, ...)
{
	const int number = errno;
	const bool is_memory = number == ENOMEM;
	const int status = is_memory ? TKB_ERR_NOMEM : TKB_ERR_IO;
	va_list arguments;
	size_t used;

	va_start(arguments, format);
	set_error(err, status, is_memory ? TKB_REASON_NONE : TKB_REASON_IO,
	          format, arguments);
	va_end(arguments);

	if (err != NULL) {
		char text[128] = "";

		used = strlen(err->message);
		(void)snprintf(err->message + used, sizeof(err->message) - used,
		               ": %s%s", strerror_r(number, text, sizeof(text)),
		               remedy(number));
	}
	errno = number;
	return status;
}

int tkb_fail_nomem(struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_NOMEM, "out of memory");
}

int tkb_fail_as(struct tkb_error *err, int status, const struct tkb_error *kept)
{
	if (err != NULL)
		*err = *kept;
	return status;
}

int tkb_fail_while(struct tkb_error *err, int status, const char *format, ...)
{
	char inner[sizeof(err->message)];
	va_list arguments;
	size_t used;

	if (err == NULL)
		return status;

	memcpy(inner, err->message, sizeof(inner));
	va_start(arguments, format);
	set_error(err, status, (enum tkb_reason)err->reason, format, arguments);
	va_end(arguments);

	used = strlen(err->message);
	(void)snprintf(err->message + used, sizeof(err->message) - used, ": %s",
	               inner);
	return status;
}

const char *tkb_status_name(int status)
{
	/* No default case: compilers warn about a missing status. */
	switch ((enum tkb_status)status) {
	case TKB_OK:
		return "ok";
	case TKB_MISS:
		return "miss";
	case TKB_ERR_INVALID:
		return "invalid";
	case TKB_ERR_NOMEM:
		return "nomem";
	case TKB_ERR_IO:
		return "io";
	case TKB_ERR_CORRUPT:
		return "corrupt";
	case TKB_ERR_UNSUPPORTED:
		return "unsupported";
	case TKB_ERR_TOO_LARGE:
		return "too_large";
	case TKB_ERR_CANCELLED:
		return "cancelled";
	case TKB_ERR_LEFT_OUT:
		return "left_out";
	case TKB_ERR_UNAVAILABLE:
		return "unavailable";
	case TKB_ERR_DENIED:
		return "denied";
	case TKB_ERR_PARTIAL:
		return "partial";
	case TKB_ERR_UNTRUSTED:
		return "untrusted";
	}
	return "unknown";
}

const char *tkb_reason_name(enum tkb_reason reason)
{
	static const char *const names[] = {
		[TKB_REASON_NONE] = "",
		[TKB_REASON_GROUP] = "group",
		[TKB_REASON_MISSING] = "missing",
		[TKB_REASON_OUTSIDE] = "outside",
		[TKB_REASON_SENTINEL] = "sentinel",
		[TKB_REASON_METADATA] = "metadata",
		[TKB_REASON_HASH] = "hash",
		[TKB_REASON_BINARY] = "binary",
		[TKB_REASON_BUSY] = "busy",
		[TKB_REASON_UNREADABLE] = "unreadable",
		[TKB_REASON_UNSAFE] = "unsafe",
		[TKB_REASON_NAME] = "name",
		[TKB_REASON_LIMIT] = "limit",
		[TKB_REASON_DAMAGED] = "damaged",
		[TKB_REASON_IO] = "io",
		[TKB_REASON_TARGET] = "target",
		[TKB_REASON_PLATFORM] = "platform",
		[TKB_REASON_TWIN] = "twin",
		[TKB_REASON_NEEDS] = "needs",
		[TKB_REASON_TREE] = "tree",
		[TKB_REASON_INPUTS] = "inputs",
	};

	if ((size_t)reason >= sizeof(names) / sizeof(names[0]))
		return "";
	return names[reason];
}
