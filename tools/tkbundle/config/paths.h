/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PATHS_H
#define TKBUNDLE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include <tkbundle/entry.h>

/*
 * Find absolute paths in the bytes of any file.
 *
 * A path is a slash that follows neither a slash nor a character of a path, and
 * at least two parts of such characters, [A-Za-z0-9._+@~-], with a slash
 * between: "/srv/app", but not "//", "x/y/z", "</s>", "/usr" or a URL. The part
 * after a sentinel is not a path. Nor is anything of 4096 bytes or more: no
 * system would open it.
 *
 *     size_t at = 0;
 *
 *     while (paths_next(bytes, &at, &path))
 *             ...
 */

/*
 * Find the next path at or after `*at`, and set `*at` to its end; false: no
 * more.
 */
bool paths_next(struct tkb_bytes bytes, size_t *at, struct tkb_bytes *out);

/*
 * The path of the entry `key` in `group`, its group file, exactly as written
 * there. The result is a part of `group`, or empty if there is none.
 */
struct tkb_bytes paths_own(struct tkb_bytes group, const char *key);

/*
 * Find the next string in `json`, at or after `*at`, that is the path `own` or
 * a path below it: collect replaces these by the sentinel. `*out` is the text
 * before it; `*at` is set to its end.
 *
 * @return false, with the rest in `*out`, if there is no more
 */
bool paths_next_own(struct tkb_bytes json, struct tkb_bytes own, size_t *at,
                    struct tkb_bytes *out);

#endif
