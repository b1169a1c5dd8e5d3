/* SPDX-License-Identifier: Apache-2.0 */
#include "compile_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE "h100/.triton/cache"

const char *counting_ptxas(void)
{
	return write_script("ptxas",
	                    "file=count\n"
	                    "[ \"$1\" != --version ] || file=asked\n"
	                    "echo >>%s/$file\n"
	                    "exec %s \"$@\"\n",
	                    test_folder(), real_ptxas());
}

size_t count_lines(const char *path)
{
	return exists(path) ? count_parts(read_file(path).data, "\n") : 0;
}

struct tkb_compiler *open_compiler(const struct tkb_compiler_options *options)
{
	struct tkb_compiler_options chosen = *options;
	struct tkb_compiler *compiler = NULL;

	if (chosen.worker == NULL)
		chosen.worker = compile_worker();
	if (chosen.ptxas == NULL)
		chosen.ptxas = real_ptxas();
	if (chosen.worker_count == 0)
		chosen.worker_count = 1;
	OK(tkb_compiler_open(&chosen, &compiler, ERR));
	return compiler;
}

struct tkb_compiler *open_answering(const struct tkb_compiler_options *options,
                                    const struct versions *tools)
{
	struct tkb_compiler_options chosen = *options;

	chosen.worker = TKB_TEST_ANSWER_WORKER;
	chosen.ptxas = "/bin/true";
	SYS(setenv("LLVM", tools->llvm, 1));
	SYS(setenv("WORKER", tools->worker_sources, 1));
	SYS(setenv("NVRTC", tools->nvrtc, 1));
	SYS(setenv("PTXAS", tools->ptxas, 1));
	SYS(setenv("NVJITLINK", tools->nvjitlink, 1));
	return open_compiler(&chosen);
}

void need_llvm(void)
{
	COMPILER(compiler) = open_compiler(&DEFAULTS(tkb_compiler_options));
	const char *tools = NULL;

	OK(tkb_compiler_tools(compiler, "cuda:90", TKB_FOREVER, &tools, ERR));
	if (strstr(tools, "LLVM 2") == NULL)
		skip();
}

/* The first key, by name, whose entry is of that kernel. */
const char *path_of(const char *kernel, const char *extension)
{
	if (!exists(CACHE))
		unpack("triton-3.6.0-h100", "h100");
	const char **keys = list(CACHE);
	for (size_t i = 0; keys[i] != NULL; i++) {
		const char *const path = text(CACHE "/%s/%s_kernel.%s", keys[i],
		                              kernel, extension);

		if (exists(path))
			return path;
	}
	fail_msg("there is no %s in the fixtures", kernel);
	return NULL;
}

struct tkb_unit unit_of(const char *kernel, enum tkb_source_kind kind)
{
	const char *const path =
		path_of(kernel, kind == TKB_SOURCE_KIND_PTX ? "ptx" : "llir");

	return CHOSEN(tkb_unit, .name = path, .target = "cuda:90", .kind = kind,
	              .source = read_file(path),
	              .metadata = read_file(path_of(kernel, "json")));
}

struct tkb_unit unit_from(const char *name, enum tkb_source_kind kind,
                          struct tkb_bytes source)
{
	return CHOSEN(tkb_unit, .name = name, .target = "cuda:90", .kind = kind,
	              .source = source);
}

static struct tkb_bytes copy(struct tkb_bytes bytes)
{
	return (struct tkb_bytes){ test_bytes(bytes), bytes.size };
}

struct made try_compile(struct tkb_compiler *compiler,
                        const struct tkb_unit *unit)
{
	COMPILE(compile) = NULL;
	const struct tkb_compiled *compiled = NULL;
	struct made made = { .err = { .status = 0 }, .log = "" };

	made.rc = tkb_compiler_submit(compiler, unit, &compile, &made.err);
	if (made.rc == 0)
		made.rc = tkb_compile_wait(compile, TKB_FOREVER, &compiled,
		                           &made.err);
	if (compile != NULL)
		made.log = test_bytes(tkb_compile_log(compile));
	if (made.rc != 0)
		return made;
	made.key = text("%s", compiled->key);
	made.kernel = text("%s", compiled->kernel);
	made.tools = text("%s", compiled->tools);
	made.maker = text("%s", compiled->maker);
	made.is_hit = compiled->is_hit;
	made.llir = copy(compiled->llir);
	made.ptx = copy(compiled->ptx);
	made.cubin = copy(compiled->cubin);
	return made;
}

struct made compile(struct tkb_compiler *compiler, const struct tkb_unit *unit)
{
	const struct made made = try_compile(compiler, unit);

	CHECK_OK(made.rc, &made.err);
	return made;
}

void must_fail(struct tkb_compiler *compiler, const struct tkb_unit *unit,
               int status, const char *part)
{
	const struct made made = try_compile(compiler, unit);

	CHECK_FAILS(made.rc, status, &made.err, part);
}

const char *key_of(struct tkb_compiler *compiler, const struct tkb_unit *unit)
{
	char key[TKB_ENTRY_KEY_SIZE];

	OK(tkb_compiler_key(compiler, unit, key, ERR));
	return text("%s", key);
}

size_t count_entries(const char *root)
{
	const char **const names = list(root);
	size_t count = 0;

	for (size_t i = 0; names[i] != NULL; i++)
		count += names[i][0] != '.';
	return count;
}

void check_whole(const char *root)
{
	const struct outcome ended = run(program(), "verify", root, NULL);

	CHECK_STR(ended.err, "");
	CHECK_INT(ended.status, 0);
}
