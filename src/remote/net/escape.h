/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_ESCAPE_H
#define TKB_REMOTE_NET_ESCAPE_H

/* Names as URLs, keys and folders of remotes write them. */

#include <string.h>

#include "base/buf.h"

/* Append `text`, all but letters, digits, "-._~" and those of `plain` as %XX. */
void tkb_escape(struct tkb_buf *out, const char *text, const char *plain);

/*
 * Read a byte, or "%XX" as the byte that it stands for, and move `*at` behind
 * it.
 */
char tkb_unescape_next(const char **at);

/* Copy `text` with `to` for each `from`. As snprintf(), into `size` bytes. */
static inline void tkb_replace(const char *text, char from, char to, char *out,
                               size_t size)
{
	size_t i;

	for (i = 0; i + 1 < size && text[i] != '\0'; i++)
		out[i] = text[i] == from ? to : text[i];
	out[i] = '\0';
}

/*
 * A ref is one folder, whose name has a comma for each slash of the ref's; no ref
 * has a comma.
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
