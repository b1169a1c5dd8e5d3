/* SPDX-License-Identifier: Apache-2.0 */
#include "stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cache/elf.h"
#include "compile/compiler/tools_file.h"

#include "worker/fail.h"
#include "ir/ir.h"
#include "toolchain/ptx.h"

enum {
	NAME_SIZE = 1024,
	TOOLS_SIZE = 3 * CUDA_PATH_SIZE
};

/* One job's way through the stages. */
struct work {
	struct stages *stages;
	const struct order *order;
	const struct tkb_sink *log;
	struct tkb_buf llir;
	struct tkb_buf ptx;
	struct tkb_buf cubin;
	struct tkb_buf seen;  /* fields: where ptxas was looked for */
	uint32_t ptx_version; /* that is taken; 0: none is known */
	char kernel[NAME_SIZE];
	char tools[TOOLS_SIZE]; /* for people */
};

static void work_release(struct work *work)
{
	tkb_buf_release(&work->llir);
	tkb_buf_release(&work->ptx);
	tkb_buf_release(&work->cubin);
	tkb_buf_release(&work->seen);
}

void stages_release(struct stages *stages)
{
	nvjitlink_close(&stages->nvjitlink);
	nvrtc_close(&stages->nvrtc);
}

static void note_tool(struct work *work, const char *name, const char *version,
                      const char *path)
{
	const size_t used = strlen(work->tools);

	(void)snprintf(work->tools + used, sizeof(work->tools) - used,
	               "%s%s %s%s%s%s", used == 0 ? "" : ", ", name, version,
	               path == NULL ? "" : " (", path == NULL ? "" : path,
	               path == NULL ? "" : ")");
}

/*
 * --libdevice, $TRITON_LIBDEVICE_PATH, or the toolkit's; NULL: none. In `room` is
 * where the toolkit's would be, if that was looked for.
 */
static const char *choose_libdevice(const struct order *order,
                                    char room[CUDA_PATH_SIZE])
{
	const char *named = order->libdevice;

	room[0] = '\0';
	if (named == NULL)
		named = cuda_variable("TRITON_LIBDEVICE_PATH");
	if (named == NULL &&
	    cuda_find_file("nvvm/libdevice/libdevice.10.bc", room))
		named = room;
	return named;
}

static int make_ptx_of_ir(struct work *work, struct tkb_error *err)
{
	const struct order *order = work->order;
	char libdevice[CUDA_PATH_SIZE];
	const struct ir_options options = {
		.arch = order->arch,
		.ptx_version = work->ptx_version,
		.kernel = order->kernel,
		.libdevice = choose_libdevice(order, libdevice),
		.finalize = &order->finalize,
		.is_optimized = order->is_optimized,
		.is_fusion_off = order->is_fusion_off,
		.is_llir_only = order->product == TKB_PRODUCT_LLIR,
		.is_bitcode = order->is_bitcode,
	};
	const struct ir_products products = {
		.llir = tkb_buf_sink(&work->llir),
		.ptx = tkb_buf_sink(&work->ptx),
		.kernel = work->kernel,
	};

	note_tool(work, "LLVM", ir_version(), NULL);
	return ir_compile(order->source, &options, work->log, &products, err);
}

static int make_ptx_of_cuda(struct work *work, struct tkb_error *err)
{
	const struct order *order = work->order;
	struct nvrtc *nvrtc = &work->stages->nvrtc;
	const struct tkb_sink ptx = tkb_buf_sink(&work->ptx);
	const struct nvrtc_request wanted = {
		.path = order->name == NULL ? "source.cu" : order->name,
		.arch = order->arch,
		.kernel = order->kernel,
		.options = order->nvrtc_options.items,
		.option_count = order->nvrtc_options.count,
		.is_fusion_off = order->is_fusion_off,
		.is_line_info_off = order->is_line_info_off,
	};
	char *text;
	int rc;

	rc = nvrtc_open(nvrtc, order->arch, err);
	if (rc < 0)
		return rc;
	note_tool(work, "NVRTC", nvrtc->version, nvrtc->library.path);
	if (memchr(order->source.data, '\0', order->source.size) != NULL)
		return fail(err, TKB_ERR_INVALID, "the source has a NUL in it");
	text = strndup(order->source.data, order->source.size);
	if (text == NULL)
		return fail(err, TKB_ERR_NOMEM, "out of memory");
	rc = nvrtc_compile(nvrtc, &wanted, text, &ptx, work->log, work->kernel,
	                   err);
	free(text);
	return rc;
}

/*
 * What there is to compile with, whether it is needed or not. To open NVRTC takes
 * a while.
 */
static int name_tools(struct work *work)
{
	struct nvrtc *nvrtc = &work->stages->nvrtc;
	struct tkb_error ignored;

	if (ir_version()[0] != '\0')
		note_tool(work, "LLVM", ir_version(), NULL);
	if (!work->order->no_nvrtc &&
	    nvrtc_open(nvrtc, work->order->arch, &ignored) == 0)
		note_tool(work, "NVRTC", nvrtc->version, nvrtc->library.path);
	return 0;
}

static int make_ptx(struct work *work, struct tkb_error *err)
{
	switch (work->order->input) {
	case TKB_INPUT_LLIR:
		return make_ptx_of_ir(work, err);
	case TKB_INPUT_CUDA:
		return make_ptx_of_cuda(work, err);
	case TKB_INPUT_PTX:
		tkb_buf_add(&work->ptx, work->order->source);
		return tkb_buf_check(&work->ptx, err);
	case TKB_INPUT_NONE:
		break;
	}
	return name_tools(work);
}

static int link_ptx(struct work *work, const struct tkb_sink *cubin,
                    struct tkb_error *err)
{
	const struct order *order = work->order;
	const struct nvjitlink_request wanted = {
		.arch = order->arch,
		.options = order->ptxas_options.items,
		.option_count = order->ptxas_options.count,
		.is_fusion_off = order->is_fusion_off,
		.is_line_info_off = order->is_line_info_off,
	};

	return nvjitlink_compile(&work->stages->nvjitlink, &wanted,
	                         tkb_buf_bytes(&work->ptx), cubin, work->log,
	                         err);
}

static int assemble_ptx(struct work *work, const struct tkb_sink *cubin,
                        struct tkb_error *err)
{
	const struct order *order = work->order;
	const struct ptxas_request wanted = {
		.tool = &work->stages->ptxas,
		.arch = order->arch,
		.file = order->input == TKB_INPUT_PTX ? order->name : NULL,
		.options = order->ptxas_options.items,
		.option_count = order->ptxas_options.count,
		.is_fusion_off = order->is_fusion_off,
		.is_line_info_off = order->is_line_info_off,
	};

	return ptxas_compile(&wanted, tkb_buf_bytes(&work->ptx), cubin,
	                     work->log, err);
}

/* What a tool made is believed only after a look. */
static int make_cubin(struct work *work, struct tkb_error *err)
{
	const struct order *order = work->order;
	const struct tkb_sink cubin = tkb_buf_sink(&work->cubin);
	int rc;

	rc = order->with_nvjitlink ? link_ptx(work, &cubin, err)
	                           : assemble_ptx(work, &cubin, err);
	return rc < 0 ? rc
	              : tkb_elf_check_cubin(tkb_buf_bytes(&work->cubin),
	                                    "the cubin that was made",
	                                    strtoul(order->arch, NULL, 10),
	                                    work->kernel, err);
}

static void add_bytes_field(struct tkb_buf *fields, enum tkb_field field,
                            const struct tkb_buf *bytes)
{
	if (bytes->size != 0)
		tkb_field_add(fields, field, tkb_buf_bytes(bytes));
}

static void add_text_field(struct tkb_buf *fields, enum tkb_field field,
                           const char *text)
{
	if (text[0] != '\0')
		tkb_field_add_text(fields, field, text);
}

/* What is asked with TKB_INPUT_NONE alone, and all that the answer stands on. */
static void add_seen(struct tkb_buf *fields, const struct work *work)
{
	const struct stages *stages = work->stages;
	char room[CUDA_PATH_SIZE];
	const char *libdevice = choose_libdevice(work->order, room);

	tkb_field_add_text(fields, TKB_FIELD_LIBDEVICE,
	                   libdevice == NULL ? "" : libdevice);
	if (libdevice != NULL || room[0] != '\0')
		tkb_tool_file_add(fields, libdevice == NULL ? room : libdevice);
	tkb_buf_add(fields, tkb_buf_bytes(&work->seen));
	if (work->order->with_nvjitlink)
		tkb_buf_add(fields,
		            tkb_buf_bytes(&stages->nvjitlink.library.seen));
	if (!work->order->no_nvrtc)
		tkb_buf_add(fields, tkb_buf_bytes(&stages->nvrtc.library.seen));
}

static int answer(const struct work *work, const struct tkb_sink *sink,
                  struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf fields = TKB_BUF_INIT(SIZE_MAX / 2);
	const struct stages *stages = work->stages;
	const bool with_nvjitlink = work->order->with_nvjitlink;
	int rc;

	add_text_field(&fields, TKB_FIELD_KERNEL, work->kernel);
	add_bytes_field(&fields, TKB_FIELD_LLIR, &work->llir);
	add_bytes_field(&fields, TKB_FIELD_PTX, &work->ptx);
	add_bytes_field(&fields, TKB_FIELD_CUBIN, &work->cubin);
	add_text_field(&fields, TKB_FIELD_LLVM, ir_version());
	add_text_field(&fields, TKB_FIELD_NVRTC, stages->nvrtc.version);
	if (work->ptx_version != 0 && with_nvjitlink)
		add_text_field(&fields, TKB_FIELD_NVJITLINK,
		               stages->nvjitlink.version);
	else if (work->ptx_version != 0)
		add_text_field(&fields, TKB_FIELD_PTXAS_VERSION,
		               stages->ptxas.version);
	if (work->order->input == TKB_INPUT_NONE)
		add_seen(&fields, work);
	add_text_field(&fields, TKB_FIELD_TOOLS, work->tools);
	rc = tkb_buf_check(&fields, err);
	return rc < 0 ? rc
	              : sink->write(sink->self, tkb_buf_bytes(&fields), err);
}

/*
 * What makes the cubin tells which PTX it takes, so it is asked first. Where no
 * cubin is wanted, nobody needs to be there.
 */
static int find_assembler(struct work *work, struct tkb_error *err)
{
	const struct order *order = work->order;
	const bool is_needed = order->product == TKB_PRODUCT_CUBIN;
	struct stages *stages = work->stages;
	int rc;

	if (order->product == TKB_PRODUCT_LLIR)
		return 0;
	if (order->with_nvjitlink) {
		rc = nvjitlink_open(&stages->nvjitlink, order->arch, err);
		work->ptx_version = rc < 0 ? 0 : stages->nvjitlink.ptx_version;
		return is_needed ? rc : 0;
	}
	rc = ptxas_find(&stages->ptxas, order->ptxas, order->arch, &work->seen,
	                err);
	work->ptx_version = rc < 0 ? 0 : stages->ptxas.ptx_version;
	return is_needed || rc != TKB_ERR_UNSUPPORTED ? rc : 0;
}

static void note_assembler(struct work *work)
{
	const struct stages *stages = work->stages;

	if (work->ptx_version == 0)
		return;
	if (work->order->with_nvjitlink)
		note_tool(work, "nvJitLink", stages->nvjitlink.version,
		          stages->nvjitlink.library.path);
	else
		note_tool(work, "ptxas", stages->ptxas.version,
		          stages->ptxas.path);
}

/* The stage before may know it by now, where it has another name in the PTX. */
static int find_kernel(struct work *work, struct tkb_error *err)
{
	const char *wanted = work->order->kernel;
	char found[NAME_SIZE];
	int rc;

	if (work->kernel[0] != '\0')
		wanted = work->kernel;
	rc = ptx_find_kernel(tkb_buf_bytes(&work->ptx), wanted, found, err);
	if (rc == 0)
		memcpy(work->kernel, found, sizeof(found));
	return rc;
}

static int run(struct work *work, const struct tkb_sink *sink,
               struct tkb_error *err)
{
	const struct order *order = work->order;
	const bool makes_code = order->input != TKB_INPUT_NONE &&
	                        order->product != TKB_PRODUCT_LLIR;
	int rc;

	rc = find_assembler(work, err);
	if (rc == 0)
		rc = make_ptx(work, err);
	if (rc == 0)
		note_assembler(work);
	if (rc == 0 && makes_code)
		rc = find_kernel(work, err);
	if (rc == 0 && makes_code && order->product == TKB_PRODUCT_CUBIN)
		rc = make_cubin(work, err);
	return rc == 0 ? answer(work, sink, err) : rc;
}

int stages_run(struct stages *stages, const struct order *order,
               const struct tkb_sink *sink, const struct tkb_sink *log,
               struct tkb_error *err)
{
	TKB_AUTO(work_release)
	struct work work = {
		.stages = stages,
		.order = order,
		.log = log,
		.llir = TKB_BUF_INIT(SIZE_MAX / 2),
		.ptx = TKB_BUF_INIT(SIZE_MAX / 2),
		.cubin = TKB_BUF_INIT(SIZE_MAX / 2),
		.seen = TKB_BUF_INIT(TKB_MIB),
	};

	return run(&work, sink, err);
}
