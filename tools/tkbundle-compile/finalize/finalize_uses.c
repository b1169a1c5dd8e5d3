/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_uses.h"

#include <stdlib.h>
#include <string.h>

#include "llvm/llvm_values.h"

enum {
	ADDRESS_LIMIT = 65536 /* globals with more addresses are left
	                         unchanged */
};

/* Values that are, or may be, addresses in the memory in question. */
struct addresses {
	LLVMValueRef *items; /* owned */
	size_t count;
	size_t capacity;
};

static bool has_address(const struct addresses *addresses, LLVMValueRef value)
{
	for (size_t i = 0; i < addresses->count; i++) {
		if (addresses->items[i] == value)
			return true;
	}
	return false;
}

static bool add_address(struct addresses *addresses, LLVMValueRef value)
{
	return addresses->count < ADDRESS_LIMIT &&
	       tkb_append(&addresses->items, &addresses->count,
	                  &addresses->capacity, &value, sizeof(value),
	                  NULL) == 0;
}

/* Add a value that can be reached more than once. */
static bool add_once(struct addresses *addresses, LLVMValueRef value)
{
	return has_address(addresses, value) || add_address(addresses, value);
}

/* True for intrinsics that only read from the address, or ignore it. */
static bool intrinsic_only_reads(LLVMValueRef call, LLVMValueRef address)
{
	static const char *const copies[] = { "llvm.memcpy.", "llvm.memmove." };
	static const char *const readers[] = { "llvm.masked.load.",
		                               "llvm.nvvm.ldu.global.",
		                               "llvm.assume" };

	if (llvm_calls_any(call, copies, TKB_COUNT_OF(copies))) {
		LLVMValueRef is_volatile = LLVMGetOperand(call, 3);

		return LLVMGetOperand(call, 0) != address &&
		       LLVMIsAConstantInt(is_volatile) != NULL &&
		       LLVMConstIntGetZExtValue(is_volatile) == 0;
	}
	return llvm_calls_any(call, readers, TKB_COUNT_OF(readers));
}

static const char *skip_separators(const char *at)
{
	return at + strspn(at, " \t\n;{}");
}

/* Does this PTX copy a pointer? It would then continue under another name. */
static bool moves_pointer(const char *at)
{
	const size_t size = strcspn(at, ";");
	const char *comma = memchr(at, ',', size);

	return tkb_begins_with(at, "mov.") &&
	       (comma == NULL || (*skip_separators(comma + 1) == '$' &&
	                          memmem(at, size, "64", 2) != NULL));
}

/*
 * True if PTX, as Triton writes its loads, only reads memory that nobody else
 * writes: "@$1 ld.global.b32 { $0 }, [ $2 + 0 ];".
 */
static bool ptx_only_reads(const char *at)
{
	static const char *const readers[] = { "ld.global.",   "mov.",
		                               "prefetch",     "cp.async.ca.",
		                               "cp.async.cg.", ".reg",
		                               "createpolicy." };

	for (at = skip_separators(at); *at != '\0';
	     at = skip_separators(at + strcspn(at, ";"))) {
		if (*at == '@') /* a predicate */
			at = skip_separators(at + strcspn(at, " \t"));
		if (!tkb_begins_with_any(at, readers, TKB_COUNT_OF(readers)) ||
		    moves_pointer(at))
			return false;
	}
	return true;
}

static bool is_exactly(LLVMValueRef function)
{
	const LLVMLinkage linkage = LLVMGetLinkage(function);

	return !LLVMIsDeclaration(function) &&
	       (linkage == LLVMInternalLinkage ||
	        linkage == LLVMPrivateLinkage ||
	        linkage == LLVMExternalLinkage);
}

/* Follow the address into the called function. */
static bool follow_call(struct addresses *addresses, LLVMValueRef call,
                        LLVMValueRef address)
{
	LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
	const unsigned count = LLVMGetNumArgOperands(call);
	const char *const ptx = llvm_called_ptx(call);

	if (ptx != NULL)
		return ptx_only_reads(ptx);
	if (callee == NULL)
		return false;
	if (LLVMGetIntrinsicID(callee) != 0)
		return intrinsic_only_reads(call, address);
	if (LLVMGetNumOperandBundles(call) != 0 || !is_exactly(callee) ||
	    LLVMGlobalGetValueType(callee) != LLVMGetCalledFunctionType(call))
		return false;
	for (unsigned i = 0; i < count; i++) {
		if (LLVMGetOperand(call, i) != address)
			continue;
		if (i >= LLVMCountParams(callee) ||
		    !add_once(addresses, LLVMGetParam(callee, i)))
			return false;
	}
	return true;
}

/* Follow an instruction that uses the address. */
static bool follow_instruction(struct addresses *addresses, LLVMValueRef user,
                               LLVMValueRef address)
{
	switch (LLVMGetInstructionOpcode(user)) {
	case LLVMLoad:
		return llvm_is_plain(user);
	case LLVMICmp:
		return true;
	case LLVMGetElementPtr:
	case LLVMBitCast:
	case LLVMAddrSpaceCast:
		return add_address(addresses, user);
	case LLVMPHI:
	case LLVMSelect:
		return add_once(addresses, user);
	case LLVMCall:
		return follow_call(addresses, user, address);
	default:
		return false;
	}
}

static bool follow_user(struct addresses *addresses, LLVMValueRef user,
                        LLVMValueRef address)
{
	if (LLVMIsAInstruction(user) != NULL)
		return follow_instruction(addresses, user, address);
	if (LLVMIsAConstantExpr(user) == NULL)
		return false;
	switch (LLVMGetConstOpcode(user)) {
	case LLVMGetElementPtr:
	case LLVMBitCast:
	case LLVMAddrSpaceCast:
		return add_address(addresses, user);
	default:
		return false;
	}
}

static bool follow_all(struct addresses *addresses)
{
	for (size_t i = 0; i < addresses->count; i++) {
		LLVMValueRef address = addresses->items[i];

		for (LLVMUseRef use = LLVMGetFirstUse(address); use != NULL;
		     use = LLVMGetNextUse(use)) {
			if (!follow_user(addresses, LLVMGetUser(use), address))
				return false;
		}
	}
	return true;
}

bool finalize_is_only_read(LLVMValueRef pointer)
{
	struct addresses addresses = { .items = NULL };
	const bool is_read =
		add_address(&addresses, pointer) && follow_all(&addresses);

	free(addresses.items);
	return is_read;
}
