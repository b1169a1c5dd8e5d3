/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compile_bind.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/text.h"
#include "compile/compile_input.h"

static void binding_release(struct tkb_binding *binding)
{
	free((void *)(uintptr_t)binding->argument);
	free((void *)(uintptr_t)binding->value);
	free((void *)(uintptr_t)binding->bytes.data);
	free((void *)(uintptr_t)binding->file);
}

void compile_bindings_release(struct compile_bindings *bindings)
{
	for (size_t i = 0; i < bindings->count; i++)
		binding_release(&bindings->items[i]);
	free(bindings->items);
}

static int read_array_file(const char *path, struct tkb_bytes *out,
                           struct tkb_error *err)
{
	const int rc = compile_input_file(path, out, err);

	return rc == TKB_MISS
	               ? cli_error(err, TKB_MISS, "there is no '%s'", path)
	               : rc;
}

/*
 * Add a binding with copies of the texts; `file` contains an array, or is NULL.
 */
static int append_binding(struct compile_bindings *bindings,
                          const char *argument, size_t length,
                          const char *value, const char *file,
                          struct tkb_error *err)
{
	struct tkb_binding *const items =
		table_grow(bindings->items, bindings->count, sizeof(*items));
	struct tkb_binding *made;

	if (items == NULL)
		return cli_error_nomem(err);
	bindings->items = items;
	made = &items[bindings->count++];
	*made = (struct tkb_binding){
		.argument = strndup(argument, length),
		.value = strdup(value),
		.file = file == NULL ? NULL : strdup(file),
	};
	if (made->argument == NULL || made->value == NULL ||
	    (file != NULL && made->file == NULL))
		return cli_error_nomem(err);
	return file == NULL ? 0 : read_array_file(file, &made->bytes, err);
}

/* "n=4096", or "w=@weights.bin:i8[256,256]". */
static int read_option(const char *text, struct compile_bindings *out,
                       struct tkb_error *err)
{
	const char *const value = strchr(text, '=');
	const char *const type = value == NULL ? NULL : strrchr(value, ':');
	TKB_AUTO(text_free) char *file = NULL;

	if (value == NULL || value == text || value[1] == '\0')
		return cli_error(err, TKB_ERR_INVALID,
		                 "'--bind %s' is no ARG=NUMBER and no "
		                 "ARG=@FILE:TYPE",
		                 text);
	if (value[1] != '@')
		return append_binding(out, text, (size_t)(value - text),
		                      value + 1, NULL, err);
	if (type == NULL || type == value + 2 || type[1] == '\0')
		return cli_error(err, TKB_ERR_INVALID,
		                 "'--bind %s' does not say which type '%s' "
		                 "has, as ARG=@FILE:i8[256,256]",
		                 text, value + 2);
	file = strndup(value + 2, (size_t)(type - value) - 2);
	if (file == NULL)
		return cli_error_nomem(err);
	return append_binding(out, text, (size_t)(value - text), type + 1, file,
	                      err);
}

/* 4096, 0.125, or {"file": "weights.bin", "type": "i8[256,256]"}. */
static int read_binding(const char *from, const char *argument, json_t *value,
                        struct compile_bindings *out, struct tkb_error *err)
{
	const char *const type =
		json_string_value(json_object_get(value, "type"));
	const char *const named =
		json_string_value(json_object_get(value, "file"));
	TKB_AUTO(text_free) char *text = NULL;

	if (json_is_number(value)) {
		text = json_dumps(value, JSON_ENCODE_ANY);
		return text == NULL
		               ? cli_error_nomem(err)
		               : append_binding(out, argument, strlen(argument),
		                                text, NULL, err);
	}
	if (type == NULL || named == NULL || json_object_size(value) != 2)
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%s': '%s' is neither a number nor an object "
		                 "with 'file' and 'type'",
		                 from, argument);
	text = text_beside(from, named);
	return text == NULL ? cli_error_nomem(err)
	                    : append_binding(out, argument, strlen(argument),
	                                     type, text, err);
}

static int read_json(const char *path, struct compile_bindings *out,
                     struct tkb_error *err)
{
	json_auto_t *json = NULL;
	struct tkb_bytes text = { NULL, 0 };
	json_error_t where;
	const char *argument;
	json_t *value;
	int rc;

	rc = read_array_file(path, &text, err);
	if (rc != 0)
		return rc;
	json = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &where);
	free((void *)(uintptr_t)text.data);
	if (!json_is_object(json))
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%s' is no JSON object of arguments%s%s",
		                 path, json == NULL ? ": " : "",
		                 json == NULL ? where.text : "");
	json_object_foreach(json, argument, value)
	{
		rc = read_binding(path, argument, value, out, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

int compile_bindings_read(const struct compile_arguments *args,
                          struct compile_bindings *out, struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < args->bindings.count && rc == 0; i++)
		rc = read_option(args->bindings.items[i], out, err);
	if (rc == 0 && args->bindings_file != NULL)
		rc = read_json(args->bindings_file, out, err);
	return rc;
}
