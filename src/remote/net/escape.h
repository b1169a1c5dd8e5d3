/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_ESCAPE_H
#define TKB_REMOTE_NET_ESCAPE_H

/* Escaping of names in URLs, keys and folders of remotes. */

#include <string.h>

#include "base/buf.h"

/*
 * Append `text`; all bytes but letters, digits, "-._~" and those in `plain`
 * become %XX.
 */
void tkb_escape(struct tkb_buf *out, const char *text, const char *plain);

/* Read a byte, or decode "%XX", and move `*at` past it. */
char tkb_unescape_next(const char **at);

/*
 * Copy `text` with each `from` replaced by `to`, cut to `size` bytes with the
 * NUL.
 */
static inline void tkb_replace(const char *text, char from, char to, char *out,
                               size_t size)
{
	size_t i;

	for (i = 0; i + 1 < size && text[i] != '\0'; i++)
		out[i] = text[i] == from ? to : text[i];
	out[i] = '\0';
}

/*
 * The folder of a ref: its name with a comma for each slash. Names of refs have
 * no commas.
 */
static inline void tkb_ref_to_folder(const char *ref, char *out, size_t size)
{
	tkb_replace(ref, '/', ',', out, size);
}

static inline void tkb_ref_from_folder(const char *folder, char *out,
                                       size_t size)
{
	tkb_replace(folder, ',', '/', out, size);
}

#endif
