/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compile_triton_items.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/text.h"
#include "compile/compile_emit.h"
#include "compile/compile_input.h"
#include "compile/compile_work.h"

static bool ends_with(const char *text, size_t length, const char *ending)
{
	const size_t size = strlen(ending);

	return length > size && memcmp(text + length - size, ending, size) == 0;
}

bool compile_triton_is_list(const char *operand)
{
	return ends_with(operand, strlen(operand), ".json");
}

bool compile_triton_has_layouts(const char *operand)
{
	return ends_with(operand, strlen(operand), ".ttgir") ||
	       ends_with(operand, strlen(operand), ".glir");
}

bool compile_triton_is_ir(const char *operand)
{
	return ends_with(operand, strlen(operand), ".ttir") ||
	       compile_triton_has_layouts(operand);
}

bool compile_triton_is_recorded(const char *operand)
{
	return compile_recorded_is_there(operand);
}

bool compile_triton_is_module(const char *operand)
{
	struct stat status;

	if (compile_triton_is_recorded(operand))
		return false;

	return ends_with(operand, strlen(operand), ".py") ||
	       (stat(operand, &status) == 0 && S_ISDIR(status.st_mode));
}

bool compile_triton_is_input(const char *operand)
{
	const char *const colon = strrchr(operand, ':');

	if (compile_triton_is_list(operand) || compile_triton_is_ir(operand) ||
	    compile_triton_is_recorded(operand) ||
	    compile_triton_is_module(operand))
		return true;
	return colon != NULL && colon[1] != '\0' &&
	       strchr(colon, '/') == NULL &&
	       ends_with(operand, (size_t)(colon - operand), ".py");
}

/* A new, zeroed item; NULL: out of memory. */
static struct triton_item *add_triton_item(struct triton_items *items)
{
	struct triton_item *const grown =
		table_grow(items->items, items->count, sizeof(*grown));

	if (grown == NULL)
		return NULL;
	items->items = grown;
	grown[items->count] = (struct triton_item){ .label = NULL };
	return &grown[items->count++];
}

static bool add_for_target(struct triton_items *items,
                           const struct tkb_triton_unit *unit,
                           const char *python, const char *target)
{
	struct triton_item *const item = add_triton_item(items);

	if (item == NULL)
		return false;
	item->unit = *unit;
	item->unit.struct_size = sizeof(item->unit);
	item->unit.stage = items->stage;
	item->python = python;
	(void)snprintf(item->target, sizeof(item->target), "%s", target);
	item->label = text_format("%s%s%s", text_or_empty(unit->file),
	                          unit->kernel == NULL ? "" : ":",
	                          text_or_empty(unit->kernel));
	item->input = item->label;
	return item->label != NULL;
}

/* Add items for the targets of the command line. */
static bool add_for_python(struct triton_items *items,
                           const struct compile_triton_request *request,
                           const struct tkb_triton_unit *unit,
                           const char *python)
{
	char target[64];

	for (size_t i = 0; i < request->target_count; i++) {
		compile_work_target(&request->targets[i], target);
		if (!add_for_target(items, unit, python, target))
			return false;
	}
	return true;
}

/* Add items for the Pythons and targets of the command line. */
static bool add_for_targets(struct triton_items *items,
                            const struct compile_triton_request *request,
                            const struct tkb_triton_unit *unit)
{
	if (request->python_count == 0)
		return add_for_python(items, request, unit, NULL);
	for (size_t i = 0; i < request->python_count; i++) {
		if (!add_for_python(items, request, unit, request->pythons[i]))
			return false;
	}
	return true;
}

static bool add_kernel(const struct compile_triton_request *request,
                       const char *input, struct triton_items *items,
                       struct triton_input *read)
{
	const size_t length = (size_t)(strrchr(input, ':') - input);
	struct tkb_triton_unit unit = {
		.struct_size = sizeof(unit),
		.kernel = input + length + 1,
		.signature = request->signature,
		.num_warps = request->num_warps,
		.num_stages = request->num_stages,
	};

	read->path = strndup(input, length);
	unit.file = read->path;
	return read->path != NULL && add_for_targets(items, request, &unit);
}

/* A list may name the Python for all its targets. */
static bool add_listed_target(struct triton_items *items,
                              const struct compile_triton_request *request,
                              const struct tkb_triton_unit *unit,
                              const struct tkb_triton_item *listed,
                              const char *target)
{
	if (listed->python != NULL || request->python_count == 0)
		return add_for_target(items, unit, listed->python, target);
	for (size_t i = 0; i < request->python_count; i++) {
		if (!add_for_target(items, unit, request->pythons[i], target))
			return false;
	}
	return true;
}

static bool add_listed(struct triton_items *items,
                       const struct compile_triton_request *request,
                       const struct tkb_triton_item *listed)
{
	struct tkb_triton_unit unit = *listed->unit;

	if (unit.num_warps == 0)
		unit.num_warps = request->num_warps;
	if (unit.num_stages == 0)
		unit.num_stages = request->num_stages;
	if (listed->target_count == 0 && listed->python == NULL)
		return add_for_targets(items, request, &unit);
	if (listed->target_count == 0)
		return add_for_python(items, request, &unit, listed->python);
	for (size_t i = 0; i < listed->target_count; i++) {
		if (!add_listed_target(items, request, &unit, listed,
		                       listed->targets[i]))
			return false;
	}
	return true;
}

/* Count a list that cannot be read as one failed item. */
static bool add_failed(struct triton_items *items, const char *input, int rc,
                       const struct tkb_error *err)
{
	struct triton_item *const item = add_triton_item(items);

	if (item == NULL)
		return false;
	item->label = strdup(input);
	item->input = item->label;
	item->unit.signature = "";
	item->status = rc;
	item->err = *err;
	return item->label != NULL;
}

static bool add_ir(const struct compile_triton_request *request,
                   const char *input, struct triton_items *items,
                   struct triton_input *read)
{
	struct tkb_error err = { .status = 0 };
	struct tkb_triton_unit unit = {
		.struct_size = sizeof(unit),
		.file = input,
		.num_warps = request->num_warps,
		.num_stages = request->num_stages,
	};
	const int rc = compile_input_metadata(input, request->metadata,
	                                      &read->metadata, &err);

	if (rc != 0)
		return add_failed(items, input, rc, &err);
	unit.metadata = read->metadata;
	return add_for_targets(items, request, &unit);
}

static bool add_module(struct triton_items *items,
                       const struct compile_triton_request *request,
                       const char *path)
{
	const struct tkb_triton_unit unit = {
		.struct_size = sizeof(unit),
		.file = path,
		.has_only_winners = request->has_only_winners,
	};

	return add_for_targets(items, request, &unit);
}

static bool add_modules(const struct compile_triton_request *request,
                        const char *input, struct triton_items *items,
                        struct triton_input *read)
{
	struct compile_modules *const modules = &read->modules;
	struct tkb_error err = { .status = 0 };
	bool is_added = true;
	int rc;

	if (ends_with(input, strlen(input), ".py"))
		return add_module(items, request, input);
	rc = compile_modules_list(input, modules, &err);
	if (rc != 0)
		return add_failed(items, input, rc, &err);
	for (size_t i = 0; i < modules->count && is_added; i++)
		is_added = add_module(items, request, modules->paths[i]);
	return is_added;
}

static bool add_list(const struct compile_triton_request *request,
                     const char *input, struct triton_items *items,
                     struct triton_input *read)
{
	struct tkb_error err = { .status = 0 };
	const int rc = tkb_triton_list_read(input, &read->list, &err);

	if (rc == TKB_MISS)
		(void)cli_error(&err, rc, "there is no '%s'", input);
	if (rc != 0)
		return add_failed(items, input, rc, &err);
	for (size_t i = 0; i < tkb_triton_list_count(read->list); i++) {
		if (!add_listed(items, request,
		                tkb_triton_list_item(read->list, i)))
			return false;
	}
	return true;
}

/* The items of a kernel are called "kernels.tkb:add_kernel (KRJX2HQ7)". */
static bool name_recorded(struct triton_items *items, size_t first,
                          const char *input,
                          const struct compile_recorded_kernel *kernel)
{
	for (size_t i = first; i < items->count; i++) {
		struct triton_item *const item = &items->items[i];

		free(item->label);
		item->label =
			text_format("%s:%s (%.8s)", input,
		                    text_or_empty(kernel->name), kernel->key);
		item->input = item->label;
		item->key = kernel->key;
		if (item->label == NULL)
			return false;
	}
	return true;
}

static bool add_recorded(const struct compile_triton_request *request,
                         const char *input, struct triton_items *items,
                         struct triton_input *read)
{
	struct compile_recorded *const recorded = &read->recorded;
	struct tkb_error err = { .status = 0 };
	const int rc = compile_recorded_read(input, recorded, &err);

	if (rc == TKB_MISS && err.message[0] == '\0')
		(void)cli_error(&err, rc, "there is no '%s'", input);
	if (rc != 0)
		return add_failed(items, input, rc, &err);
	for (size_t i = 0; i < recorded->count; i++) {
		const struct compile_recorded_kernel *const kernel =
			&recorded->kernels[i];
		const struct tkb_triton_unit unit = {
			.struct_size = sizeof(unit),
			.metadata = kernel->metadata,
			.recorded = &kernel->recorded,
		};
		const size_t first = items->count;

		if (!add_for_targets(items, request, &unit) ||
		    !name_recorded(items, first,
		                   request->name != NULL ? request->name
		                                         : input,
		                   kernel))
			return false;
	}
	return true;
}

/* False: out of memory. */
static bool add_input(const struct compile_triton_request *request,
                      const char *input, struct triton_items *items)
{
	struct triton_input *const read = &items->inputs[items->input_count++];

	if (compile_triton_is_list(input))
		return add_list(request, input, items, read);
	if (compile_triton_is_recorded(input))
		return add_recorded(request, input, items, read);
	if (compile_triton_is_module(input))
		return add_modules(request, input, items, read);
	if (compile_triton_is_ir(input))
		return add_ir(request, input, items, read);
	return add_kernel(request, input, items, read);
}

enum status triton_items_read(struct cli *cli,
                              const struct compile_triton_request *request,
                              struct triton_items *out)
{
	enum status status = STATUS_DONE;

	if (request->emitted != NULL)
		out->stage = compile_emit_word(compile_emit_source(
			(enum compile_stage)
				request->emitted->compile.emit.value));
	out->inputs = calloc(request->input_count + 1, sizeof(*out->inputs));
	if (out->inputs == NULL)
		return cli_no_memory(cli);
	for (size_t i = 0; i < request->input_count && status == STATUS_DONE;
	     i++) {
		if (!add_input(request, request->inputs[i], out))
			status = cli_no_memory(cli);
	}
	/* From here on, the items do not move. */
	for (size_t i = 0; i < out->count; i++)
		out->items[i].unit.target = out->items[i].target;
	return status;
}

const char *triton_item_configuration(const struct triton_item *item)
{
	const char *const blank =
		item->choice == NULL ? NULL : strchr(item->choice, ' ');

	return blank == NULL ? "" : blank + 1;
}

struct triton_item *triton_items_add_choice(struct triton_items *items,
                                            const struct triton_item *item,
                                            const char *choice)
{
	struct triton_item **const grown =
		table_grow(items->chosen, items->chosen_count, sizeof(*grown));
	struct triton_item *added;

	if (grown == NULL)
		return NULL;
	items->chosen = grown;
	added = calloc(1, sizeof(*added));
	if (added == NULL)
		return NULL;
	items->chosen[items->chosen_count++] = added;
	added->unit = item->unit;
	added->python = item->python;
	added->input = item->input;
	added->has_ended = true;
	memcpy(added->target, item->target, sizeof(added->target));
	added->unit.target = added->target;
	added->choice = strdup(choice);
	added->unit.choice = added->choice;
	if (added->choice != NULL)
		added->label = text_format("%s (%s)", item->label,
		                           triton_item_configuration(added));
	return added->label != NULL ? added : NULL;
}

static void release_item(struct triton_item *item)
{
	tkb_triton_free(item->compile);
	free(item->label);
	free(item->choice);
}

static void release_input(struct triton_input *input)
{
	tkb_triton_list_free(input->list);
	free(input->path);
	compile_modules_release(&input->modules);
	compile_recorded_release(&input->recorded);
	free((void *)(uintptr_t)input->metadata.data);
}

void triton_items_release(struct triton_items *items)
{
	for (size_t i = 0; i < items->count; i++)
		release_item(&items->items[i]);
	for (size_t i = 0; i < items->chosen_count; i++) {
		release_item(items->chosen[i]);
		free(items->chosen[i]);
	}
	free(items->chosen);
	for (size_t i = 0; i < items->input_count; i++)
		release_input(&items->inputs[i]);
	free(items->inputs);
	free(items->items);
}
