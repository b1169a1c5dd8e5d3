/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/write.h"

#include "launch/print.h"

enum {
	PORTABLE_SHARED = 48 * 1024, /* every kernel may use so much */
	PORTABLE_CLUSTER = 8
};

/*
 * Templates of the source file. "@" stands for the launcher's function, so that
 * several files can be compiled as one.
 */

static const char loading[] =
	"\n"
	"static CUlibrary @_library;\n"
	"static CUkernel @_kernel;\n"
	"%s"
	"\n"
	"/*\n"
	" * If several threads load it at once, one publishes its library; "
	"the others\n"
	" * unload theirs.\n"
	" */\n"
	"static CUresult @_get(CUkernel *out)\n"
	"{\n"
	"\tCUkernel kernel = __atomic_load_n(&@_kernel, "
	"__ATOMIC_ACQUIRE);\n"
	"\tCUlibrary library = NULL;\n"
	"\tCUlibrary loaded = NULL;\n"
	"\tCUresult rc = CUDA_SUCCESS;\n"
	"\n"
	"\tif (kernel != NULL) {\n"
	"\t\t*out = kernel;\n"
	"\t\treturn CUDA_SUCCESS;\n"
	"\t}\n"
	"\tlibrary = __atomic_load_n(&@_library, __ATOMIC_ACQUIRE);\n"
	"\tif (library == NULL) {\n"
	"\t\trc = cuLibraryLoadData(&loaded, @_cubin, NULL, NULL, "
	"0, NULL,\n"
	"\t\t\t\t       NULL, 0);\n"
	"\t\tif (rc != CUDA_SUCCESS)\n"
	"\t\t\treturn rc;\n"
	"\t\tif (__atomic_compare_exchange_n(&@_library, &library, "
	"loaded, 0,\n"
	"\t\t\t\t\t\t__ATOMIC_ACQ_REL,\n"
	"\t\t\t\t\t\t__ATOMIC_ACQUIRE))\n"
	"\t\t\tlibrary = loaded;\n"
	"\t\telse\n"
	"\t\t\t(void)cuLibraryUnload(loaded);\n"
	"\t}\n"
	"\trc = cuLibraryGetKernel(&kernel, library, %s);\n"
	"\tif (rc != CUDA_SUCCESS)\n"
	"\t\treturn rc;\n"
	"\t__atomic_store_n(&@_kernel, kernel, __ATOMIC_RELEASE);\n"
	"\t*out = kernel;\n"
	"\treturn CUDA_SUCCESS;\n"
	"}\n"
	"\n"
	"CUresult load_@(void)\n"
	"{\n"
	"\tCUkernel kernel = NULL;\n"
	"\n"
	"\treturn @_get(&kernel);\n"
	"}\n"
	"\n"
	"CUresult unload_@(void)\n"
	"{\n"
	"\tCUlibrary library = NULL;\n"
	"\n"
	"\t__atomic_store_n(&@_kernel, (CUkernel)NULL, "
	"__ATOMIC_RELEASE);\n"
	"%s"
	"\tlibrary = __atomic_exchange_n(&@_library, (CUlibrary)NULL,\n"
	"\t\t\t\t      __ATOMIC_ACQ_REL);\n"
	"\treturn library == NULL ? CUDA_SUCCESS : "
	"cuLibraryUnload(library);\n"
	"}\n";

static const char preparing[] =
	"\n"
	"/* The device of `stream`. */\n"
	"static CUresult @_device(CUstream stream, CUdevice *out)\n"
	"{\n"
	"\tCUcontext wanted = NULL;\n"
	"\tCUcontext current = NULL;\n"
	"\tCUresult popped = CUDA_SUCCESS;\n"
	"\tCUresult rc = cuStreamGetCtx(stream, &wanted);\n"
	"\n"
	"\t/* The stream of a green context. */\n"
	"\tif (rc == CUDA_ERROR_NOT_SUPPORTED)\n"
	"\t\treturn cuCtxGetDevice(out);\n"
	"\tif (rc == CUDA_SUCCESS)\n"
	"\t\trc = cuCtxGetCurrent(&current);\n"
	"\tif (rc != CUDA_SUCCESS)\n"
	"\t\treturn rc;\n"
	"\tif (wanted == current)\n"
	"\t\treturn cuCtxGetDevice(out);\n"
	"\trc = cuCtxPushCurrent(wanted);\n"
	"\tif (rc != CUDA_SUCCESS)\n"
	"\t\treturn rc;\n"
	"\trc = cuCtxGetDevice(out);\n"
	"\tpopped = cuCtxPopCurrent(&wanted);\n"
	"\treturn rc != CUDA_SUCCESS ? rc : popped;\n"
	"}\n"
	"\n"
	"/* Set the attributes that the kernel needs, once per device. */\n"
	"static CUresult @_prepare(CUkernel kernel, CUstream stream)\n"
	"{\n"
	"\tunsigned long long bit = 0;\n"
	"\tCUdevice device = 0;\n"
	"\tCUresult rc = @_device(stream, &device);\n"
	"\n"
	"\tif (rc != CUDA_SUCCESS)\n"
	"\t\treturn rc;\n"
	"\tif (device >= 0 && device < 64)\n"
	"\t\tbit = 1ULL << device;\n"
	"\tif ((__atomic_load_n(&@_prepared, __ATOMIC_ACQUIRE) & bit) != "
	"0)\n"
	"\t\treturn CUDA_SUCCESS;\n"
	"%s"
	"\t(void)__atomic_fetch_or(&@_prepared, bit, "
	"__ATOMIC_RELEASE);\n"
	"\treturn CUDA_SUCCESS;\n"
	"}\n";

static const char prepare_attribute[] = "\trc = cuKernelSetAttribute(\n"
					"\t\tCU_FUNC_ATTRIBUTE_%s, %u,\n"
					"\t\tkernel, device);\n"
					"\tif (rc != CUDA_SUCCESS)\n"
					"\t\treturn rc;\n";

/*
 * Rounds to nearest, ties to even, like Triton, which uses Python's
 * PyFloat_Pack2().
 */
static const char packing_half[] =
	"\n"
	"/* Round to the nearest half, ties to even. Returns 0 on overflow. "
	"*/\n"
	"static int @_half(double value, uint16_t *out)\n"
	"{\n"
	"\tuint64_t bits = 0;\n"
	"\tuint64_t kept = 0;\n"
	"\tuint64_t rest = 0;\n"
	"\tuint64_t sign = 0;\n"
	"\tint power = 0;\n"
	"\tint shift = 42;\n"
	"\n"
	"\tmemcpy(&bits, &value, sizeof(bits));\n"
	"\tsign = bits >> 48 & 0x8000;\n"
	"\tpower = (int)(bits >> 52 & 0x7ff) - 1023;\n"
	"\tbits &= 0xfffffffffffffULL;\n"
	"\tif (power == 1024) {\n"
	"\t\t*out = (uint16_t)(sign | (bits == 0 ? 0x7c00 : "
	"0x7e00));\n"
	"\t\treturn 1;\n"
	"\t}\n"
	"\tif (power < -25) {\n"
	"\t\t*out = (uint16_t)sign;\n"
	"\t\treturn 1;\n"
	"\t}\n"
	"\tbits |= 1ULL << 52;\n"
	"\tif (power < -14)\n"
	"\t\tshift += -14 - power;\n"
	"\tkept = bits >> shift;\n"
	"\trest = bits & ((1ULL << shift) - 1);\n"
	"\tif (rest > 1ULL << (shift - 1) ||\n"
	"\t    (rest == 1ULL << (shift - 1) && (kept & 1) != 0))\n"
	"\t\tkept++;\n"
	"\tif (power >= -14)\n"
	"\t\tkept += (uint64_t)(power + 14) << 10;\n"
	"\t*out = (uint16_t)(sign | kept);\n"
	"\treturn kept < 0x7c00;\n"
	"}\n";

/* Like Triton's pack_bf16(), which truncates. */
static const char packing_brain[] = "\n"
				    "/* The upper 16 bits of a float. */\n"
				    "static uint16_t @_brain(double value)\n"
				    "{\n"
				    "\tconst float number = (float)value;\n"
				    "\tuint32_t bits = 0;\n"
				    "\n"
				    "\tmemcpy(&bits, &number, sizeof(bits));\n"
				    "\treturn (uint16_t)(bits >> 16);\n"
				    "}\n";

#define OVERFLOWING(name, what)                                                \
	"\n"                                                                   \
	"static long long @" name "(long long a, long long b, int *bad)\n"     \
	"{\n"                                                                  \
	"\tlong long result = 0;\n"                                            \
	"\n"                                                                   \
	"\tif (__builtin_" what "_overflow(a, b, &result))\n"                  \
	"\t\t*bad = 1;\n"                                                      \
	"\treturn result;\n"                                                   \
	"}\n"

static const char dividing[] =
	"\n"
	"/* Negating the smallest number would overflow. */\n"
	"static long long @_divide(long long a, long long b, int *bad)\n"
	"{\n"
	"\tif (b == 0 || (b == -1 && a < -9223372036854775807LL)) {\n"
	"\t\t*bad = 1;\n"
	"\t\treturn 0;\n"
	"\t}\n"
	"\treturn a / b;\n"
	"}\n";

static const char taking_the_rest[] =
	"\n"
	"static long long @_divide_rest(long long a, long long b, int *bad)\n"
	"{\n"
	"\t*bad |= b == 0;\n"
	"\treturn b == 0 || b == -1 ? 0 : a % b;\n"
	"}\n";

static const char *const arithmetic[TKB_GRID_CALL_COUNT] = {
	[TKB_GRID_PLUS] = OVERFLOWING("_plus", "add"),
	[TKB_GRID_MINUS] = OVERFLOWING("_minus", "sub"),
	[TKB_GRID_TIMES] = OVERFLOWING("_times", "mul"),
	[TKB_GRID_DIVIDE] = dividing,
	[TKB_GRID_REST] = taking_the_rest,
};

/* Append `text` with "@" replaced by the function. */
static void add_piece(struct tkb_buf *out, const char *text,
                      const char *function)
{
	while (*text != '\0') {
		const size_t length = strcspn(text, "@");

		tkb_buf_add(out, (struct tkb_bytes){ text, length });
		text += length;
		if (*text == '@') {
			tkb_buf_add_text(out, function);
			text++;
		}
	}
}

static void add_source_text(struct tkb_buf *out, struct tkb_buf *text,
                            const char *function)
{
	tkb_buf_add_byte(text, '\0');
	if (text->failure != 0)
		out->failure = TKB_ERR_NOMEM;
	else
		add_piece(out, (const char *)text->data, function);
}

bool tkb_needs_preparing(const struct tkb_c_launcher *launcher)
{
	return launcher->facts.shared > PORTABLE_SHARED ||
	       launcher->facts.num_ctas > PORTABLE_CLUSTER;
}

bool tkb_passes_type(const struct tkb_c_launcher *launcher, const char *type)
{
	for (size_t i = 0; i < launcher->argument_count; i++) {
		const struct tkb_argument *const item =
			launcher->arguments[i].item;

		if (item->what == TKB_CLASS_FLOAT &&
		    strcmp(item->type->name, type) == 0)
			return true;
	}
	return false;
}

void tkb_print_loading(struct tkb_buf *out,
                       const struct tkb_c_launcher *launcher)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf symbol = TKB_BUF_INIT(TKB_MIB);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_MIB);
	const bool needs_preparing = tkb_needs_preparing(launcher);

	tkb_print_literal(&symbol, tkb_text(launcher->facts.symbol));
	tkb_buf_add_byte(&symbol, '\0');
	if (symbol.failure == 0)
		tkb_print(&text, loading,
		          needs_preparing
		                  ? "static unsigned long long @_prepared; "
		                    "/* a bit for each device */\n"
		                  : "",
		          (const char *)symbol.data,
		          needs_preparing
		                  ? "\t__atomic_store_n(&@_prepared, 0, "
		                    "__ATOMIC_RELEASE);\n"
		                  : "");
	else
		text.failure = symbol.failure;
	add_source_text(out, &text, launcher->function);
}

void tkb_print_preparing(struct tkb_buf *out,
                         const struct tkb_c_launcher *launcher)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf attributes = TKB_BUF_INIT(TKB_MIB);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_MIB);

	if (!tkb_needs_preparing(launcher))
		return;
	if (launcher->facts.shared > PORTABLE_SHARED)
		tkb_print(&attributes, prepare_attribute,
		          "MAX_DYNAMIC_SHARED_SIZE_BYTES",
		          launcher->facts.shared);
	if (launcher->facts.num_ctas > PORTABLE_CLUSTER)
		tkb_print(&attributes, prepare_attribute,
		          "NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1u);
	tkb_buf_add_byte(&attributes, '\0');
	if (attributes.failure == 0)
		tkb_print(&text, preparing, (const char *)attributes.data);
	else
		text.failure = attributes.failure;
	add_source_text(out, &text, launcher->function);
}

void tkb_print_helpers(struct tkb_buf *out,
                       const struct tkb_c_launcher *launcher)
{
	if (tkb_passes_type(launcher, "fp16"))
		add_piece(out, packing_half, launcher->function);
	if (tkb_passes_type(launcher, "bf16"))
		add_piece(out, packing_brain, launcher->function);
	for (size_t i = 0; i < TKB_GRID_CALL_COUNT; i++) {
		if ((launcher->grid.calls >> i & 1) != 0)
			add_piece(out, arithmetic[i], launcher->function);
	}
}
