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
#include "worker_sources.h"
#include "toolchain/ptx.h"

enum {
	NAME_SIZE = 1024,
	TOOLS_SIZE = 3 * CUDA_PATH_SIZE
};

/* The state of one job. */
struct work {
	struct stages *stages;
	const struct compile_request *request;
	const struct tkb_sink *log;
	struct tkb_buf llir;
	struct tkb_buf ptx;
	struct tkb_buf cubin;
	struct tkb_buf searched; /* as fields: where ptxas was searched */
	uint32_t ptx_version;    /* newest that the assembler accepts; 0:
	                            unknown */
	char kernel[NAME_SIZE];
	char tools[TOOLS_SIZE]; /* text for messages */
};

static void work_release(struct work *work)
{
	tkb_buf_release(&work->llir);
	tkb_buf_release(&work->ptx);
	tkb_buf_release(&work->cubin);
	tkb_buf_release(&work->searched);
}

void stages_release(struct stages *stages)
{
	nvjitlink_close(&stages->nvjitlink);
	nvrtc_close(&stages->nvrtc);
}

static void add_tool_name(struct work *work, const char *name,
                          const char *version, const char *path)
{
	const size_t used = strlen(work->tools);

	(void)snprintf(work->tools + used, sizeof(work->tools) - used,
	               "%s%s %s%s%s%s", used == 0 ? "" : ", ", name, version,
	               path == NULL ? "" : " (", path == NULL ? "" : path,
	               path == NULL ? "" : ")");
}

/*
 * Choose a libdevice: --libdevice, $TRITON_LIBDEVICE_PATH, or the toolkit's;
 * NULL: none. If the toolkit was searched, `room` has the path that was tried.
 */
static const char *choose_libdevice(const struct compile_request *request,
                                    char room[CUDA_PATH_SIZE])
{
	const char *named = request->libdevice;

	room[0] = '\0';
	if (named == NULL)
		named = tkb_environment("TRITON_LIBDEVICE_PATH");
	if (named == NULL &&
	    cuda_find_file("nvvm/libdevice/libdevice.10.bc", room))
		named = room;
	return named;
}

static struct cuda_options options_for(const struct compile_request *request,
                                       const struct texts *given)
{
	return (struct cuda_options){
		.arch = request->arch,
		.items = given->items,
		.count = given->count,
		.is_fusion_off = request->is_fusion_off,
		.is_line_info_off = request->is_line_info_off,
	};
}

static int ir_to_ptx(struct work *work, struct tkb_error *err)
{
	const struct compile_request *request = work->request;
	char libdevice[CUDA_PATH_SIZE];
	const struct ir_options options = {
		.arch = request->arch,
		.ptx_version = work->ptx_version,
		.kernel = request->kernel,
		.libdevice = choose_libdevice(request, libdevice),
		.finalize = &request->finalize,
		.is_optimized = request->is_optimized,
		.is_fusion_off = request->is_fusion_off,
		.is_llir_only = request->product == TKB_PRODUCT_LLIR,
		.is_bitcode = request->is_bitcode,
	};
	const struct ir_products products = {
		.llir = tkb_buf_sink(&work->llir),
		.ptx = tkb_buf_sink(&work->ptx),
		.kernel = work->kernel,
	};

	add_tool_name(work, "LLVM", ir_version(), NULL);
	return ir_compile(request->source, &options, work->log, &products, err);
}

static int cuda_to_ptx(struct work *work, struct tkb_error *err)
{
	const struct compile_request *request = work->request;
	struct nvrtc *nvrtc = &work->stages->nvrtc;
	const struct tkb_sink ptx = tkb_buf_sink(&work->ptx);
	const struct nvrtc_request wanted = {
		.path = request->name == NULL ? "source.cu" : request->name,
		.kernel = request->kernel,
		.options = options_for(request, &request->nvrtc_options),
	};
	char *text;
	int rc;

	rc = nvrtc_open(nvrtc, request->arch, err);
	if (rc < 0)
		return rc;
	add_tool_name(work, "NVRTC", nvrtc->version, nvrtc->library.path);
	if (memchr(request->source.data, '\0', request->source.size) != NULL)
		return fail(err, TKB_ERR_INVALID, "the source has a NUL in it");
	text = strndup(request->source.data, request->source.size);
	if (text == NULL)
		return fail(err, TKB_ERR_NOMEM, "out of memory");
	rc = nvrtc_compile(nvrtc, &wanted, text, &ptx, work->log, work->kernel,
	                   err);
	free(text);
	return rc;
}

/* Name all available tools, needed or not. NVRTC takes a while to open. */
static int name_tools(struct work *work)
{
	struct nvrtc *nvrtc = &work->stages->nvrtc;
	struct tkb_error ignored;

	if (ir_version()[0] != '\0')
		add_tool_name(work, "LLVM", ir_version(), NULL);
	if (!work->request->is_nvrtc_off &&
	    nvrtc_open(nvrtc, work->request->arch, &ignored) == 0)
		add_tool_name(work, "NVRTC", nvrtc->version,
		              nvrtc->library.path);
	return 0;
}

static int make_ptx(struct work *work, struct tkb_error *err)
{
	switch (work->request->input) {
	case TKB_INPUT_LLIR:
		return ir_to_ptx(work, err);
	case TKB_INPUT_CUDA:
		return cuda_to_ptx(work, err);
	case TKB_INPUT_PTX:
		tkb_buf_add(&work->ptx, work->request->source);
		return tkb_buf_check(&work->ptx, err);
	case TKB_INPUT_NONE:
		break;
	}
	return name_tools(work);
}

static int assemble_ptx(struct work *work, const struct tkb_sink *cubin,
                        struct tkb_error *err)
{
	const struct compile_request *request = work->request;
	const struct ptxas_request wanted = {
		.tool = &work->stages->ptxas,
		.file = request->input == TKB_INPUT_PTX ? request->name : NULL,
		.options = options_for(request, &request->ptxas_options),
	};
	const struct tkb_bytes ptx = tkb_buf_bytes(&work->ptx);

	return request->uses_nvjitlink
	               ? nvjitlink_compile(&work->stages->nvjitlink,
	                                   &wanted.options, ptx, cubin,
	                                   work->log, err)
	               : ptxas_compile(&wanted, ptx, cubin, work->log, err);
}

/* Make the cubin, and check it, whatever tool made it. */
static int make_cubin(struct work *work, struct tkb_error *err)
{
	const struct compile_request *request = work->request;
	const struct tkb_sink cubin = tkb_buf_sink(&work->cubin);
	int rc;

	rc = assemble_ptx(work, &cubin, err);
	return rc < 0 ? rc
	              : tkb_elf_check_cubin(tkb_buf_bytes(&work->cubin),
	                                    "the cubin that was made",
	                                    strtoul(request->arch, NULL, 10),
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

/* Only for TKB_INPUT_NONE: the libdevice, and the files that were searched. */
static void add_dependencies(struct tkb_buf *fields, const struct work *work)
{
	const struct stages *stages = work->stages;
	char room[CUDA_PATH_SIZE];
	const char *libdevice = choose_libdevice(work->request, room);

	tkb_field_add_text(fields, TKB_FIELD_LIBDEVICE,
	                   libdevice == NULL ? "" : libdevice);
	if (libdevice != NULL || room[0] != '\0')
		tkb_tool_file_add(fields, libdevice == NULL ? room : libdevice);
	if (ir_library() != NULL)
		tkb_tool_file_add(fields, ir_library());
	tkb_buf_add(fields, tkb_buf_bytes(&work->searched));
	if (work->request->uses_nvjitlink)
		tkb_buf_add(fields,
		            tkb_buf_bytes(&stages->nvjitlink.library.searched));
	if (!work->request->is_nvrtc_off)
		tkb_buf_add(fields,
		            tkb_buf_bytes(&stages->nvrtc.library.searched));
}

static int write_answer(const struct work *work, const struct tkb_sink *sink,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf fields = TKB_BUF_INIT(SIZE_MAX / 2);
	const struct stages *stages = work->stages;
	const bool uses_nvjitlink = work->request->uses_nvjitlink;
	char build[IR_BUILD_SIZE];
	int rc;

	add_text_field(&fields, TKB_FIELD_KERNEL, work->kernel);
	add_bytes_field(&fields, TKB_FIELD_LLIR, &work->llir);
	add_bytes_field(&fields, TKB_FIELD_PTX, &work->ptx);
	add_bytes_field(&fields, TKB_FIELD_CUBIN, &work->cubin);
	add_text_field(&fields, TKB_FIELD_LLVM, ir_build(build));
	add_text_field(&fields, TKB_FIELD_WORKER, WORKER_SOURCES);
	add_text_field(&fields, TKB_FIELD_NVRTC, stages->nvrtc.version);
	if (work->ptx_version != 0 && uses_nvjitlink)
		add_text_field(&fields, TKB_FIELD_NVJITLINK,
		               stages->nvjitlink.version);
	else if (work->ptx_version != 0)
		add_text_field(&fields, TKB_FIELD_PTXAS_VERSION,
		               stages->ptxas.version);
	if (work->request->input == TKB_INPUT_NONE)
		add_dependencies(&fields, work);
	add_text_field(&fields, TKB_FIELD_TOOLS, work->tools);
	rc = tkb_buf_check(&fields, err);
	return rc < 0 ? rc
	              : sink->write(sink->self, tkb_buf_bytes(&fields), err);
}

/*
 * The tool that makes the cubin determines the PTX version, so it is found
 * first. It may be missing if no cubin is wanted.
 */
static int find_assembler(struct work *work, struct tkb_error *err)
{
	const struct compile_request *request = work->request;
	const bool is_needed = request->product == TKB_PRODUCT_CUBIN;
	struct stages *stages = work->stages;
	int rc;

	if (request->product == TKB_PRODUCT_LLIR)
		return 0;
	if (request->uses_nvjitlink) {
		rc = nvjitlink_open(&stages->nvjitlink, request->arch, err);
		work->ptx_version = rc < 0 ? 0 : stages->nvjitlink.ptx_version;
		return is_needed ? rc : 0;
	}
	rc = ptxas_find(&stages->ptxas, request->ptxas, request->arch,
	                &work->searched, err);
	work->ptx_version = rc < 0 ? 0 : stages->ptxas.ptx_version;
	return is_needed || rc != TKB_ERR_UNSUPPORTED ? rc : 0;
}

static void add_assembler_name(struct work *work)
{
	const struct stages *stages = work->stages;

	if (work->ptx_version == 0)
		return;
	if (work->request->uses_nvjitlink)
		add_tool_name(work, "nvJitLink", stages->nvjitlink.version,
		              stages->nvjitlink.library.path);
	else
		add_tool_name(work, "ptxas", stages->ptxas.version,
		              stages->ptxas.path);
}

/* Find the kernel's name in the PTX, unless an earlier stage has found it. */
static int find_kernel(struct work *work, struct tkb_error *err)
{
	const char *wanted = work->request->kernel;
	char found[NAME_SIZE];
	int rc;

	if (work->kernel[0] != '\0')
		wanted = work->kernel;
	rc = ptx_find_kernel(tkb_buf_bytes(&work->ptx), wanted, found, err);
	if (rc == 0)
		memcpy(work->kernel, found, sizeof(found));
	return rc;
}

static int run_stages(struct work *work, const struct tkb_sink *sink,
                      struct tkb_error *err)
{
	const struct compile_request *request = work->request;
	const bool makes_code = request->input != TKB_INPUT_NONE &&
	                        request->product != TKB_PRODUCT_LLIR;
	int rc;

	rc = find_assembler(work, err);
	if (rc == 0)
		rc = make_ptx(work, err);
	if (rc == 0)
		add_assembler_name(work);
	if (rc == 0 && makes_code)
		rc = find_kernel(work, err);
	if (rc == 0 && makes_code && request->product == TKB_PRODUCT_CUBIN)
		rc = make_cubin(work, err);
	return rc == 0 ? write_answer(work, sink, err) : rc;
}

int stages_run(struct stages *stages, const struct compile_request *request,
               const struct tkb_sink *sink, const struct tkb_sink *log,
               struct tkb_error *err)
{
	TKB_AUTO(work_release)
	struct work work = {
		.stages = stages,
		.request = request,
		.log = log,
		.llir = TKB_BUF_INIT(SIZE_MAX / 2),
		.ptx = TKB_BUF_INIT(SIZE_MAX / 2),
		.cubin = TKB_BUF_INIT(SIZE_MAX / 2),
		.searched = TKB_BUF_INIT(TKB_MIB),
	};

	return run_stages(&work, sink, err);
}
