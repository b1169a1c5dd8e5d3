/* SPDX-License-Identifier: Apache-2.0 */

/* What is known of tools, from one process to the next. */

#include "compile_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile/pool/fields.h"
#include "compile/compiler/tools_file.h"
#include "compile/compiler/tools_memory.h"

typedef struct tkb_compiler_options options;

static const char memory[] = "root/.tkbundle/tools";

/* A worker that writes a line to "started" for each time it is started. */
static const char *counting_worker(void)
{
	return write_script("worker",
	                    "echo >>%s/started\n"
	                    "exec %s \"$@\"\n",
	                    test_folder(), compile_worker());
}

/* What is known is kept below "root"; `ptxas` may be NULL. */
static options remembering(const char *ptxas)
{
	return OPTIONS(.cache_root = "root", .worker = counting_worker(),
	               .ptxas = ptxas);
}

/* A ptxas that only tells a version. */
static void write_ptxas(const char *folder, const char *version)
{
	make_folders(folder);
	(void)write_script(text("%s/ptxas", folder),
	                   "exec echo release 13.0, V%s\n", version);
}

/* The key of some PTX in a process of its own, so to speak. */
static const char *key_with(const options *chosen)
{
	COMPILER(compiler) = NULL;
	const struct tkb_unit unit = unit_from("some.ptx", TKB_SOURCE_KIND_PTX,
	                                       tkb_text("some PTX"));
	options single = *chosen;

	single.worker_count = 1;
	OK(tkb_compiler_open(&single, &compiler, ERR));
	return key_of(compiler, &unit);
}

/* How often was a worker started for that key? */
static size_t count_starts(const options *chosen, const char **key_out)
{
	const size_t before = count_lines("started");

	*key_out = key_with(chosen);
	return count_lines("started") - before;
}

/* The same again is known. */
static void check_known(const options *chosen, const char *key)
{
	const char *again;

	CHECK_INT(count_starts(chosen, &again), 0);
	CHECK_STR(again, key);
}

/* A worker is asked once. */
static const char *check_new(const options *chosen)
{
	const char *key;

	CHECK_INT(count_starts(chosen, &key), 1);
	check_known(chosen, key);
	return key;
}

TEST(tools_memory, lets_hits_start_no_process)
{
	const options chosen = remembering(counting_ptxas());
	const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);
	const char *told = NULL;

	for (size_t i = 0; i < 3; i++) {
		COMPILER(compiler) = open_compiler(&chosen);
		const char *tools = NULL;

		CHECK_INT(compile(compiler, &unit).is_hit, i != 0);
		OK(tkb_compiler_tools(compiler, "cuda:90", 0, &tools, ERR));
		if (told != NULL)
			CHECK_STR(tools, told);
		told = text("%s", tools);
	}

	CHECK_CONTAINS(told, "ptxas 1");
	CHECK_INT(count_lines("started"), 1);
	CHECK_INT(count_lines("count"), 1);
	CHECK_INT(count_lines("asked"), 1);
	check_whole("root");
}

TEST(tools_memory, is_not_asked_for_where_nothing_is_compiled)
{
	const options chosen = remembering(real_ptxas());
	struct tkb_compiler *compiler = open_compiler(&chosen);

	tkb_compiler_close(compiler);
	CHECK(!exists("started"));
	(void)key_with(&chosen);
	CHECK(!exists("root")); /* nothing is made to remember it */
}

TEST(tools_memory, holds_for_many_targets)
{
	const options chosen = remembering(counting_ptxas());
	const char *const targets[] = { "cuda:80", "cuda:90", "cuda:100" };

	make_folders("root");
	for (size_t i = 0; i < 6; i++) {
		COMPILER(compiler) = open_compiler(&chosen);
		const char *tools = NULL;

		OK(tkb_compiler_tools(compiler, targets[i % 3], TKB_FOREVER,
		                      &tools, ERR));
	}
	CHECK_INT(count_lines("started"), 3);
}

TEST(tools_memory, notices_another_ptxas_at_the_same_path)
{
	const options chosen = remembering("bin/ptxas");
	struct stat status;

	make_folders("root");
	write_ptxas("bin", "13.0.1");
	const char *key = check_new(&chosen);
	SYS(stat("bin/ptxas", &status));

	/* As large, as old, and the same inode. */
	write_ptxas("bin", "13.0.2");
	SYS(utimensat(AT_FDCWD, "bin/ptxas",
	              (struct timespec[]){ status.st_atim, status.st_mtim },
	              0));
	CHECK(strcmp(check_new(&chosen), key) != 0);

	/* Another inode. */
	write_ptxas("new", "13.0.3");
	SYS(rename("new/ptxas", "bin/ptxas"));
	CHECK(strcmp(check_new(&chosen), key) != 0);
}

TEST(tools_memory, notices_a_tool_that_is_gone)
{
	const options chosen = remembering("bin/ptxas");
	const char *tools = NULL;

	make_folders("root");
	write_ptxas("bin", "13.0.1");
	(void)check_new(&chosen);
	SYS(unlink("bin/ptxas"));
	COMPILER(compiler) = open_compiler(&chosen);
	FAILS(tkb_compiler_tools(compiler, "cuda:90", TKB_FOREVER, &tools, ERR),
	      TKB_ERR_IO, "there is no program 'bin/ptxas'");
}

TEST(tools_memory, notices_a_ptxas_that_appears_earlier)
{
	const options chosen = remembering(NULL);

	make_folders("root");
	make_folders("one");
	write_ptxas("two/bin", "13.0.2");
	SYS(setenv("CUDA_HOME", text("%s/one", test_folder()), 1));
	SYS(setenv("CUDA_PATH", text("%s/two", test_folder()), 1));
	const char *key = check_new(&chosen);
	write_ptxas("one/bin", "13.0.1");
	CHECK(strcmp(check_new(&chosen), key) != 0);
	SYS(unsetenv("CUDA_HOME"));
	SYS(unsetenv("CUDA_PATH"));
}

TEST(tools_memory, notices_a_ptxas_that_appears_earlier_on_the_path)
{
	const options chosen = remembering(NULL);
	const char *const path = text("%s", getenv("PATH"));

	if (exists("/usr/local/cuda/bin/ptxas"))
		skip(); /* which comes before */
	make_folders("root");
	write_ptxas("two", "13.0.2");
	SYS(setenv("PATH",
	           text("%s/one:%s/two:%s", test_folder(), test_folder(), path),
	           1));
	const char *key = check_new(&chosen);
	write_ptxas("one", "13.0.1");
	CHECK(strcmp(check_new(&chosen), key) != 0);
	SYS(setenv("PATH", path, 1));
}

TEST(tools_memory, is_of_the_environment_that_was)
{
	const options chosen = remembering(NULL);
	const char *const one = text("%s/one/ptxas", test_folder());
	const char *const two = text("%s/two/ptxas", test_folder());
	const char *keys[2];

	make_folders("root");
	write_ptxas("one", "13.0.1");
	write_ptxas("two", "13.0.2");
	SYS(setenv("TRITON_PTXAS_PATH", one, 1));
	keys[0] = check_new(&chosen);
	SYS(setenv("TRITON_PTXAS_PATH", two, 1));
	keys[1] = check_new(&chosen);
	CHECK(strcmp(keys[0], keys[1]) != 0);
	SYS(setenv("TRITON_PTXAS_PATH", one, 1));
	check_known(&chosen, keys[0]);
	SYS(setenv("CUDA_HOME", "/nowhere", 1));
	CHECK_STR(check_new(&chosen), keys[0]);
	SYS(unsetenv("CUDA_HOME"));
	SYS(unsetenv("TRITON_PTXAS_PATH"));
}

TEST(tools_memory, of_a_compiler_is_not_moved_by_the_environment_of_later)
{
	COMPILER(compiler) = NULL;
	const options chosen = { SIZED(chosen), .worker = counting_worker() };
	const char *tools = NULL;

	write_ptxas("one", "13.0.1");
	write_ptxas("two", "13.0.2");
	SYS(setenv("TRITON_PTXAS_PATH", "one/ptxas", 1));
	OK(tkb_compiler_open(&chosen, &compiler, ERR));
	SYS(setenv("TRITON_PTXAS_PATH", "two/ptxas", 1));
	OK(tkb_compiler_tools(compiler, "cuda:90", TKB_FOREVER, &tools, ERR));
	CHECK_CONTAINS(tools, "13.0.1 (one/ptxas)");
	SYS(unsetenv("TRITON_PTXAS_PATH"));
}

TEST(tools_memory, is_of_one_worker_program)
{
	const options chosen = remembering("bin/ptxas");

	make_folders("root");
	write_ptxas("bin", "13.0.1");
	(void)check_new(&chosen);
	(void)counting_worker();
	(void)check_new(&chosen);
}

TEST(tools_memory, that_is_damaged_is_asked_anew_and_replaced)
{
	const options chosen = remembering("bin/ptxas");

	make_folders("root");
	write_ptxas("bin", "13.0.1");
	const char *key = check_new(&chosen);
	edit_file(memory, "13.0.1", "13.0.9");
	CHECK_STR(check_new(&chosen), key);
	write_text(memory, "");
	CHECK_STR(check_new(&chosen), key);
	SYS(unlink(memory));
	SYS(symlink("elsewhere", memory));
	CHECK_STR(check_new(&chosen), key);
	CHECK(!exists("root/.tkbundle/elsewhere"));
}

/* A ptxas that tells what the file "version" says. */
static void script_ptxas(void)
{
	make_folders("bin");
	(void)write_script("bin/ptxas",
	                   "[ \"$1\" != --version ] || exec cat version\n"
	                   "exec %s \"$@\"\n",
	                   real_ptxas());
	write_text("version", "release 13.0, V13.0.1\n");
}

TEST(tools_memory, is_forgotten_where_it_was_wrong)
{
	const options chosen = { SIZED(chosen), .cache_root = "root",
		                 .ptxas = "bin/ptxas" };
	const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);
	struct made made;

	script_ptxas();
	make_folders("root");
	struct tkb_compiler *compiler = open_compiler(&chosen);
	(void)key_of(compiler, &unit);
	tkb_compiler_close(compiler);
	/* It becomes another one, and its file is as it was. */
	write_text("version", "release 13.0, V13.0.2\n");
	for (size_t i = 0; i < 2; i++) {
		compiler = open_compiler(&chosen);
		made = try_compile(compiler, &unit);
		tkb_compiler_close(compiler);
		CHECK_INT(made.rc, i == 0 ? TKB_ERR_UNAVAILABLE : 0);
	}
	CHECK_CONTAINS(made.tools, "13.0.2");
}

TEST(tools_memory, is_not_needed_where_it_cannot_be_written)
{
	const options chosen = remembering("bin/ptxas");
	const char *again;

	make_folders("root");
	write_ptxas("bin", "13.0.1");
	const char *key = check_new(&chosen);
	SYS(unlink(memory));
	CHECK_INT(run("rm", "-r", "root/.tkbundle", NULL).status, 0);
	write_text("root/.tkbundle", "no folder");
	CHECK_INT(count_starts(&chosen, &again), 1);
	CHECK_STR(again, key);
	CHECK_INT(count_starts(&chosen, &again), 1);
	CHECK_STR(again, key);

	SYS(unlink("root/.tkbundle"));
	(void)check_new(&chosen);
	SYS(chmod("root/.tkbundle", 0555));
	SYS(chmod("root", 0555));
	check_known(&chosen, key); /* who may only read, does */
	write_ptxas("bin", "13.0.2");
	CHECK(strcmp(key_with(&chosen), key) != 0);
	SYS(chmod("root", 0755));
	SYS(chmod("root/.tkbundle", 0755));
}

/* A toolkit with the NVRTC of the one that tests have; else they are skipped. */
static void use_nvrtc(void)
{
	const char *const toolkit = getenv("TKB_TEST_CUDA");

	if (toolkit == NULL || !exists(text("%s/lib/libnvrtc.so.13", toolkit)))
		skip();
	make_folders("cuda");
	SYS(symlink(text("%s/lib", toolkit), "cuda/lib"));
	SYS(setenv("CUDA_HOME", text("%s/cuda", test_folder()), 1));
}

/* Does this need a worker? */
static bool compile_cuda(const options *chosen)
{
	const struct tkb_unit unit =
		unit_from("k.cu", TKB_SOURCE_KIND_CUDA,
	                  tkb_text("extern \"C\" __global__ void k() {}\n"));
	COMPILER(compiler) = open_compiler(chosen);
	const size_t before = count_lines("started");
	const char *tools = NULL;

	OK(tkb_compiler_tools(compiler, "cuda:90", TKB_FOREVER, &tools, ERR));
	CHECK(strstr(tools, "NVRTC") == NULL);
	struct made made = compile(compiler, &unit);
	if (!made.is_hit)
		CHECK_CONTAINS(made.tools, "NVRTC 13.");
	return count_lines("started") != before;
}

TEST(tools_memory, has_nvrtc_where_cuda_is_compiled)
{
	const options chosen = remembering(counting_ptxas());

	use_nvrtc();
	CHECK(compile_cuda(&chosen));
	CHECK(!compile_cuda(&chosen));
	CHECK(!compile_cuda(&chosen));

	/* One that would come first, if it were one. */
	make_folders("cuda/lib64");
	write_text("cuda/lib64/libnvrtc.so.13", "no library");
	CHECK(compile_cuda(&chosen));
	CHECK(!compile_cuda(&chosen));
	SYS(unsetenv("CUDA_HOME"));
}

/* An answer that stands on the file "tool"; and what it is the answer to. */
static struct tkb_bytes answer_of(const char *version)
{
	struct tkb_buf *buf = test_buf(4096);

	tkb_field_add_text(buf, TKB_FIELD_PTXAS_VERSION, version);
	tkb_tool_file_add(buf, "tool");
	tkb_tool_file_add(buf, "absent");
	return tkb_buf_bytes(buf);
}

static struct tkb_digest question_of(unsigned number)
{
	return digest_of((struct tkb_bytes){ &number, sizeof(number) });
}

static void remember(unsigned number, struct tkb_bytes answer)
{
	struct tkb_buf *fresh = test_buf(TKB_MIB);
	const struct tkb_digest query = question_of(number);

	tkb_tools_note(fresh, &query, answer);
	tkb_tools_remember("root", tkb_buf_bytes(fresh));
}

/* Is the answer to `number` known? It must be this one then. */
static bool is_known(unsigned number, struct tkb_bytes answer)
{
	BUF(buf, TKB_MIB);
	const struct tkb_digest query = question_of(number);

	if (!tkb_tools_recall("root", &query, &buf))
		return false;
	CHECK(tkb_bytes_equal(tkb_buf_bytes(&buf), answer));
	return true;
}

TEST(tools_memory, does_not_believe_a_damaged_byte)
{
	make_folders("root");
	write_text("tool", "a tool");
	struct tkb_bytes answer = answer_of("1");
	remember(1, answer);
	CHECK(is_known(1, answer));
	CHECK(!is_known(2, answer));
	struct tkb_bytes whole = read_file(memory);
	for (size_t i = 0; i < whole.size; i++) {
		char *damaged = test_bytes(whole);

		damaged[i] ^= (char)(1u << i % 8);
		write_file(memory, (struct tkb_bytes){ damaged, whole.size });
		CHECK(!is_known(1, answer));
		write_file(memory, (struct tkb_bytes){ whole.data, i });
		CHECK(!is_known(1, answer));
	}
	write_file(memory, whole);
	CHECK(is_known(1, answer));
}

/* The memory holds `body`, with a digest that is right. */
static void forge(struct tkb_bytes body)
{
	static const char magic[] = "tkbundle tools 1\n";
	BUF(file, TKB_MIB);
	const struct tkb_digest digest = digest_of(body);

	tkb_buf_add_text(&file, magic);
	tkb_buf_add(&file, (struct tkb_bytes){ &digest, sizeof(digest) });
	tkb_buf_add(&file, body);
	write_file(memory, tkb_buf_bytes(&file));
}

TEST(tools_memory, does_not_believe_what_somebody_else_made_of_it)
{
	const struct tkb_digest query = question_of(1);
	BUF(body, TKB_MIB);

	make_folders("root/.tkbundle");
	write_text("tool", "a tool");
	struct tkb_bytes answer = answer_of("1");
	tkb_field_add(&body, TKB_FIELD_QUERY,
	              (struct tkb_bytes){ &query, sizeof(query) });
	tkb_field_add(&body, TKB_FIELD_ANSWER, answer);
	forge(tkb_buf_bytes(&body));
	CHECK(is_known(1, answer));

	size_t size = body.size;
	for (size_t i = 0; i < size; i++) {
		forge((struct tkb_bytes){ body.data, i });
		CHECK(!is_known(1, answer));
	}
	for (size_t i = 0; i < answer.size; i++) {
		/* Some cuts leave whole fields, but none of all files. */
		tkb_buf_reset(&body);
		tkb_field_add(&body, TKB_FIELD_QUERY,
		              (struct tkb_bytes){ &query, sizeof(query) });
		tkb_field_add(&body, TKB_FIELD_ANSWER,
		              tkb_bytes_slice(answer, 0, i));
		forge(tkb_buf_bytes(&body));
		if (is_known(1, tkb_bytes_slice(answer, 0, i)))
			CHECK(i > answer.size - 16);
	}
}

TEST(tools_memory, wants_every_file_as_it_was)
{
	make_folders("root");
	write_text("tool", "a tool");
	struct tkb_bytes answer = answer_of("1");
	remember(1, answer);
	CHECK(is_known(1, answer));
	write_text("absent", "");
	CHECK(!is_known(1, answer));
	SYS(unlink("absent"));
	CHECK(is_known(1, answer));
	SYS(chmod("tool", 0700));
	CHECK(!is_known(1, answer));
}

TEST(tools_memory, does_not_keep_what_stands_on_nothing)
{
	const char *const fields = "nothing";

	make_folders("root");
	remember(1, (struct tkb_bytes){ fields, 0 });
	remember(1, tkb_text(fields));
	CHECK(!exists(memory));
}

TEST(tools_memory, is_bounded_and_keeps_the_newest)
{
	char version[3000];

	make_folders("root");
	write_text("tool", "a tool");
	memset(version, 'v', sizeof(version) - 1);
	version[sizeof(version) - 1] = '\0';
	struct tkb_bytes answer = answer_of(version);
	for (unsigned i = 0; i < 100; i++)
		remember(i, answer);
	for (unsigned i = 0; i < 100; i++)
		CHECK_INT(is_known(i, answer), i >= 36);
	CHECK(read_file(memory).size < 250 * TKB_KIB);

	/* What is learnt anew takes the place of what was. */
	answer = answer_of("2");
	remember(50, answer);
	CHECK(is_known(50, answer));
	CHECK(!is_known(35, answer));
	answer = answer_of(version);
	CHECK(is_known(36, answer));
}

TEST(tools_memory, is_whole_while_several_write_it)
{
	pid_t children[4];
	size_t known = 0;

	make_folders("root");
	write_text("tool", "a tool");
	struct tkb_bytes answer = answer_of("1");
	remember(0, answer);
	for (unsigned i = 0; i < 4; i++) {
		children[i] = must_fork();
		for (unsigned j = 0; children[i] == 0 && j < 50; j++)
			remember(i, answer);
		if (children[i] == 0)
			_exit(0);
	}
	for (unsigned i = 0; i < 200; i++)
		CHECK(strncmp(read_file(memory).data, "tkbundle tools", 14) ==
		      0);
	for (unsigned i = 0; i < 4; i++)
		CHECK_INT(end_of(children[i]), 0);
	for (unsigned i = 0; i < 4; i++)
		known += is_known(i, answer);
	CHECK(known != 0);
	CHECK_INT(count_names("root/.tkbundle"), 2); /* and the lock */
}
