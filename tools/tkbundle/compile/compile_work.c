/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compile_work.h"

#include <stdlib.h>
#include <string.h>

#include <tkbundle/makers.h>

#include "compile/compile_emit.h"
#include "compile/compile_input.h"
#include "compile/compile_out.h"
#include "cli/signals.h"

enum {
	AHEAD = 32,    /* items that are begun before the first of them ends */
	SLICE_MS = 100 /* between checks for signals */
};

void compile_work_target(const struct tkb_target *target, char out[64])
{
	const bool has_arch = target->arch[0] != '\0';
	const size_t used =
		(size_t)snprintf(out, 64, "%.24s%s%.24s", target->backend,
	                         has_arch ? ":" : "", target->arch);

	if (target->warp_size != 0)
		(void)snprintf(out + used, 64 - used, ":%u", target->warp_size);
}

static enum status make_items(struct compile_work *work,
                              const char *const *operands, size_t count)
{
	const struct targets *const targets = &work->args->targets;

	work->items = calloc(count * targets->count + 1, sizeof(*work->items));
	if (work->items == NULL)
		return cli_no_memory(work->cli);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < targets->count; j++) {
			struct compile_item *const item =
				&work->items[work->count++];

			item->path = operands[i];
			compile_work_target(&targets->items[j], item->target);
		}
	}
	return STATUS_DONE;
}

/* Without tools nothing can be compiled: report that once. */
static enum status ask_tools(struct compile_work *work)
{
	for (size_t i = 0; i < work->args->targets.count; i++) {
		const char *const target = work->items[i].target;
		struct tkb_error err = { .status = 0 };
		const char *tools = "";
		int rc;

		do {
			rc = tkb_compiler_tools(
				work->compiler, target,
				deadline_left_ms(&work->deadline, SLICE_MS),
				&tools, &err);
		} while (rc == TKB_MISS &&
		         !deadline_is_cancelled(&work->deadline));
		if (rc == TKB_MISS) {
			work->is_stopped = true;
			return STATUS_DONE;
		}
		if (rc < 0)
			return cli_failed(work->cli, rc, &err, target);
	}
	return STATUS_DONE;
}

static struct compile_item *find_same(const struct compile_work *work,
                                      const struct compile_item *item)
{
	for (struct compile_item *at = work->items; at < item; at++) {
		if (strcmp(at->key, item->key) == 0)
			return at;
	}
	return NULL;
}

/* An item with the key of an earlier one waits for that. */
static int submit(struct compile_work *work, struct compile_item *item)
{
	const struct compile_arguments *const chosen = &work->args->compile;
	TKB_AUTO(compile_input_release)
	struct compile_input input = { .path = item->path };
	struct tkb_unit unit = {
		.struct_size = sizeof(unit),
		.name = item->path,
		.target = item->target,
		.kernel = chosen->kernel,
		.num_warps = chosen->num_warps.value,
	};
	int rc;

	rc = compile_input_read(item->path, chosen->metadata, &input,
	                        &item->err);
	if (rc != 0)
		return rc;
	item->is_read = true;
	unit.kind = input.kind;
	unit.source = input.source;
	unit.metadata = input.metadata;
	rc = tkb_compiler_key(work->compiler, &unit, item->key, &item->err);
	if (rc < 0 || find_same(work, item) != NULL)
		return rc;
	work->logged = item;
	return tkb_compiler_submit(work->compiler, &unit, &item->compile,
	                           &item->err);
}

static void submit_items(struct compile_work *work)
{
	while (work->begun < work->count && work->begun < work->ended + AHEAD &&
	       !work->is_stopped) {
		struct compile_item *const item = &work->items[work->begun++];

		item->status = submit(work, item);
	}
}

/* Returns TKB_MISS if the time is over. */
static int wait_for_compile(struct compile_work *work,
                            struct compile_item *item,
                            const struct tkb_compiled **out)
{
	int rc;

	do {
		progress_update(&work->progress, work->ended - 1, work->count);
		rc = tkb_compile_wait(
			item->compile,
			deadline_left_ms(&work->deadline, SLICE_MS), out,
			&item->err);
	} while (rc == TKB_MISS && !deadline_is_cancelled(&work->deadline));
	progress_erase(&work->progress);
	return rc;
}

static void fail_item(struct compile_work *work, struct compile_item *item,
                      int rc)
{
	const enum status status = status_of(rc);

	item->outcome = COMPILE_FAILED;
	work->status = status_merge(
		work->status, status == STATUS_USAGE ? STATUS_FAILED : status);
	compile_out_failed(work, item);
	if (!work->args->compile.keeps_going)
		work->is_stopped = true;
}

/* Copy the result of an earlier item with the same key, which has ended. */
static void follow_same_item(struct compile_work *work,
                             struct compile_item *item)
{
	const struct compile_item *const same = find_same(work, item);

	if (same->outcome != COMPILE_FAILED) {
		item->outcome = COMPILE_HIT;
		compile_out_done(work, item, NULL);
		return;
	}
	item->err = same->err;
	fail_item(work, item, same->status);
}

/* Write the stage of --emit. */
static int emit_compiled_stage(struct compile_work *work,
                               const struct tkb_compiled *compiled,
                               struct tkb_error *err)
{
	const struct tkb_bytes products[COMPILE_STAGE_COUNT] = {
		[COMPILE_STAGE_LLIR] = compiled->llir,
		[COMPILE_STAGE_PTX] = compiled->ptx,
		[COMPILE_STAGE_CUBIN] = compiled->cubin,
		[COMPILE_STAGE_SASS] = compiled->cubin,
	};

	return compile_emit_write(work->cli, work->args, compiled->key,
	                          products[work->args->compile.emit.value],
	                          err);
}

static void end_compile(struct compile_work *work, struct compile_item *item)
{
	const struct tkb_compiled *compiled = NULL;
	int rc;

	rc = wait_for_compile(work, item, &compiled);
	if (rc == TKB_MISS) {
		work->is_stopped = true;
		compile_out_left(work, item);
		return;
	}
	if (rc == 0 && work->args->output != NULL)
		rc = emit_compiled_stage(work, compiled, &item->err);
	item->status = rc;
	if (rc != 0) {
		fail_item(work, item, rc);
		return;
	}
	item->outcome = compiled->is_hit ? COMPILE_HIT : COMPILE_DONE;
	if (compiled->maker[0] != '\0')
		item->maker = strdup(compiled->maker);
	compile_out_done(work, item, compiled);
}

/* End the first item that has not ended. */
static void end_compile_item(struct compile_work *work)
{
	struct compile_item *const item = &work->items[work->ended++];

	if (item->status != 0 && !work->is_stopped)
		fail_item(work, item, item->status);
	else if (work->is_stopped || work->ended > work->begun)
		compile_out_left(work, item);
	else if (item->compile == NULL)
		follow_same_item(work, item);
	else
		end_compile(work, item);
	work->counts[item->outcome]++;
	tkb_compile_free(item->compile);
	item->compile = NULL;
}

enum status compile_work_begin(struct compile_work *work,
                               const char *const *operands, size_t count)
{
	const enum status status = make_items(work, operands, count);

	signals_catch();
	return status == STATUS_DONE ? ask_tools(work) : status;
}

/* Collect the items with this maker. */
static size_t take_made(struct compile_work *work, const char *maker,
                        struct tkb_made *out)
{
	size_t count = 0;

	for (size_t i = 0; i < work->count; i++) {
		struct compile_item *const item = &work->items[i];

		if (item->maker == NULL || strcmp(item->maker, maker) != 0)
			continue;
		out[count++] = (struct tkb_made){ .name = item->key };
		if (item->maker != maker)
			free(item->maker);
		item->maker = NULL;
	}
	return count;
}

/* Note what has made the entries, for `why`. A failure is harmless. */
static void note_made(struct compile_work *work)
{
	struct tkb_made *const made = calloc(work->count + 1, sizeof(*made));

	for (size_t i = 0; i < work->count && made != NULL; i++) {
		char *const maker = work->items[i].maker;

		if (maker == NULL)
			continue;
		(void)(tkb_makers_note(work->root, maker, made,
		                       take_made(work, maker, made),
		                       NULL) == 0);
		free(maker);
	}
	free(made);
}

void compile_work_do(struct compile_work *work)
{
	progress_init(&work->progress, work->cli->log, work->cli->is_tty);
	work->progress.is_count = true;
	while (work->ended < work->count) {
		/*
		 * Do not wait for an item that is a hit, or will be ready soon.
		 */
		if (deadline_is_cancelled(&work->deadline))
			work->is_stopped = true;
		submit_items(work);
		end_compile_item(work);
	}
	note_made(work);
}

void compile_work_release(struct compile_work *work)
{
	for (size_t i = 0; i < work->count; i++) {
		tkb_compile_free(work->items[i].compile);
		free(work->items[i].maker);
	}
	tkb_compiler_close(work->compiler);
	if (work->log != NULL)
		(void)fclose(work->log);
	free(work->items);
}
