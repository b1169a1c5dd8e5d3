/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_internal.h"

#include <stdio.h>
#include <string.h>

/* Reads that are written as PTX, as Triton writes them. */

enum {
	TEXT_LIMIT = 512
};

/* "=r,=r,l,b": so many outputs come before the operands. */
static unsigned count_outputs(const char *constraints, size_t size)
{
	unsigned count = 0;

	for (size_t i = 0; i < size; i++)
		count += constraints[i] == '=';
	return count;
}

static bool read_move(struct read *read, const char *statement)
{
	unsigned to = 0;
	unsigned from = 0;

	if (sscanf(statement, "mov.u%*u $%u, $%u", &to, &from) == 2 && to < 4) {
		read->fallbacks[to] = (int)(from - read->count);
		return true;
	}
	return sscanf(statement, "mov.u%*u $%u, 0x%*1[0]", &to) == 1;
}

static bool read_load(struct read *read, const char *statement)
{
	const char *const from = strchr(statement, '[');
	const char *const kind = strstr(statement, ".b");
	unsigned predicate = read->count;
	unsigned address = 0;
	long offset = 0;

	if (*statement == '@' && sscanf(statement, "@$%u", &predicate) != 1)
		return false;
	if (from == NULL || kind == NULL ||
	    sscanf(from, "[ $%u + %ld ]", &address, &offset) != 2 ||
	    sscanf(kind, ".b%u", &read->width) != 1)
		return false;
	read->predicate =
		*statement == '@' ? (int)(predicate - read->count) : -1;
	read->address = (int)(address - read->count);
	read->offset = offset;
	return true;
}

static bool read_statements(struct read *read, char *text)
{
	bool is_read = false;
	char *left = NULL;

	for (char *at = strtok_r(text, ";", &left); at != NULL;
	     at = strtok_r(NULL, ";", &left)) {
		at += strspn(at, " \t\n");
		if (strncmp(at, "mov.u", 5) == 0) {
			if (is_read || !read_move(read, at))
				return false;
		} else if (strstr(at, "ld.global.") != NULL && !is_read) {
			is_read = read_load(read, at);
			if (!is_read)
				return false;
		} else if (*at != '\0') {
			return false;
		}
	}
	return is_read;
}

bool asm_decode(struct op *op)
{
	LLVMValueRef assembly = LLVMGetCalledValue(op->value);
	size_t size = 0;
	const char *constraints =
		LLVMGetInlineAsmConstraintString(assembly, &size);
	struct read *read = machine_alloc(sizeof(*read));
	char text[TEXT_LIMIT];

	op->read = read;
	read->count = count_outputs(constraints, size);
	for (unsigned i = 0; i < 4; i++)
		read->fallbacks[i] = -1;
	constraints = LLVMGetInlineAsmAsmString(assembly, &size);
	if (read->count == 0 || read->count > 4 || size >= sizeof(text))
		return false;
	memcpy(text, constraints, size);
	text[size] = '\0';
	if (!read_statements(read, text))
		return false;
	op->align = read->count * read->width / 8;
	return true;
}

void asm_run(struct machine *machine, const struct op *op, struct lane *lanes)
{
	const struct read *read = op->read;
	const struct shape shape = { SHAPE_INTEGER, read->width, read->count };
	struct lane address = lanes[op->in[read->address]];

	if (read->predicate >= 0) {
		const struct lane is = lanes[op->in[read->predicate]];

		machine_decide(machine, is);
		if (is.is_poison) {
			machine_stop(machine, MACHINE_UNDEFINED,
			             "a poison predicate");
			return;
		}
		if ((is.bits & 1) == 0) {
			for (unsigned i = 0; i < read->count; i++)
				lanes[op->out + i] =
					read->fallbacks[i] < 0
						? scalar_number(0, read->width)
						: lanes[op->in[read->fallbacks
				                                       [i]]];
			return;
		}
	}
	address.bits += (uint64_t)read->offset;
	machine_load(machine, op, shape, address, lanes + op->out);
}
