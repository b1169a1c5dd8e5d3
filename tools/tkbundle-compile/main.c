/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The worker program: one stage of a compile after another, for a pool. It is the
 * only one that has LLVM in it, which ends the process on some input; libtkbundle
 * starts it, and nobody else has a use for it.
 */

#include <tkbundle/pool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "ir.h"
#include "nvrtc.h"
#include "order.h"
#include "ptx.h"
#include "ptxas.h"

/* What is found out once and kept from job to job. */
struct compiler {
	struct ptxas ptxas;
	struct nvrtc *nvrtc; /* owned */
};

/* One job's way through the stages. */
struct work {
	struct compiler *compiler;
	const struct order *order;
	const struct tkb_sink *log;
	struct tkb_buf ptx;
	struct tkb_buf cubin;
	char kernel[1024]; /* its name */
	const char *llvm;  /* versions; NULL: not asked */
	const char *nvrtc;
	char tools[5000];
};

static void work_release(struct work *work)
{
	tkb_buf_release(&work->ptx);
	tkb_buf_release(&work->cubin);
}

static int add_bytes(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	struct tkb_buf *buf = self;

	tkb_buf_add(buf, bytes);
	return tkb_buf_check(buf, err);
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

static int make_ptx_of_ir(struct work *work, struct tkb_error *err)
{
	const struct order *order = work->order;
	const struct tkb_sink ptx = { add_bytes, &work->ptx };
	const struct ir_options options = {
		.arch = order->arch,
		.ptx_version = work->compiler->ptxas.ptx_version,
		.kernel = order->kernel,
		.libdevice = order->libdevice,
		.is_optimized = order->is_optimized,
		.no_fusion = order->no_fusion,
	};

	note_tool(work, "LLVM", ir_version(), NULL);
	return ir_compile(order->source, &options, &ptx, work->kernel, err);
}

static int make_ptx_of_cuda(struct work *work, struct tkb_error *err)
{
	const struct order *order = work->order;
	const struct tkb_sink ptx = { add_bytes, &work->ptx };
	const struct nvrtc_order wanted = {
		.name = order->name,
		.arch = order->arch,
		.options = order->nvrtc_options.items,
		.option_count = order->nvrtc_options.count,
		.no_fusion = order->no_fusion,
		.no_lines = order->no_lines,
	};
	char *text;
	int rc = 0;

	if (work->compiler->nvrtc == NULL)
		rc = nvrtc_open(&work->compiler->nvrtc, err);
	if (rc < 0)
		return rc;
	note_tool(work, "NVRTC", nvrtc_version(work->compiler->nvrtc), NULL);
	text = strndup(order->source.data, order->source.size);
	if (text == NULL)
		return fail(err, TKB_ERR_NOMEM, "out of memory");
	rc = nvrtc_compile(work->compiler->nvrtc, &wanted, text, &ptx,
	                   work->log, err);
	free(text);
	return rc;
}

/* What could compile, whether it is needed or not. */
static int name_tools(struct work *work)
{
	struct tkb_error ignored;

	work->llvm = ir_version();
	note_tool(work, "LLVM", work->llvm, NULL);
	if (work->compiler->nvrtc != NULL ||
	    nvrtc_open(&work->compiler->nvrtc, &ignored) == 0) {
		work->nvrtc = nvrtc_version(work->compiler->nvrtc);
		note_tool(work, "NVRTC", work->nvrtc, NULL);
	}
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

static int make_cubin(struct work *work, struct tkb_error *err)
{
	const struct order *order = work->order;
	const struct tkb_sink cubin = { add_bytes, &work->cubin };
	const struct ptxas_order wanted = {
		.tool = &work->compiler->ptxas,
		.arch = order->arch,
		.options = order->ptxas_options.items,
		.option_count = order->ptxas_options.count,
		.no_fusion = order->no_fusion,
		.no_lines = order->no_lines,
	};

	return ptxas_compile(&wanted, tkb_buf_bytes(&work->ptx), &cubin,
	                     work->log, err);
}

static int answer(const struct work *work, const struct tkb_sink *sink,
                  struct tkb_error *err)
{
	struct tkb_buf fields = TKB_BUF_INIT(SIZE_MAX / 2);
	int rc;

	if (work->kernel[0] != '\0')
		tkb_field_add_text(&fields, TKB_FIELD_KERNEL, work->kernel);
	if (work->ptx.size != 0)
		tkb_field_add(&fields, TKB_FIELD_PTX,
		              tkb_buf_bytes(&work->ptx));
	if (work->cubin.size != 0)
		tkb_field_add(&fields, TKB_FIELD_CUBIN,
		              tkb_buf_bytes(&work->cubin));
	tkb_field_add_text(&fields, TKB_FIELD_LLVM, work->llvm);
	tkb_field_add_text(&fields, TKB_FIELD_NVRTC, work->nvrtc);
	tkb_field_add_text(&fields, TKB_FIELD_PTXAS_VERSION,
	                   work->compiler->ptxas.version);
	tkb_field_add_text(&fields, TKB_FIELD_TOOLS, work->tools);
	rc = tkb_buf_check(&fields, err);
	if (rc == 0)
		rc = sink->write(sink->self, tkb_buf_bytes(&fields), err);
	tkb_buf_release(&fields);
	return rc;
}

/* The version of PTX is that which ptxas takes, so it is asked first. */
static int compile(struct work *work, const struct tkb_sink *sink,
                   struct tkb_error *err)
{
	const struct order *order = work->order;
	struct ptxas *ptxas = &work->compiler->ptxas;
	int rc;

	rc = ptxas_find(ptxas, order->ptxas, order->arch, err);
	if (rc == 0)
		rc = make_ptx(work, err);
	if (rc == 0)
		note_tool(work, "ptxas", ptxas->version, ptxas->path);
	if (rc == 0 && order->input != TKB_INPUT_NONE)
		rc = ptx_find_kernel(tkb_buf_bytes(&work->ptx), order->kernel,
		                     work->kernel, err);
	if (rc == 0 && order->product == TKB_PRODUCT_CUBIN &&
	    order->input != TKB_INPUT_NONE)
		rc = make_cubin(work, err);
	return rc == 0 ? answer(work, sink, err) : rc;
}

static int handle(void *self, struct tkb_bytes request,
                  const struct tkb_sink *sink, const struct tkb_sink *log,
                  struct tkb_error *err)
{
	struct order order = { .arch = NULL };
	struct work work = {
		.compiler = self,
		.order = &order,
		.log = log,
		.ptx = TKB_BUF_INIT(SIZE_MAX / 2),
		.cubin = TKB_BUF_INIT(SIZE_MAX / 2),
	};
	int rc;

	rc = order_read(request, &order, err);
	if (rc == 0)
		rc = compile(&work, sink, err);
	work_release(&work);
	order_release(&order);
	return rc;
}

int main(int argc, char **argv)
{
	struct compiler compiler = { .nvrtc = NULL };
	const struct tkb_worker_handler handler = { handle, &compiler };
	struct tkb_error err = { .status = 0 };
	int rc;

	ir_start(argc > 1 && strcmp(argv[1], "--print-after-all") == 0);
	rc = tkb_worker_serve(&handler, &err);
	nvrtc_close(compiler.nvrtc);
	if (rc == 0)
		return 0;
	(void)fprintf(stderr, "tkbundle-compile: %s\n", err.message);
	return 1;
}
