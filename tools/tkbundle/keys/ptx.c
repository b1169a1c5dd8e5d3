/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/ptx.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tkbundle/machine.h>

bool ptx_cuda(uint32_t ptx, char *out, size_t size)
{
	const uint32_t major = ptx / 10 + 4;
	const uint32_t minor = ptx % 10;

	if (ptx == 85)
		(void)snprintf(out, size, "12.5 or 12.6");
	else
		(void)snprintf(out, size, "%" PRIu32 ".%" PRIu32, major,
		               major == 12 && minor > 5 ? minor + 1 : minor);
	return ptx >= 70;
}

/*
 * The position after ".version " at the start of a line; NULL: there is none.
 */
static const char *find_ptx_version(struct tkb_bytes text)
{
	static const char word[] = "\n.version ";
	const size_t length = strlen(word);
	const char *at = NULL;

	if (text.size >= length - 1 &&
	    memcmp(text.data, word + 1, length - 1) == 0)
		return (const char *)text.data + length - 1;
	if (text.size != 0)
		at = memmem(text.data, text.size, word, length);
	return at == NULL ? NULL : at + length;
}

uint32_t ptx_of_text(struct tkb_bytes text)
{
	const char *const at = find_ptx_version(text);
	char number[16] = "";
	unsigned major = 0;
	unsigned minor = 0;
	size_t rest;

	if (at == NULL)
		return 0;
	rest = text.size - (size_t)(at - (const char *)text.data);
	(void)snprintf(number, sizeof(number), "%.*s",
	               (int)(rest < 15 ? rest : 15), at);
	return sscanf(number, "%3u.%3u", &major, &minor) == 2
	               ? 10 * major + minor
	               : 0;
}

uint32_t ptx_of_ptxas(const char *text)
{
	const char *const at = strstr(text, "release ");
	unsigned major = 0;
	unsigned minor = 0;

	return at != NULL && sscanf(at, "release %3u.%3u", &major, &minor) == 2
	               ? tkb_ptx_of_cuda(major, minor)
	               : 0;
}
