/* SPDX-License-Identifier: Apache-2.0 */
#include "why/start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/cli.h"
#include "cli/fd.h"
#include "cli/json_in.h"
#include "why/start_file.h"

enum {
	START_TOGETHER_MS = 60 * 1000,
	FILE_LIMIT = 2 * 1024 * 1024
};

static uint64_t number_member(const json_t *object, const char *name)
{
	const json_t *const value = json_object_get(object, name);

	return json_is_integer(value) && json_integer_value(value) >= 0
	               ? (uint64_t)json_integer_value(value)
	               : START_UNKNOWN;
}

/* NULL: there is none. */
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
		/* start_add_made() copies the texts. */
		struct start_made made = {
			.kind = (char *)json_in_text(item, "kind"),
			.key = (char *)json_in_text(item, "key"),
			.name = (char *)json_in_text(item, "name"),
			.reason = REASON_UNKNOWN,
			.detail = (char *)json_in_text(item, "detail"),
			.advice = (char *)json_in_text(item, "advice"),
		};

		(void)reason_find(json_in_text(item, "reason"), &made.reason);
		start_add_made(out, &made);
	}
}

/* The counts include entries that are not listed. */
static void read_reasons(const json_t *document, struct start *out)
{
	const json_t *const reasons = json_object_get(document, "reasons");

	for (size_t i = 0; i < REASON_COUNT; i++) {
		const uint64_t count =
			number_member(reasons, reason_word((enum reason)i));

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
		start_add_failure(out, json_in_text(item, "of"),
	                          json_in_text(item, "message"));
	read_made(document, out);
	read_reasons(document, out);
}

static void read_document(json_t *document, struct start *out)
{
	start_init(out);
	out->time_ms = number_member(document, "time_ms");
	out->command = copy_of(document, "command");
	out->ref = copy_of(document, "ref");
	out->root = copy_of(document, "root");
	out->status = number_member(document, "status");
	out->emitted = number_member(document, "emitted");
	out->used = number_member(document, "used");
	out->compiled = number_member(document, "compiled");
	out->pushed = number_member(document, "pushed");
	out->saved_ms = number_member(document, "saved_ms");
	out->delay_ms = number_member(document, "delay_ms");
	out->ready_ms = number_member(document, "ready_ms");
	read_lists(document, out);
}

static int check_start_document(const json_t *document, const char *path,
                                struct tkb_error *err)
{
	const json_int_t version =
		json_integer_value(json_object_get(document, "version"));

	if (strcmp(json_in_text(document, "format"), START_FORMAT) != 0)
		return cli_error(err, TKB_ERR_CORRUPT,
		                 "'%s' is not a note of a start", path);
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
	TKB_AUTO(text_free) char *text = NULL;
	ssize_t size;
	int rc;

	if (fd < 0 && errno == ENOENT)
		return cli_error(err, TKB_MISS, "there is no '%s'", path);
	if (fd < 0)
		return cli_error_errno(err, "read", path);
	text = malloc(FILE_LIMIT);
	if (text == NULL)
		return cli_error_nomem(err);
	size = fd_read(fd, text, FILE_LIMIT);
	if (size >= 0 && size < FILE_LIMIT)
		document = json_loadb(text, (size_t)size, 0, NULL);
	if (size < 0)
		return cli_error_errno(err, "read", path);
	rc = check_start_document(document, path, err);
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
	    !start_path(folder, time_ms, process, path))
		return cli_error(err, TKB_MISS, "there is no such note");
	return start_read(path, out, err);
}

/* A note is written when its command ends, if not before. False: it is gone. */
static bool find_written_ms(const char *path, uint64_t *out)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return false;
	*out = (uint64_t)status.st_mtim.tv_sec * 1000 +
	       (uint64_t)status.st_mtim.tv_nsec / 1000000;
	return true;
}

static bool was_together(const char *path, const struct start_name *name,
                         const struct start *last)
{
	uint64_t written_ms = 0;

	return name->time_ms + START_TOGETHER_MS >= last->time_ms &&
	       find_written_ms(path, &written_ms) &&
	       written_ms >= last->time_ms;
}

static bool was_before(const char *path, const struct start *start)
{
	uint64_t written_ms = 0;

	return find_written_ms(path, &written_ms) &&
	       written_ms < start->time_ms;
}

/* Notes that cannot be read are skipped. */
static void add_ranks(const char *folder, const struct start_name *names,
                      size_t count, struct start *out)
{
	char path[START_PATH_SIZE];

	for (size_t i = 1; i < count; i++) {
		TKB_AUTO(start_release)
		struct start other = { .made_count = 0 };

		start_init(&other);
		if (folder_join(path, sizeof(path), folder, names[i].text) &&
		    was_together(path, &names[i], out) &&
		    start_read(path, &other, NULL) == 0 &&
		    start_is_one(out, &other))
			start_merge(out, &other);
	}
}

int start_read_before(const struct start *start, struct start *out,
                      struct tkb_error *err)
{
	char folder[START_PATH_SIZE];
	char path[START_PATH_SIZE];
	TKB_AUTO(auto_free) struct start_name *names = NULL;
	size_t count = 0;

	if (start_folder(false, folder))
		count = start_list(folder, &names);
	for (size_t i = 0; i < count; i++) {
		TKB_AUTO(start_release)
		struct start other = { .made_count = 0 };

		if (!folder_join(path, sizeof(path), folder, names[i].text) ||
		    !was_before(path, start) ||
		    start_read(path, &other, NULL) != 0 ||
		    !start_is_same_command(start, &other))
			continue;
		*out = other;
		start_init(&other);
		return 0;
	}
	return cli_error(err, TKB_MISS, "there is no earlier note");
}

int start_read_last(struct start *out, struct tkb_error *err)
{
	char folder[START_PATH_SIZE];
	char path[START_PATH_SIZE];
	TKB_AUTO(auto_free) struct start_name *names = NULL;
	size_t count = 0;
	int rc = TKB_MISS;

	if (start_folder(false, folder))
		count = start_list(folder, &names);
	if (count != 0 &&
	    folder_join(path, sizeof(path), folder, names[0].text))
		rc = start_read(path, out, err);
	if (rc == 0)
		add_ranks(folder, names, count, out);
	return rc;
}
