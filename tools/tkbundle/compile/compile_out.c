/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compile_out.h"

#include <stdio.h>
#include <string.h>

#include "cli/text.h"

static const char *const outcomes[] = { [COMPILE_LEFT] = "left",
	                                [COMPILE_DONE] = "compiled",
	                                [COMPILE_HIT] = "hit",
	                                [COMPILE_FAILED] = "failed" };

static void add_item_json(struct compile_work *work,
                          const struct compile_item *item, const char *kernel,
                          const char *message)
{
	struct json_out *const json = &work->cli->json;

	json_out_open_object(json, NULL);
	json_out_text(json, "input", item->path);
	json_out_text(json, "target", item->target);
	json_out_text(json, "key", item->key);
	json_out_text(json, "kernel", kernel);
	json_out_text(json, "outcome", outcomes[item->outcome]);
	json_out_text(json, "message", message);
	json_out_close(json);
}

void compile_out_log(const struct cli *cli, struct tkb_bytes log)
{
	const char *const text = log.data;
	size_t at = 0;

	while (at < log.size) {
		const char *const newline =
			memchr(text + at, '\n', log.size - at);
		const size_t end =
			newline == NULL ? log.size : (size_t)(newline - text);

		text_line(cli->log, "%.*s", (int)(end - at), text + at);
		at = end + 1;
	}
}

/* Is `piece`, of `length` bytes, one of those between ", "? */
static bool has_piece(const char *tools, const char *piece, size_t length)
{
	while (*tools != '\0') {
		const char *const end = strstr(tools, ", ");
		const size_t size =
			end == NULL ? strlen(tools) : (size_t)(end - tools);

		if (size == length && strncmp(tools, piece, length) == 0)
			return true;
		tools += size + (end == NULL ? 0 : 2);
	}
	return false;
}

void compile_out_note_tools(char *noted, size_t size, const char *tools)
{
	while (*tools != '\0') {
		const char *const end = strstr(tools, ", ");
		const size_t length =
			end == NULL ? strlen(tools) : (size_t)(end - tools);
		const size_t used = strlen(noted);

		if (!has_piece(noted, tools, length))
			(void)snprintf(noted + used, size - used, "%s%.*s",
			               used == 0 ? "" : ", ", (int)length,
			               tools);
		tools += length + (end == NULL ? 0 : 2);
	}
}

void compile_out_done(struct compile_work *work,
                      const struct compile_item *item,
                      const struct tkb_compiled *compiled)
{
	const struct arguments *const args = work->args;
	const char *const kernel = compiled == NULL ? "" : compiled->kernel;

	add_item_json(work, item, kernel, "");
	if (compiled != NULL)
		compile_out_note_tools(work->tools, sizeof(work->tools),
		                       compiled->tools);
	if (args->is_verbose && !args->is_json)
		text_line(work->cli->out, "%s %s %s%s%s for %s",
		          outcomes[item->outcome], item->key, kernel,
		          kernel[0] == '\0' ? "" : " of ", item->path,
		          item->target);
	if (item->compile != NULL &&
	    (args->is_verbose || args->compile.has_pass_output))
		compile_out_log(work->cli, tkb_compile_log(item->compile));
}

void compile_out_failed(struct compile_work *work,
                        const struct compile_item *item)
{
	const struct tkb_error *const err = &item->err;

	add_item_json(work, item, "", err->message);
	if (item->is_read)
		cli_say(work->cli, "%s for %s: %s", item->path, item->target,
		        err->message);
	else
		cli_say(work->cli, "%s", err->message);
	if (item->compile != NULL)
		compile_out_log(work->cli, tkb_compile_log(item->compile));
}

void compile_out_left(struct compile_work *work,
                      const struct compile_item *item)
{
	add_item_json(work, item, "", "");
}
