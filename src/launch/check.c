/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/check.h"

#include "launch/names.h"

static size_t passed_count(const struct tkb_c_launcher *launcher)
{
	size_t count = 0;

	for (size_t i = 0; i < launcher->argument_count; i++)
		count += tkb_argument_is_passed(launcher->arguments[i].item)
		                 ? 1
		                 : 0;
	return count;
}

/* Check one argument against one parameter. */
static int check_parameter(const struct tkb_c_argument *argument,
                           const struct tkb_parameter *parameter,
                           const struct tkb_parameters *all,
                           struct tkb_error *err)
{
	const struct tkb_argument *const item = argument->item;
	const bool is_pointer = item->what == TKB_CLASS_POINTER;
	const char *const kind = parameter->is_pointer ? "a pointer"
	                         : parameter->is_float
	                                 ? "a floating-point number"
	                                 : "an integer";

	if (tkb_argument_size(item) != parameter->size)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%s' is '%s' in the signature, of %u bytes; "
		                "the kernel's parameter has %u",
		                argument->given, item->text,
		                tkb_argument_size(item), parameter->size);
	if (all->knows_pointers && is_pointer != parameter->is_pointer)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%s' is '%s' in the signature; the kernel's "
		                "parameter is %s",
		                argument->given, item->text, kind);
	if (item->what == TKB_CLASS_FLOAT ? parameter->is_integer
	                                  : parameter->is_float)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%s' is '%s' in the signature; the kernel's "
		                "parameter is %s",
		                argument->given, item->text, kind);
	return 0;
}

/* Count the parameters for scratch memory. */
static size_t scratch_count(const struct tkb_facts *facts)
{
	return (facts->global.is_parameter ? 1u : 0u) +
	       (facts->profile.is_parameter ? 1u : 0u);
}

/*
 * Metadata not written by Triton gives a scratch memory size of 0 even for
 * kernels that have no parameter for it. The number of parameters decides.
 */
static void drop_absent_scratch(struct tkb_facts *facts, size_t count)
{
	if (facts->version[0] != '\0')
		return;
	if (scratch_count(facts) > count && facts->profile.size == 0)
		facts->profile.is_parameter = false;
	if (scratch_count(facts) > count && facts->global.size == 0)
		facts->global.is_parameter = false;
}

int tkb_check_parameters(struct tkb_c_launcher *launcher,
                         const struct tkb_parameters *parameters,
                         struct tkb_error *err)
{
	const size_t passed = passed_count(launcher);
	size_t extra;
	size_t next = 0;
	int rc = 0;

	if (parameters->count >= passed)
		drop_absent_scratch(&launcher->facts,
		                    parameters->count - passed);
	else
		drop_absent_scratch(&launcher->facts, 0);
	extra = scratch_count(&launcher->facts);
	if (parameters->count < extra || parameters->count - extra != passed)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the signature passes %zu arguments; the "
		                "kernel takes %zu",
		                passed,
		                parameters->count < extra
		                        ? 0
		                        : parameters->count - extra);
	for (size_t i = 0; i < launcher->argument_count && rc == 0; i++) {
		const struct tkb_c_argument *const argument =
			&launcher->arguments[i];

		if (!tkb_argument_is_passed(argument->item))
			continue;
		rc = check_parameter(argument, &parameters->items[next],
		                     parameters, err);
		next++;
	}
	for (; next < parameters->count && rc == 0; next++) {
		if (parameters->items[next].size != 8)
			rc = tkb_fail(
				err, TKB_ERR_CORRUPT,
				"the kernel's parameter for scratch memory has "
				"%u bytes, not 8",
				parameters->items[next].size);
	}
	return rc;
}

/* Check one argument against Triton's IR, and take its name from there. */
static int apply_formal(struct tkb_c_launcher *launcher,
                        struct tkb_c_argument *argument,
                        const struct tkb_formal *formal, struct tkb_error *err)
{
	const struct tkb_argument *const item = argument->item;
	const char *name = NULL;
	int rc;

	rc = tkb_arena_copy(&launcher->arena, formal->name, &name, err);
	if (rc < 0)
		return rc;
	if (tkb_name_is_identifier(name) && !tkb_name_is_made_up(name)) {
		argument->given = name;
		argument->c = tkb_name_argument(name, &launcher->arena);
		if (argument->c == NULL)
			return tkb_fail_nomem(err);
	}
	if (!tkb_formal_fits(formal->type, item))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%s' is '%s' in the signature; in the kernel "
		                "it is '%.*s'",
		                argument->given, item->text,
		                (int)formal->type.size,
		                (const char *)formal->type.data);
	if (formal->is_divisible && item->hint != TKB_HINT_SIXTEEN)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%s' is '%s' in the signature; the kernel was "
		                "compiled for a multiple of 16: write '%s:16'",
		                argument->given, item->text, item->text);
	return 0;
}

int tkb_apply_formals(struct tkb_c_launcher *launcher, struct tkb_bytes ttir,
                      struct tkb_error *err)
{
	const size_t count = passed_count(launcher);
	struct tkb_formal *const formals =
		tkb_arena_alloc(&launcher->arena, count + 1, sizeof(*formals));
	size_t next = 0;
	int rc = 0;

	if (formals == NULL)
		return tkb_fail_nomem(err);
	if (!tkb_formals_read(ttir, launcher->facts.symbol, formals, count))
		return 0;
	for (size_t i = 0; i < launcher->argument_count && rc == 0; i++) {
		if (!tkb_argument_is_passed(launcher->arguments[i].item))
			continue;
		rc = apply_formal(launcher, &launcher->arguments[i],
		                  &formals[next], err);
		next++;
	}
	return rc;
}
