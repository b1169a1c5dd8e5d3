/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/ptx.h"

#include <stdio.h>
#include <string.h>

/* Source: "PTX ISA", release history. 12.6 has the PTX of 12.5. */
uint32_t ptx_of_cuda(uint32_t major, uint32_t minor)
{
	if (major == 11)
		return 70 + minor;
	if (major == 12)
		return 80 + minor - (minor > 5 ? 1 : 0);
	return major >= 13 ? 10 * (major - 4) + minor : 0;
}

uint32_t ptx_of_text(struct tkb_bytes text)
{
	static const char word[] = ".version ";
	const char *const at = text.size == 0 ? NULL
	                                      : memmem(text.data, text.size,
	                                               word, strlen(word));
	char number[16] = "";
	unsigned major = 0;
	unsigned minor = 0;
	size_t rest;

	if (at == NULL)
		return 0;
	rest = text.size - (size_t)(at - (const char *)text.data) -
	       strlen(word);
	(void)snprintf(number, sizeof(number), "%.*s",
	               (int)(rest < 15 ? rest : 15), at + strlen(word));
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
	               ? ptx_of_cuda(major, minor)
	               : 0;
}
