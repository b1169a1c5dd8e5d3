/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/c_launcher.h"

#include <inttypes.h>

#include "launch/print.h"
#include "launch/write.h"

const char *const tkb_scratch_words[4] = { "none", "global", "profile",
	                                   "global+profile" };

/* The caller's scratch memory, as an index of tkb_scratch_words. */
static unsigned scratch_of(const struct tkb_facts *facts)
{
	return (facts->global.size > 0 ? 1u : 0u) |
	       (facts->profile.size > 0 ? 2u : 0u);
}

void tkb_print_parameters(struct tkb_buf *out,
                          const struct tkb_c_argument *arguments, size_t count,
                          bool all, bool has_grid, unsigned scratch)
{
	tkb_buf_add_text(out, "CUstream stream");
	if (!has_grid)
		tkb_buf_add_text(out, ", unsigned int gX, unsigned int gY, "
		                      "unsigned int gZ");
	for (size_t i = 0; i < count; i++) {
		if (all || tkb_argument_is_passed(arguments[i].item))
			tkb_print(out, ", %s %s",
			          tkb_argument_c_type(arguments[i].item),
			          arguments[i].c);
	}
	if ((scratch & 1) != 0)
		tkb_buf_add_text(out, ", CUdeviceptr global_scratch");
	if ((scratch & 2) != 0)
		tkb_buf_add_text(out, ", CUdeviceptr profile_scratch");
}

void tkb_print_prototype(struct tkb_buf *out,
                         const struct tkb_c_launcher *launcher)
{
	tkb_print(out, "CUresult %s(", launcher->function);
	tkb_print_parameters(out, launcher->arguments, launcher->argument_count,
	                     false, launcher->has_grid,
	                     scratch_of(&launcher->facts));
	tkb_buf_add_byte(out, ')');
}

void tkb_print_origin(struct tkb_buf *out,
                      const struct tkb_c_launcher *launcher)
{
	const struct tkb_facts *const facts = &launcher->facts;

	tkb_buf_add_text(out, "/*\n * Made by `tkbundle launcher`: kernel ");
	tkb_print_comment(out, facts->symbol);
	if (launcher->key[0] != '\0') {
		tkb_buf_add_text(out, ", entry\n * ");
		tkb_print_comment(out, launcher->key);
	}
	tkb_buf_add_text(out, ",\n * for cuda:");
	tkb_print_comment(out, facts->arch);
	if (facts->version[0] != '\0') {
		tkb_buf_add_text(out, ", by Triton ");
		tkb_print_comment(out, facts->version);
	}
	tkb_print(out, ", %u warps, %u stages, of signature\n * ",
	          launcher->num_warps, launcher->num_stages);
	tkb_print_comment(out, launcher->signature.text);
	tkb_buf_add_text(out, "\n */\n");
}

/* A comment line that describes one argument. */
static void print_argument(struct tkb_buf *out,
                           const struct tkb_c_argument *argument)
{
	const bool is_sixteen = argument->item->hint == TKB_HINT_SIXTEEN;

	if (!tkb_argument_is_passed(argument->item))
		return;
	tkb_print(out, " *     %-16s %s%s\n", argument->c, argument->item->text,
	          is_sixteen ? ", a multiple of 16" : "");
}

static void print_scratch(struct tkb_buf *out, const char *function,
                          const char *name, const char *upper,
                          const struct tkb_scratch *scratch, uint32_t num_ctas)
{
	if (scratch->size == 0)
		return;
	tkb_print(out,
	          "/* Size and alignment of `%s_scratch`, for each block of "
	          "the grid. */\n"
	          "#define %s_%s_SCRATCH_SIZE %" PRIu64 "\n"
	          "#define %s_%s_SCRATCH_ALIGN %" PRIu64 "\n\n",
	          name, function, upper, scratch->size * num_ctas, function,
	          upper, scratch->align == 0 ? 1 : scratch->align);
}

/* The lines that a linker reads: Triton's, then ours. */
static void print_lines(struct tkb_buf *out,
                        const struct tkb_c_launcher *launcher)
{
	tkb_print(out, "// tt-linker-backend: cuda\n// tt-linker: %s:",
	          launcher->function);
	for (size_t i = 0; i < launcher->argument_count; i++) {
		const struct tkb_c_argument *const argument =
			&launcher->arguments[i];

		tkb_print(out, "%s%s %s", i > 0 ? ", " : "",
		          tkb_argument_c_type(argument->item), argument->c);
	}
	tkb_buf_add_byte(out, ':');
	tkb_signature_algo(&launcher->signature, launcher->num_warps,
	                   launcher->num_stages, out);
	tkb_print(out, "\n" TKB_LAUNCHER_LINE "%s %s %u %u %s %s %s\n",
	          launcher->name, launcher->suffix, launcher->num_warps,
	          launcher->num_stages, launcher->has_grid ? "grid" : "free",
	          tkb_scratch_words[scratch_of(&launcher->facts)],
	          launcher->signature.text);
	tkb_buf_add_text(out, TKB_ARGUMENTS_LINE);
	for (size_t i = 0; i < launcher->argument_count; i++)
		tkb_print(out, "%s%s", i > 0 ? " " : "",
		          launcher->arguments[i].c);
	tkb_buf_add_text(out, "\n\n");
}

static void print_manual(struct tkb_buf *out,
                         const struct tkb_c_launcher *launcher)
{
	tkb_buf_add_text(
		out,
		"/*\n"
		" * Launch the kernel in `stream`, in that stream's context, "
		"or in the current one\n"
		" * for the NULL stream. The first call loads it for all "
		"contexts and devices;\n"
		" * cuInit() must have been called. Threads may call this at "
		"the same time.\n"
		" *\n");
	for (size_t i = 0; i < launcher->argument_count; i++)
		print_argument(out, &launcher->arguments[i]);
	tkb_buf_add_text(
		out,
		" *\n"
		" * Returns CUDA_SUCCESS for an empty grid; "
		"CUDA_ERROR_INVALID_VALUE if a size of\n"
		" * the grid is negative, too large or not the one that was "
		"bound, an argument is\n"
		" * not as described above, or scratch memory is NULL; else "
		"the driver's result.\n"
		" */\n");
}

static void print_header(struct tkb_buf *out,
                         const struct tkb_c_launcher *launcher)
{
	const char *const function = launcher->function;
	const struct tkb_facts *const facts = &launcher->facts;

	tkb_print_origin(out, launcher);
	tkb_print(out,
	          "#ifndef TKB_LAUNCHER_%s\n#define TKB_LAUNCHER_%s\n\n"
	          "#include <cuda.h>\n#include <stdint.h>\n\n",
	          function, function);
	print_lines(out, launcher);
	tkb_buf_add_text(out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
	print_scratch(out, function, "global", "GLOBAL", &facts->global,
	              facts->num_ctas);
	print_scratch(out, function, "profile", "PROFILE", &facts->profile,
	              facts->num_ctas);
	print_manual(out, launcher);
	tkb_print_prototype(out, launcher);
	tkb_print(
		out,
		";\n\n/* Load it now, not at the first launch; for example "
		"before capturing a graph. */\n"
		"CUresult load_%s(void);\n\n"
		"/* Unload it when it is not in use. The next launch loads it "
		"again. */\n"
		"CUresult unload_%s(void);\n\n"
		"#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
		function, function);
}

int tkb_c_launcher_write_header(const struct tkb_c_launcher *launcher,
                                const struct tkb_sink *sink,
                                struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf out = TKB_BUF_INIT(TKB_SOURCE_LIMIT);
	print_header(&out, launcher);
	return tkb_print_send(&out, sink, err);
}
