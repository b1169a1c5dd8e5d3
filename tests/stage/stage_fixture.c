/* SPDX-License-Identifier: Apache-2.0 */
#include "stage_fixture.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>

/* Where tools are looked for. */
static const char *const tool_variables[] = {
	"CUDA_HOME=/nonexistent",      "CUDA_PATH",
	"TRITON_PTXAS_PATH",           "TRITON_LIBDEVICE_PATH",
	"TRITON_PTXAS_BLACKWELL_PATH",
};

static void write_fields(const struct stage_request *order, struct tkb_buf *out)
{
	tkb_field_add_number(out, TKB_FIELD_INPUT, (uint64_t)order->input);
	tkb_field_add_text(out, TKB_FIELD_ARCH,
	                   order->arch != NULL ? order->arch : "90");
	if (order->product != 0)
		tkb_field_add_number(out, TKB_FIELD_PRODUCT,
		                     (uint64_t)order->product);
	tkb_field_add_text(out, TKB_FIELD_PTXAS, order->ptxas);
	for (size_t i = 0; i < STAGE_FIELDS; i++)
		tkb_field_add_text(out, order->fields[i].field,
		                   order->fields[i].text);
	tkb_field_add(out, TKB_FIELD_SOURCE, order->source);
}

static struct tkb_future *submit(struct tkb_pool *pool,
                                 const struct stage_request *order)
{
	const char *const toolkit = getenv("TKB_TEST_CUDA");
	struct tkb_buf request = TKB_BUF_INIT(SIZE_MAX / 2);
	const char *variables[STAGE_VARIABLES + 6];
	struct tkb_future *future = NULL;
	struct tkb_job job = { SIZED(job), .environment = variables,
		               .timeout_ms = order->timeout_ms };
	size_t count = 0;

	if (order->with_tools && toolkit != NULL)
		variables[count++] = text("CUDA_HOME=%s", toolkit);
	for (size_t i = 0; i < 5 && !order->with_tools; i++)
		variables[count++] = tool_variables[i];
	for (size_t i = 0; i < STAGE_VARIABLES && order->variables[i] != NULL;
	     i++)
		variables[count++] = order->variables[i];
	variables[count] = NULL;
	write_fields(order, &request);
	job.request = tkb_buf_bytes(&request);
	OK(tkb_pool_submit(pool, &job, &future, ERR));
	tkb_buf_release(&request);
	return future;
}

static void keep_field(struct stage_made *made, enum tkb_field field,
                       struct tkb_bytes bytes)
{
	const struct tkb_bytes kept = { test_bytes(bytes), bytes.size };

	if (field == TKB_FIELD_LLIR)
		made->llir = kept;
	else if (field == TKB_FIELD_PTX)
		made->ptx = kept;
	else if (field == TKB_FIELD_CUBIN)
		made->cubin = kept;
	else if (field == TKB_FIELD_KERNEL)
		made->kernel = kept.data;
	else if (field == TKB_FIELD_LLVM)
		made->llvm = kept.data;
	else if (field == TKB_FIELD_WORKER)
		made->worker_sources = kept.data;
	else if (field == TKB_FIELD_NVRTC)
		made->nvrtc = kept.data;
	else if (field == TKB_FIELD_PTXAS_VERSION)
		made->ptxas = kept.data;
	else if (field == TKB_FIELD_NVJITLINK)
		made->nvjitlink = kept.data;
	else if (field == TKB_FIELD_TOOLS)
		made->tools = kept.data;
}

static struct stage_made wait_for(struct tkb_future *future)
{
	struct stage_made made = { .rc = 0 };
	struct tkb_fields fields = { .at = 0 };
	struct tkb_error err = { .status = 0 };
	unsigned field;
	struct tkb_bytes bytes;

	made.rc =
		tkb_future_wait(future, TKB_FOREVER, &fields.bytes, &made.err);
	made.log = test_bytes(tkb_future_log(future));
	while (made.rc == 0 &&
	       tkb_fields_next(&fields, &field, &bytes, &err) == 0)
		keep_field(&made, field, bytes);
	CHECK_INT(err.status, 0);
	tkb_future_free(future);
	return made;
}

void stage_all(const struct stage_request *orders, size_t count,
               struct stage_made *out)
{
	static const char *const print[] = { "--print-after-all", NULL };
	const struct tkb_pool_options options = {
		SIZED(options),
		.worker = orders[0].worker != NULL ? orders[0].worker
		                                   : compile_worker(),
		.worker_count = count < 2 ? 1 : 2,
		.tries = orders[0].tries,
		.arguments = orders[0].has_pass_output ? print : NULL,
	};
	struct tkb_future **futures = test_alloc(count * sizeof(*futures));
	struct tkb_pool *pool = NULL;

	OK(tkb_pool_open(&options, &pool, ERR));
	for (size_t i = 0; i < count; i++)
		futures[i] = submit(pool, &orders[i]);
	for (size_t i = 0; i < count; i++)
		out[i] = wait_for(futures[i]);
	tkb_pool_close(pool);
}

struct stage_made stage(const struct stage_request *order)
{
	struct stage_made made;

	stage_all(order, 1, &made);
	return made;
}

const char *ptx_of(const struct stage_made *made)
{
	CHECK_STR(made->err.message, "");
	CHECK_INT(made->rc, 0);
	return made->ptx.data;
}

void need_llvm(void)
{
	const struct stage_made made = stage(&(struct stage_request){
		.input = TKB_INPUT_NONE, .product = TKB_PRODUCT_PTX });

	if (made.llvm == NULL)
		skip();
}

static int look_for_loader(struct dl_phdr_info *info, size_t size, void *out)
{
	(void)size;
	if (strstr(info->dlpi_name, "/ld-linux") == NULL)
		return 0;
	*(const char **)out = info->dlpi_name;
	return 1;
}

const char *worker_without_cache(void)
{
	const char *loader = NULL;

	(void)dl_iterate_phdr(look_for_loader, &loader);
	if (loader == NULL)
		skip();
	return write_script("worker",
	                    "unset LD_LIBRARY_PATH\n"
	                    "exec %s --inhibit-cache %s \"$@\"\n",
	                    loader, compile_worker());
}

const char *fake_ptxas(const char *body)
{
	return write_script("ptxas",
	                    "if [ \"$1\" = --version ]; then\n"
	                    "	echo release 12.8, V12.8.93\n"
	                    "	exit\n"
	                    "fi\n"
	                    "%s\n",
	                    body);
}

void set_field(struct stage_request *order, size_t index, enum tkb_field field,
               const char *text)
{
	order->fields[index] = (struct stage_field){ field, text };
}

const char **fixture_files(const char *name, const char *ending)
{
	if (!exists(name))
		unpack(name, name);
	return files_below(name, ending);
}
