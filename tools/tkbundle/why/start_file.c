/* SPDX-License-Identifier: Apache-2.0 */
#include "why/start_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fd.h"

/*
 * The folder
 */

/* Make a folder and those above it, closed to other users. */
static bool make_folder(const char *path)
{
	char part[START_PATH_SIZE];

	(void)snprintf(part, sizeof(part), "%s", path);
	for (char *slash = strchr(part + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0700) < 0 && errno != EEXIST)
			return false;
		*slash = '/';
	}
	return mkdir(part, 0700) == 0 || errno == EEXIST;
}

__attribute__((format(printf, 3, 4))) static bool try(bool is_made,
                                                      char out[START_PATH_SIZE],
                                                      const char *format, ...)
{
	va_list values;
	int length;

	va_start(values, format);
	length = vsnprintf(out, START_PATH_SIZE, format, values);
	va_end(values);
	if (length < 0 || length >= START_PATH_SIZE || out[0] != '/')
		return false;
	return (!is_made || make_folder(out)) && folder_is_own(out);
}

bool start_folder(bool is_made, char out[START_PATH_SIZE])
{
	const char *const state = cli_variable("XDG_STATE_HOME");
	const char *const home = cli_variable("HOME");
	const char *const temporary = cli_variable("TMPDIR");

	if (state != NULL && try(is_made, out, "%s/tkbundle/starts", state))
		return true;
	if (state == NULL && home != NULL &&
	    try(is_made, out, "%s/.local/state/tkbundle/starts", home))
		return true;
	return try(is_made, out, "%s/tkbundle-%u/starts",
	           temporary != NULL ? temporary : "/tmp", (unsigned)geteuid());
}

/*
 * The document
 */

static void put_number(struct json_out *json, const char *name, uint64_t value)
{
	if (value != START_UNKNOWN)
		json_out_number(json, name, value);
}

static void put_text(struct json_out *json, const char *name, const char *text)
{
	if (text != NULL)
		json_out_text(json, name, text);
}

static void put_made(struct json_out *json, const struct start *start)
{
	json_out_open_array(json, "made");
	for (size_t i = 0; i < start->made_count; i++) {
		const struct start_made *const made = &start->made[i];

		json_out_open_object(json, NULL);
		json_out_text(json, "kind", made->kind);
		json_out_text(json, "key", made->key);
		json_out_text(json, "name", made->name);
		json_out_text(json, "reason", reason_word(made->reason));
		json_out_text(json, "detail", made->detail);
		json_out_text(json, "advice", made->advice);
		json_out_close(json);
	}
	json_out_close(json);
	json_out_open_object(json, "reasons");
	for (size_t i = 0; i < REASON_COUNT; i++) {
		if (start->reasons[i] != 0)
			json_out_number(json, reason_word((enum reason)i),
			                start->reasons[i]);
	}
	json_out_close(json);
}

static void put_facts(struct json_out *json, const struct facts *facts)
{
	json_out_open_object(json, "facts");
	for (size_t i = 0; i < facts->count; i++)
		json_out_text(json, facts->items[i].name,
		              facts->items[i].value);
	json_out_close(json);
}

static void put_failures(struct json_out *json, const struct start *start)
{
	json_out_open_array(json, "failures");
	for (size_t i = 0; i < start->failure_count; i++) {
		json_out_open_object(json, NULL);
		json_out_text(json, "of", start->failures[i].of);
		json_out_text(json, "message", start->failures[i].message);
		json_out_close(json);
	}
	json_out_close(json);
}

void start_json(struct json_out *json, const struct start *start)
{
	json_out_number(json, "time_ms", start->time_ms);
	put_text(json, "command", start->command);
	put_text(json, "ref", start->ref);
	put_text(json, "root", start->root);
	if (start->run_count > 1)
		put_number(json, "runs", start->run_count);
	put_number(json, "status", start->status);
	put_number(json, "emitted", start->emitted);
	put_number(json, "used", start->used);
	put_number(json, "compiled", start->compiled);
	put_number(json, "pushed", start->pushed);
	put_number(json, "saved_ms", start->saved_ms);
	put_number(json, "delay_ms", start->delay_ms);
	put_number(json, "ready_ms", start->ready_ms);
	put_facts(json, &start->facts);
	put_failures(json, start);
	put_made(json, start);
}

/* The document as a text that the caller frees; NULL: out of memory. */
static char *make_text(const struct start *start, size_t *size_out)
{
	TKB_AUTO(json_out_release)
	struct json_out json = { .is_wanted = false };
	char *text = NULL;
	FILE *const file = open_memstream(&text, size_out);
	bool is_made;

	if (file == NULL)
		return NULL;
	json_out_init(&json, true, NULL);
	json_out_text(&json, "format", START_FORMAT);
	json_out_number(&json, "version", START_VERSION);
	start_json(&json, start);
	is_made = json_out_write(&json, file);
	if (fclose(file) == 0 && is_made)
		return text;
	free(text);
	return NULL;
}

/*
 * The list
 */

static int compare_start_times(const void *a, const void *b)
{
	const struct start_name *const left = a;
	const struct start_name *const right = b;

	if (left->time_ms != right->time_ms)
		return left->time_ms < right->time_ms ? 1 : -1;
	return strcmp(right->text, left->text);
}

static uint64_t wall_clock_ms(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Is it a name like "1795420000000-4711.json"? */
static bool read_start_name(const char *text, uint64_t now_ms,
                            struct start_name *out)
{
	unsigned long long time_ms = 0;
	unsigned long long process = 0;
	int end = 0;

	if (strlen(text) >= sizeof(out->text) ||
	    sscanf(text, "%20llu-%20llu.json%n", &time_ms, &process, &end) !=
	            2 ||
	    text[end] != '\0' || end == 0)
		return false;
	out->time_ms = time_ms <= now_ms ? time_ms : 0;
	(void)snprintf(out->text, sizeof(out->text), "%s", text);
	return true;
}

size_t start_list(const char *folder, struct start_name **out)
{
	TKB_AUTO(folder_close) DIR *items = folder_open(AT_FDCWD, folder, 0);
	const uint64_t now_ms = wall_clock_ms();
	const struct dirent *item;
	struct start_name name;
	size_t count = 0;

	*out = NULL;
	while (items != NULL && (item = readdir(items)) != NULL) {
		struct start_name *grown;

		if (!read_start_name(item->d_name, now_ms, &name))
			continue;
		grown = table_grow(*out, count, sizeof(*grown));
		if (grown == NULL)
			break;
		*out = grown;
		grown[count++] = name;
	}
	if (count > 1)
		qsort(*out, count, sizeof(**out), compare_start_times);
	return count;
}

static void remove_old(const char *folder)
{
	struct start_name *names;
	const size_t count = start_list(folder, &names);
	char path[START_PATH_SIZE];

	for (size_t i = START_NOTES_LIMIT; i < count; i++) {
		if (folder_join(path, sizeof(path), folder, names[i].text))
			(void)unlink(path);
	}
	free(names);
}

bool start_path(const char *folder, uint64_t time_ms, uint64_t process,
                char out[START_PATH_SIZE])
{
	return snprintf(out, START_PATH_SIZE, "%s/%" PRIu64 "-%" PRIu64 ".json",
	                folder, time_ms, process) < START_PATH_SIZE;
}

int start_write(const struct start *start, uint64_t process,
                struct tkb_error *err)
{
	char folder[START_PATH_SIZE];
	char path[START_PATH_SIZE];
	size_t size = 0;
	char *text;
	int rc;

	if (!start_folder(true, folder) ||
	    !start_path(folder, start->time_ms, process, path))
		return cli_error(err, TKB_ERR_IO,
		                 "there is no folder for notes of starts");
	text = make_text(start, &size);
	if (text == NULL)
		return cli_error_nomem(err);
	rc = cli_write_file(path, (struct tkb_bytes){ text, size }, 0600, err);
	free(text);
	if (rc == 0)
		remove_old(folder);
	return rc;
}
