/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PYTHON_H
#define TKBUNDLE_PYTHON_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The Python whose packages count: that which `name` is, if that is a Python's, or
 * $TKBUNDLE_PYTHON, or python3. `name` may be NULL.
 */
const char *python_of(const char *name);

/*
 * Run `code` by `python` with `arguments`, which end with NULL, and take what it
 * prints, with a zero behind it. False, and "", where it fails or prints more than
 * fits.
 */
bool python_ask(const char *python, const char *code,
                const char *const *arguments, char *out, size_t size);

#endif
