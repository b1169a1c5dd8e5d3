/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/c_launcher.h>

#include "loop.h"
#include "harness.h"

/* A launcher and a link of it, and what they wrote. */
struct made {
	struct tkb_c_kernel kernel;
	struct tkb_c_header header;
	struct tkb_c_launcher *launcher;
	struct tkb_c_link *link;
	size_t size;
};

static struct made made;

/* Takes what is sent without memory of its own. */
static int count_bytes(void *self, struct tkb_bytes bytes,
                       struct tkb_error *err)
{
	(void)self;
	(void)err;
	made.size += bytes.size;
	return 0;
}

static const struct tkb_sink counter = { .write = count_bytes };

static void set_up(void)
{
	static const char folder[] =
		"h/.triton/cache/"
		"WEOKX6OIUHLVIPV24SSRIZM2DVO7PJG6G5BIT4W6Y4XW6D6VPJAA";

	need_faults();
	unpack("triton-3.6.0-h100", "h");
	made = (struct made){
		.kernel = {
			.struct_size = sizeof(made.kernel),
			.key = "WEOK",
			.metadata = read_file(
				text("%s/add_kernel.json", folder)),
			.cubin = read_file(
				text("%s/add_kernel.cubin", folder)),
			.ptx = read_file(text("%s/add_kernel.ptx", folder)),
			.ttir = read_file(text("%s/add_kernel.ttir", folder)),
		},
	};
}

static int make_launcher(void *self, struct tkb_error *err)
{
	const struct tkb_c_launcher_options options = {
		.struct_size = sizeof(options),
		.signature = "*fp32:16, *fp32:16, *fp32:16, i32, 256",
		.grid = "(n + 255) / 256, n / n, 1",
	};
	int rc;

	(void)self;
	made.launcher = NULL;
	made.size = 0;
	rc = tkb_c_launcher_new(&made.kernel, &options, &made.launcher, err);
	if (rc == 0)
		rc = tkb_c_launcher_write_source(made.launcher, &counter, err);
	if (rc == 0)
		rc = tkb_c_launcher_write_header(made.launcher, &counter, err);
	if (rc != 0)
		tkb_c_launcher_free(made.launcher);
	return rc;
}

static const char *check_size(void *self, enum fault_moment moment)
{
	(void)self;
	if ((moment == FAULT_DONE || moment == FAULT_DONE_YET) &&
	    made.size < 4096)
		return wrong("%zu bytes were written", made.size);
	return NULL;
}

static void release_launcher(void *self)
{
	(void)self;
	tkb_c_launcher_free(made.launcher);
}

TEST(c_launcher_faults, a_launcher_without_memory_is_refused)
{
	const struct fault_call call = { .call = make_launcher,
		                         .check = check_size,
		                         .release = release_launcher };

	set_up();
	fault_each_allocation(&call);
}

static int make_link(void *self, struct tkb_error *err)
{
	int rc;

	(void)self;
	made.link = NULL;
	made.size = 0;
	rc = tkb_c_link_new(&made.header, 1, "all", &made.link, err);
	if (rc == 0)
		rc = tkb_c_link_write_source(made.link, &counter, err);
	if (rc == 0)
		rc = tkb_c_link_write_header(made.link, &counter, err);
	if (rc != 0)
		tkb_c_link_free(made.link);
	return rc;
}

static const char *check_link(void *self, enum fault_moment moment)
{
	(void)self;
	if ((moment == FAULT_DONE || moment == FAULT_DONE_YET) &&
	    made.size < 1024)
		return wrong("%zu bytes were written", made.size);
	return NULL;
}

static void release_link(void *self)
{
	(void)self;
	tkb_c_link_free(made.link);
}

TEST(c_launcher_faults, a_link_without_memory_is_refused)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf buf = TKB_BUF_INIT(TKB_MIB);
	const struct tkb_sink sink = tkb_buf_sink(&buf);
	const struct fault_call call = { .call = make_link,
		                         .check = check_link,
		                         .release = release_link };

	set_up();
	OK(make_launcher(NULL, ERR));
	OK(tkb_c_launcher_write_header(made.launcher, &sink, ERR));
	tkb_c_launcher_free(made.launcher);
	made.header = (struct tkb_c_header){ .name = "h",
		                             .text = tkb_buf_bytes(&buf) };
	fault_each_allocation(&call);
}
