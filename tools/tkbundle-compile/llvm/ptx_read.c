/* SPDX-License-Identifier: Apache-2.0 */
#include "llvm/ptx_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llvm/llvm_values.h"

/* The parser's position, and the registers from the constraints. */
struct text {
	const char *at;
	unsigned output_count;
	unsigned count; /* number of outputs and operands */
};

static void skip_blanks(struct text *text)
{
	text->at += strspn(text->at, " \t\n");
}

static bool take_word(struct text *text, const char *word)
{
	skip_blanks(text);
	if (!tkb_begins_with(text->at, word))
		return false;
	text->at += strlen(word);
	return true;
}

/* Read "$3". */
static bool take_number(struct text *text, unsigned *out)
{
	char *end = NULL;

	if (!take_word(text, "$") || *text->at < '0' || *text->at > '9')
		return false;
	*out = (unsigned)strtoul(text->at, &end, 10);
	text->at = end;
	return *out < text->count;
}

static bool take_operand(struct text *text, int *out)
{
	unsigned number;

	if (!take_number(text, &number) || number < text->output_count)
		return false;
	*out = (int)(number - text->output_count);
	return true;
}

/* Read "mov.u32 $0, 0x0;" or "mov.u32 $0, $2;". */
static bool take_fallback(struct text *text, struct ptx_read *read,
                          unsigned output)
{
	char *end = NULL;
	unsigned number;

	if (!take_word(text, "mov.u") ||
	    strtoul(text->at, &end, 10) == 0 /* read->width is known later */)
		return false;
	text->at = end;
	if (!take_number(text, &number) || number != output ||
	    !take_word(text, ","))
		return false;
	read->fallbacks[output] = -1;
	if (!take_word(text, "0x0") &&
	    !take_operand(text, &read->fallbacks[output]))
		return false;
	return take_word(text, ";");
}

/* Read ".L1::evict_last.v2.b32": sizes, and hints that do not change values. */
static bool take_kinds(struct text *text, struct ptx_read *read)
{
	read->count = 1;
	read->width = 0;
	read->is_constant = false;
	while (*text->at == '.') {
		const char *const kind = ++text->at;
		const size_t size = strcspn(kind, ". ");

		text->at += size;
		if (tkb_begins_with(kind, "L1::") ||
		    tkb_begins_with(kind, "L2::"))
			continue;
		if (size == 2 && strncmp(kind, "nc", size) == 0)
			read->is_constant = true;
		else if (size == 2 && *kind == 'v')
			read->count = (unsigned)(kind[1] - '0');
		else if (*kind == 'b' && *text->at == ' ')
			read->width = (unsigned)strtoul(kind + 1, NULL, 10);
		else
			return false;
	}
	return read->count == text->output_count &&
	       (read->width == 8 || read->width == 16 || read->width == 32 ||
	        read->width == 64);
}

/* Read "{ $0, $1 }, [ $2 + 0 ]". */
static bool take_places(struct text *text, struct ptx_read *read)
{
	char *end = NULL;

	for (unsigned i = 0; i < read->count; i++) {
		unsigned number;

		if (!take_word(text, i == 0 ? "{" : ",") ||
		    !take_number(text, &number) || number != i)
			return false;
	}
	if (!take_word(text, "}") || !take_word(text, ",") ||
	    !take_word(text, "[") || !take_operand(text, &read->address) ||
	    !take_word(text, "+"))
		return false;
	read->offset = strtoll(text->at, &end, 10);
	if (end == text->at)
		return false;
	text->at = end;
	return take_word(text, "]");
}

static bool take_read(struct text *text, struct ptx_read *read)
{
	int policy;

	read->predicate = -1;
	if (take_word(text, "@") && !take_operand(text, &read->predicate))
		return false;
	if (!take_word(text, "ld.global") || !take_kinds(text, read) ||
	    !take_places(text, read) ||
	    (take_word(text, ",") && !take_operand(text, &policy)) ||
	    !take_word(text, ";"))
		return false;
	skip_blanks(text);
	return *text->at == '\0';
}

/* Read "=r,=r,l,b": outputs, then operands, each in a register of its own. */
static bool read_constraints(const char *at, size_t size, struct text *text)
{
	const char *const end = at + size;

	while (at < end) {
		const bool is_output = *at == '=';

		at += is_output;
		if (at >= end || strchr("rlchb", *at) == NULL ||
		    (is_output && text->count != text->output_count))
			return false;
		text->count++;
		text->output_count += is_output;
		at++;
		if (at < end && *at++ != ',')
			return false;
	}
	return text->output_count > 0 && text->output_count <= PTX_READ_LIMIT &&
	       text->count - text->output_count <= PTX_OPERAND_LIMIT;
}

/* Does the call have the types that the PTX reads? */
static bool has_types(LLVMValueRef call, const struct ptx_read *read)
{
	LLVMTypeRef type = LLVMTypeOf(call);
	const bool is_struct = LLVMGetTypeKind(type) == LLVMStructTypeKind;

	if (read->count == 1 && !llvm_is_integer(type, read->width))
		return false;
	if (read->count != 1 &&
	    (!is_struct || LLVMCountStructElementTypes(type) != read->count))
		return false;
	for (unsigned i = 0; i < read->count; i++) {
		const int fallback = read->fallbacks[i];

		if (read->count != 1 &&
		    !llvm_is_integer(LLVMStructGetTypeAtIndex(type, i),
		                     read->width))
			return false;
		if (fallback >= 0 &&
		    !llvm_is_integer(LLVMTypeOf(LLVMGetOperand(
					     call, (unsigned)fallback)),
		                     read->width))
			return false;
	}
	return read->predicate < 0 ||
	       llvm_is_integer(LLVMTypeOf(LLVMGetOperand(
				       call, (unsigned)read->predicate)),
	                       1);
}

static bool parse_assembly(LLVMValueRef call, const char *ptx,
                           struct ptx_read *read)
{
	struct text text = { .at = ptx };
	size_t size = 0;
	const char *const constraints = LLVMGetInlineAsmConstraintString(
		LLVMGetCalledValue(call), &size);
	unsigned moves = 0;

	if (!read_constraints(constraints, size, &text))
		return false;
	for (unsigned i = 0; i < PTX_READ_LIMIT; i++)
		read->fallbacks[i] = -1;
	while (moves < text.output_count && tkb_begins_with(text.at, "mov.")) {
		if (!take_fallback(&text, read, moves++))
			return false;
		skip_blanks(&text);
	}
	/* An output that the predicate may leave out must have a fallback. */
	return take_read(&text, read) &&
	       (read->predicate < 0 || moves == read->count);
}

bool ptx_read_of(LLVMValueRef call, struct ptx_read *out)
{
	const char *text = llvm_called_ptx(call);

	return text != NULL && parse_assembly(call, text, out) &&
	       has_types(call, out);
}

static LLVMValueRef to_vector(LLVMBuilderRef builder, LLVMTypeRef word,
                              unsigned count, LLVMValueRef read)
{
	LLVMTypeRef index = LLVMInt64TypeInContext(LLVMGetTypeContext(word));
	LLVMValueRef all = LLVMGetPoison(LLVMVectorType(word, count));

	for (unsigned i = 0; i < count; i++)
		all = LLVMBuildInsertElement(
			builder, all,
			LLVMBuildExtractValue(builder, read, i, ""),
			LLVMConstInt(index, i, false), "");
	return all;
}

LLVMValueRef ptx_read_build(LLVMBuilderRef builder, LLVMValueRef address,
                            unsigned count, LLVMValueRef condition)
{
	static const struct {
		const char *zeros;
		const char *read;
		const char *constraints;
	} forms[] = {
		[1] = { "mov.u32 $0, 0x0;\n\t",
		        "ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l" },
		[2] = { "mov.u32 $0, 0x0;\n\tmov.u32 $1, 0x0;\n\t",
		        "ld.global.v2.b32 { $0, $1 }, [ $2 + 0 ];", "=r,=r,l" },
		[4] = { "mov.u32 $0, 0x0;\n\tmov.u32 $1, 0x0;\n\t"
		        "mov.u32 $2, 0x0;\n\tmov.u32 $3, 0x0;\n\t",
		        "ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 0 ];",
		        "=r,=r,=r,=r,l" },
	};
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(address));
	LLVMTypeRef word = LLVMInt32TypeInContext(context);
	LLVMTypeRef words[] = { word, word, word, word };
	LLVMTypeRef from[] = { LLVMTypeOf(address),
		               LLVMInt1TypeInContext(context) };
	LLVMValueRef arguments[] = { address, condition };
	const unsigned argument_count = condition == NULL ? 1 : 2;
	LLVMTypeRef result =
		count == 1
			? word
			: LLVMStructTypeInContext(context, words, count, false);
	LLVMTypeRef type =
		LLVMFunctionType(result, from, argument_count, false);
	char text[192];
	char constraints[32];
	LLVMValueRef read;

	if (condition == NULL)
		(void)snprintf(text, sizeof(text), "%s", forms[count].read);
	else
		(void)snprintf(text, sizeof(text), "%s@$%u %s",
		               forms[count].zeros, count + 1,
		               forms[count].read);
	(void)snprintf(constraints, sizeof(constraints), "%s%s",
	               forms[count].constraints, condition == NULL ? "" : ",b");
	read = LLVMBuildCall2(builder, type,
	                      LLVMGetInlineAsm(type, text, strlen(text),
	                                       constraints, strlen(constraints),
	                                       true, false,
	                                       LLVMInlineAsmDialectATT, false),
	                      arguments, argument_count, "");
	return count == 1 ? read : to_vector(builder, word, count, read);
}

LLVMValueRef ptx_read_rewrite(LLVMBuilderRef builder, LLVMValueRef call,
                              const char *text, size_t size, bool has_effects)
{
	LLVMValueRef old = LLVMGetCalledValue(call);
	LLVMTypeRef type = LLVMGetCalledFunctionType(call);
	const unsigned count = LLVMGetNumArgOperands(call);
	LLVMValueRef arguments[PTX_OPERAND_LIMIT];
	size_t constraint_size = 0;
	const char *const constraints =
		LLVMGetInlineAsmConstraintString(old, &constraint_size);

	for (unsigned i = 0; i < count; i++)
		arguments[i] = LLVMGetOperand(call, i);
	return LLVMBuildCall2(
		builder, type,
		LLVMGetInlineAsm(type, text, size, constraints, constraint_size,
	                         has_effects,
	                         LLVMGetInlineAsmNeedsAlignedStack(old),
	                         LLVMGetInlineAsmDialect(old), false),
		arguments, count, "");
}

/* The same PTX without ".nc", which may have effects; NULL: out of memory. */
static LLVMValueRef pin_ptx(LLVMBuilderRef builder, LLVMValueRef call)
{
	static const char constant[] = ".nc";
	size_t size = 0;
	const char *const text =
		LLVMGetInlineAsmAsmString(LLVMGetCalledValue(call), &size);
	char *const copy = strndup(text, size);
	char *const at = copy == NULL ? NULL : strstr(copy, constant);
	LLVMValueRef made = NULL;

	if (at != NULL) {
		const char *const rest = at + strlen(constant);

		memmove(at, rest, strlen(rest) + 1);
		made = ptx_read_rewrite(builder, call, copy, strlen(copy),
		                        true);
	}
	free(copy);
	return made;
}

/* PTX for a load of whole words, aligned; NULL: it is no such load. */
static LLVMValueRef pin_load(LLVMBuilderRef builder, LLVMValueRef load)
{
	LLVMTypeRef type = LLVMTypeOf(load);
	const bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
	const unsigned bytes =
		llvm_lane_count(type) *
		llvm_number_size(is_vector ? LLVMGetElementType(type) : type);
	LLVMValueRef words;

	if ((bytes != 4 && bytes != 8 && bytes != 16) ||
	    LLVMGetAlignment(load) < bytes)
		return NULL;
	words = ptx_read_build(builder, LLVMGetOperand(load, 0), bytes / 4,
	                       NULL);
	return LLVMBuildBitCast(builder, words, type, "");
}

void ptx_read_pin(LLVMBuilderRef builder, LLVMValueRef read)
{
	struct ptx_read ptx;
	LLVMValueRef made = NULL;

	if (LLVMIsALoadInst(read) != NULL)
		made = pin_load(builder, read);
	else if (ptx_read_of(read, &ptx) && ptx.is_constant)
		made = pin_ptx(builder, read);
	if (made == NULL)
		return;
	LLVMReplaceAllUsesWith(read, made);
	LLVMInstructionEraseFromParent(read);
}
