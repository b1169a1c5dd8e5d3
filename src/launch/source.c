/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/c_launcher.h"

#include "launch/print.h"
#include "launch/write.h"

enum {
	WARP_SIZE = 32
};

static const char axes[] = "xyz";

static bool needs_attributes(const struct tkb_facts *facts)
{
	return facts->num_ctas > 1 || facts->is_cooperative ||
	       facts->is_programmatic;
}

static void print_includes(struct tkb_buf *out,
                           const struct tkb_c_launcher *launcher)
{
	tkb_print(out, "#include \"%s.%s.h\"\n\n#include <stddef.h>\n",
	          launcher->file_name, launcher->suffix);
	if (tkb_passes_type(launcher, "fp16") ||
	    tkb_passes_type(launcher, "bf16") ||
	    needs_attributes(&launcher->facts))
		tkb_buf_add_text(out, "#include <string.h>\n");
	tkb_buf_add_text(
		out,
		"\n#if CUDA_VERSION < 12000\n"
		"#error \"a launcher needs <cuda.h> of CUDA 12.0 or later\"\n"
		"#endif\n\n"
		"/* C99 promises no more than 4,095 bytes in a literal; all "
		"compilers take more. */\n"
		"#ifdef __GNUC__\n"
		"#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n"
		"#endif\n\n");
}

static void print_cubin(struct tkb_buf *out,
                        const struct tkb_c_launcher *launcher)
{
	tkb_print(out,
	          "static const unsigned char %s_cubin[]\n"
	          "\t__attribute__((aligned(16))) =\n",
	          launcher->function);
	tkb_print_literal(out, launcher->cubin);
	tkb_buf_add_text(out, ";\n");
}

/* Convert floats of 32 bits or less, which are passed as `double`. */
static void print_conversions(struct tkb_buf *out,
                              const struct tkb_c_launcher *launcher)
{
	for (size_t i = 0; i < launcher->argument_count; i++) {
		const struct tkb_c_argument *const argument =
			&launcher->arguments[i];
		const uint32_t size = tkb_argument_size(argument->item);

		if (argument->item->what != TKB_CLASS_FLOAT || size == 8)
			continue;
		if (size == 4)
			tkb_print(out, "\tfloat tkb_of_%s = (float)%s;\n",
			          argument->c, argument->c);
		else if (strcmp(argument->item->type->name, "bf16") == 0)
			tkb_print(out, "\tuint16_t tkb_of_%s = %s_brain(%s);\n",
			          argument->c, launcher->function, argument->c);
		else
			tkb_print(out, "\tuint16_t tkb_of_%s = 0;\n",
			          argument->c);
	}
}

static void print_parameter_list(struct tkb_buf *out,
                                 const struct tkb_c_launcher *launcher)
{
	const struct tkb_facts *const facts = &launcher->facts;
	const char *before = "\tvoid *tkb_parameters[] = { ";

	if (facts->global.is_parameter && facts->global.size == 0)
		tkb_buf_add_text(out, "\tCUdeviceptr tkb_global = 0;\n");
	if (facts->profile.is_parameter && facts->profile.size == 0)
		tkb_buf_add_text(out, "\tCUdeviceptr tkb_profile = 0;\n");
	for (size_t i = 0; i < launcher->argument_count; i++) {
		const struct tkb_c_argument *const argument =
			&launcher->arguments[i];
		const bool is_converted =
			argument->item->what == TKB_CLASS_FLOAT &&
			tkb_argument_size(argument->item) < 8;

		if (!tkb_argument_is_passed(argument->item))
			continue;
		tkb_print(out, "%s&%s%s", before, is_converted ? "tkb_of_" : "",
		          argument->c);
		before = ",\n\t\t\t\t   ";
	}
	if (facts->global.is_parameter) {
		tkb_print(out, "%s&%s", before,
		          facts->global.size == 0 ? "tkb_global"
		                                  : "global_scratch");
		before = ",\n\t\t\t\t   ";
	}
	if (facts->profile.is_parameter) {
		tkb_print(out, "%s&%s", before,
		          facts->profile.size == 0 ? "tkb_profile"
		                                   : "profile_scratch");
		before = ",\n\t\t\t\t   ";
	}
	/* C has no arrays of size 0. */
	tkb_buf_add_text(out, before[0] == ',' ? " };\n"
	                                       : "\tvoid **tkb_parameters = "
	                                         "NULL;\n");
}

static void print_sizes(struct tkb_buf *out,
                        const struct tkb_c_launcher *launcher)
{
	static const char *const given[] = { "gX", "gY", "gZ" };
	if (launcher->grid.calls != 0)
		tkb_buf_add_text(out, "\tint tkb_bad = 0;\n");
	for (size_t i = 0; i < TKB_COUNT_OF(given); i++)
		tkb_print(out, "\tconst long long tkb_%c = %s;\n", axes[i],
		          launcher->has_grid ? launcher->grid.sizes[i]
		                             : given[i]);
}

static void print_checks(struct tkb_buf *out,
                         const struct tkb_c_launcher *launcher)
{
	tkb_print(out, "\n\tif (%s",
	          launcher->grid.calls != 0 ? "tkb_bad != 0 ||\n\t    " : "");
	for (size_t i = 0; i < TKB_COUNT_OF(launcher->facts.cluster); i++)
		tkb_print(out, "%stkb_%c < 0 || tkb_%c > %d",
		          i > 0 ? " ||\n\t    " : "", axes[i], axes[i],
		          INT32_MAX / (int)launcher->facts.cluster[i]);
	tkb_buf_add_text(out, ")\n\t\treturn CUDA_ERROR_INVALID_VALUE;\n"
	                      "\tif (tkb_x == 0 || tkb_y == 0 || tkb_z == 0)\n"
	                      "\t\treturn CUDA_SUCCESS;\n");
	for (size_t i = 0; i < TKB_COUNT_OF(launcher->facts.grid); i++) {
		if (launcher->facts.grid[i] != 0)
			tkb_print(out,
			          "\tif (tkb_%c * %u != %u)\n"
			          "\t\treturn CUDA_ERROR_INVALID_VALUE;\n",
			          axes[i], launcher->facts.cluster[i],
			          launcher->facts.grid[i]);
	}
}

static void print_argument_checks(struct tkb_buf *out,
                                  const struct tkb_c_launcher *launcher)
{
	static const char invalid[] = "\t\treturn CUDA_ERROR_INVALID_VALUE;\n";

	for (size_t i = 0; i < launcher->argument_count; i++) {
		const struct tkb_c_argument *const argument =
			&launcher->arguments[i];

		if (argument->item->hint == TKB_HINT_SIXTEEN)
			tkb_print(out, "\tif (%s %% 16 != 0)\n%s", argument->c,
			          invalid);
		if (argument->item->what == TKB_CLASS_FLOAT &&
		    strcmp(argument->item->type->name, "fp16") == 0)
			tkb_print(out, "\tif (!%s_half(%s, &tkb_of_%s))\n%s",
			          launcher->function, argument->c, argument->c,
			          invalid);
	}
	if (launcher->facts.global.size > 0)
		tkb_print(out, "\tif (global_scratch == 0)\n%s", invalid);
	if (launcher->facts.profile.size > 0)
		tkb_print(out, "\tif (profile_scratch == 0)\n%s", invalid);
}

static void print_attribute(struct tkb_buf *out, unsigned *count,
                            const char *id, const char *value)
{
	tkb_print(out,
	          "\ttkb_attributes[%u].id = CU_LAUNCH_ATTRIBUTE_%s;\n"
	          "\ttkb_attributes[%u].value.%s;\n",
	          *count, id, *count, value);
	++*count;
}

/* The attributes that Triton's own launcher sets. */
static unsigned print_attributes(struct tkb_buf *out,
                                 const struct tkb_facts *facts)
{
	unsigned count = 0;

	if (facts->is_programmatic)
		print_attribute(out, &count,
		                "PROGRAMMATIC_STREAM_SERIALIZATION",
		                "programmaticStreamSerializationAllowed = 1");
	if (facts->is_cooperative)
		print_attribute(out, &count, "COOPERATIVE", "cooperative = 1");
	if (facts->num_ctas == 1)
		return count;
	tkb_print(out,
	          "\ttkb_attributes[%u].id = "
	          "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;\n"
	          "\ttkb_attributes[%u].value.clusterDim.x = %u;\n"
	          "\ttkb_attributes[%u].value.clusterDim.y = %u;\n"
	          "\ttkb_attributes[%u].value.clusterDim.z = %u;\n",
	          count, count, facts->cluster[0], count, facts->cluster[1],
	          count, facts->cluster[2]);
	count++;
	print_attribute(out, &count, "CLUSTER_SCHEDULING_POLICY_PREFERENCE",
	                "clusterSchedulingPolicyPreference =\n"
	                "\t\tCU_CLUSTER_SCHEDULING_POLICY_SPREAD");
	return count;
}

static void print_extended_launch(struct tkb_buf *out,
                                  const struct tkb_c_launcher *launcher)
{
	const struct tkb_facts *const facts = &launcher->facts;
	unsigned count;

	tkb_buf_add_text(out, "\tmemset(&tkb_config, 0, sizeof(tkb_config));\n"
	                      "\tmemset(tkb_attributes, 0, "
	                      "sizeof(tkb_attributes));\n");
	count = print_attributes(out, facts);
	for (size_t i = 0; i < TKB_COUNT_OF(facts->cluster); i++)
		tkb_print(out,
		          "\ttkb_config.gridDim%c = (unsigned int)tkb_%c * "
		          "%u;\n",
		          axes[i] - 'x' + 'X', axes[i], facts->cluster[i]);
	tkb_print(out,
	          "\ttkb_config.blockDimX = %u;\n"
	          "\ttkb_config.blockDimY = 1;\n"
	          "\ttkb_config.blockDimZ = 1;\n"
	          "\ttkb_config.sharedMemBytes = %u;\n"
	          "\ttkb_config.hStream = stream;\n"
	          "\ttkb_config.attrs = tkb_attributes;\n"
	          "\ttkb_config.numAttrs = %u;\n"
	          "\treturn cuLaunchKernelEx(&tkb_config, "
	          "(CUfunction)tkb_kernel,\n"
	          "\t\t\t\ttkb_parameters, NULL);\n",
	          launcher->num_warps * WARP_SIZE, facts->shared, count);
}

static void print_launch(struct tkb_buf *out,
                         const struct tkb_c_launcher *launcher)
{
	tkb_print(out,
	          "\ttkb_rc = %s_get(&tkb_kernel);\n"
	          "\tif (tkb_rc != CUDA_SUCCESS)\n"
	          "\t\treturn tkb_rc;\n",
	          launcher->function);
	if (tkb_needs_preparing(launcher))
		tkb_print(out,
		          "\ttkb_rc = %s_prepare(tkb_kernel, stream);\n"
		          "\tif (tkb_rc != CUDA_SUCCESS)\n"
		          "\t\treturn tkb_rc;\n",
		          launcher->function);
	if (needs_attributes(&launcher->facts))
		print_extended_launch(out, launcher);
	else
		tkb_print(out,
		          "\treturn cuLaunchKernel((CUfunction)tkb_kernel, "
		          "(unsigned int)tkb_x,\n"
		          "\t\t\t      (unsigned int)tkb_y, "
		          "(unsigned int)tkb_z,\n"
		          "\t\t\t      %u, 1, 1, %u, stream,\n"
		          "\t\t\t      tkb_parameters, NULL);\n",
		          launcher->num_warps * WARP_SIZE,
		          launcher->facts.shared);
}

static void print_function(struct tkb_buf *out,
                           const struct tkb_c_launcher *launcher)
{
	tkb_buf_add_byte(out, '\n');
	tkb_print_prototype(out, launcher);
	tkb_buf_add_text(out, "\n{\n");
	print_conversions(out, launcher);
	print_parameter_list(out, launcher);
	print_sizes(out, launcher);
	if (needs_attributes(&launcher->facts))
		tkb_buf_add_text(out, "\tCUlaunchAttribute tkb_attributes[4];\n"
		                      "\tCUlaunchConfig tkb_config;\n");
	tkb_buf_add_text(out, "\tCUkernel tkb_kernel = NULL;\n"
	                      "\tCUresult tkb_rc = CUDA_SUCCESS;\n");
	print_checks(out, launcher);
	print_argument_checks(out, launcher);
	print_launch(out, launcher);
	tkb_buf_add_text(out, "}\n");
}

static void print_source(struct tkb_buf *out,
                         const struct tkb_c_launcher *launcher)
{
	tkb_print_origin(out, launcher);
	print_includes(out, launcher);
	print_cubin(out, launcher);
	tkb_print_loading(out, launcher);
	tkb_print_preparing(out, launcher);
	tkb_print_helpers(out, launcher);
	print_function(out, launcher);
}

int tkb_c_launcher_write_source(const struct tkb_c_launcher *launcher,
                                const struct tkb_sink *sink,
                                struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf out = TKB_BUF_INIT(TKB_SOURCE_LIMIT);
	print_source(&out, launcher);
	return tkb_print_send(&out, sink, err);
}
