/* SPDX-License-Identifier: Apache-2.0 */
#include "base/struct.h"
#include "launch/c_launcher.h"

#include <stdlib.h>

#include "cache/elf.h"
#include "launch/check.h"
#include "launch/names.h"
#include "launch/print.h"

enum {
	CUBIN_LIMIT = 64 << 20,
	SIGNATURE_LIMIT = 64 << 10
};

/* A requested number must equal the one that the kernel was compiled for. */
static int choose_count(uint32_t asked, uint32_t known, const char *what,
                        const char *option, uint32_t *out,
                        struct tkb_error *err)
{
	if (asked != 0 && known != 0 && asked != known)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the kernel was compiled for %u %s, not for %u",
		                known, what, asked);
	if (asked == 0 && known == 0)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the metadata does not have the number of %s: "
		                "give '%s'",
		                what, option);
	*out = asked != 0 ? asked : known;
	return 0;
}

static int set_names(struct tkb_c_launcher *launcher,
                     const struct tkb_c_launcher_options *options,
                     struct tkb_error *err)
{
	struct tkb_arena *const arena = &launcher->arena;
	TKB_AUTO(tkb_buf_release) struct tkb_buf buf = TKB_BUF_INIT(TKB_MIB);
	int rc;

	rc = tkb_arena_copy(arena,
	                    tkb_text(options->name != NULL
	                                     ? options->name
	                                     : launcher->facts.symbol),
	                    &launcher->name, err);
	if (rc == 0)
		rc = tkb_name_check_function(launcher->name, err);
	if (rc == 0)
		rc = tkb_arena_copy(arena,
		                    tkb_text(options->file_name != NULL
		                                     ? options->file_name
		                                     : launcher->name),
		                    &launcher->file_name, err);
	if (rc == 0)
		rc = tkb_name_check_file(launcher->file_name, err);
	if (rc == 0)
		rc = tkb_signature_suffix(&launcher->signature,
		                          launcher->num_warps,
		                          launcher->num_stages, &buf, err);
	if (rc == 0)
		rc = tkb_arena_copy_buf(arena, &buf, &launcher->suffix, err);
	if (rc < 0)
		return rc;
	tkb_buf_reset(&buf);
	tkb_print(&buf, "%s_%s", launcher->name, launcher->suffix);
	return tkb_arena_copy_buf(arena, &buf, &launcher->function, err);
}

/* List the arguments that are not constants, under made-up names. */
static int list_launcher_arguments(struct tkb_c_launcher *launcher,
                                   struct tkb_error *err)
{
	const struct tkb_signature *const signature = &launcher->signature;

	launcher->arguments =
		tkb_arena_alloc(&launcher->arena, signature->count,
	                        sizeof(*launcher->arguments));
	if (launcher->arguments == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < signature->count; i++) {
		TKB_AUTO(tkb_buf_release)
		struct tkb_buf name = TKB_BUF_INIT(64);
		struct tkb_c_argument *const argument =
			&launcher->arguments[launcher->argument_count];
		int rc;

		if (signature->items[i].what == TKB_CLASS_CONSTANT)
			continue;
		tkb_print(&name, "arg%zu", i);
		rc = tkb_arena_copy_buf(&launcher->arena, &name,
		                        &argument->given, err);
		if (rc < 0)
			return rc;
		argument->item = &signature->items[i];
		argument->c = argument->given;
		launcher->argument_count++;
	}
	return 0;
}

/* Two arguments may get the same name in C: "x", renamed to "x_", and "x_". */
static int check_names(const struct tkb_c_launcher *launcher,
                       struct tkb_error *err)
{
	for (size_t i = 0; i < launcher->argument_count; i++) {
		for (size_t j = 0; j < i; j++) {
			const char *const name = launcher->arguments[i].c;

			if (strcmp(name, launcher->arguments[j].c) == 0)
				return tkb_fail(err, TKB_ERR_INVALID,
				                "two arguments would have "
				                "the name '%s' in C",
				                name);
		}
	}
	return 0;
}

static int set_grid(struct tkb_c_launcher *launcher, const char *text,
                    struct tkb_error *err)
{
	struct tkb_grid_name *const names = tkb_arena_alloc(
		&launcher->arena, launcher->argument_count + 1, sizeof(*names));
	size_t count = 0;
	int rc;

	if (text == NULL)
		return 0;
	if (names == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < launcher->argument_count; i++) {
		const struct tkb_c_argument *const argument =
			&launcher->arguments[i];
		const bool is_signed = argument->item->type != NULL &&
		                       argument->item->type->name[0] == 'i';

		if (!tkb_argument_is_passed(argument->item))
			continue;
		names[count] = (struct tkb_grid_name){
			.given = argument->given,
			.c = argument->c,
			.is_integer = argument->item->what == TKB_CLASS_INTEGER,
			.bits = tkb_argument_size(argument->item) * 8 -
			        (is_signed ? 1 : 0),
		};
		count++;
	}
	rc = tkb_grid_parse(text, names, count, launcher->function,
	                    &launcher->arena, &launcher->grid, err);
	launcher->has_grid = rc == 0;
	return rc;
}

static int set_cubin(struct tkb_c_launcher *launcher,
                     const struct tkb_c_kernel *kernel, struct tkb_error *err)
{
	struct tkb_parameters parameters = { .count = 0 };
	void *copy;
	int rc;

	if (kernel->cubin.size > CUBIN_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "the cubin has %zu bytes; the limit is %d",
		                kernel->cubin.size, CUBIN_LIMIT);
	rc = tkb_elf_check_cubin(kernel->cubin, "the cubin",
	                         strtoull(launcher->facts.arch, NULL, 10),
	                         launcher->facts.symbol, err);
	if (rc == 0)
		rc = tkb_parameters_read_cubin(
			kernel->cubin, launcher->facts.symbol, &launcher->arena,
			&parameters, err);
	if (rc < 0)
		return rc;
	tkb_parameters_read_ptx(kernel->ptx, launcher->facts.symbol,
	                        &parameters);
	rc = tkb_check_parameters(launcher, &parameters, err);
	if (rc < 0)
		return rc;
	copy = tkb_arena_alloc(&launcher->arena, kernel->cubin.size + 1, 1);
	if (copy == NULL)
		return tkb_fail_nomem(err);
	memcpy(copy, kernel->cubin.data, kernel->cubin.size);
	launcher->cubin = (struct tkb_bytes){ copy, kernel->cubin.size };
	return 0;
}

static int init_launcher(struct tkb_c_launcher *launcher,
                         const struct tkb_c_kernel *kernel,
                         const struct tkb_c_launcher_options *options,
                         struct tkb_error *err)
{
	int rc;

	rc = tkb_signature_parse(tkb_text(options->signature), &launcher->arena,
	                         &launcher->signature, err);
	if (rc == 0)
		rc = tkb_facts_read_for_launch(kernel->metadata,
		                               &launcher->arena,
		                               &launcher->facts, err);
	if (rc == 0)
		rc = choose_count(options->num_warps, launcher->facts.num_warps,
		                  "warps", "--num-warps", &launcher->num_warps,
		                  err);
	if (rc == 0)
		rc = choose_count(options->num_stages,
		                  launcher->facts.num_stages, "stages",
		                  "--num-stages", &launcher->num_stages, err);
	if (rc == 0)
		rc = list_launcher_arguments(launcher, err);
	if (rc == 0)
		rc = tkb_apply_formals(launcher, kernel->ttir, err);
	if (rc == 0)
		rc = check_names(launcher, err);
	if (rc == 0)
		rc = set_cubin(launcher, kernel, err);
	if (rc == 0)
		rc = set_names(launcher, options, err);
	if (rc == 0)
		rc = tkb_arena_copy(
			&launcher->arena,
			tkb_text(kernel->key != NULL ? kernel->key : ""),
			&launcher->key, err);
	return rc == 0 ? set_grid(launcher, options->grid, err) : rc;
}

TKB_AUTO_POINTER(free_at, struct tkb_c_launcher, tkb_c_launcher_free)

static int read_kernel(struct tkb_c_kernel *out,
                       const struct tkb_c_kernel *given, struct tkb_error *err)
{
	return TKB_STRUCT_READ(tkb_c_kernel, ttir, out, given, err);
}

int tkb_c_launcher_new(const struct tkb_c_kernel *kernel,
                       const struct tkb_c_launcher_options *options,
                       struct tkb_c_launcher **out, struct tkb_error *err)
{
	TKB_AUTO(free_at)
	struct tkb_c_launcher *launcher = tkb_alloc_array(1, sizeof(*launcher));
	struct tkb_c_kernel own;
	struct tkb_c_launcher_options chosen;
	int rc;

	if (launcher == NULL)
		return tkb_fail_nomem(err);
	rc = read_kernel(&own, kernel, err);
	if (rc == 0)
		rc = TKB_STRUCT_READ(tkb_c_launcher_options, file_name, &chosen,
		                     options, err);
	if (rc == 0)
		rc = init_launcher(launcher, &own, &chosen, err);
	if (rc == 0)
		*out = tkb_take(launcher);
	return rc;
}

int tkb_c_facts_read(const struct tkb_c_kernel *kernel, struct tkb_c_facts *out,
                     const struct tkb_sink *signature, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(SIGNATURE_LIMIT);
	struct tkb_c_kernel own;
	struct tkb_c_facts told;
	struct tkb_facts facts;
	int rc;

	rc = read_kernel(&own, kernel, err);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_c_facts, shared, out, err);
	if (rc == 0)
		rc = tkb_facts_read(own.metadata, &arena, &facts, err);
	if (rc != 0)
		return rc;
	told = (struct tkb_c_facts){
		.num_warps = facts.num_warps,
		.num_stages = facts.num_stages,
		.num_ctas = facts.num_ctas,
		.shared = facts.shared,
	};
	TKB_STRUCT_WRITE(tkb_c_facts, out, &told);
	if (signature == NULL)
		return 0;
	tkb_formals_write(own.ttir, facts.symbol, &text);
	if (text.failure == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (text.failure != 0 || text.size == 0)
		return 0;
	return signature->write(signature->self, tkb_buf_bytes(&text), err);
}

void tkb_c_launcher_free(struct tkb_c_launcher *launcher)
{
	if (launcher == NULL)
		return;
	tkb_arena_release(&launcher->arena);
	free(launcher);
}

const char *tkb_c_launcher_suffix(const struct tkb_c_launcher *launcher)
{
	return launcher->suffix;
}

const char *tkb_c_launcher_function(const struct tkb_c_launcher *launcher)
{
	return launcher->function;
}
