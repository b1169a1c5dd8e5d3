/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/link.h"

#include "launch/print.h"

static const char origin[] = "/* Made by `tkbundle launcher --link`. */\n";

static const char *algo_name(const struct tkb_c_link *link,
                             const struct tkb_c_algo *algo)
{
	return link->variants[algo->first].algo;
}

/* Parameters of a function that chooses among a kernel's launchers. */
static void print_chooser_parameters(struct tkb_buf *out,
                                     const struct tkb_c_linked *kernel)
{
	tkb_print_parameters(out, kernel->best->arguments,
	                     kernel->best->argument_count, true,
	                     kernel->best->has_grid, kernel->best->scratch);
}

/* The arguments that such a function passes to `variant`; NULL: all. */
static void print_passed_arguments(struct tkb_buf *out,
                                   const struct tkb_c_linked *kernel,
                                   const struct tkb_c_variant *variant)
{
	const struct tkb_c_variant *const best = kernel->best;

	tkb_buf_add_text(out, "stream");
	if (!best->has_grid)
		tkb_buf_add_text(out, ", gX, gY, gZ");
	for (size_t i = 0; i < best->argument_count; i++) {
		if (variant == NULL ||
		    tkb_argument_is_passed(variant->arguments[i].item))
			tkb_print(out, ", %s", best->arguments[i].c);
	}
	if ((best->scratch & 1) != 0)
		tkb_buf_add_text(out, ", global_scratch");
	if ((best->scratch & 2) != 0)
		tkb_buf_add_text(out, ", profile_scratch");
}

/* Print "x % 16 == 0 && n == 1"; nothing if there are no conditions. */
static void print_conditions(struct tkb_buf *out,
                             const struct tkb_c_linked *kernel,
                             const struct tkb_c_variant *variant)
{
	const char *before = "";

	for (size_t i = 0; i < variant->argument_count; i++) {
		const unsigned hint = variant->arguments[i].item->hint;
		const char *const name = kernel->best->arguments[i].c;

		if (hint == TKB_HINT_NONE)
			continue;
		tkb_print(out, "%s%s %s", before, name,
		          hint == TKB_HINT_ONE ? "== 1" : "% 16 == 0");
		before = " && ";
	}
}

static void print_declarations(struct tkb_buf *out,
                               const struct tkb_c_variant *variant)
{
	tkb_print(out,
	          "CUresult load_%s(void);\nCUresult unload_%s(void);\n"
	          "CUresult %s(",
	          variant->function, variant->function, variant->function);
	tkb_print_parameters(out, variant->arguments, variant->argument_count,
	                     false, variant->has_grid, variant->scratch);
	tkb_buf_add_text(out, ");\n");
}

/* Call the first launcher whose conditions the arguments meet. */
static void print_dispatcher(struct tkb_buf *out, const struct tkb_c_link *link,
                             const struct tkb_c_linked *kernel,
                             const struct tkb_c_algo *algo)
{
	bool is_certain = false;

	tkb_print(out, "\nCUresult %s(", algo_name(link, algo));
	print_chooser_parameters(out, kernel);
	tkb_buf_add_text(out, ")\n{\n");
	for (size_t i = 0; i < algo->count; i++) {
		const struct tkb_c_variant *const variant =
			&link->variants[algo->first + i];

		is_certain = variant->hint_count == 0;
		if (!is_certain) {
			tkb_buf_add_text(out, "\tif (");
			print_conditions(out, kernel, variant);
			tkb_buf_add_text(out, ")\n\t");
		}
		tkb_print(out, "\treturn %s(", variant->function);
		print_passed_arguments(out, kernel, variant);
		tkb_buf_add_text(out, ");\n");
	}
	tkb_buf_add_text(out, is_certain ? "}\n"
	                                 : "\treturn "
	                                   "CUDA_ERROR_INVALID_VALUE;\n}\n");
}

/* Begin the function `verb`_`name`, which loads or unloads several launchers. */
static void begin_loading(struct tkb_buf *out, const char *verb,
                          const char *name)
{
	tkb_print(out,
	          "\nCUresult %s_%s(void)\n{\n"
	          "\tCUresult rc = CUDA_SUCCESS;\n"
	          "\tCUresult each = CUDA_SUCCESS;\n\n",
	          verb, name);
}

static void add_loading(struct tkb_buf *out, const char *verb, const char *name)
{
	tkb_print(out,
	          "\teach = %s_%s();\n"
	          "\trc = rc == CUDA_SUCCESS ? each : rc;\n",
	          verb, name);
}

static void print_algo_loading(struct tkb_buf *out,
                               const struct tkb_c_link *link,
                               const struct tkb_c_algo *algo, const char *verb)
{
	begin_loading(out, verb, algo_name(link, algo));
	for (size_t i = 0; i < algo->count; i++)
		add_loading(out, verb,
		            link->variants[algo->first + i].function);
	tkb_buf_add_text(out, "\treturn rc;\n}\n");
}

static void print_kernel_loading(struct tkb_buf *out,
                                 const struct tkb_c_link *link,
                                 const struct tkb_c_linked *kernel,
                                 const char *verb)
{
	begin_loading(out, verb, kernel->name);
	for (size_t i = 0; i < kernel->count; i++)
		add_loading(out, verb,
		            algo_name(link, &link->algos[kernel->first + i]));
	tkb_buf_add_text(out, "\treturn rc;\n}\n");
}

static void print_choice(struct tkb_buf *out, const struct tkb_c_link *link,
                         const struct tkb_c_linked *kernel)
{
	tkb_print(out,
	          "\nint %s_get_num_algos(void)\n{\n\treturn %zu;\n}\n"
	          "\nCUresult %s(",
	          kernel->name, kernel->count, kernel->name);
	print_chooser_parameters(out, kernel);
	tkb_buf_add_text(out, ", int algo_id)\n{\n\tswitch (algo_id) {\n");
	for (size_t i = 0; i < kernel->count; i++) {
		tkb_print(out, "\tcase %zu:\n\t\treturn %s(", i,
		          algo_name(link, &link->algos[kernel->first + i]));
		print_passed_arguments(out, kernel, NULL);
		tkb_buf_add_text(out, ");\n");
	}
	tkb_print(out,
	          "\tdefault:\n"
	          "\t\treturn CUDA_ERROR_INVALID_VALUE;\n"
	          "\t}\n}\n\nCUresult %s_default(",
	          kernel->name);
	print_chooser_parameters(out, kernel);
	tkb_print(out, ")\n{\n\treturn %s(", kernel->name);
	print_passed_arguments(out, kernel, NULL);
	tkb_buf_add_text(out, ", 0);\n}\n");
}

static void print_kernel(struct tkb_buf *out, const struct tkb_c_link *link,
                         const struct tkb_c_linked *kernel)
{
	for (size_t i = 0; i < kernel->count; i++) {
		const struct tkb_c_algo *const algo =
			&link->algos[kernel->first + i];

		print_dispatcher(out, link, kernel, algo);
		print_algo_loading(out, link, algo, "load");
		print_algo_loading(out, link, algo, "unload");
	}
	print_choice(out, link, kernel);
	print_kernel_loading(out, link, kernel, "load");
	print_kernel_loading(out, link, kernel, "unload");
}

static void print_source(struct tkb_buf *out, const struct tkb_c_link *link)
{
	tkb_print(out,
	          "%s#include \"%s.h\"\n\n"
	          "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
	          origin, link->file_name);
	for (size_t i = 0; i < link->variant_count; i++)
		print_declarations(out, &link->variants[i]);
	tkb_buf_add_text(out, "\n#ifdef __cplusplus\n}\n#endif\n");
	for (size_t i = 0; i < link->kernel_count; i++)
		print_kernel(out, link, &link->kernels[i]);
}

static void print_kernel_header(struct tkb_buf *out,
                                const struct tkb_c_link *link,
                                const struct tkb_c_linked *kernel)
{
	tkb_buf_add_text(out, "/* An algo is a choice of constants, warps and "
	                      "stages. */\n");
	for (size_t i = 0; i < kernel->count; i++) {
		const char *const name =
			algo_name(link, &link->algos[kernel->first + i]);

		tkb_print(out, "CUresult %s(", name);
		print_chooser_parameters(out, kernel);
		tkb_print(out,
		          ");\nCUresult load_%s(void);\n"
		          "CUresult unload_%s(void);\n\n",
		          name, name);
	}
	tkb_print(out,
	          "/*\n * Launch the kernel as algo `algo_id`, below "
	          "%s_get_num_algos(), by\n"
	          " * the launcher with the most hints that the arguments "
	          "satisfy.\n"
	          " * CUDA_ERROR_INVALID_VALUE: there is no such algo, or no "
	          "such launcher.\n */\n"
	          "CUresult %s(",
	          kernel->name, kernel->name);
	print_chooser_parameters(out, kernel);
	tkb_print(out,
	          ", int algo_id);\n\n/* The same as algo 0. */\n"
	          "CUresult %s_default(",
	          kernel->name);
	print_chooser_parameters(out, kernel);
	tkb_print(out,
	          ");\n\nint %s_get_num_algos(void);\n\n"
	          "/* Load and unload all launchers; the first failure is "
	          "returned. */\n"
	          "CUresult load_%s(void);\nCUresult unload_%s(void);\n\n",
	          kernel->name, kernel->name, kernel->name);
}

static void print_header(struct tkb_buf *out, const struct tkb_c_link *link)
{
	const char *const guard = link->kernels[0].name;

	tkb_print(out,
	          "%s#ifndef TKB_LAUNCHERS_%s\n#define TKB_LAUNCHERS_%s\n\n"
	          "#include <cuda.h>\n#include <stdint.h>\n\n"
	          "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
	          origin, guard, guard);
	for (size_t i = 0; i < link->kernel_count; i++)
		print_kernel_header(out, link, &link->kernels[i]);
	tkb_buf_add_text(out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

int tkb_c_link_write_source(const struct tkb_c_link *link,
                            const struct tkb_sink *sink, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf out = TKB_BUF_INIT(TKB_SOURCE_LIMIT);

	print_source(&out, link);
	return tkb_print_send(&out, sink, err);
}

int tkb_c_link_write_header(const struct tkb_c_link *link,
                            const struct tkb_sink *sink, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf out = TKB_BUF_INIT(TKB_SOURCE_LIMIT);
	print_header(&out, link);
	return tkb_print_send(&out, sink, err);
}
