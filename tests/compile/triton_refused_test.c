/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "triton_compile_fixture.h"

/* What Triton or its worker cannot do: a sentence, and the rest goes on. */

TEST(triton_refused, each_item_that_makes_no_sense_is_named)
{
	static const struct {
		const char *signature;
		const char *part;
	} cases[] = {
		{ "*fp33:16, *fp32:16, i32, 128",
		  "item 1 of the signature, '*fp33:16', is neither a type nor "
		  "a "
		  "constant; types are bf16 fp16 fp32 fp64 " },
		{ "*fp32:16, *fp32:8, i32, 128",
		  "item 2 of the signature, '*fp32:8', has a hint that is "
		  "neither 1 nor 16" },
		{ "*fp32:1, *fp32:16, i32, 128",
		  "item 1 of the signature, '*fp32:1', is a pointer, whose "
		  "only "
		  "hint is 16" },
		{ "*fp32, *fp32, fp32:16, 128",
		  "'fp32:16', is a floating-point number, which has no hint" },
		{ "*fp32, *fp32, u1:16, 128",
		  "'u1:16', is a truth value, which has no hint" },
		{ "*fp32, *fp32, i32, i32", "item 4 of the signature, 'i32', "
		                            "is not a constant, and 'SIZE' "
		                            "is a tl.constexpr" },
		{ "*fp32, , i32, 128", "item 2 of the signature is empty" },
		{ "*fp32, *fp32, i32, 'a",
		  "a quote in the signature is not closed" },
		{ "*fp32, *fp32, i32",
		  "the signature has 3 items, and 'copy_kernel' has 4 "
		  "parameters: x, out, n, SIZE" },
		{ "*fp32, *fp32, tl.load, 128",
		  "'tl.load', is neither a type nor a constant" },
		{ "*fp32, *fp32, **i32, 128",
		  "'**i32', is neither a type nor a constant" },
	};
	TRITON(triton) = open_triton_for(copy_kernel);

	EACH(i, cases)
		must_fail(triton, "copy_kernel", cases[i].signature,
		          TKB_ERR_INVALID, cases[i].part);
	CHECK(!exists("cache"));
}

TEST(triton_refused, a_kernel_that_is_not_there_is_named_and_those_that_are)
{
	TRITON(triton) = open_triton_for(text("SIZE = 3\n\n\n%s", copy_kernel));

	must_fail(triton, "cpy_kernel", "i32", TKB_ERR_INVALID,
	          "'kernels.py' has no kernel 'cpy_kernel'; there are: "
	          "'copy_kernel'");
	must_fail(triton, "SIZE", "i32", TKB_ERR_INVALID,
	          "'SIZE' of 'kernels.py' is not a Triton kernel");
}

TEST(triton_refused, a_file_that_cannot_be_run_is_named)
{
	static const struct {
		const char *contents;
		const char *part;
		const char *log;
	} cases[] = {
		{ "1 +\n", "'kernels.py' cannot be run: SyntaxError: invalid",
		  "1 +" },
		{ "1 / 0\n",
		  "'kernels.py' cannot be run: ZeroDivisionError: division by "
		  "zero",
		  "line 5, in <module>" },
		{ "import nothing_such\n",
		  "ModuleNotFoundError: No module named 'nothing_such'",
		  "Traceback" },
		{ "import sys; sys.exit('no\\a more')\n",
		  "'kernels.py' cannot be run: SystemExit: no\\x07 more",
		  "Traceback" },
	};

	need_triton(TRITON_USUAL);
	TRITON(triton) = open_triton();
	const struct made missed = make_kernel(triton, "copy_kernel", "i32");

	CHECK_INT(missed.rc, TKB_MISS);
	CHECK_INT(missed.err.status, 0);
	EACH(i, cases) {
		write_kernels(cases[i].contents);
		struct made made =
			make_kernel(triton, "copy_kernel", COPY_SIGNATURE);
		CHECK_FAILS(made.rc, TKB_ERR_INVALID, &made.err, cases[i].part);
		CHECK_CONTAINS(made.log, cases[i].log);
	}
}

TEST(triton_refused, what_does_not_compile_is_told_in_tritons_words)
{
	TRITON(triton) = open_triton_for("@triton.jit\n"
	                                 "def bad_kernel(out):\n"
	                                 "    tl.store(out, unknown_name)\n");

	struct made made = make_kernel(triton, "bad_kernel", "*i32:16");

	CHECK_FAILS(made.rc, TKB_ERR_INVALID, &made.err,
	            "'bad_kernel' does not compile: at 2:18: "
	            "NameError('unknown_name is not defined')");
	CHECK_CONTAINS(made.log, "    tl.store(out, unknown_name)\n"
	                         "                  ^\n");
}

/* Its path comes with the kernel: the worker knew another one before. */
TEST(triton_refused, what_ptxas_refuses_is_told_whole)
{
	need_triton(TRITON_USUAL);
	write_kernels(copy_kernel);
	(void)write_script("ptxas",
	                   "if [ \"$1\" = --version ]; then\n"
	                   "echo 'Cuda compilation tools, release 12.8, "
	                   "V12.8.93'\n"
	                   "else\n"
	                   "echo 'ptxas fatal   : of its own' >&2\n"
	                   "exit 255\n"
	                   "fi\n");
	TRITON(triton) = open_triton();
	(void)must_make(triton, "copy_kernel", "*fp32, *fp32, i32, 128");

	SYS(setenv("TRITON_PTXAS_PATH", text("%s/ptxas", test_folder()), 1));
	struct made made = make_kernel(triton, "copy_kernel", COPY_SIGNATURE);
	SYS(unsetenv("TRITON_PTXAS_PATH"));

	CHECK_FAILS(made.rc, TKB_ERR_INVALID, &made.err,
	            "'copy_kernel' does not compile: PTXASError: "
	            "PTXAS error: Internal Triton PTX codegen error");
	CHECK_CONTAINS(made.log, "ptxas fatal   : of its own");
	CHECK_CONTAINS(made.log, ".visible .entry copy_kernel(");
	CHECK(!must_make(triton, "copy_kernel", COPY_SIGNATURE).is_hit);
}

TEST(triton_refused, a_crash_costs_only_its_own_kernel)
{
	need_triton(TRITON_USUAL);
	TRITON(triton) = open_triton();
	write_kernels("import os\nos.write(2, b'last words')\nos._exit(7)\n");
	struct made made = make_kernel(triton, "copy_kernel", COPY_SIGNATURE);
	CHECK_FAILS(made.rc, TKB_ERR_UNAVAILABLE, &made.err,
	            "exited with status 7");
	CHECK_CONTAINS(made.log, "last words");

	write_kernels(copy_kernel);
	CHECK(!must_make(triton, "copy_kernel", COPY_SIGNATURE).is_hit);
}

TEST(triton_refused, a_file_that_hangs_is_ended)
{
	need_triton(TRITON_USUAL);
	TRITON(triton) = open_triton_of(&CHOSEN(
		tkb_triton_options, .worker_count = 1, .timeout_ms = 300));
	write_kernels("while True:\n    pass\n");

	struct made made = make_kernel(triton, "copy_kernel", COPY_SIGNATURE);

	CHECK_FAILS(made.rc, TKB_ERR_UNAVAILABLE, &made.err,
	            "was not done after 300 ms");
}

/* Its prints are the log's; what it closes or changes is put back. */
TEST(triton_refused, a_file_cannot_disturb_its_worker)
{
	need_triton(TRITON_USUAL);
	TRITON(triton) = open_triton();
	write_kernels(text("import os, sys\n"
	                   "print('from the file')\n"
	                   "os.write(1, b'%%d below it\\n' %% os.getpid())\n"
	                   "sys.stdout = sys.stderr = None\n"
	                   "for fd in range(3):\n"
	                   "    os.close(fd)\n"
	                   "os.environ['TRITON_DISABLE_LINE_INFO'] = '0'\n"
	                   "os.environ['HOME'] = '/nowhere'\n"
	                   "os.chdir('/')\n"
	                   "sys.path.clear()\n\n\n%s",
	                   copy_kernel));
	struct made made = make_kernel(triton, "copy_kernel", COPY_SIGNATURE);
	CHECK_OK(made.rc, &made.err);
	CHECK_CONTAINS(made.log, "from the file\n");
	CHECK_CONTAINS(made.log, " below it\n");

	write_kernels(text("import os, json.tool\n"
	                   "print(os.getpid(), os.getcwd(), "
	                   "os.environ['HOME'])\n\n\n%s",
	                   copy_kernel));
	long pid = atol(made.log);
	made = make_kernel(triton, "copy_kernel", COPY_SIGNATURE);
	CHECK_OK(made.rc, &made.err);
	CHECK_STR(made.log,
	          text("%ld %s %s\n", pid, test_folder(), getenv("HOME")));
}

/* A Python that runs `arguments` of the usual one. */
static const char *write_python(const char *arguments)
{
	return write_script("python", "exec %s %s \"$@\"\n", triton_python,
	                    arguments);
}

TEST(triton_refused, a_python_without_triton_is_named)
{
	struct tkb_triton_options options = { SIZED(options),
		                              .worker_count = 1 };

	need_triton(TRITON_USUAL);
	write_kernels(copy_kernel);
	options.python = write_python("-S");
	TRITON(triton) = open_triton_of(&options);

	struct made made = make_kernel(triton, "copy_kernel", COPY_SIGNATURE);

	CHECK_FAILS(made.rc, TKB_ERR_UNSUPPORTED, &made.err,
	            text("'%s' has no Triton", triton_python));
}

TEST(triton_refused, a_triton_that_is_too_old_or_broken_is_named)
{
	static const struct {
		const char *contents;
		const char *part;
	} cases[] = {
		{ "__version__ = '2.1.0'\n",
		  "Triton '2.1.0' of '" TKB_VENV
		  "/bin/python3' is not supported; 3.0 is the oldest that is" },
		{ "raise ImportError('libsuch.so.1')\n",
		  "Triton cannot be imported: ImportError: libsuch.so.1" },
	};
	struct tkb_triton_options options = { SIZED(options),
		                              .worker_count = 1 };

	need_triton(TRITON_USUAL);
	write_kernels(copy_kernel);
	SYS(mkdir("fake", 0777));
	SYS(setenv("PYTHONPATH", text("%s/fake", test_folder()), 1));
	EACH(i, cases) {
		write_text("fake/triton.py", cases[i].contents);
		TRITON(triton) = open_triton_of(&options);
		struct made made =
			make_kernel(triton, "copy_kernel", COPY_SIGNATURE);
		CHECK_FAILS(made.rc, TKB_ERR_UNSUPPORTED, &made.err,
		            cases[i].part);
	}
}

TEST(triton_refused, what_is_no_python_is_said)
{
	write_kernels(copy_kernel);
	TRITON(triton) = open_triton_of(&CHOSEN(
		tkb_triton_options, .python = "/bin/true", .worker_count = 1));
	must_fail(triton, "copy_kernel", COPY_SIGNATURE, TKB_ERR_UNAVAILABLE,
	          "'/bin/true' exited with status 0");
}

TEST(triton_refused, pythons_are_looked_for)
{
	const char *path = text("%s", getenv("PATH"));
	struct tkb_triton_options options = { SIZED(options),
		                              .worker = triton_worker };
	struct tkb_triton *triton = NULL;

	options.python = "no-such-python";
	FAILS(tkb_triton_open(&options, &triton, ERR), TKB_ERR_IO,
	      "there is no 'no-such-python' on $PATH");
	options.python = "./python3";
	FAILS(tkb_triton_open(&options, &triton, ERR), TKB_ERR_IO,
	      "there is no Python at './python3'");
	make_folders("venv/bin");
	SYS(symlink("/bin/true", "venv/bin/python3"));
	SYS(symlink("/bin/true", "venv/bin/python7"));

	options.python = NULL;
	SYS(setenv("VIRTUAL_ENV", text("%s/venv", test_folder()), 1));
	OK(tkb_triton_open(&options, &triton, ERR));
	CHECK_STR(tkb_triton_python(triton),
	          text("%s/venv/bin/python3", test_folder()));
	tkb_triton_close(triton);
	SYS(unsetenv("VIRTUAL_ENV"));

	options.python = "python7";
	SYS(setenv("PATH", text("/nowhere::%s/venv/bin", test_folder()), 1));
	OK(tkb_triton_open(&options, &triton, ERR));
	CHECK_STR(tkb_triton_python(triton),
	          text("%s/venv/bin/python7", test_folder()));
	tkb_triton_close(triton);
	SYS(setenv("PATH", path, 1));
}

static bool is_alive(long pid)
{
	const char *path = text("/proc/%ld/stat", pid);
	char contents[512] = "";
	FILE *file;

	file = fopen(path, "re");
	if (file == NULL)
		return false;
	contents[fread(contents, 1, sizeof(contents) - 1, file)] = '\0';
	(void)fclose(file);
	const char *state = strrchr(contents, ')');
	return state != NULL && state[2] != 'Z';
}

/* At most 10 s. */
static bool wait_for(bool (*is_so)(long), long pid, bool wanted)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };

	for (int i = 0; i < 500 && is_so(pid) != wanted; i++)
		(void)nanosleep(&pause, NULL);
	return is_so(pid) == wanted;
}

/* Does anybody of that process group live? */
static bool has_group(long pid)
{
	for (const char **names = list("/proc"); *names != NULL; names++) {
		if (strspn(*names, "0123456789") != strlen(*names) ||
		    getpgid((pid_t)atol(*names)) != (pid_t)pid ||
		    !is_alive(atol(*names)))
			continue;
		return true;
	}
	return false;
}

static bool has_begun(long nothing)
{
	(void)nothing;
	return exists("begun") && read_file("begun").size > 0;
}

/* A process that dies while a worker runs a file that ends in `rest`. */
static void check_orphan(const char *rest, bool has_heir)
{
	int heir[2];

	need_triton(TRITON_USUAL);
	write_kernels(text("import ctypes, os, subprocess, time\n"
	                   "subprocess.Popen(['sleep', '600'])\n"
	                   "with open('begun.tmp', 'w') as file:\n"
	                   "    file.write(str(os.getpid()))\n"
	                   "os.rename('begun.tmp', 'begun')\n%s\n",
	                   rest));
	SYS(pipe(heir));
	pid_t owner = must_fork();
	if (owner == 0) {
		struct tkb_triton *triton = open_triton();
		char byte;

		/* It lives as long as the test, and holds what is open. */
		if (has_heir && fork() == 0) {
			(void)close(heir[1]);
			(void)!read(heir[0], &byte, 1);
			_exit(0);
		}
		(void)close(heir[1]);
		(void)make_kernel(triton, "copy_kernel", COPY_SIGNATURE);
		_exit(0);
	}
	CHECK(wait_for(has_begun, 0, true));
	long pid = atol(read_file("begun").data);
	CHECK(is_alive(pid));

	SYS(kill(owner, SIGKILL));

	(void)end_of(owner);
	CHECK(wait_for(has_group, pid, false));
	(void)close(heir[0]);
	(void)close(heir[1]);
}

/* Triton may keep the interpreter's lock while it compiles: no thread runs. */
TEST(triton_refused, a_worker_ends_with_its_pool_whatever_it_does)
{
	check_orphan("ctypes.PyDLL(None).sleep(600)", false);
}

TEST(triton_refused, a_worker_ends_though_somebody_holds_its_socket)
{
	check_orphan("time.sleep(600)", true);
}
