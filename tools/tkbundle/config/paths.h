/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PATHS_H
#define TKBUNDLE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include <tkbundle/entry.h>

/*
 * Absolute paths in the bytes of a file, whatever kind of file it is.
 *
 * A path is a slash that follows neither a slash nor a character of a path,
 * and at least two parts of such characters, [A-Za-z0-9._+@~-], with a slash
 * between: "/srv/app", but not "//", "x/y/z", "</s>", "/usr" or a URL. What is
 * below a sentinel is none. One of 4096 bytes or more is none either: no
 * system would open it.
 *
 *     size_t at = 0;
 *
 *     while (paths_next(bytes, &at, &path))
 *             ...
 */

/* Find the next path from `*at` on, and go behind it; false: no more. */
bool paths_next(struct tkb_bytes bytes, size_t *at, struct tkb_bytes *out);

/*
 * The path of entry `key` that `group`, its group file, names, as it stands
 * there: part of `group`, empty if there is none.
 */
struct tkb_bytes paths_own(struct tkb_bytes group, const char *key);

/*
 * Find the next string, from `*at` on, in `json` that is the path `own` or
 * lies below it: what collect replaces by the sentinel. `*out` is what comes
 * before it; `*at` goes behind it.
 *
 * @return false, with the rest in `*out`, if there is no more
 */
bool paths_next_own(struct tkb_bytes json, struct tkb_bytes own, size_t *at,
                    struct tkb_bytes *out);

#endif
