/* SPDX-License-Identifier: Apache-2.0 */
#include "c_launcher_fixture.h"

#define ADD_KERNEL                                                             \
	"h/.triton/cache/WEOKX6OIUHLVIPV24SSRIZM2DVO7PJG6G5BIT4W6Y4XW6D6VPJAA" \
	"/add_kernel"

struct tkb_c_kernel bare_kernel(void)
{
	if (!exists("h"))
		unpack("triton-3.6.0-h100", "h");
	return CHOSEN(tkb_c_kernel, .key = "WEOK",
	              .metadata = read_file(ADD_KERNEL ".json"),
	              .cubin = read_file(ADD_KERNEL ".cubin"));
}

struct tkb_c_kernel whole_kernel(void)
{
	struct tkb_c_kernel kernel = bare_kernel();

	kernel.ptx = read_file(ADD_KERNEL ".ptx");
	kernel.ttir = read_file(ADD_KERNEL ".ttir");
	return kernel;
}

struct tkb_bytes replaced(struct tkb_bytes bytes, const char *from,
                          const char *to)
{
	write_file("replaced", bytes);
	edit_file("replaced", from, to);
	return read_file("replaced");
}

static void free_launcher(void *self)
{
	tkb_c_launcher_free(self);
}

struct tkb_c_launcher *must(const struct tkb_c_kernel *kernel,
                            const struct tkb_c_launcher_options *options)
{
	struct tkb_c_launcher *launcher = NULL;

	OK(tkb_c_launcher_new(kernel, options, &launcher, ERR));
	at_end(free_launcher, launcher);
	return launcher;
}

const char *header_of(const struct tkb_c_launcher *launcher)
{
	BUF(buf, TKB_MIB);
	const struct tkb_sink sink = tkb_buf_sink(&buf);

	OK(tkb_c_launcher_write_header(launcher, &sink, ERR));
	return test_bytes(tkb_buf_bytes(&buf));
}
