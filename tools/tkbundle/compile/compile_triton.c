/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compile_triton.h"

#include <stdlib.h>
#include <string.h>

#include "compile/compile_emit.h"
#include "compile/compile_out.h"
#include "compile/compile_triton_items.h"
#include "cli/deadline.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "keys/facts_here.h"
#include "why/maker.h"

enum {
	AHEAD = 32,    /* items that are begun before the first of them ends */
	SLICE_MS = 100 /* between checks for signals */
};

/* The items of one Python, in order. */
struct work {
	struct cli *cli;
	const struct compile_triton_request *request;
	struct compile_triton_counts *counts;
	struct tkb_triton *triton; /* owned; NULL: it cannot be opened */
	struct triton_items *all;
	struct tkb_made *made; /* owned, with the keys: its new entries */
	size_t made_count;
	char version[64];           /* version of the Triton that made them */
	struct triton_item **items; /* owned */
	size_t count;
	size_t ended;
	struct deadline deadline;
	struct progress progress;
	bool is_stopped; /* begin no more */
	enum status status;
};

void compile_triton_counts_release(struct compile_triton_counts *counts)
{
	compile_matrix_release(&counts->matrix);
}

/* The Python as given, or else as found. */
static const char *python_of(const struct work *work,
                             const struct triton_item *item)
{
	if (item->python != NULL)
		return item->python;
	return work->triton != NULL ? tkb_triton_python(work->triton)
	                            : "python3";
}

static void count(struct work *work, const struct triton_item *item,
                  const char *outcome, const char *version)
{
	if (item->target[0] != '\0' &&
	    !compile_matrix_count(&work->counts->matrix, python_of(work, item),
	                          item->target, outcome, version))
		work->status = cli_no_memory(work->cli);
}

static void add_item_to_json(struct work *work, const struct triton_item *item,
                             const char *outcome,
                             const struct tkb_triton_compiled *compiled,
                             const char *message)
{
	struct json_out *const json = &work->cli->json;

	count(work, item, outcome, compiled == NULL ? NULL : compiled->version);
	json_out_open_object(json, NULL);
	json_out_text(json, "input", item->input);
	json_out_text(json, "signature",
	              item->unit.signature == NULL ? "" : item->unit.signature);
	json_out_text(json, "configuration", triton_item_configuration(item));
	json_out_text(json, "target", item->target);
	json_out_text(json, "key", compiled == NULL ? "" : compiled->key);
	json_out_text(json, "kernel", compiled == NULL ? "" : compiled->kernel);
	json_out_text(json, "outcome", outcome);
	json_out_text(json, "message", message);
	if (compiled != NULL) {
		json_out_text(json, "note", compiled->note);
		json_out_flag(json, "unasked", compiled->is_unasked);
		json_out_text(json, "triton", compiled->version);
	}
	json_out_close(json);
}

/* "Triton 3.6.0 (/usr/bin/python3)" */
static void note_tool(struct work *work, const char *version)
{
	char tool[512];

	(void)snprintf(tool, sizeof(tool), "Triton %.32s (%s)", version,
	               tkb_triton_python(work->triton));
	compile_out_note_tools(work->counts->tools, sizeof(work->counts->tools),
	                       tool);
}

static void warn(const struct work *work, const struct triton_item *item,
                 const struct tkb_triton_compiled *compiled)
{
	if (compiled->note[0] != '\0')
		cli_say(work->cli, "%s for %s: warning: %s", item->label,
		        item->target, compiled->note);
}

/* Remember an entry for note_made(). A failure is harmless. */
static void add_made(struct work *work,
                     const struct tkb_triton_compiled *compiled)
{
	struct tkb_made *const grown =
		table_grow(work->made, work->made_count, sizeof(*grown));
	char *const key = grown == NULL ? NULL : strdup(compiled->key);

	work->made = grown == NULL ? work->made : grown;
	if (key == NULL)
		return;
	work->made[work->made_count++] = (struct tkb_made){ .name = key };
	(void)snprintf(work->version, sizeof(work->version), "%s",
	               compiled->version);
}

/*
 * Note which build of Triton has made the entries: that of this Python, if it
 * has the version that the worker reported. A failure is harmless.
 */
static void note_made(struct work *work)
{
	TKB_AUTO(facts_release) struct facts facts = { .count = 0 };
	char maker[TKB_MAKER_SIZE];
	const char *version;

	if (work->made_count != 0)
		facts_here_find_triton(&facts, tkb_triton_python(work->triton),
		                       "");
	version = facts_find(&facts, "triton");
	if (version != NULL && strcmp(version, work->version) == 0 &&
	    maker_write(&facts, maker))
		(void)(tkb_makers_note(work->request->cache_root, maker,
		                       work->made, work->made_count,
		                       NULL) == 0);
	for (size_t i = 0; i < work->made_count; i++)
		free((void *)(uintptr_t)work->made[i].name);
	free(work->made);
	work->made = NULL;
	work->made_count = 0;
}

static void end_well(struct work *work, struct triton_item *item,
                     const struct tkb_triton_compiled *compiled)
{
	const char *const outcome = compiled->is_hit ? "hit" : "compiled";

	if (compiled->is_hit)
		work->counts->hit++;
	else
		work->counts->compiled++;
	work->counts->unasked += compiled->is_unasked;
	if (!compiled->is_hit && work->request->emitted == NULL)
		add_made(work, compiled);
	add_item_to_json(work, item, outcome, compiled, "");
	note_tool(work, compiled->version);
	if (work->request->is_verbose && !work->request->is_json)
		text_line(work->cli->out, "%s %s %s of %s for %s", outcome,
		          compiled->key, compiled->kernel, item->label,
		          item->target);
	warn(work, item, compiled);
	if (work->request->is_verbose || work->request->has_pass_output)
		compile_out_log(work->cli, tkb_triton_log(item->compile));
}

static void count_failure(struct work *work, int rc)
{
	const enum status status = status_of(rc);

	work->counts->failed++;
	work->status = status_merge(
		work->status, status == STATUS_USAGE ? STATUS_FAILED : status);
	if (!work->request->keeps_going)
		work->is_stopped = true;
}

static void end_badly(struct work *work, const struct triton_item *item, int rc)
{
	add_item_to_json(work, item, "failed", NULL, item->err.message);
	if (work->request->on_failed != NULL && item->key != NULL)
		work->request->on_failed(work->request->self, item->key,
		                         item->err.message);
	else if (item->compile == NULL)
		/* The message is about a file, and names it. */
		cli_say(work->cli, "%s", item->err.message);
	else
		cli_say(work->cli, "%s for %s: %s", item->label, item->target,
		        item->err.message);
	if (item->compile != NULL)
		compile_out_log(work->cli, tkb_triton_log(item->compile));
	count_failure(work, rc);
}

static void leave_triton_item(struct work *work, const struct triton_item *item)
{
	add_item_to_json(work, item, "left", NULL, "");
	work->counts->left++;
}

static void begin_item(struct work *work, struct triton_item *item)
{
	item->is_begun = true;
	if (item->status == 0)
		item->status = tkb_triton_submit(work->triton, &item->unit,
		                                 &item->compile, &item->err);
	if (item->status == TKB_MISS && item->err.message[0] == '\0')
		(void)cli_error(&item->err, TKB_MISS, "there is no '%s'",
		                item->unit.file);
}

static void begin_triton_items(struct work *work)
{
	for (size_t i = work->ended;
	     i < work->count && i < work->ended + AHEAD && !work->is_stopped;
	     i++) {
		if (!work->items[i]->is_begun)
			begin_item(work, work->items[i]);
	}
}

/* Insert an item for each choice before the items that have not ended. */
static bool add_choices(struct work *work, const struct triton_item *item,
                        const struct tkb_triton_compiled *compiled)
{
	const size_t more = compiled->choice_count;
	struct triton_item **const grown =
		realloc(work->items,
	                (work->count + more) * sizeof(struct triton_item *));

	if (grown == NULL)
		return false;
	work->items = grown;
	memmove(grown + work->ended + more, grown + work->ended,
	        (work->count - work->ended) * sizeof(struct triton_item *));
	for (size_t i = 0; i < more; i++) {
		struct triton_item **const at = &grown[work->ended + i];

		*at = triton_items_add_choice(work->all, item,
		                              compiled->choices[i]);
		if (*at == NULL) {
			work->count = work->ended + i;
			return false;
		}
	}
	work->count += more;
	return true;
}

/* Report an item that was compiled, or that has choices to compile. */
static void end_one(struct work *work, struct triton_item *item,
                    const struct tkb_triton_compiled *compiled)
{
	if (compiled->key[0] != '\0')
		end_well(work, item, compiled);
	else
		warn(work, item, compiled);
	if (compiled->choice_count != 0 && !add_choices(work, item, compiled))
		work->status = cli_no_memory(work->cli);
}

/* Wait as long as there is time; TKB_MISS: the time is over. */
static int wait_for_triton(struct work *work, struct triton_item *item,
                           const struct tkb_triton_compiled **out)
{
	int rc;

	do {
		progress_update(&work->progress, work->ended - 1, work->count);
		rc = tkb_triton_wait(
			item->compile,
			deadline_left_ms(&work->deadline, SLICE_MS), out,
			&item->err);
	} while (rc == TKB_MISS && !deadline_is_cancelled(&work->deadline));
	progress_erase(&work->progress);
	return rc;
}

/* Write the stage of --emit, unless there are choices to compile. */
static int emit_triton_stage(const struct work *work, struct triton_item *item,
                             const struct tkb_triton_compiled *compiled)
{
	const struct arguments *const args = work->request->emitted;

	if (compiled->choice_count == 0)
		return compile_emit_write(work->cli, args, compiled->key,
		                          compiled->product, &item->err);
	if (compiled->choice_count == 1 || compile_emit_is_folder(args->output))
		return 0;
	return cli_error(&item->err, TKB_ERR_INVALID,
	                 "it has %zu configurations: '--emit' wants a folder "
	                 "for them, as '-o out/'",
	                 compiled->choice_count);
}

/* End the first item that has not ended. */
static void end_triton_item(struct work *work)
{
	struct triton_item *const item = work->items[work->ended++];
	const struct tkb_triton_compiled *compiled = NULL;
	int rc = item->status;

	if (work->is_stopped || !item->is_begun) {
		leave_triton_item(work, item);
		return;
	}
	if (rc == 0)
		rc = wait_for_triton(work, item, &compiled);
	if (rc == 0 && work->request->emitted != NULL)
		rc = emit_triton_stage(work, item, compiled);
	if (rc == TKB_MISS && item->status == 0) {
		work->is_stopped = true;
		leave_triton_item(work, item);
	} else if (rc != 0) {
		end_badly(work, item, rc);
	} else {
		end_one(work, item, compiled);
	}
	tkb_triton_free(item->compile);
	item->compile = NULL;
}

/* How many items could be read. */
static size_t count_kernels(const struct work *work)
{
	size_t count = 0;

	for (size_t i = 0; i < work->count; i++)
		count += work->items[i]->status == 0;
	return count;
}

/* If the Python fails, none of its items can be compiled: report that once. */
static void fail_all(struct work *work, int rc, const struct tkb_error *err)
{
	cli_say(work->cli, "%s", err->message);
	for (size_t i = 0; i < work->count; i++) {
		struct triton_item *const item = work->items[i];

		if (item->status != 0) {
			end_badly(work, item, item->status);
			continue;
		}
		add_item_to_json(work, item, "failed", NULL, err->message);
		count_failure(work, rc);
	}
}

static void do_work(struct work *work, const char *python)
{
	const struct tkb_triton_options options = {
		.struct_size = sizeof(options),
		.python = python,
		.ptxas = work->request->ptxas,
		.worker_count = work->request->worker_count,
		.cache_root = work->request->cache_root,
		.log = work->request->log,
		.has_pass_output = work->request->has_pass_output,
	};
	struct tkb_error err = { .status = 0 };
	int rc = 0;

	if (!work->is_stopped && count_kernels(work) != 0)
		rc = tkb_triton_open(&options, &work->triton, &err);
	if (rc < 0) {
		fail_all(work, rc, &err);
		return;
	}
	progress_init(&work->progress, work->cli->log, work->cli->is_tty);
	work->progress.is_count = true;
	while (work->ended < work->count) {
		/* Do not wait for items that are hits. */
		if (deadline_is_cancelled(&work->deadline))
			work->is_stopped = true;
		begin_triton_items(work);
		end_triton_item(work);
	}
	note_made(work);
	tkb_triton_close(work->triton);
	work->triton = NULL;
}

static bool same_python(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Run one Python after another: each may use all cores. */
static void do_items(struct work *work, struct triton_items *items)
{
	for (size_t first = 0; first < items->count; first++) {
		const char *const python = items->items[first].python;

		if (items->items[first].has_ended)
			continue;
		work->count = work->ended = 0;
		for (size_t i = first; i < items->count; i++) {
			struct triton_item *const item = &items->items[i];

			if (!same_python(item->python, python))
				continue;
			item->has_ended = true;
			work->items[work->count++] = item;
		}
		do_work(work, python);
	}
}

enum status compile_triton(struct cli *cli,
                           const struct compile_triton_request *request,
                           struct compile_triton_counts *counts)
{
	TKB_AUTO(triton_items_release)
	struct triton_items items = { .count = 0 };
	struct work work = { .cli = cli,
		             .all = &items,
		             .request = request,
		             .counts = counts,
		             .deadline = request->deadline };
	const enum status status = triton_items_read(cli, request, &items);

	if (status != STATUS_DONE)
		return status;
	work.items = calloc(items.count + 1, sizeof(struct triton_item *));
	if (work.items == NULL)
		return cli_no_memory(cli);
	signals_catch();
	do_items(&work, &items);
	free(work.items);
	return work.status;
}
