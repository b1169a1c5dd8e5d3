/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include <string.h>

/*
 * Decide which variables are ours. Kubernetes sets variables in every container
 * for each Service of its namespace. For a Service called tkbundle these are
 * TKBUNDLE_SERVICE_HOST, TKBUNDLE_SERVICE_PORT, TKBUNDLE_SERVICE_PORT_<name>,
 * TKBUNDLE_PORT, TKBUNDLE_PORT_6379_TCP and the latter with _PROTO, _PORT and
 * _ADDR. For a Service called tkbundle-remote they begin with TKBUNDLE_REMOTE
 * instead of TKBUNDLE.
 */

/* A part of a variable's name. */
struct part {
	const char *start;
	size_t size;
};

static struct part name_part(const char *text)
{
	return (struct part){ text, strcspn(text, "=") };
}

static bool is_part(struct part part, const char *text)
{
	return part.size == strlen(text) &&
	       strncmp(part.start, text, part.size) == 0;
}

/* Remove `prefix` from the beginning. @return whether it was there */
static bool cut(struct part *part, const char *prefix)
{
	const size_t size = strlen(prefix);

	if (part->size < size || strncmp(part->start, prefix, size) != 0)
		return false;
	part->start += size;
	part->size -= size;
	return true;
}

/* Is it like "6379_TCP" or "6379_TCP_ADDR"? */
static bool is_port(struct part part)
{
	static const char *const protocols[] = { "_TCP", "_UDP", "_SCTP" };
	static const char *const ends[] = { "", "_PROTO", "_PORT", "_ADDR" };
	size_t digits = 0;

	while (digits < part.size && part.start[digits] >= '0' &&
	       part.start[digits] <= '9')
		digits++;
	part.start += digits;
	part.size -= digits;
	for (size_t i = 0; digits > 0 && i < 3; i++) {
		struct part rest = part;

		if (!cut(&rest, protocols[i]))
			continue;
		for (size_t j = 0; j < 4; j++) {
			if (is_part(rest, ends[j]))
				return true;
		}
	}
	return false;
}

/* Can this follow the name of a Service? */
static bool is_of_service(struct part part)
{
	if (is_part(part, "_SERVICE_HOST") || is_part(part, "_SERVICE_PORT") ||
	    is_part(part, "_PORT"))
		return true;
	if (cut(&part, "_SERVICE_PORT_"))
		return part.size > 0;
	return cut(&part, "_PORT_") && is_port(part);
}

bool config_is_unknown(const char *variable)
{
	static const char *const others[] = {
		"TKBUNDLE_CONFIG",  "TKBUNDLE_DISABLE",
		"TKBUNDLE_ENGINES", "TKBUNDLE_FALLBACK_CAFILE",
		"TKBUNDLE_GPU",     "TKBUNDLE_INDUCTOR",
		"TKBUNDLE_LIBRARY", "TKBUNDLE_PYTHON"
	};
	struct part part = name_part(variable);

	for (size_t i = 0; i < CONFIG_COUNT; i++) {
		if (is_part(part, config_variable((enum config_name)i)))
			return false;
	}
	for (size_t i = 0; i < TKB_COUNT_OF(others); i++) {
		if (is_part(part, others[i]))
			return false;
	}
	if (!cut(&part, "TKBUNDLE_"))
		return false;

	/* The name of a Service may consist of any number of words. */
	part.start--;
	part.size++;
	for (; part.size > 0; part.start++, part.size--) {
		if (is_of_service(part))
			return false;
	}
	return true;
}
