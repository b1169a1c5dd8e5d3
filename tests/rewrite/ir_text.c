/* SPDX-License-Identifier: Apache-2.0 */
#include "ir_text.h"

#include <llvm-c/IRReader.h>

#include <ctype.h>
#include <stdlib.h>

#include "llvm/llvm_handles.h"

enum {
	LINES_LIMIT = 4096,
	PARTS_LIMIT = 16,
	NAMES_LIMIT = 16,
	ITEMS_LIMIT = 64
};

struct lines {
	const char **items;
	size_t count;
};

struct part {
	const char *name;
	struct lines lines;
};

struct writing {
	struct tkb_buf *out;
	struct part parts[PARTS_LIMIT];
	size_t part_count;
};

/* What a name stands for, in each round. */
struct name {
	const char *name;
	const char *items[ITEMS_LIMIT];
	size_t count;
};

/* What follows `word` at the start of the line, or NULL. */
static char *behind(const char *line, const char *word)
{
	const size_t size = strlen(word);

	return strncmp(line, word, size) == 0 ? (char *)text("%s", line + size)
	                                      : NULL;
}

/* The lines of the file `path` of tests/. */
static struct lines lines_in(const char *path)
{
	struct lines lines = { test_alloc(LINES_LIMIT * sizeof(char *)), 0 };
	const struct tkb_bytes file = read_file(text("%s/%s", TKB_TESTS, path));

	for (char *rest = (char *)text("%s", (const char *)file.data);
	     rest != NULL;) {
		CHECK(lines.count < LINES_LIMIT);
		lines.items[lines.count++] = strsep(&rest, "\n");
	}
	return lines;
}

/* The lines from `begin` on, up to the `;end` that belongs to them. */
static struct lines block_at(const struct lines *lines, size_t begin)
{
	struct lines block = { lines->items + begin, 0 };
	size_t depth = 1;

	for (; begin + block.count < lines->count; block.count++) {
		const char *line = block.items[block.count];

		depth += behind(line, ";each ") != NULL ||
		         behind(line, ";part ") != NULL;
		depth -= strcmp(line, ";end") == 0;
		if (depth == 0)
			return block;
	}
	fail_msg("there is no ;end");
	return block;
}

static void add_item(struct name *name, const char *item)
{
	const char *const dots = strstr(item, "..");
	const char *number = dots;
	char *end;

	CHECK(name->count < ITEMS_LIMIT);
	if (dots == NULL) {
		name->items[name->count++] = item;
		return;
	}
	while (number > item && isdigit((unsigned char)number[-1]))
		number--;
	const long last = strtol(dots + 2, &end, 10);
	const long step = *end == '/' ? strtol(end + 1, NULL, 10) : 1;
	for (long at = strtol(number, NULL, 10);
	     step > 0 ? at <= last : at >= last; at += step)
		add_item(name, text("%.*s%ld", (int)(number - item), item, at));
}

/* The names of a line's rest, "NAME ITEM..., NAME ITEM...". */
static size_t read_names(char *rest, struct name *names)
{
	size_t count = 0;

	for (char *each; (each = strsep(&rest, ",")) != NULL && *each != '\0';
	     count++) {
		struct name *name = &names[count];

		CHECK(count < NAMES_LIMIT);
		each += *each == ' ';
		*name = (struct name){ .name = strsep(&each, " ") };
		for (char *item; (item = strsep(&each, " ")) != NULL;)
			add_item(name, item);
		CHECK(name->count != 0);
	}
	return count;
}

static const char *fill(const char *line, const struct name *names,
                        size_t count, size_t round)
{
	for (size_t i = 0; i < count; i++) {
		const char *const hole = text("{%s}", names[i].name);
		const char *const item =
			names[i].items[names[i].count == 1 ? 0 : round];

		for (const char *at; (at = strstr(line, hole)) != NULL;)
			line = text("%.*s%s%s", (int)(at - line), line, item,
			            at + strlen(hole));
	}
	return line;
}

static void write_lines(struct writing *to, const struct lines *lines);

static void write_rounds(struct writing *to, char *head,
                         const struct lines *block)
{
	struct name *names = test_alloc(NAMES_LIMIT * sizeof(*names));
	const size_t count = read_names(head, names);
	size_t rounds = 1;

	for (size_t i = 0; i < count; i++) {
		CHECK(rounds == 1 || names[i].count == 1 ||
		      names[i].count == rounds);
		if (names[i].count != 1)
			rounds = names[i].count;
	}
	for (size_t round = 0; round < rounds; round++) {
		struct lines filled = {
			test_alloc(block->count * sizeof(char *)), block->count
		};

		for (size_t i = 0; i < block->count; i++)
			filled.items[i] =
				fill(block->items[i], names, count, round);
		write_lines(to, &filled);
	}
}

static const struct lines *find_part(const struct writing *in, const char *name)
{
	for (size_t i = 0; i < in->part_count; i++) {
		if (strcmp(in->parts[i].name, name) == 0)
			return &in->parts[i].lines;
	}
	fail_msg("there is no part '%s'", name);
	return NULL;
}

/* The line's rest behind `word`, or NULL, with that of each `;and` below it. */
static char *head_at(const struct lines *lines, size_t *at, const char *word)
{
	char *head = behind(lines->items[*at], word);
	const char *more;

	while (head != NULL && *at + 1 < lines->count &&
	       (more = behind(lines->items[*at + 1], ";and ")) != NULL) {
		head = (char *)text("%s %s", head, more);
		++*at;
	}
	return head;
}

static void write_lines(struct writing *to, const struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++) {
		char *head;

		if ((head = head_at(lines, &i, ";each ")) != NULL) {
			const struct lines block = block_at(lines, i + 1);

			write_rounds(to, head, &block);
			i += block.count + 1;
		} else if ((head = head_at(lines, &i, ";part ")) != NULL) {
			const struct lines block = block_at(lines, i + 1);

			CHECK(to->part_count < PARTS_LIMIT);
			to->parts[to->part_count++] =
				(struct part){ head, block };
			i += block.count + 1;
		} else if ((head = head_at(lines, &i, ";from ")) != NULL) {
			const struct lines others = lines_in(head);

			write_lines(to, &others);
		} else if ((head = head_at(lines, &i, ";use ")) != NULL) {
			const char *const name = strsep(&head, " ");

			write_rounds(to, head, find_part(to, name));
		} else {
			tkb_buf_add_text(to->out, lines->items[i]);
			tkb_buf_add_byte(to->out, '\n');
		}
	}
}

struct tkb_bytes ir_text(const char *path)
{
	struct writing to = { .out = test_buf(TKB_MIB) };
	const struct lines lines = lines_in(path);

	write_lines(&to, &lines);
	tkb_buf_add_byte(to.out, '\0');
	return (struct tkb_bytes){ to.out->data, to.out->size - 1 };
}

LLVMModuleRef parse_ir(LLVMContextRef context, struct tkb_bytes ir)
{
	AUTO_LLVM_MESSAGE message = NULL;
	LLVMModuleRef module = NULL;
	/* LLVMParseIRInContext() takes it over. */
	LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
		ir.data, ir.size, "ir");

	if (LLVMParseIRInContext(context, buffer, &module, &message))
		fail_msg("%s", message);
	return module;
}

static void dispose_module(void *module)
{
	LLVMContextRef context = LLVMGetModuleContext(module);

	LLVMDisposeModule(module);
	LLVMContextDispose(context);
}

LLVMModuleRef test_module(struct tkb_bytes ir)
{
	LLVMModuleRef module = parse_ir(LLVMContextCreate(), ir);

	at_end(dispose_module, module);
	return module;
}
