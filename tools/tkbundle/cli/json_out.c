/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/json_out.h"

#include <assert.h>
#include <stdlib.h>

#include <jansson.h>
#include <tkbundle/error.h>

#include "cli/auto.h"
#include "cli/text.h"

/* Print 0.1, not 0.10000000000000001, and only ASCII. */
#define DUMP_FLAGS (JSON_ENSURE_ASCII | JSON_COMPACT | JSON_REAL_PRECISION(15))

void json_out_init(struct json_out *json, bool is_wanted, const char *verb)
{
	*json = (struct json_out){ .verb = verb, .is_wanted = is_wanted };
	if (!is_wanted)
		return;

	json->stack[0] = json_object();
	json->depth = 1;
	json->is_failed = json->stack[0] == NULL;
}

void json_out_release(struct json_out *json)
{
	json_decref(json->stack[0]);
	*json = (struct json_out){ .is_wanted = false };
}

static bool is_open(const struct json_out *json)
{
	return json->is_wanted && !json->is_failed;
}

/* Take over `value`. NULL means out of memory; this is remembered. */
static void put_json(struct json_out *json, const char *name, json_t *value)
{
	json_t *const top = json->stack[json->depth - 1];
	int rc = 0;

	if (json->verb != NULL)
		rc = json_object_set_new(top, "verb", json_string(json->verb));
	json->verb = NULL;
	if (rc < 0)
		json_decref(value);
	else if (json_is_array(top))
		rc = json_array_append_new(top, value);
	else
		rc = json_object_set_new(top, name, value);

	json->is_failed = rc < 0;
}

void json_out_text(struct json_out *json, const char *name, const char *text)
{
	TKB_AUTO(text_free) char *copy = NULL;
	size_t size;

	if (text == NULL) {
		json_out_null(json, name);
		return;
	}
	if (!is_open(json))
		return;

	size = tkb_text_repair(text, NULL, 0) + 1;
	copy = malloc(size);
	if (copy != NULL)
		(void)tkb_text_repair(text, copy, size);
	put_json(json, name, copy != NULL ? json_string(copy) : NULL);
}

void json_out_number(struct json_out *json, const char *name, uint64_t value)
{
	const uint64_t limit = INT64_MAX; /* json_int_t has a sign */

	if (is_open(json))
		put_json(json, name,
		         json_integer(
				 (json_int_t)(value < limit ? value : limit)));
}

void json_out_real(struct json_out *json, const char *name, double value)
{
	if (is_open(json))
		put_json(json, name, json_real(value));
}

void json_out_flag(struct json_out *json, const char *name, bool value)
{
	if (is_open(json))
		put_json(json, name, json_boolean(value));
}

void json_out_null(struct json_out *json, const char *name)
{
	if (is_open(json))
		put_json(json, name, json_null());
}

/* The object or array around it owns `container`; the stack borrows it. */
static void open_container(struct json_out *json, const char *name,
                           json_t *container)
{
	assert(json->depth < JSON_OUT_DEPTH);
	put_json(json, name, container);
	json->stack[json->depth] = container;
	json->depth++;
}

void json_out_open_object(struct json_out *json, const char *name)
{
	if (is_open(json))
		open_container(json, name, json_object());
}

void json_out_open_array(struct json_out *json, const char *name)
{
	if (is_open(json))
		open_container(json, name, json_array());
}

void json_out_close(struct json_out *json)
{
	if (!is_open(json))
		return;

	assert(json->depth > 1);
	json->depth--;
}

bool json_out_has(const struct json_out *json, const char *name)
{
	return json_object_get(json->stack[0], name) != NULL;
}

bool json_out_write(struct json_out *json, FILE *to)
{
	if (!json->is_wanted)
		return true;
	if (json->is_failed)
		return false;
	if (json_object_size(json->stack[0]) == 0)
		return true;

	if (json_dumpf(json->stack[0], to, DUMP_FLAGS) < 0)
		return false;
	return fputc('\n', to) != EOF;
}
