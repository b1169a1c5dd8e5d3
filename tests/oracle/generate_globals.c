/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_internal.h"

/* What stands in a module around the kernel. */

static void emit_bytes(struct generate *g, unsigned which)
{
	const unsigned size = 64U << pick(g, 3);

	g->is_variable[which] = chance(g, 50);
	emit(g, "@w%u = %saddrspace(1) %s [%u x i8] c\"", which,
	     chance(g, 85) ? "internal " : "",
	     g->is_variable[which] ? "global" : "constant", size);
	for (unsigned i = 0; i < size; i++)
		emit(g, "\\%02X", pick(g, 256));
	emit(g, "\", align %u\n", 1U << pick(g, 5));
}

/* Each for these types of what it works on. */
static void declare_floats(struct generate *g)
{
	static const char *const types[] = { "float", "double", "half" };
	static const char *const suffixes[] = { "f32", "f64", "f16" };
	static const char *const ones[] = { "rint", "nearbyint", "roundeven",
		                            "round" };
	static const char *const twos[] = { "minnum", "maxnum" };

	for (size_t i = 0; i < TKB_COUNT_OF(types); i++) {
		for (size_t k = 0; k < TKB_COUNT_OF(ones); k++)
			emit(g, "declare %s @llvm.%s.%s(%s)\n", types[i],
			     ones[k], suffixes[i], types[i]);
		for (size_t k = 0; k < TKB_COUNT_OF(twos); k++)
			emit(g, "declare %s @llvm.%s.%s(%s, %s)\n", types[i],
			     twos[k], suffixes[i], types[i], types[i]);
	}
}

static void declare_rest(struct generate *g)
{
	static const unsigned sizes[] = { 4, 8, 16, 32 };

	emit(g, "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
	        "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
	        "declare void @llvm.nvvm.cp.async.commit.group()\n"
	        "declare void @llvm.nvvm.cp.async.wait.group(i32)\n"
	        "declare void "
	        "@llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n");
	for (size_t i = 0; i < TKB_COUNT_OF(sizes); i++)
		emit(g,
		     "declare i32 @llvm.vector.reduce.add.v%ui32(<%u x "
		     "i32>)\n",
		     sizes[i], sizes[i]);
	for (unsigned to = 0; to < 2; to++) {
		const char *const spaces[] = { "ptr", "ptr addrspace(1)" };

		emit(g, "declare void @llvm.memset.p%u.i64(%s, i8, i64, i1)\n",
		     to, spaces[to]);
		for (unsigned from = 0; from < 2; from++)
			emit(g,
			     "declare void @llvm.memmove.p%u.p%u.i64(%s, %s, "
			     "i64, i1)\n",
			     to, from, spaces[to], spaces[from]);
	}
	emit(g, "declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), "
	        "i64, i1)\n");
	if (!g->options->for_gpu)
		emit(g, "declare void @outside(i32)\n");
}

/* Such as are called from a table, too. */
static void emit_helpers(struct generate *g)
{
	emit(g,
	     "define internal i32 @helper0(i32 %%x) {\n"
	     "  %%y = mul i32 %%x, 3\n  ret i32 %%y\n}\n"
	     "define internal i32 @helper1(i32 %%x) {\n"
	     "  %%y = xor i32 %%x, 85\n  ret i32 %%y\n}\n"
	     "define i32 @helper2(i32 %%x) %s {\n"
	     "  %%c = icmp slt i32 %%x, 0\n"
	     "  %%y = select i1 %%c, i32 0, i32 %%x\n  ret i32 %%y\n}\n",
	     chance(g, 30) ? "noinline" : "");
}

/* Such as read and write what the kernel does, or go round. */
static void emit_workers(struct generate *g)
{
	const char *const inlined = chance(g, 30) ? " noinline" : "";

	emit(g,
	     "define internal void @write(ptr addrspace(1) %%p, i32 %%x)%s {\n"
	     "  store i32 %%x, ptr addrspace(1) %%p, align 1\n  ret void\n}\n",
	     inlined);
	emit(g,
	     "define internal void @set(i32 %%x)%s {\n"
	     "  store i32 %%x, ptr addrspace(1) @%s\n  ret void\n}\n",
	     inlined, chance(g, 50) ? "setting" : "state");
	emit(g,
	     "define internal i32 @total(ptr addrspace(1) %%p, i32 %%x)%s {\n"
	     "  %%end = and i32 %%x, %u\n  br label %%loop\nloop:\n"
	     "  %%i = phi i32 [ 0, %%0 ], [ %%next, %%loop ]\n"
	     "  %%sum = phi i32 [ %%x, %%0 ], [ %%more, %%loop ]\n"
	     "  %%at = getelementptr i8, ptr addrspace(1) %%p, i32 %%i\n"
	     "  %%byte = load i8, ptr addrspace(1) %%at\n"
	     "  %%term = %s i8 %%byte to i32\n"
	     "  %%product = mul i32 %%term, %%term\n"
	     "  %%more = add i32 %%sum, %%product\n"
	     "  %%next = add nuw nsw i32 %%i, 1\n"
	     "  %%goes = icmp ult i32 %%i, %%end\n"
	     "  br i1 %%goes, label %%loop, label %%over\nover:\n"
	     "  ret i32 %%more\n}\n",
	     inlined, (1U << (1 + pick(g, 3))) - 1,
	     chance(g, 50) ? "sext" : "zext");
}

void generate_globals(struct generate *g)
{
	for (unsigned i = 0; i < WEIGHT_COUNT; i++)
		emit_bytes(g, i);
	emit(g,
	     "@state = internal addrspace(1) global i32 7\n"
	     "@setting = internal addrspace(1) global i32 %u\n"
	     "@tile = internal addrspace(3) global [16 x i32] undef, "
	     "align 16\n"
	     "@table = internal %s [3 x ptr] [ptr @helper0, ptr @helper1, "
	     "ptr @helper2]\n",
	     pick(g, 100), chance(g, 50) ? "constant" : "global");
	declare_floats(g);
	declare_rest(g);
	emit_helpers(g);
	emit_workers(g);
}

void generate_metadata(struct generate *g)
{
	emit(g, "!0 = !{!\"branch_weights\", i32 1, i32 9}\n");
	if (!g->has_debug_data)
		return;
	emit(g, "!1 = distinct !DISubprogram(name: \"kernel\", scope: !4, "
	        "file: !4, line: 1, type: !6, unit: !5, "
	        "spFlags: DISPFlagDefinition)\n"
	        "!2 = !DILocation(line: 2, scope: !1)\n"
	        "!3 = !DILocalVariable(name: \"x\", scope: !1, file: !4, "
	        "line: 2, type: !8)\n"
	        "!4 = !DIFile(filename: \"kernel.c\", directory: \"/\")\n"
	        "!5 = distinct !DICompileUnit(language: DW_LANG_C, file: !4, "
	        "emissionKind: FullDebug)\n"
	        "!6 = !DISubroutineType(types: !7)\n!7 = !{}\n"
	        "!8 = !DIBasicType(name: \"int\", size: 32, "
	        "encoding: DW_ATE_signed)\n"
	        "!9 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
	        "!llvm.dbg.cu = !{!5}\n!llvm.module.flags = !{!9}\n");
}
