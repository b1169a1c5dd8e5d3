/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite_fixture.h"

/* A file of rules that is refused, and a part of what is said. */
struct refusal {
	const char *rules;
	const char *reason;
};

#define EXACT "attributes #0 = { \"tkb.rule\"=\"exact\" }\n"
#define FAST "attributes #0 = { \"tkb.rule\"=\"fast\" }\n"
#define PATTERN "define i32 @a.pattern(i32 %x) #0 {\n"
#define REPLACEMENT "define i32 @a.replacement(i32 %x) {\n"
#define FIVE "  %r = mul i32 %x, 5\n  ret i32 %r\n}\n"
#define SAME "  ret i32 %x\n}\n"

static const struct refusal shapes[] = {
	{ PATTERN FIVE EXACT, "rule 'a' of 'mine.ll': it has no replacement" },
	{ REPLACEMENT FIVE, "rule 'a' of 'mine.ll': it has no pattern" },
	{ "declare i32 @a.replacement(i32)\n" PATTERN FIVE EXACT,
	  "it has no replacement" },
	{ "define i32 @stray(i32 %x) {\n" SAME,
	  "function 'stray' of 'mine.ll': it is not a pattern, replacement or "
	  "alternative" },
	{ "define i32 @.pattern(i32 %x) {\n" SAME,
	  "function '.pattern' of 'mine.ll'" },
	{ PATTERN FIVE "define i64 @a.replacement(i64 %x) {\n"
	               "  ret i64 %x\n}\n" EXACT,
	  "its pattern and its replacement have different types" },
	{ PATTERN FIVE
	  "define i32 @a.replacement(i32 %x, i32 %y) {\n" SAME EXACT,
	  "its pattern and its replacement have different types" },
	{ PATTERN "  br label %n\nn:\n" FIVE REPLACEMENT SAME EXACT,
	  "'a.pattern' has several blocks" },
	{ PATTERN FIVE REPLACEMENT "  br label %n\nn:\n" SAME EXACT,
	  "'a.replacement' has several blocks" },
	{ "define void @a.pattern(i32 %x) #0 {\n  ret void\n}\n"
	  "define void @a.replacement(i32 %x) {\n  ret void\n}\n" EXACT,
	  "'a.pattern' returns nothing" },
	{ PATTERN "  unreachable\n}\n" REPLACEMENT SAME EXACT,
	  "'a.pattern' returns nothing" },
	{ PATTERN SAME REPLACEMENT SAME EXACT,
	  "'a.pattern' has no instruction" },
	{ PATTERN "  ret i32 7\n}\n" REPLACEMENT SAME EXACT,
	  "'a.pattern' has no instruction" },
	{ "define i32 @a.pattern(i32 %x, i32 %y) #0 {\n" FIVE
	  "define i32 @a.replacement(i32 %x, i32 %y) {\n"
	  "  ret i32 %y\n}\n" EXACT,
	  "'a.pattern' does not use parameter 1" },
	{ PATTERN "  %d = add i32 %x, 1\n" FIVE REPLACEMENT SAME EXACT,
	  "an instruction that its result does not depend on" },
	{ PATTERN FIVE REPLACEMENT "  %q = add i32 %x, 0\n" FIVE EXACT,
	  "an instruction that its result does not depend on" },
	{ PATTERN FIVE REPLACEMENT FIVE EXACT,
	  "its replacement contains its pattern, which would never end" },
	{ PATTERN FIVE REPLACEMENT "  %q = mul i32 5, %x\n"
	                           "  %r = add i32 %q, 1\n"
	                           "  ret i32 %r\n}\n" EXACT,
	  "its replacement contains its pattern" },
	{ "define i32 @a.pattern(...) #0 {\n  %r = freeze i32 1\n"
	  "  ret i32 %r\n}\n"
	  "define i32 @a.replacement(...) {\n  ret i32 1\n}\n" EXACT,
	  "it takes any number of arguments" },
	{ "define", "rules 'mine.ll': bad IR: " },
	{ PATTERN "  ret i64 1\n}\n", "rules 'mine.ll': bad IR: " },
};

static const struct refusal tags[] = {
	{ PATTERN FIVE REPLACEMENT SAME "attributes #0 = { nounwind }\n",
	  "it has no tag \"tkb.rule\", exact or fast" },
	{ PATTERN FIVE REPLACEMENT SAME
	  "attributes #0 = { \"tkb.rule\"=\"quick\" }\n",
	  "it has the tag 'tkb.rule' with the value 'quick', which is "
	  "invalid" },
	{ PATTERN FIVE REPLACEMENT SAME
	  "attributes #0 = { \"tkb.rule\"=\"exact\" \"tkb.arch\"=\"61\" }\n",
	  "it has the tag 'tkb.arch' with the value '61'" },
	{ PATTERN FIVE REPLACEMENT SAME
	  "attributes #0 = { \"tkb.rule\"=\"exact\" \"tkb.arch\"=\">=0\" }\n",
	  "it has the tag 'tkb.arch' with the value '>=0'" },
	{ PATTERN FIVE REPLACEMENT SAME
	  "attributes #0 = { \"tkb.rule\"=\"exact\" \"tkb.arch\"=\">=6x\" }\n",
	  "it has the tag 'tkb.arch' with the value '>=6x'" },
	{ PATTERN FIVE REPLACEMENT SAME
	  "attributes #0 = { \"tkb.rule\"=\"exact\" \"tkb.terms\"=\"all\" }\n",
	  "it has the tag 'tkb.terms' with the value 'all'" },
	{ PATTERN FIVE REPLACEMENT SAME
	  "attributes #0 = { \"tkb.rule\"=\"exact\" \"tkb.cpu\"=\"x\" }\n",
	  "it has the tag 'tkb.cpu' with the value 'x', which is invalid" },
	{ PATTERN FIVE "define i32 @a.replacement(i32 %x) #0 {\n" SAME EXACT,
	  "its replacement has the tag 'tkb.rule', which belongs to the "
	  "pattern" },
	{ PATTERN FIVE
	  "define i32 @a.replacement(i32 \"tkb.constant\" %x) {\n" SAME EXACT,
	  "its replacement has the tag 'tkb.constant'" },
};

/* A rule whose parameter has this filter. */
#define FILTER(filter)                                                         \
	"define i32 @a.pattern(i32 " filter                                    \
	" %x) #0 {\n" FIVE REPLACEMENT SAME EXACT

static const struct refusal filters[] = {
	{ FILTER("\"tkb.prime\""),
	  "parameter 0 has the filter 'tkb.prime' with the value '', which is "
	  "invalid" },
	{ FILTER("\"tkb.constant\"=\"1\""), "the filter 'tkb.constant'" },
	{ FILTER("\"tkb.range\"=\"1\""), "the filter 'tkb.range'" },
	{ FILTER("\"tkb.range\"=\"2,1\""), "the filter 'tkb.range'" },
	{ FILTER("\"tkb.range\"=\"1,2x\""), "the filter 'tkb.range'" },
	{ FILTER("\"tkb.range\"=\",\""), "the filter 'tkb.range'" },
	{ FILTER("\"tkb.range\"=\"0,99999999999999999999\""),
	  "the filter 'tkb.range'" },
	{ FILTER("\"tkb.non-negative\" \"tkb.range\"=\"-5,-1\""),
	  "the filter 'tkb.range'" },
	{ FILTER("\"tkb.magnitude\"=\"0,9000000000000000000000000000000000"
	         "00000000000000000000000000000000\""),
	  "the value '(more than 63 bytes)', which is invalid" },
	{ FILTER("\"tkb.magnitude\"=\"1\""), "the filter 'tkb.magnitude'" },
	{ FILTER("\"tkb.magnitude\"=\"2,1\""), "the filter 'tkb.magnitude'" },
	{ FILTER("\"tkb.magnitude\"=\"nan,1\""), "the filter 'tkb.magnitude'" },
	{ FILTER("\"tkb.magnitude\"=\"1,2,3\""), "the filter 'tkb.magnitude'" },
	{ FILTER("\"tkb.reciprocal-of\"=\"1\""),
	  "the filter 'tkb.reciprocal-of'" },
	{ FILTER("\"tkb.reciprocal-of\"=\"-1\""),
	  "the filter 'tkb.reciprocal-of'" },
};

static const struct refusal effects[] = {
	{ "declare void @work()\n" PATTERN
	  "  call void @work()\n" FIVE REPLACEMENT SAME EXACT,
	  "an instruction that its result does not depend on" },
	{ "declare i32 @work(i32)\n" PATTERN "  %r = call i32 @work(i32 %x)\n"
	  "  ret i32 %r\n}\n" REPLACEMENT SAME EXACT,
	  "it calls 'work', which is not declared memory(none) nounwind "
	  "willreturn" },
	{ "declare i32 @work(i32) memory(none) nounwind willreturn "
	  "convergent\n" PATTERN
	  "  %r = call i32 @work(i32 %x)\n  ret i32 %r\n}\n" REPLACEMENT SAME
	          EXACT,
	  "it calls 'work', which is not declared" },
	{ "declare i32 @work(i32) memory(read) nounwind willreturn\n" PATTERN
	  "  %r = call i32 @work(i32 %x)\n  ret i32 %r\n}\n" REPLACEMENT SAME
	          EXACT,
	  "it calls 'work', which is not declared" },
	{ PATTERN FIVE REPLACEMENT
	  "  %r = call i32 @a.pattern(i32 %x)\n  ret i32 %r\n}\n" EXACT,
	  "it calls 'a.pattern', which the file defines" },
	{ PATTERN "  %r = call i32 asm \"\", \"=r,r\"(i32 %x)\n"
	          "  ret i32 %r\n}\n" REPLACEMENT SAME EXACT,
	  "it does not call a plain function" },
	{ PATTERN
	  "  %p = alloca i32\n  %q = ptrtoint ptr %p to i32\n"
	  "  %r = mul i32 %x, %q\n  ret i32 %r\n}\n" REPLACEMENT SAME EXACT,
	  "an instruction with effects, or one that rules may not have" },
	{ "define i32 @a.pattern(ptr %x) #0 {\n"
	  "  %r = atomicrmw add ptr %x, i32 1 monotonic\n"
	  "  %s = add i32 %r, 1\n  ret i32 %s\n}\n"
	  "define i32 @a.replacement(ptr %x) {\n  ret i32 1\n}\n" EXACT,
	  "an instruction with effects" },
	{ "define i32 @a.pattern(ptr %x) #0 {\n"
	  "  %r = load volatile i32, ptr %x\n  ret i32 %r\n}\n"
	  "define i32 @a.replacement(ptr %x) {\n  ret i32 1\n}\n" EXACT,
	  "it has a load that is volatile or atomic" },
	{ "define i32 @a.pattern(ptr %x) #0 {\n"
	  "  %r = load i32, ptr %x\n  ret i32 %r\n}\n"
	  "define i32 @a.replacement(ptr %x) {\n"
	  "  %q = load i16, ptr %x\n  %r = zext i16 %q to i32\n"
	  "  ret i32 %r\n}\n" EXACT,
	  "its replacement has a load that its pattern does not have" },
	{ "@g = global i32 1\n" PATTERN
	  "  %q = ptrtoint ptr @g to i32\n  %r = mul i32 %x, %q\n"
	  "  ret i32 %r\n}\n" REPLACEMENT SAME EXACT,
	  "it has an operand that is not a value, parameter or number" },
	{ PATTERN
	  "  %r = add i32 %x, undef\n  ret i32 %r\n}\n" REPLACEMENT SAME EXACT,
	  "it has an operand that is undef or poison" },
	{ PATTERN FIVE REPLACEMENT
	  "  %r = add i32 %x, poison\n  ret i32 %r\n}\n" EXACT,
	  "it has an operand that is undef or poison" },
	{ PATTERN FIVE REPLACEMENT "  ret i32 poison\n}\n" EXACT,
	  "it has an operand that is undef or poison" },
	{ "@g = global i32 1\n"
	  "define ptr @a.pattern(ptr %x) #0 {\n"
	  "  %r = getelementptr i8, ptr %x, i64 5\n  ret ptr %r\n}\n"
	  "define ptr @a.replacement(ptr %x) {\n  ret ptr @g\n}\n" EXACT,
	  "it has an operand that is not a value, parameter or number" },
	{ PATTERN
	  "  %r = mul i32 %x, 5, !n !0\n  ret i32 %r\n}\n" REPLACEMENT SAME
	          EXACT "!0 = !{}\n",
	  "it has an instruction with metadata" },
};

static const struct refusal flags[] = {
	{ PATTERN FIVE REPLACEMENT "  %r = add nsw i32 %x, 1\n"
	                           "  ret i32 %r\n}\n" EXACT,
	  "its replacement has flags (nsw, inbounds, fast and so on)" },
	{ "define i64 @a.pattern(i32 %x) #0 {\n  %r = sext i32 %x to i64\n"
	  "  ret i64 %r\n}\n"
	  "define i64 @a.replacement(i32 %x) {\n"
	  "  %r = zext nneg i32 %x to i64\n  ret i64 %r\n}\n" EXACT,
	  "its replacement has flags" },
	{ "define float @a.pattern(float %x) #0 {\n"
	  "  %r = fadd float %x, %x\n  ret float %r\n}\n"
	  "define float @a.replacement(float %x) {\n"
	  "  %r = fmul nsz float %x, 2.0\n  ret float %r\n}\n" EXACT,
	  "its replacement has flags" },
	{ PATTERN FIVE REPLACEMENT
	  "  %r = udiv i32 7, %x\n  ret i32 %r\n}\n" EXACT,
	  "its replacement divides by a value that may be 0 or -1" },
	{ PATTERN FIVE REPLACEMENT
	  "  %r = srem i32 %x, -1\n  ret i32 %r\n}\n" EXACT,
	  "its replacement divides by a value that may be 0 or -1" },
	{ "define float @a.pattern(float %x) #0 {\n"
	  "  %r = fadd contract float %x, %x\n  ret float %r\n}\n"
	  "define float @a.replacement(float %x) {\n  ret float %x\n}\n" EXACT,
	  "it is exact, and its pattern has flags that allow other rounding" },
	{ "define float @a.pattern(float %x) #0 {\n"
	  "  %q = fadd contract float %x, %x\n"
	  "  %r = fmul nnan float %q, 2.0\n  ret float %r\n}\n"
	  "define float @a.replacement(float %x) {\n  ret float %x\n}\n" FAST,
	  "it is fast, and its pattern has floating-point arithmetic without "
	  "flags" },
};

static const struct refusal ways[] = {
	{ "declare i32 @w(i32)\n" PATTERN
	  "  %r = call i32 @w(i32 %x)\n  ret i32 %r\n}\n" REPLACEMENT SAME EXACT
	  "define i32 @w.either.a(i64 %x) {\n  ret i32 1\n}\n",
	  "'w.either.a' and 'w' have different types" },
	{ "declare i32 @w(i32)\n" PATTERN
	  "  %r = call i32 @w(i32 %x)\n  ret i32 %r\n}\n" REPLACEMENT SAME EXACT
	  "define i32 @w.either.a(i32 %x) {\n  ret i32 1\n}\n",
	  "'w.either.a' has no instruction" },
	{ "declare i32 @w(i32)\n" PATTERN
	  "  %r = call i32 @w(i32 %x)\n  ret i32 %r\n}\n" REPLACEMENT SAME EXACT
	  "define i32 @w.either.a(i32 %x) {\n"
	  "  %r = call i32 @w(i32 %x)\n  ret i32 %r\n}\n",
	  "it calls 'w', which is not declared memory(none)" },
	{ "define i32 @a.pattern(i32 %x) #0 {\n" FIVE REPLACEMENT SAME
	  "attributes #0 = { \"tkb.rule\"=\"exact\" "
	  "\"tkb.terms\"=\"any\" }\n",
	  "its pattern is not a sum of terms and one parameter without other "
	  "uses" },
	{ "define i32 @a.pattern(i32 %x, i32 %y) #0 {\n"
	  "  %p = mul i32 %x, 3\n  %r = add nsw i32 %p, %y\n  ret i32 %r\n}\n"
	  "define i32 @a.replacement(i32 %x, i32 %y) {\n" SAME
	  "attributes #0 = { \"tkb.rule\"=\"exact\" "
	  "\"tkb.terms\"=\"any\" }\n",
	  "its sum has an addition with flags" },
};

static void check_refusals(const struct refusal *refusals, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
		struct rule_set *rules = NULL;

		FAILS(rules_read(context, tkb_text(refusals[i].rules),
		                 "mine.ll", &rules, ERR),
		      TKB_ERR_INVALID, refusals[i].reason);
		CHECK(rules == NULL);
		CHECK(strchr(ERR->message, '\n') == NULL);
	}
}

TEST(rule, of_another_shape_than_two_functions_of_one_block_is_refused)
{
	check_refusals(shapes, TKB_COUNT_OF(shapes));
}

TEST(rule, with_a_tag_that_is_none_is_refused)
{
	check_refusals(tags, TKB_COUNT_OF(tags));
}

TEST(rule, with_a_filter_that_is_none_is_refused)
{
	check_refusals(filters, TKB_COUNT_OF(filters));
}

TEST(rule, with_effects_is_refused)
{
	check_refusals(effects, TKB_COUNT_OF(effects));
}

TEST(rule, whose_flags_say_too_much_is_refused)
{
	check_refusals(flags, TKB_COUNT_OF(flags));
}

TEST(rule, whose_ways_or_terms_do_not_fit_is_refused)
{
	check_refusals(ways, TKB_COUNT_OF(ways));
}

TEST(rule, that_is_refused_leaves_those_before_it)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	const struct rule_options options = { .arch = 90 };
	AUTO_LLVM(LLVMModuleRef)
	module = parse_ir(context,
	                  tkb_text("define i32 @f(i32 %x) {\n" FIVE
	                           "define i32 @g(i32 %x) {\n"
	                           "  %r = sub i32 %x, 5\n  ret i32 %r\n}\n"));
	RULES(rules) = NULL;
	size_t count = 0;

	OK(rules_read(context, tkb_text(PATTERN FIVE REPLACEMENT SAME EXACT),
	              "first.ll", &rules, ERR));
	FAILS(rules_read(context,
	                 tkb_text("define i32 @b.pattern(i32 %x) #0 {\n"
	                          "  %r = sub i32 %x, 5\n"
	                          "  ret i32 %r\n}\n"
	                          "define i32 @b.replacement(i32 %x) {\n" SAME
	                                  PATTERN FIVE EXACT),
	                 "second.ll", &rules, ERR),
	      TKB_ERR_INVALID, "of 'second.ll'");
	OK(rules_apply(rules, module, &options, NULL, &count, ERR));
	CHECK_INT(count, 1);
}

TEST(rule, of_nothing_at_all_is_a_set_without_rules)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	const struct rule_options options = { .is_fast = true, .arch = 90 };
	AUTO_LLVM(LLVMModuleRef)
	module = parse_ir(context, tkb_text("define i32 @f(i32 %x) {\n" FIVE));
	RULES(rules) = NULL;
	size_t count = 7;

	OK(rules_read(context, tkb_text("; nothing\n"), "mine.ll", &rules,
	              ERR));
	OK(rules_apply(rules, module, &options, NULL, &count, ERR));
	CHECK_INT(count, 0);
	rules_free(NULL);
}
