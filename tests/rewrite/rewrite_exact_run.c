/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite_exact.h"

#include <math.h>

#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>

enum {
	SLOT_SIZE = 128, /* of a value in memory */
	MAX_SLOTS = RULE_MAX_PARAMETERS
};

typedef int (*run_function)(const void *in, void *pattern, void *replacement);

/* One byte after the other is drawn from these, or from all. */
static const unsigned char classes[] = { 0, 1, 255, 127, 128, 2, 254, 64 };

static const int64_t integers[] = {
	0,     1,     -1,     2,         -2,        3,         7,
	8,     15,    16,     31,        32,        64,        127,
	128,   -127,  -128,   -129,      255,       256,       -256,
	32767, 32768, -32768, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN
};

static const float floats[] = { 0.0F,
	                        -0.0F,
	                        1.0F,
	                        -1.0F,
	                        0.5F,
	                        -0.5F,
	                        1.5F,
	                        2.5F,
	                        127.0F,
	                        127.5F,
	                        128.0F,
	                        -128.0F,
	                        -128.5F,
	                        255.0F,
	                        255.5F,
	                        256.0F,
	                        1e-45F,
	                        -1e-45F,
	                        0x1p-126F,
	                        0x1.fffffcp-127F,
	                        0x1.fffffep127F,
	                        -0x1.fffffep127F,
	                        0x1p24F,
	                        0x1.000002p0F,
	                        INFINITY,
	                        -INFINITY,
	                        NAN };

static uint64_t draw_integer(const struct rule_filter *filter, unsigned width,
                             uint64_t *state)
{
	const uint64_t kind = rewrite_draw(state) % 4;
	uint64_t value = 0;

	if (filter->is_power_of_two)
		return UINT64_C(1) << rewrite_draw(state) % width;
	if (filter->has_range && filter->high < INT64_MAX) {
		const uint64_t count =
			(uint64_t)filter->high - (uint64_t)filter->low + 1;

		if (kind == 0)
			return (uint64_t)(rewrite_draw(state) % 2 == 0
			                          ? filter->low
			                          : filter->high);
		return (uint64_t)filter->low + rewrite_draw(state) % count;
	}
	for (unsigned i = 0; i < 8; i++) {
		const uint64_t byte = rewrite_draw(state);

		value |= (uint64_t)(kind < 2 ? classes[byte % sizeof(classes)]
		                             : (unsigned char)byte)
		         << (8 * i);
	}
	if (kind == 3)
		value = (uint64_t)
			integers[rewrite_draw(state) % TKB_COUNT_OF(integers)];
	if (filter->has_range) /* not negative, of this width */
		value &= (UINT64_C(1) << (width - 1)) - 1;
	return value;
}

static float draw_float(const struct rule_filter *filter, uint64_t *state)
{
	const uint64_t kind = rewrite_draw(state) % 4;
	const uint32_t bits = (uint32_t)rewrite_draw(state);
	float value;

	if (filter->has_magnitude) {
		const double at = (double)(rewrite_draw(state) % 1000001) / 1e6;
		const double magnitude =
			kind == 0
				? (bits & 2 ? filter->least : filter->most)
				: filter->least *
					  pow(filter->most / filter->least, at);

		value = (float)magnitude;
		/* Rounding may have left the range. */
		if ((double)value > filter->most)
			value = nextafterf(value, 0);
		if ((double)value < filter->least)
			value = nextafterf(value, INFINITY);
		return bits & 1 ? -value : value;
	}
	if (kind == 0)
		return floats[bits % TKB_COUNT_OF(floats)];
	if (kind == 1)
		return (float)(int32_t)(bits % 1024) - 512;
	memcpy(&value, &bits, sizeof(value));
	if (filter->is_constant && !isfinite(value))
		return 1;
	return value;
}

static void fill_lane(unsigned char *at, LLVMTypeRef type,
                      const struct rule_filter *filter, uint64_t *state)
{
	if (LLVMGetTypeKind(type) == LLVMFloatTypeKind) {
		const float value = draw_float(filter, state);

		memcpy(at, &value, sizeof(value));
	} else {
		const unsigned width = LLVMGetIntTypeWidth(type);
		const uint64_t value = draw_integer(filter, width, state);

		CHECK(width == 8 || width == 16 || width == 32 || width == 64);
		memcpy(at, &value, width / 8);
	}
}

static size_t lane_size(LLVMTypeRef type)
{
	if (LLVMGetTypeKind(type) == LLVMFloatTypeKind)
		return sizeof(float);
	CHECK_INT(LLVMGetTypeKind(type), LLVMIntegerTypeKind);
	return (LLVMGetIntTypeWidth(type) + 7) / 8;
}

/* A pointer's slot is what it points to. */
static void fill_slot(unsigned char *slot, LLVMTypeRef type,
                      const struct rule_filter *filter, uint64_t *state)
{
	unsigned count = 1;

	if (LLVMGetTypeKind(type) == LLVMPointerTypeKind) {
		for (size_t i = 0; i < SLOT_SIZE; i++)
			slot[i] = (unsigned char)rewrite_draw(state);
		return;
	}
	if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
		count = LLVMGetVectorSize(type);
		type = LLVMGetElementType(type);
	}
	CHECK(count * lane_size(type) <= SLOT_SIZE);
	for (unsigned i = 0; i < count; i++)
		fill_lane(slot + i * lane_size(type), type, filter, state);
}

/* As much off as a filter allows. */
static void fill_reciprocals(unsigned char slots[][SLOT_SIZE],
                             const struct rule *rule, uint64_t *state)
{
	for (uint32_t i = 0; i < rule->parameter_count; i++) {
		const struct rule_filter *filter = &rule->filters[i];
		const double off =
			(double)(rewrite_draw(state) % 2001) / 1000 - 1;
		float value = 0;

		if (!filter->is_reciprocal)
			continue;
		memcpy(&value, slots[filter->reciprocal_of], sizeof(value));
		value = (float)((1 + off * 0x1.fp-13) / (double)value);
		memcpy(slots[i], &value, sizeof(value));
	}
}

static void fill(unsigned char slots[][SLOT_SIZE], const struct rule *rule,
                 uint64_t *state)
{
	for (uint32_t i = 0; i < rule->parameter_count; i++)
		fill_slot(slots[i], LLVMTypeOf(LLVMGetParam(rule->pattern, i)),
		          &rule->filters[i], state);
	fill_reciprocals(slots, rule, state);
}

static LLVMValueRef load_slot(LLVMBuilderRef builder, LLVMValueRef in,
                              unsigned index, LLVMTypeRef type)
{
	LLVMContextRef context = LLVMGetTypeContext(type);
	LLVMValueRef offset = LLVMConstInt(LLVMInt64TypeInContext(context),
	                                   index * SLOT_SIZE, false);
	LLVMValueRef at = LLVMBuildGEP2(builder, LLVMInt8TypeInContext(context),
	                                in, &offset, 1, "");
	LLVMValueRef value;

	if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
		return at;
	value = LLVMBuildLoad2(builder, type, at, "");
	LLVMSetAlignment(value, 1);
	return value;
}

/*
 * int run(in, pattern, replacement): compute both, and say if it was defined.
 */
static void build_run(LLVMModuleRef module, LLVMValueRef pattern,
                      LLVMValueRef replacement, LLVMValueRef ok)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0);
	LLVMTypeRef word = LLVMInt32TypeInContext(context);
	LLVMTypeRef parameters[] = { pointer, pointer, pointer };
	LLVMValueRef run = LLVMAddFunction(
		module, "run", LLVMFunctionType(word, parameters, 3, false));
	LLVMValueRef halves[] = { pattern, replacement };
	LLVMValueRef arguments[MAX_SLOTS];
	const unsigned count = LLVMCountParams(pattern);
	AUTO_LLVM(LLVMBuilderRef)
	builder = LLVMCreateBuilderInContext(context);
	LLVMValueRef defined = NULL;

	LLVMPositionBuilderAtEnd(
		builder, LLVMAppendBasicBlockInContext(context, run, ""));
	LLVMBuildStore(builder, LLVMConstInt(word, 1, false), ok);
	for (unsigned i = 0; i < count; i++)
		arguments[i] = load_slot(builder, LLVMGetParam(run, 0), i,
		                         LLVMTypeOf(LLVMGetParam(pattern, i)));
	for (unsigned i = 0; i < 2; i++) {
		LLVMValueRef result = LLVMBuildCall2(
			builder, LLVMGlobalGetValueType(halves[i]), halves[i],
			arguments, count, "");

		LLVMSetAlignment(LLVMBuildStore(builder, result,
		                                LLVMGetParam(run, i + 1)),
		                 1);
		if (i == 0)
			defined = LLVMBuildLoad2(builder, word, ok, "");
	}
	LLVMBuildRet(builder, defined);
}

static LLVMValueRef add_global(LLVMModuleRef module, const char *name)
{
	LLVMTypeRef word = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
	LLVMValueRef global = LLVMAddGlobal(module, word, name);

	LLVMSetInitializer(global, LLVMConstNull(word));
	return global;
}

static LLVMExecutionEngineRef make_engine(const struct rule_set *rules,
                                          const struct rule *rule)
{
	LLVMModuleRef module = rewrite_clone(rules, rule);
	LLVMValueRef pattern =
		LLVMGetNamedFunction(module, text("%s.pattern", rule->name));
	LLVMValueRef replacement = LLVMGetNamedFunction(
		module, text("%s.replacement", rule->name));
	struct LLVMMCJITCompilerOptions options;
	LLVMExecutionEngineRef engine = NULL;
	LLVMValueRef ok = add_global(module, "ok");
	char *message = NULL;

	rewrite_instrument(module, ok);
	rewrite_complete(module);
	build_run(module, pattern, replacement, ok);
	LLVMInitializeMCJITCompilerOptions(&options, sizeof(options));
	options.OptLevel = 1;
	if (LLVMCreateMCJITCompilerForModule(&engine, module, &options,
	                                     sizeof(options), &message))
		fail_msg("%s", message);
	rewrite_map(engine, module);
	return engine;
}

static bool is_same_lane(const unsigned char *a, const unsigned char *b,
                         LLVMTypeRef type)
{
	if (LLVMGetTypeKind(type) == LLVMFloatTypeKind) {
		float x = 0;
		float y = 0;

		memcpy(&x, a, sizeof(x));
		memcpy(&y, b, sizeof(y));
		if (isnan(x) && isnan(y))
			return true;
	}
	return memcmp(a, b, lane_size(type)) == 0;
}

static bool is_same(const unsigned char *a, const unsigned char *b,
                    LLVMTypeRef type)
{
	unsigned count = 1;

	if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
		count = LLVMGetVectorSize(type);
		type = LLVMGetElementType(type);
	}
	for (unsigned i = 0; i < count; i++) {
		if (!is_same_lane(a + i * lane_size(type),
		                  b + i * lane_size(type), type))
			return false;
	}
	return true;
}

static void tell(struct exactness *out, const struct rule *rule,
                 unsigned char slots[][SLOT_SIZE], const unsigned char *pattern,
                 const unsigned char *replacement)
{
	const char *inputs = "";

	for (uint32_t i = 0; i < rule->parameter_count; i++) {
		uint64_t bits = 0;

		memcpy(&bits, slots[i], sizeof(bits));
		inputs = text("%s 0x%llx", inputs, (unsigned long long)bits);
	}
	out->difference = text("rule '%s' of%s: pattern %02x%02x%02x%02x, "
	                       "replacement %02x%02x%02x%02x",
	                       rule->name, inputs, pattern[3], pattern[2],
	                       pattern[1], pattern[0], replacement[3],
	                       replacement[2], replacement[1], replacement[0]);
}

void rewrite_run(const struct rule_set *rules, const struct rule *rule,
                 size_t count, struct exactness *out)
{
	LLVMExecutionEngineRef engine = make_engine(rules, rule);
	LLVMTypeRef type =
		LLVMGetReturnType(LLVMGlobalGetValueType(rule->pattern));
	const uint64_t address = LLVMGetFunctionAddress(engine, "run");
	unsigned char slots[MAX_SLOTS][SLOT_SIZE] = { { 0 } };
	unsigned char pattern[SLOT_SIZE] = { 0 };
	unsigned char replacement[SLOT_SIZE] = { 0 };
	run_function call = NULL;
	uint64_t state = 1;

	memcpy(&call, &address, sizeof(call));
	*out = (struct exactness){ .is_exact = true };
	while (out->count < count && out->is_exact) {
		out->count++;
		fill(slots, rule, &state);
		if (!call(slots, pattern, replacement))
			continue;
		out->defined_count++;
		out->is_exact = is_same(pattern, replacement, type);
	}
	if (!out->is_exact)
		tell(out, rule, slots, pattern, replacement);
	LLVMDisposeExecutionEngine(engine);
}
