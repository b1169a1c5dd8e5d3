/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler/compiler_internal.h"

#include <unistd.h>

#include "compile/compiler/bindings.h"
#include "compile/pool/fields.h"

/*
 * Turns options into fields of the request and of the key. For a file, the key
 * has the contents, not the path.
 */

/* The folder named by "-Ifolder", or NULL. */
static const char *include_folder(const char *option)
{
	static const char name[] = "--include-path=";

	if (tkb_begins_with(option, "-I"))
		return option + 2;
	if (tkb_begins_with(option, name))
		return option + strlen(name);
	return NULL;
}

/* The folders are in the key only with line information, which names them. */
static int add_cuda(struct tkb_compiler *compiler,
                    const struct tkb_compiler_options *options,
                    struct tkb_error *err)
{
	const char *const *all = options->nvrtc_options;
	size_t count = 0;
	size_t used = 0;
	int rc = 0;

	while (all != NULL && all[count] != NULL)
		count++;
	compiler->folders = tkb_alloc_array(count + 1, sizeof(const char *));
	if (compiler->folders == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		const char *folder = include_folder(all[i]);

		if (folder == NULL || !options->is_line_info_off)
			tkb_field_add_text(&compiler->key_cuda,
			                   TKB_FIELD_NVRTC_OPTION, all[i]);
		if (folder != NULL)
			rc = tkb_arena_copy(&compiler->arena, tkb_text(folder),
			                    &compiler->folders[used++], err);
	}
	return rc;
}

/* Add the bindings. The key has them in the form of the entry's metadata. */
static int add_bindings(struct tkb_compiler *compiler,
                        const struct tkb_finalize_options *options,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_COMPILE_TEXT_LIMIT);
	int rc;

	if (options->binding_count == 0)
		return 0;
	rc = tkb_bindings_write(options->bindings, options->binding_count,
	                        &text, err);
	if (rc < 0)
		return rc;
	tkb_field_add(&compiler->key_ir, TKB_FIELD_BIND_VALUE,
	              tkb_buf_bytes(&text));
	return tkb_arena_copy_buf(&compiler->arena, &text, &compiler->bound,
	                          err);
}

static int add_key_fields(struct tkb_compiler *compiler,
                          const struct tkb_compiler_options *options,
                          struct tkb_error *err)
{
	struct tkb_buf *ir = &compiler->key_ir;
	struct tkb_buf *cubin = &compiler->key_cubin;
	int rc;

	tkb_field_add_flag(ir, TKB_FIELD_OPTIMIZED, options->is_optimized);
	if (options->finalize != NULL)
		tkb_field_add_finalize(ir, options->finalize);
	rc = add_cuda(compiler, options, err);
	tkb_field_add_list(cubin, TKB_FIELD_PTXAS_OPTION,
	                   options->ptxas_options);
	tkb_field_add_flag(cubin, TKB_FIELD_LINE_INFO_OFF,
	                   options->is_line_info_off);
	tkb_field_add_flag(cubin, TKB_FIELD_WITH_NVJITLINK,
	                   options->cubin_with == TKB_CUBIN_TOOL_NVJITLINK);
	if (rc == 0 && options->finalize != NULL)
		rc = add_bindings(compiler, options->finalize, err);
	if (rc == 0)
		rc = tkb_buf_check(ir, err);
	if (rc == 0)
		rc = tkb_buf_check(&compiler->key_cuda, err);
	return rc == 0 ? tkb_buf_check(cubin, err) : rc;
}

static void write_job_fields(struct tkb_compiler *compiler,
                             const struct tkb_compiler_options *options,
                             const char *libdevice)
{
	struct tkb_buf *tools_request = &compiler->tools_request;
	struct tkb_buf *out = &compiler->job_fields;

	tkb_field_add_number(tools_request, TKB_FIELD_PRODUCT,
	                     (uint64_t)compiler->product);
	tkb_field_add_text(tools_request, TKB_FIELD_PTXAS, options->ptxas);
	tkb_field_add_text(tools_request, TKB_FIELD_LIBDEVICE, libdevice);
	tkb_field_add_flag(tools_request, TKB_FIELD_WITH_NVJITLINK,
	                   options->cubin_with == TKB_CUBIN_TOOL_NVJITLINK);
	tkb_buf_add(out, tkb_buf_bytes(tools_request));
	tkb_field_add_list(out, TKB_FIELD_PTXAS_OPTION, options->ptxas_options);
	tkb_field_add_list(out, TKB_FIELD_NVRTC_OPTION, options->nvrtc_options);
	tkb_field_add_flag(out, TKB_FIELD_OPTIMIZED, options->is_optimized);
	tkb_field_add_flag(out, TKB_FIELD_FUSION_OFF, options->is_fusion_off);
	tkb_field_add_flag(out, TKB_FIELD_LINE_INFO_OFF,
	                   options->is_line_info_off);
	if (options->finalize != NULL)
		tkb_field_add_finalize_request(out, options->finalize);
}

static bool has_texts(const char *const *texts)
{
	return texts != NULL && texts[0] != NULL;
}

/* Remember options that suit only some kinds of units. */
static void remember_kind_options(struct tkb_compiler *compiler,
                                  const struct tkb_compiler_options *options)
{
	compiler->is_optimized = options->is_optimized;
	compiler->has_libdevice = options->libdevice != NULL;
	compiler->has_nvrtc_options = has_texts(options->nvrtc_options);
	compiler->has_ptxas_options = has_texts(options->ptxas_options);
}

int tkb_compiler_check(const struct tkb_compiler *compiler,
                       const struct tkb_unit *unit, struct tkb_error *err)
{
	const bool is_ir = unit->kind == TKB_SOURCE_KIND_LLIR;
	const bool is_cuda = unit->kind == TKB_SOURCE_KIND_CUDA;
	const struct {
		bool is_given;
		bool has_meaning;
		const char *what;
	} rules[] = {
		{ compiler->is_finalized, is_ir, "to finalize is for LLVM IR" },
		{ compiler->is_optimized, is_ir, "to optimize is for LLVM IR" },
		{ compiler->has_pass_output, is_ir,
		  "to print passes is for LLVM IR" },
		{ compiler->has_libdevice, is_ir,
		  "a libdevice is for LLVM IR" },
		{ compiler->has_nvrtc_options, is_cuda,
		  "an option of NVRTC is for CUDA C" },
		{ compiler->has_ptxas_options,
		  compiler->product == TKB_PRODUCT_CUBIN,
		  "an option of ptxas is for a cubin" },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(rules); i++) {
		if (rules[i].is_given && !rules[i].has_meaning)
			return tkb_fail(err, TKB_ERR_INVALID,
			                "%s, and has no meaning for '%s'",
			                rules[i].what,
			                unit->name == NULL ? "the unit"
			                                   : unit->name);
	}
	return 0;
}

int tkb_compiler_set_options(struct tkb_compiler *compiler,
                             const struct tkb_compiler_options *options,
                             struct tkb_error *err)
{
	const char *libdevice =
		options->libdevice != NULL
			? options->libdevice
			: tkb_environment("TRITON_LIBDEVICE_PATH");
	int rc = 0;

	compiler->product =
		options->product == 0 ? TKB_PRODUCT_CUBIN : options->product;
	compiler->cubin_with = options->cubin_with;
	compiler->is_finalized = options->finalize != NULL;
	compiler->keeps_kernels =
		compiler->is_finalized && options->finalize->kernels != NULL;
	compiler->has_rules =
		compiler->is_finalized && options->finalize->rule_count != 0;
	compiler->is_fusion_off = options->is_fusion_off;
	compiler->is_line_info_off = options->is_line_info_off;
	compiler->timeout_ms = options->timeout_ms;
	compiler->log = options->log;
	remember_kind_options(compiler, options);
	if (options->cache_root != NULL)
		rc = tkb_arena_copy(&compiler->arena,
		                    tkb_text(options->cache_root),
		                    &compiler->cache_root, err);
	if (rc == 0 && libdevice != NULL && access(libdevice, R_OK) < 0)
		rc = tkb_fail_errno(err, "cannot read '%s'", libdevice);
	write_job_fields(compiler, options, libdevice);
	if (rc == 0)
		rc = tkb_buf_check(&compiler->tools_request, err);
	if (rc == 0)
		rc = tkb_buf_check(&compiler->job_fields, err);
	return rc == 0 ? add_key_fields(compiler, options, err) : rc;
}
