/* SPDX-License-Identifier: Apache-2.0 */
#include "stage_fixture.h"

#include <ftw.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Where tools are looked for. */
static const char *const tool_variables[] = {
	"CUDA_HOME=/nonexistent",      "CUDA_PATH",
	"TRITON_PTXAS_PATH",           "TRITON_LIBDEVICE_PATH",
	"TRITON_PTXAS_BLACKWELL_PATH",
};

static const char *worker(void)
{
	const char *const path = program();

	return text("%.*s/tkbundle-compile", (int)(strrchr(path, '/') - path),
	            path);
}

static struct tkb_bytes copy(struct tkb_bytes bytes)
{
	char *place = test_alloc(bytes.size + 1);

	if (bytes.size != 0)
		memcpy(place, bytes.data, bytes.size);
	place[bytes.size] = '\0';
	return (struct tkb_bytes){ place, bytes.size };
}

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
	const struct tkb_bytes kept = copy(bytes);

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
	made.log = copy(tkb_future_log(future)).data;
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
		.worker =
			orders[0].worker != NULL ? orders[0].worker : worker(),
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

const char *real_ptxas(void)
{
	const char *const path = getenv("TKB_TEST_PTXAS");

	if (path == NULL)
		skip();
	return path;
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
	return script("worker", text("unset LD_LIBRARY_PATH\n"
	                             "exec %s --inhibit-cache %s \"$@\"",
	                             loader, worker()));
}

const char *script(const char *name, const char *body)
{
	const char *const path = text("%s/%s", test_folder(), name);

	write_text(path, text("#!/bin/sh\n%s\n", body));
	SYS(chmod(path, 0755));
	return path;
}

const char *fake_ptxas(const char *body)
{
	return script("ptxas", text("if [ \"$1\" = --version ]; then\n"
	                            "	echo release 12.8, V12.8.93\n"
	                            "	exit\n"
	                            "fi\n"
	                            "%s",
	                            body));
}

/* What nftw() looks for, and found. */
static const char *wanted_ending;
static const char *found_path;

static int look(const char *path, const struct stat *status, int type,
                struct FTW *where)
{
	const size_t size = strlen(path);
	const size_t length = strlen(wanted_ending);

	(void)status, (void)where;
	if (type != FTW_F || size < length ||
	    strcmp(path + size - length, wanted_ending) != 0)
		return 0;
	found_path = text("%s", path);
	return 1;
}

const char *fixture_file(const char *name, const char *ending)
{
	wanted_ending = ending;
	found_path = NULL;
	if (!exists(name))
		unpack(name, name);
	CHECK_INT(nftw(name, look, 16, FTW_PHYS), 1);
	return found_path;
}

size_t count_words(const char *text, const char *word)
{
	size_t count = 0;

	for (text = strstr(text, word); text != NULL;
	     text = strstr(text + 1, word))
		count++;
	return count;
}
