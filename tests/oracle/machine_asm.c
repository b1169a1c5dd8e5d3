/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_internal.h"

#include <stdio.h>
#include <string.h>

/*
 * Reads, and copies to shared memory, that are written as PTX, as Triton writes them. A
 * copy is done where it begins: nothing may see that before it was waited for.
 */

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

static bool read_copy(struct read *read, const char *text)
{
	int end = 0;
	unsigned bytes = 0;

	(void)sscanf(text,
	             "cp.async.c%*1[ag].shared.global [ $%d + %ld ], "
	             "[ $%d + %ld ], 0x%x, $%d;%n",
	             &read->to, &read->to_offset, &read->address, &read->offset,
	             &bytes, &read->size, &end);
	read->count = bytes / 4;
	read->width = 32;
	return end != 0 && text[end] == '\0' && read->count <= 4;
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
	*read = (struct read){ .count = count_outputs(constraints, size),
		               .to = -1 };
	for (unsigned i = 0; i < 4; i++)
		read->fallbacks[i] = -1;
	constraints = LLVMGetInlineAsmAsmString(assembly, &size);
	if (read->count > 4 || size >= sizeof(text))
		return false;
	memcpy(text, constraints, size);
	text[size] = '\0';
	if (read->count == 0 ? !read_copy(read, text)
	                     : !read_statements(read, text))
		return false;
	op->align = read->count * read->width / 8;
	return true;
}

static void run_copy(struct machine *machine, const struct op *op,
                     struct lane *lanes)
{
	const struct read *read = op->read;
	const struct shape shape = { SHAPE_INTEGER, 32, read->count };
	const struct lane size = lanes[op->in[read->size]];
	struct lane from = lanes[op->in[read->address]];
	struct lane to = lanes[op->in[read->to]];
	struct lane words[4];

	machine_decide(machine, size);
	from.bits += (uint64_t)read->offset;
	to.bits += (uint64_t)read->to_offset;
	if (size.is_poison || (size.bits != 0 && size.bits != op->align)) {
		machine_stop(machine, MACHINE_UNDEFINED, "a copy's size");
		return;
	}
	for (unsigned i = 0; i < read->count; i++)
		words[i] = scalar_number(0, 32);
	if (size.bits != 0)
		machine_load(machine, op, shape, from, words);
	if (machine->end == MACHINE_DONE)
		machine_store(machine, op, shape, to, words);
}

void asm_run(struct machine *machine, const struct op *op, struct lane *lanes)
{
	const struct read *read = op->read;
	const struct shape shape = { SHAPE_INTEGER, read->width, read->count };
	struct lane address = lanes[op->in[read->address]];

	if (read->to >= 0) {
		run_copy(machine, op, lanes);
		return;
	}
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
