/* SPDX-License-Identifier: Apache-2.0 */
#include "stage_fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define HEAD ".version 8.0\n.target sm_90a\n.address_size 64\n"
#define ENTRY(name) ".visible .entry " name "() { ret; }\n"

static struct stage_request order_of(const char *ptx)
{
	return (struct stage_request){ .input = TKB_INPUT_PTX,
		                       .source = tkb_text(ptx) };
}

/* A ptxas that writes its arguments to the file "said" and then does `body`. */
static struct stage_request faked(const char *body)
{
	struct stage_request order = order_of(HEAD ENTRY("k"));

	order.ptxas = fake_ptxas(
		text("for word; do echo \"<$word>\"; done >%s/said\n%s",
	             test_folder(), body));
	order.tries = 1;
	return order;
}

static const char *said(void)
{
	return read_file("said").data;
}

TEST(stage_cubin, comes_of_ptx_by_a_real_ptxas)
{
	struct stage_request order = order_of(HEAD ENTRY("k"));

	order.ptxas = real_ptxas();
	struct stage_made made = stage(&order);

	CHECK_INT(made.rc, 0);
	CHECK_STR(made.kernel, "k");
	CHECK(memcmp(made.cubin.data, "\177ELF", 4) == 0);
	CHECK(memcmp(made.ptx.data, order.source.data, made.ptx.size) == 0);
	CHECK_CONTAINS(made.log, "Compiling entry function 'k' for 'sm_90a'");
	CHECK_STR(made.tools, text("ptxas %s (%s)", made.ptxas, order.ptxas));
}

TEST(stage_cubin, of_what_ptxas_refuses_is_answered_in_its_words)
{
	struct stage_request order =
		order_of(HEAD ".visible .entry k() { frobnicate; }\n");

	order.ptxas = real_ptxas();
	set_field(&order, 0, TKB_FIELD_NAME, "it's here/k.ptx");
	struct stage_made made = stage(&order);

	CHECK_STAGE_FAILED(made, TKB_ERR_INVALID,
	                   "ptxas exited with status 255: ptxas /dev/stdin, "
	                   "line 4; ");
	CHECK_CONTAINS(made.log, "Ptx assembly aborted due to errors");
	CHECK_CONTAINS(made.log,
	               text("to repeat it:\n%s -lineinfo -v "
	                    "--gpu-name=sm_90a 'it'\\''s here/k.ptx' -o "
	                    "kernel.cubin\n",
	                    order.ptxas));
}

TEST(stage_cubin, whose_ptx_was_made_here_is_repeated_by_writing_that_first)
{
	struct stage_request order =
		order_of("define ptx_kernel void @k() {\n"
	                 "  call void asm sideeffect \"frobnicate;\", \"\"()\n"
	                 "  ret void\n"
	                 "}\n");

	need_llvm();
	order.input = TKB_INPUT_LLIR;
	order.ptxas = fake_ptxas("echo 'ptxas error: no' >&2; exit 3");
	set_field(&order, 0, TKB_FIELD_NAME, "k.ll");
	struct stage_made made = stage(&order);

	CHECK_STAGE_FAILED(made, TKB_ERR_INVALID,
	                   "ptxas exited with status 3: ptxas error: no");
	CHECK_CONTAINS(made.log,
	               text("ptxas error: no\n"
	                    "to repeat it, compile the same with --emit ptx "
	                    "-o kernel.ptx, and then:\n"
	                    "%s -lineinfo -v --gpu-name=sm_90a kernel.ptx -o "
	                    "kernel.cubin\n",
	                    order.ptxas));
}

TEST(stage_cubin, is_asked_for_with_the_options_that_triton_gives)
{
	struct stage_request order = faked("exit 1");

	(void)stage(&order);
	CHECK_STR(said(), "<-lineinfo>\n<-v>\n<--gpu-name=sm_90a>\n"
	                  "</dev/stdin>\n<-o>\n</dev/stdout>\n");

	set_field(&order, 0, TKB_FIELD_LINE_INFO_OFF, "1");
	set_field(&order, 1, TKB_FIELD_PTXAS_OPTION, "--opt-level");
	set_field(&order, 2, TKB_FIELD_PTXAS_OPTION, "0 1");
	order.arch = "80";
	(void)stage(&order);
	CHECK_STR(said(), "<-v>\n<--opt-level>\n<0 1>\n<--gpu-name=sm_80>\n"
	                  "</dev/stdin>\n<-o>\n</dev/stdout>\n");

	set_field(&order, 0, TKB_FIELD_FUSION_OFF, "1");
	(void)stage(&order);
	CHECK_STR(said(), "<-lineinfo>\n<--fmad=false>\n<-v>\n"
	                  "<--opt-level>\n<0 1>\n<--gpu-name=sm_80>\n"
	                  "</dev/stdin>\n<-o>\n</dev/stdout>\n");
}

TEST(stage_cubin, from_a_ptxas_that_a_signal_ends_fails_with_its_name)
{
	const struct stage_request order = faked("kill -SEGV $$");
	const struct stage_made made = stage(&order);

	CHECK_STAGE_FAILED(made, TKB_ERR_INVALID,
	                   "ptxas was killed by signal 11 (Segmentation "
	                   "fault): no output");
	CHECK_CONTAINS(made.log, "to repeat it");
}

TEST(stage_cubin, from_a_ptxas_that_makes_none_is_refused)
{
	static const struct {
		const char *script;
		const char *says;
	} cases[] = {
		{ "exit 0", "ptxas succeeded, but made nothing" },
		{ "echo 'no cubin'", "ptxas succeeded, but made no cubin" },
		{ "exec cat /dev/zero >&2",
		  "ptxas was killed: it wrote more than 128 MiB" },
	};

	EACH(i, cases) {
		const struct stage_request order = faked(cases[i].script);

		CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID, cases[i].says);
	}
	const struct stage_request order =
		faked("printf '\\177ELF and nothing more'");
	const struct stage_made made = stage(&order);
	CHECK(made.rc < 0);
	CHECK_CONTAINS(made.err.message, "the cubin that was made");
}

TEST(stage_cubin, for_another_gpu_or_kernel_is_refused)
{
	struct stage_request order = order_of(HEAD ENTRY("k"));

	order.ptxas = fake_ptxas(text("exec %s --gpu-name=sm_90a "
	                              "%s/other.ptx -o /dev/stdout",
	                              real_ptxas(), test_folder()));
	write_text("other.ptx", HEAD ENTRY("other"));
	struct stage_made made = stage(&order);
	CHECK(made.rc < 0);
	CHECK_CONTAINS(made.err.message, "'k'");

	write_text("other.ptx", HEAD ENTRY("k"));
	order.arch = "80";
	made = stage(&order);
	CHECK(made.rc < 0);
	CHECK_CONTAINS(made.err.message, "80");
}

/* Milliseconds. */
TEST(stage_cubin, from_a_ptxas_that_hangs_fails_in_time_and_leaves_no_process)
{
	struct stage_request order =
		faked(text("echo $$ >%s/pid; exec sleep 1000", test_folder()));
	const uint64_t begin = now_ms();

	order.timeout_ms = 500;
	CHECK_STAGE_FAILS(&order, TKB_ERR_UNAVAILABLE, "500 ms");
	CHECK(now_ms() - begin < 20000);
	pid_t pid = (pid_t)atoi(read_file("pid").data);
	CHECK(pid > 1);
	for (size_t i = 0; i < 200 && kill(pid, 0) == 0; i++)
		(void)usleep(10000);
	CHECK(kill(pid, 0) < 0);
}

TEST(stage_cubin, leaves_no_file_and_opens_none_for_ptxas_but_its_three)
{
	struct stage_request order = faked(text(
		"ls /proc/self/fd | wc -l >%s/count; exit 1", test_folder()));

	make_folders("temporary");
	order.variables[0] = text("TMPDIR=%s/temporary", test_folder());
	(void)stage(&order);
	CHECK_INT(atoi(read_file("count").data), 4); /* and that of ls */
	CHECK_INT(count_names("temporary"), 0);

	order.ptxas = real_ptxas();
	CHECK_INT(stage(&order).rc, 0);
	CHECK_INT(count_names("temporary"), 0);
}

/* Which of them is taken: "ptxas VERSION (PATH)". */
static const char *taken(const struct stage_request *order)
{
	const struct stage_made made = stage(order);

	CHECK_INT(made.rc, 0);
	return strstr(made.tools, "ptxas ");
}

static const char *versioned(const char *name, const char *version)
{
	return write_script(name, "echo release %s, V%s.1\n", version, version);
}

TEST(stage_cubin, ptxas_is_the_named_one_then_tritons_then_the_toolkits)
{
	struct stage_request order = { .input = TKB_INPUT_NONE };
	const char *const folder = test_folder();

	make_folders("home/bin");
	make_folders("path/bin");
	(void)versioned("home/bin/ptxas", "12.1");
	(void)versioned("path/bin/ptxas", "12.2");
	order.variables[0] = text("CUDA_HOME=%s/home", folder);
	order.variables[1] = text("CUDA_PATH=%s/path", folder);
	CHECK_STR(taken(&order),
	          text("ptxas 12.1.1 (%s/home/bin/ptxas)", folder));

	order.variables[0] = "CUDA_HOME=";
	CHECK_STR(taken(&order),
	          text("ptxas 12.2.1 (%s/path/bin/ptxas)", folder));

	order.variables[2] =
		text("TRITON_PTXAS_PATH=%s", versioned("triton", "12.3"));
	order.variables[3] = text("TRITON_PTXAS_BLACKWELL_PATH=%s",
	                          versioned("blackwell", "12.9"));
	CHECK_STR(taken(&order), text("ptxas 12.3.1 (%s/triton)", folder));

	order.arch = "100";
	CHECK_STR(taken(&order), text("ptxas 12.9.1 (%s/blackwell)", folder));

	order.variables[3] = "TRITON_PTXAS_BLACKWELL_PATH";
	CHECK_STR(taken(&order), text("ptxas 12.3.1 (%s/triton)", folder));

	order.ptxas = versioned("named", "13.5");
	CHECK_STR(taken(&order), text("ptxas 13.5.1 (%s/named)", folder));
}

TEST(stage_cubin, a_named_ptxas_that_is_not_there_is_not_replaced)
{
	struct stage_request order = { .input = TKB_INPUT_NONE };

	order.ptxas = "/nonexistent/ptxas";
	CHECK_STAGE_FAILS(&order, TKB_ERR_IO,
	                  "there is no program '/nonexistent/ptxas'");

	order.ptxas = NULL;
	order.variables[0] = "TRITON_PTXAS_PATH=/nonexistent/it";
	CHECK_STAGE_FAILS(&order, TKB_ERR_IO,
	                  "there is no program '/nonexistent/it'");

	order.variables[0] = text("TRITON_PTXAS_PATH=%s", test_folder());
	CHECK_STAGE_FAILS(&order, TKB_ERR_IO, "there is no program '");

	order.ptxas = write_script("other", "echo I am something else\n");
	CHECK_STAGE_FAILS(&order, TKB_ERR_IO,
	                  "does not print a version like ptxas");
}

TEST(stage_cubin, a_ptxas_is_asked_for_its_version_once_until_it_changes)
{
	const char *const path = write_script(
		"counted", "echo >>%s/asked; echo release 12.8, V12.8.93\n",
		test_folder());
	const struct stage_request order = { .input = TKB_INPUT_NONE,
		                             .ptxas = path };
	struct stage_request orders[2] = { order, order };
	struct stage_made made[2];

	orders[1].arch = "80";
	stage_all(orders, 1, made);
	CHECK_INT(read_file("asked").size, 1);
	for (size_t i = 0; i < 2; i++)
		orders[i].tries = 1;
	stage_all(orders, 2, made);
	CHECK(read_file("asked").size <= 3);
}

TEST(stage_cubin, ptx_must_have_one_kernel_or_the_one_that_is_named)
{
	struct stage_request order = order_of(
		HEAD "// .entry comment()\n/* .entry other() */\n" ENTRY("a")
			ENTRY("b") "\t.file\t1 \"x.entry y\"\n");

	order.product = TKB_PRODUCT_PTX;
	order.ptxas = fake_ptxas("exit 1");
	CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID,
	                  "the PTX has several kernels: name one of a, b");

	set_field(&order, 0, TKB_FIELD_KERNEL, "b");
	struct stage_made made = stage(&order);
	CHECK_INT(made.rc, 0);
	CHECK_STR(made.kernel, "b");

	order.fields[0].text = "comment";
	CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID,
	                  "the PTX has no kernel 'comment', but a, b");

	order = order_of(HEAD "// .entry a()\n");
	order.ptxas = fake_ptxas("exit 1");
	CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID, "the PTX has no kernel");
}

/* An order for nvJitLink; without it, the test is skipped. */
static struct stage_request linked(const char *ptx)
{
	struct stage_request order = order_of(ptx);

	order.with_tools = true;
	set_field(&order, 0, TKB_FIELD_WITH_NVJITLINK, "1");
	order.ptxas = "/nonexistent/ptxas"; /* is not looked for */
	order.input = TKB_INPUT_NONE;
	struct stage_made made = stage(&order);
	if (made.rc == TKB_ERR_UNSUPPORTED)
		skip();
	order.input = TKB_INPUT_PTX;
	return order;
}

static bool has_same_cubin(const struct stage_made *a,
                           const struct stage_made *b)
{
	CHECK_INT(a->rc, 0);
	CHECK_INT(b->rc, 0);
	return tkb_bytes_equal(a->cubin, b->cubin);
}

TEST(stage_cubin, comes_of_ptx_by_nvjitlink_without_any_ptxas)
{
	const struct stage_request order = linked(HEAD ENTRY("k"));
	const struct stage_made made = stage(&order);
	const struct stage_made again = stage(&order);

	CHECK_STR(made.err.message, "");
	CHECK(memcmp(made.cubin.data, "\177ELF", 4) == 0);
	CHECK(made.ptxas == NULL);
	CHECK_INT(count_parts(made.nvjitlink, "."), 2);
	CHECK_CONTAINS(made.tools, text("nvJitLink %s (/", made.nvjitlink));
	CHECK_CONTAINS(made.log, "ptxas info");
	CHECK(has_same_cubin(&made, &again));
}

TEST(stage_cubin, of_what_nvjitlink_refuses_is_answered_in_its_words)
{
	struct stage_request order =
		linked(HEAD ".visible .entry k() { frobnicate; }\n");
	struct stage_made made = stage(&order);

	CHECK_STAGE_FAILED(made, TKB_ERR_INVALID,
	                   "nvJitLink (error 4): ptxas application ptx "
	                   "input, line 4; ");
	CHECK_CONTAINS(made.log, "Ptx assembly aborted due to errors");

	order = linked(HEAD ENTRY("k"));
	set_field(&order, 1, TKB_FIELD_PTXAS_OPTION, "--frobnicate");
	CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID, "frobnicate");
}

TEST(stage_cubin, options_of_ptxas_reach_nvjitlink)
{
	struct stage_request order =
		linked(HEAD ".visible .entry k(.param .u64 p) {\n"
	                    ".reg .f32 %f<4>;\n.reg .b64 %rd;\n"
	                    "ld.param.b64 %rd, [p];\n"
	                    "ld.global.f32 %f0, [%rd];\n"
	                    "ld.global.f32 %f1, [%rd+4];\n"
	                    "mul.f32 %f2, %f0, %f1;\nadd.f32 %f3, %f2, %f1;\n"
	                    "st.global.f32 [%rd], %f3;\nret;\n}\n");
	const struct stage_made fused = stage(&order);

	set_field(&order, 1, TKB_FIELD_FUSION_OFF, "1");
	struct stage_made made = stage(&order);
	CHECK(!has_same_cubin(&made, &fused));

	set_field(&order, 1, TKB_FIELD_PTXAS_OPTION, "--fmad=false");
	struct stage_made other = stage(&order);
	CHECK(has_same_cubin(&made, &other));

	set_field(&order, 1, TKB_FIELD_LINE_INFO_OFF, "1");
	made = stage(&order);
	CHECK_INT(made.rc, 0);
	CHECK(made.cubin.size < fused.cubin.size);
}

TEST(stage_cubin, without_nvjitlink_is_refused_in_one_sentence)
{
	struct stage_request order = order_of(HEAD ENTRY("k"));

	set_field(&order, 0, TKB_FIELD_WITH_NVJITLINK, "1");
	struct stage_made made = stage(&order);
	if (made.rc == 0)
		skip();
	CHECK_STAGE_FAILED(made, TKB_ERR_UNSUPPORTED,
	                   "there is no nvJitLink of CUDA 12 or 13, not "
	                   "even in '/nonexistent'");
}
