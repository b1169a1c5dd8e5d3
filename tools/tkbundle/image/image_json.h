/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IMAGE_JSON_H
#define TKBUNDLE_IMAGE_JSON_H

#include <tkbundle/tkbundle.h>

struct json_t; /* jansson's */

/* JSON of images: the same value is always written as the same bytes. */

/* Members in the order of their names, without spaces. NULL: out of memory. */
char *image_json_text(const struct json_t *value);

/* The JSON in a file of at most 16 MiB; NULL if it is not one. */
struct json_t *image_json_read(const char *path);

/* Write it to `path`, whose folder is made, too. TKB_ERR_IO or TKB_ERR_NOMEM. */
TKB_NODISCARD int image_json_write(const struct json_t *value, const char *path,
                                   struct tkb_error *err);

/* Its string `name`, or `otherwise` if it has none. */
const char *image_json_string(const struct json_t *object, const char *name,
                              const char *otherwise);

#endif
