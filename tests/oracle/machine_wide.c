/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_internal.h"

/*
 * Integers of more than 64 bits, by which LLVM takes lanes out of a vector. Their
 * words are poison together.
 */

bool wide_is_known(const struct op *op)
{
	LLVMValueRef first = LLVMGetOperand(op->value, 0);

	if (LLVMIsAConstant(first) != NULL || op->flags != 0)
		return false;
	return op->opcode == LLVMBitCast || op->opcode == LLVMTrunc ||
	       (op->opcode == LLVMLShr &&
	        LLVMIsAConstantInt(LLVMGetOperand(op->value, 1)) != NULL);
}

/* 64 bits from bit `at` on. */
static uint64_t bits_at(const struct lane *words, unsigned count, uint64_t at)
{
	const uint64_t word = at / 64;
	const unsigned rest = (unsigned)(at % 64);
	uint64_t bits = word < count ? words[word].bits >> rest : 0;

	if (rest != 0 && word + 1 < count)
		bits |= words[word + 1].bits << (64 - rest);
	return bits;
}

void wide_run(const struct op *op, struct lane *lanes)
{
	const struct lane *in = lanes + op->in[0];
	struct lane *out = lanes + op->out;
	const uint64_t by = op->opcode == LLVMLShr ? lanes[op->in[1]].bits : 0;
	bool is_poison = false;
	bool is_open = false;

	if (op->opcode == LLVMBitCast) {
		scalar_bitcast(op->shape, op->from, in, out);
	} else {
		for (unsigned i = 0; i < op->shape.count; i++)
			out[i] = scalar_number(
				bits_at(in, op->from.count, by + i * 64),
				op->shape.width);
	}
	for (unsigned i = 0; i < op->from.count; i++) {
		is_poison = is_poison || in[i].is_poison;
		is_open = is_open || in[i].is_open;
	}
	for (unsigned i = 0; i < op->shape.count; i++) {
		out[i].is_poison = is_poison;
		out[i].is_open = is_open;
	}
}
