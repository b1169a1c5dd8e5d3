/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_JSON_OUT_H
#define TKBUNDLE_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The one document of --json. jansson writes it.
 *
 *     json_out_init(&json, is_wanted, "ls");
 *     json_out_open_array(&json, "entries");
 *     json_out_open_object(&json, NULL);
 *     json_out_close(&json);
 *     json_out_close(&json);
 *     written = json_out_write(&json, stdout);
 *     json_out_release(&json);
 *
 * If no document is wanted, all functions do nothing, so callers need not
 * check. A failure (memory) is kept until json_out_write() reports it. In an
 * array, names are ignored. Members are written in the order in which they were
 * added.
 */
struct json_t; /* jansson's */

/* The deepest document has engines that have roots that have rules. */
#define JSON_OUT_DEPTH 8

struct json_out {
	const char *verb; /* the first member of a document that has any; NULL:
	                     it has none */
	bool is_wanted;
	bool is_failed;
	size_t depth; /* open containers; stack[0] is the document */
	struct json_t *stack[JSON_OUT_DEPTH];
};

void json_out_init(struct json_out *json, bool is_wanted, const char *verb);
void json_out_release(struct json_out *json);

/* Bytes that are not UTF-8 become U+FFFD, one for each; NULL becomes null. */
void json_out_text(struct json_out *json, const char *name, const char *text);
void json_out_number(struct json_out *json, const char *name, uint64_t value);
void json_out_real(struct json_out *json, const char *name, double value);
void json_out_flag(struct json_out *json, const char *name, bool value);
void json_out_null(struct json_out *json, const char *name);

void json_out_open_object(struct json_out *json, const char *name);
void json_out_open_array(struct json_out *json, const char *name);
void json_out_close(struct json_out *json);

/* Does the document have this member? */
bool json_out_has(const struct json_out *json, const char *name);

/*
 * Write the document as one line, or nothing if it is empty. Open containers
 * are closed.
 *
 * @return false if it could not be made or written
 */
bool json_out_write(struct json_out *json, FILE *to);

#endif
