/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_GLOB_H
#define TKB_TREE_GLOB_H

/*
 * Patterns of paths, as the rules of a profile write them.
 *
 *     *            any characters of one name, or none
 *     ?            one character
 *     [a-z_]       one of them; [!a-z_] is one that is none of them
 *     ** /         any number of folders, or none (without the space)
 *     x/ **        all that is below x, at any depth (likewise)
 *
 * None of the first three matches a slash. No other character is special: a dot
 * at the start of a name is an ordinary character. [*] is a star. A "[" without
 * a closing bracket is an ordinary character.
 */

#include "base/base.h"

/*
 * Does `pattern` match the whole of `path`, which is relative? In the worst
 * case, the time grows with the product of their lengths.
 */
bool tkb_glob_matches(const char *pattern, const char *path);

#endif
