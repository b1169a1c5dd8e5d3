/* SPDX-License-Identifier: Apache-2.0 */

/*
 * All steps at once. Kernels of plain arithmetic are run on this machine, before
 * and after; those of the fixtures must still become PTX.
 */

#include "finalize_fixture.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>

enum {
	ROWS = 8,
	INPUT_SIZE = 64,
	ROUNDS = 2000
};

/* What a GPU's instruction does, in terms of this machine. */
static const char *model(const char *kinds, const char *first,
                         const char *second)
{
	return text("define i32 @model.%s(i32 %%a, i32 %%b, i32 %%c) {\n"
	            "  %%v = bitcast i32 %%a to <4 x i8>\n"
	            "  %%w = bitcast i32 %%b to <4 x i8>\n"
	            "  %%x = %s <4 x i8> %%v to <4 x i32>\n"
	            "  %%y = %s <4 x i8> %%w to <4 x i32>\n"
	            "  %%m = mul <4 x i32> %%x, %%y\n"
	            "  %%s = call i32 @llvm.vector.reduce.add.v4i32("
	            "<4 x i32> %%m)\n"
	            "  %%r = add i32 %%s, %%c\n"
	            "  ret i32 %%r\n"
	            "}\n",
	            kinds, first, second);
}

static const char *models(void)
{
	return text("%s%s%sdeclare i32 @llvm.vector.reduce.add.v4i32("
	            "<4 x i32>)\n",
	            model("s.s", "sext", "sext"), model("s.u", "sext", "zext"),
	            model("u.u", "zext", "zext"));
}

static const char *const kernels[] = {
	"rows",     "columns", "loop",   "unsigned",     "mixed", "pair",
	"dynamic",  "odd",     "masked", "vector",       "wide",  "table",
	"stateful", "overlap", "floats", "float_columns"
};

typedef void (*kernel_function)(int32_t row, const void *input, int32_t *out);

static void replace(LLVMModuleRef module, const char *name, const char *model)
{
	LLVMValueRef intrinsic = LLVMGetNamedFunction(module, name);

	if (intrinsic != NULL)
		LLVMReplaceAllUsesWith(intrinsic,
		                       LLVMGetNamedFunction(module, model));
}

/* Make of a module for a GPU one for this machine. */
static void move_here(LLVMContextRef context, LLVMModuleRef module)
{
	AUTO_LLVM_MESSAGE triple = LLVMGetDefaultTargetTriple();

	LLVMSetTarget(module, triple);
	LLVMSetDataLayout(module, "");
	CHECK_INT(
		LLVMLinkModules2(module, parse_ir(context, tkb_text(models()))),
		0);
	replace(module, "llvm.nvvm.idp4a.s.s", "model.s.s");
	replace(module, "llvm.nvvm.idp4a.s.u", "model.s.u");
	replace(module, "llvm.nvvm.idp4a.u.u", "model.u.u");
	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;
	     at = LLVMGetNextFunction(at)) {
		if (!LLVMIsDeclaration(at))
			LLVMSetFunctionCallConv(at, LLVMCCallConv);
	}
}

static LLVMExecutionEngineRef make_runner(LLVMModuleRef module)
{
	AUTO_LLVM_MESSAGE message = NULL;
	LLVMExecutionEngineRef engine = NULL;

	LLVMLinkInMCJIT();
	CHECK_INT(LLVMInitializeNativeTarget(), 0);
	CHECK_INT(LLVMInitializeNativeAsmPrinter(), 0);
	if (LLVMCreateMCJITCompilerForModule(&engine, module, NULL, 0,
	                                     &message))
		fail_msg("%s", message);
	return engine;
}

static kernel_function find(LLVMExecutionEngineRef engine, const char *name)
{
	const uint64_t address = LLVMGetFunctionAddress(engine, name);
	kernel_function out = NULL;

	CHECK(address != 0);
	memcpy(&out, &address, sizeof(out));
	return out;
}

static uint32_t random_number(void)
{
	static uint32_t state = 12345;

	state = state * 1664525 + 1013904223;
	return state >> 8;
}

/* Bytes of all kinds: any, and the ends of their range. */
static void fill(signed char input[INPUT_SIZE])
{
	static const signed char edges[] = { -128, -127, -1, 0, 1, 127 };
	const bool has_edges = random_number() % 4 == 0;

	for (size_t i = 0; i < INPUT_SIZE; i++)
		input[i] = has_edges ? edges[random_number() % sizeof(edges)]
		                     : (signed char)random_number();
}

static void compare(LLVMExecutionEngineRef before, LLVMExecutionEngineRef after,
                    const char *name)
{
	const kernel_function old = find(before, name);
	const kernel_function new = find(after, name);
	_Alignas(16) signed char input[INPUT_SIZE];

	for (int round = 0; round < ROUNDS; round++) {
		const int32_t row = (int32_t)(random_number() % ROWS);
		int32_t wanted = 1;
		int32_t got = 2;

		fill(input);
		old(row, input, &wanted);
		new (row, input, &got);
		if (got != wanted)
			fail_msg("%s: row %d: %d, not %d", name, (int)row,
			         (int)got, (int)wanted);
	}
}

static LLVMExecutionEngineRef finalize_here(
	LLVMContextRef context, const struct finalize_request *order,
	const char **log)
{
	LLVMModuleRef module = parse_ir(context, ir_file("run.ll"));

	*log = order == NULL ? "" : finalize_ok(module, nvptx(), order);
	move_here(context, module);
	return make_runner(module);
}

static const char *check_same_results(const struct finalize_request *order)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	const char *log = NULL;
	LLVMExecutionEngineRef before = finalize_here(context, NULL, &log);
	LLVMExecutionEngineRef after = finalize_here(context, order, &log);

	EACH(i, kernels)
		compare(before, after, kernels[i]);
	LLVMDisposeExecutionEngine(before);
	LLVMDisposeExecutionEngine(after);
	return log;
}

TEST(run, all_steps_compute_what_was_computed_before)
{
	const struct finalize_request order = { .is_wanted = true };
	const char *log = check_same_results(&order);

	CHECK_CONTAINS(log, "fold-globals: 17 globals\n");
	CHECK_CONTAINS(log, "resolve-calls: 2 calls\n");
	CHECK_CONTAINS(log, "gather: 38 words\n");
	CHECK_CONTAINS(log, "fuse: 41 rewrites\n");
	CHECK_CONTAINS(log, "prepack: 75 words repacked into 11 tables, 35 "
	                    "words read at once\n");
}

TEST(run, any_step_can_be_left_out)
{
	for (size_t i = 0; i < tkb_finalize_step_count(); i++) {
		const char *name = tkb_finalize_step_name(i);
		const struct finalize_request order = {
			.is_wanted = true,
			.without = { &name, 1 },
		};

		(void)check_same_results(&order);
	}
}

TEST(run, the_result_is_the_same_each_time)
{
	const struct finalize_request order = { .is_wanted = true };
	const char *first = NULL;

	for (int i = 0; i < 5; i++) {
		LLVMModuleRef module = test_module(ir_file("run.ll"));

		(void)finalize_ok(module, nvptx(), &order);
		const char *now = print_ir(module);
		if (first == NULL)
			first = now;
		CHECK_STR(now, first);
	}
}

/* Is there PTX, with one kernel? */
static void check_ptx(LLVMModuleRef module, LLVMTargetMachineRef machine,
                      const char *name)
{
	AUTO_LLVM(LLVMMemoryBufferRef) ptx = NULL;
	AUTO_LLVM_MESSAGE message = NULL;

	if (LLVMTargetMachineEmitToMemoryBuffer(
		    machine, module, LLVMAssemblyFile, &message, &ptx))
		fail_msg("%s: %s", name, message);
	CHECK_INT(count_parts(LLVMGetBufferStart(ptx), ".visible .entry"), 1);
}

/* Once finalized, a module is as it stays. */
static void check_kernel(const char *path, LLVMTargetMachineRef machine)
{
	LLVMModuleRef module = test_module(read_file(path));
	const struct finalize_request order = { .is_wanted = true };

	(void)finalize_ok(module, machine, &order);
	const char *first = print_ir(module);
	(void)finalize_ok(module, machine, &order);
	CHECK_STR(print_ir(module), first);
	check_ptx(module, machine, path);
}

TEST(run, real_kernels_still_become_ptx)
{
	LLVMTargetMachineRef machine = nvptx();
	size_t count = 0;

	unpack("triton-3.6.0-h100", "cache");
	for (const char **path = files_below("cache", ".llir"); *path != NULL;
	     path++, count++)
		check_kernel(*path, machine);
	CHECK(count > 5);
}

static const char *make_gemv(const char *layout)
{
	const struct outcome made =
		run("python3", text("%s/gpu/gemv/make.py", TKB_TESTS), layout,
	            NULL);

	CHECK_INT(made.status, 0);
	return made.out;
}

/* What a thread reads and multiplies byte by byte, it does by one or four words then. */
static void check_gemv(const char *layout)
{
	LLVMTargetMachineRef machine = nvptx();
	LLVMModuleRef module = test_module(tkb_text(make_gemv(layout)));
	const struct finalize_request order = { .is_wanted = true };

	(void)finalize_ok(module, machine, &order);
	const char *after = print_ir(module);
	CHECK_INT(count_parts(after, "call i32 @llvm.nvvm.idp4a.s.s("), 64);
	CHECK_INT(count_parts(after, "load <4 x i8>"), 64);
	CHECK_INT(count_parts(after, "load <4 x i32>"), 16);
	CHECK_INT(count_parts(after, "load i8"), 0);
	check_ptx(module, machine, layout);
}

TEST(gemv, of_rows_becomes_words)
{
	check_gemv("rows");
}

TEST(gemv, of_columns_becomes_words)
{
	check_gemv("columns");
}
