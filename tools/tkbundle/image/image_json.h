/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IMAGE_JSON_H
#define TKBUNDLE_IMAGE_JSON_H

#include <tkbundle/tkbundle.h>

struct json_t; /* jansson's */

/* JSON of images: the same value is always written as the same bytes. */

/*
 * Write JSON with its members sorted by name, without spaces. NULL: out of
 * memory.
 */
char *image_json_text(const struct json_t *value);

/* Read the JSON in a file of at most 16 MiB; NULL if there is none. */
struct json_t *image_json_read(const char *path);

/*
 * Write JSON to `path`, whose folder is created if needed. TKB_ERR_IO or
 * TKB_ERR_NOMEM.
 */
TKB_NODISCARD int image_json_write(const struct json_t *value, const char *path,
                                   struct tkb_error *err);

/* The string member `name` of an object, or `otherwise` if it has none. */
const char *image_json_string(const struct json_t *object, const char *name,
                              const char *otherwise);

#endif
