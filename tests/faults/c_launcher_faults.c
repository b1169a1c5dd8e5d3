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
};

static struct made made;

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

static int make_launcher(struct tkb_error *err)
{
	const struct tkb_c_launcher_options options = {
		.struct_size = sizeof(options),
		.signature = "*fp32:16, *fp32:16, *fp32:16, i32, 256",
		.grid = "(n + 255) / 256, n / n, 1",
	};
	int rc;

	made.launcher = NULL;
	rc = tkb_c_launcher_new(&made.kernel, &options, &made.launcher, err);
	if (rc == 0)
		rc = tkb_c_launcher_write_source(made.launcher, &fault_sink,
		                                 err);
	if (rc == 0)
		rc = tkb_c_launcher_write_header(made.launcher, &fault_sink,
		                                 err);
	if (rc != 0)
		tkb_c_launcher_free(made.launcher);
	return rc;
}

static const char *check_size(void)
{
	return fault_sent().size < 4096
	               ? wrong("%zu bytes were written", fault_sent().size)
	               : NULL;
}

static void release_launcher(void)
{
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

static int make_link(struct tkb_error *err)
{
	int rc;

	made.link = NULL;
	rc = tkb_c_link_new(&made.header, 1, "all", &made.link, err);
	if (rc == 0)
		rc = tkb_c_link_write_source(made.link, &fault_sink, err);
	if (rc == 0)
		rc = tkb_c_link_write_header(made.link, &fault_sink, err);
	if (rc != 0)
		tkb_c_link_free(made.link);
	return rc;
}

static const char *check_link(void)
{
	return fault_sent().size < 1024
	               ? wrong("%zu bytes were written", fault_sent().size)
	               : NULL;
}

static void release_link(void)
{
	tkb_c_link_free(made.link);
}

TEST(c_launcher_faults, a_link_without_memory_is_refused)
{
	BUF(buf, TKB_MIB);
	const struct tkb_sink sink = tkb_buf_sink(&buf);
	const struct fault_call call = { .call = make_link,
		                         .check = check_link,
		                         .release = release_link };

	set_up();
	OK(make_launcher(ERR));
	OK(tkb_c_launcher_write_header(made.launcher, &sink, ERR));
	tkb_c_launcher_free(made.launcher);
	made.header = (struct tkb_c_header){ .name = "h",
		                             .text = tkb_buf_bytes(&buf) };
	fault_each_allocation(&call);
}
