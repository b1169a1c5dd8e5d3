/* SPDX-License-Identifier: Apache-2.0 */
#include "why/start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/cli.h"
#include "cli/fd.h"
#include "why/start_file.h"

enum {
	FILE_LIMIT = 2 * 1024 * 1024
};

static uint64_t number_of(const json_t *object, const char *name)
{
	const json_t *const value = json_object_get(object, name);

	return json_is_integer(value) && json_integer_value(value) >= 0
	               ? (uint64_t)json_integer_value(value)
	               : START_UNKNOWN;
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *const text =
		json_string_value(json_object_get(object, name));

	return text != NULL ? text : "";
}

/* NULL: it is not there. */
static char *copy_of(const json_t *object, const char *name)
{
	const char *const text =
		json_string_value(json_object_get(object, name));

	return text != NULL ? strndup(text, START_PATH_SIZE - 1) : NULL;
}

static void read_made(const json_t *document, struct start *out)
{
	size_t index;
	json_t *item;

	json_array_foreach(json_object_get(document, "made"), index, item)
	{
		/* They are only shown and copied. */
		struct start_made made = {
			.kind = (char *)text_of(item, "kind"),
			.key = (char *)text_of(item, "key"),
			.name = (char *)text_of(item, "name"),
			.reason = REASON_UNKNOWN,
			.detail = (char *)text_of(item, "detail"),
			.advice = (char *)text_of(item, "advice"),
		};

		(void)reason_find(text_of(item, "reason"), &made.reason);
		start_add_made(out, &made);
	}
}

/* They count what is not listed, too. */
static void read_reasons(const json_t *document, struct start *out)
{
	const json_t *const reasons = json_object_get(document, "reasons");

	for (size_t i = 0; i < REASON_COUNT; i++) {
		const uint64_t count =
			number_of(reasons, reason_word((enum reason)i));

		out->reasons[i] = count != START_UNKNOWN ? count : 0;
	}
}

static void read_lists(json_t *document, struct start *out)
{
	const char *name;
	size_t index;
	json_t *item;

	json_object_foreach(json_object_get(document, "facts"), name, item)
		facts_set(&out->facts, name, json_string_value(item));
	json_array_foreach(json_object_get(document, "failures"), index, item)
		start_add_failure(out, text_of(item, "of"),
	                          text_of(item, "message"));
	read_made(document, out);
	read_reasons(document, out);
}

static void read_document(json_t *document, struct start *out)
{
	start_init(out);
	out->time_ms = number_of(document, "time_ms");
	out->command = copy_of(document, "command");
	out->ref = copy_of(document, "ref");
	out->root = copy_of(document, "root");
	out->status = number_of(document, "status");
	out->emitted = number_of(document, "emitted");
	out->used = number_of(document, "used");
	out->compiled = number_of(document, "compiled");
	out->pushed = number_of(document, "pushed");
	out->saved_ms = number_of(document, "saved_ms");
	out->delay_ms = number_of(document, "delay_ms");
	out->ready_ms = number_of(document, "ready_ms");
	read_lists(document, out);
}

static int check(const json_t *document, const char *path,
                 struct tkb_error *err)
{
	const json_int_t version =
		json_integer_value(json_object_get(document, "version"));

	if (strcmp(text_of(document, "format"), START_FORMAT) != 0)
		return cli_error(err, TKB_ERR_CORRUPT,
		                 "'%s' is no note of a start", path);
	if (version != START_VERSION)
		return cli_error(err, TKB_ERR_CORRUPT,
		                 "'%s' is of another version of tkbundle",
		                 path);
	return 0;
}

int start_read(const char *path, struct start *out, struct tkb_error *err)
{
	TKB_AUTO(fd_close)
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	json_auto_t *document = NULL;
	char *text;
	ssize_t size;
	int rc;

	if (fd < 0 && errno == ENOENT) {
		(void)cli_error(err, TKB_MISS, "there is no '%s'", path);
		return TKB_MISS;
	}
	if (fd < 0)
		return cli_error(err, TKB_ERR_IO, "cannot read '%s': %s", path,
		                 strerror(errno));
	text = malloc(FILE_LIMIT);
	if (text == NULL)
		return cli_error(err, TKB_ERR_NOMEM, "out of memory");
	size = fd_read(fd, text, FILE_LIMIT);
	if (size >= 0 && size < FILE_LIMIT)
		document = json_loadb(text, (size_t)size, 0, NULL);
	free(text);
	if (size < 0)
		return cli_error(err, TKB_ERR_IO, "cannot read '%s': %s", path,
		                 strerror(errno));
	rc = check(document, path, err);
	if (rc == 0)
		read_document(document, out);
	return rc;
}

int start_read_own(uint64_t time_ms, uint64_t process, struct start *out,
                   struct tkb_error *err)
{
	char folder[START_PATH_SIZE];
	char path[START_PATH_SIZE];

	if (!start_folder(false, folder) ||
	    !start_path(folder, time_ms, process, path)) {
		(void)cli_error(err, TKB_MISS, "there is no such note");
		return TKB_MISS;
	}
	return start_read(path, out, err);
}

int start_read_last(struct start *out, struct tkb_error *err)
{
	char folder[START_PATH_SIZE];
	char path[START_PATH_SIZE];
	struct start_name *names = NULL;
	size_t count = 0;
	int rc = TKB_MISS;

	if (start_folder(false, folder))
		count = start_list(folder, &names);
	if (count != 0 && snprintf(path, sizeof(path), "%s/%s", folder,
	                           names[0].text) < (int)sizeof(path))
		rc = start_read(path, out, err);
	free(names);
	return rc;
}
