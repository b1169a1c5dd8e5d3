/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_CONFIG_FILE_H
#define TKBUNDLE_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <tkbundle/error.h>

/* A file of `name = value` lines, as described in config.h. */

enum config_file_kind {
	CONFIG_FILE_SYSTEM, /* optional */
	CONFIG_FILE_USER,   /* optional; must belong to the user */
	CONFIG_FILE_NAMED,  /* required */
	CONFIG_FILE_POLICY  /* required; must belong to root or the user, and
	                       nobody else may write it */
};

/* Receives the lines. */
struct config_file_visitor {
	/*
	 * `name` is "" if the line is not `name = value`. Returns 0, or a
	 * failure that ends the visit.
	 */
	int (*on_line)(void *self, const char *path, size_t line, char *name,
	               char *value, struct tkb_error *err);
	void *self;
};

/*
 * Visit the lines of the file `path`.
 *
 * @return 0, also if an optional file does not exist; TKB_MISS (another one
 *         does not); TKB_ERR_INVALID (it cannot be trusted, or is not text),
 *         TKB_ERR_IO, TKB_ERR_NOMEM, or what the visitor returned
 */
TKB_NODISCARD int config_file_read(const char *path, enum config_file_kind kind,
                                   const struct config_file_visitor *visitor,
                                   struct tkb_error *err);

#endif
