/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/strip.h"

#include <ctype.h>
#include <elf.h>
#include <string.h>

#include "cache/names.h"

enum {
	/* a shorter string may be a number: 47 is a slash */
	NAME_MIN = 4
};

/* Bytes that are changed in place. */
struct span {
	unsigned char *data;
	size_t size;
};

static struct span slice(struct span span, size_t from, size_t to)
{
	return (struct span){ span.data + from, to - from };
}

static bool span_begins_with(struct span span, size_t at, const char *word)
{
	const size_t length = strlen(word);

	return span.size - at >= length &&
	       memcmp(span.data + at, word, length) == 0;
}

static bool contains(struct span span, const char *word)
{
	return memmem(span.data, span.size, word, strlen(word)) != NULL;
}

/* Replace all bytes but white space by dashes. */
static void dash(struct span span)
{
	for (size_t i = 0; i < span.size; i++) {
		if (span.data[i] > ' ')
			span.data[i] = '-';
	}
}

/* The end of the string that begins at `at`, after its quote. */
static size_t end_of_string(struct span text, size_t at)
{
	while (at < text.size && text.data[at] != '"' && text.data[at] != '\n')
		at += text.data[at] == '\\' && at + 1 < text.size ? 2 : 1;
	return at;
}

/* Replace the text between each `start` and the next quote by dashes. */
static void dash_after(struct span text, const char *start)
{
	const size_t length = strlen(start);
	size_t at = 0;

	for (;;) {
		const unsigned char *found =
			memmem(text.data + at, text.size - at, start, length);
		size_t end;

		if (found == NULL)
			return;
		at = (size_t)(found - text.data) + length;
		end = end_of_string(text, at);
		dash(slice(text, at, end));
		/* This quote closes the string. It does not open another,
		   even if `start` is a quote. */
		at = end < text.size ? end + 1 : end;
	}
}

/* Strip loc("file":1:2), but not loc("name"(#loc1)). */
static void strip_mlir(struct span text)
{
	static const char start[] = "loc(\"";
	size_t at = 0;

	for (;;) {
		const unsigned char *found =
			memmem(text.data + at, text.size - at, start,
		               sizeof(start) - 1);
		size_t end;

		if (found == NULL)
			break;
		at = (size_t)(found - text.data) + sizeof(start) - 1;
		end = end_of_string(text, at);
		if (span_begins_with(text, end, "\":"))
			dash(slice(text, at, end));
		at = end;
	}
	dash_after(text, "di_file<\"");
	dash_after(text, "\" in \"");
}

static void strip_llvm(struct span text)
{
	dash_after(text, "!DIFile(filename: \"");
	dash_after(text, ", directory: \"");
}

/* Where the digits of the number in a line ".b8 47" are, and its value. */
struct byte_line {
	size_t at;
	size_t length;
	unsigned value;
};

static bool read_byte_line(struct span line, struct byte_line *out)
{
	size_t at = 0;

	while (at < line.size && isspace(line.data[at]))
		at++;
	if (!span_begins_with(line, at, ".b8 "))
		return false;
	*out = (struct byte_line){ .at = at + strlen(".b8 ") };
	for (at = out->at;
	     at < line.size && isdigit(line.data[at]) && out->length < 3;
	     at++) {
		out->value = out->value * 10 + (line.data[at] - '0');
		out->length++;
	}
	return out->length != 0;
}

/* A line ends with a line break or, in a cubin, with a zero. */
static size_t end_of_line(struct span text, size_t at)
{
	while (at < text.size && text.data[at] != '\n' && text.data[at] != '\0')
		at++;
	return at;
}

/* Consecutive lines of bytes that spell a string: where they begin and end. */
struct byte_run {
	size_t start;
	size_t end;
	size_t length;
	bool has_path;
	unsigned last[2];
};

/*
 * Replace the numbers by those of dashes or, to keep the number of digits, of
 * another letter.
 */
static void dash_run(struct span text, const struct byte_run *run)
{
	for (size_t at = run->start; at < run->end;) {
		const size_t end = end_of_line(text, at);
		const struct span line = slice(text, at, end);
		struct byte_line byte;

		if (read_byte_line(line, &byte))
			memcpy(line.data + byte.at,
			       byte.length == 2 ? "45" : "120", byte.length);
		at = end + 1;
	}
}

/* Add one byte to the string, or end the string. */
static void add_to_run(struct span text, struct byte_run *run, size_t at,
                       size_t end, unsigned value)
{
	if (value < ' ' || value > '~') {
		if (run->has_path && run->length >= NAME_MIN)
			dash_run(text, run);
		*run = (struct byte_run){ .length = 0 };
		return;
	}
	if (run->length++ == 0)
		run->start = at;
	run->end = end;
	run->has_path =
		run->has_path || value == '/' ||
		(run->last[0] == '.' && run->last[1] == 'p' && value == 'y');
	run->last[0] = run->last[1];
	run->last[1] = value;
}

/* Replace the name of a file in a comment such as "model.py:12:3" by dashes. */
static void dash_comment(struct span line, bool always)
{
	const unsigned char *found = memmem(line.data, line.size, "//", 2);
	struct span comment;

	if (found == NULL)
		return;
	comment = slice(line, (size_t)(found - line.data) + 2, line.size);
	if (always || contains(comment, "/") || contains(comment, ".py"))
		dash(comment);
}

static void strip_line(struct span line)
{
	size_t at = 0;

	while (at < line.size && isspace(line.data[at]))
		at++;
	if (span_begins_with(line, at, ".file"))
		dash_after(slice(line, at, line.size), "\"");
	else if (span_begins_with(line, at, ".loc"))
		dash_comment(line, true);
	else if (span_begins_with(line, at, ".b8"))
		dash_comment(line, false);
}

static void strip_ptx(struct span text)
{
	struct byte_run run = { .length = 0 };

	for (size_t at = 0; at < text.size;) {
		const size_t end = end_of_line(text, at);
		const struct span line = slice(text, at, end);
		struct byte_line byte = { .value = 0 };

		(void)read_byte_line(line, &byte);
		add_to_run(text, &run, at, end, byte.value);
		strip_line(line);
		at = end + 1;
	}
	add_to_run(text, &run, 0, 0, 0);
}

/* Replace the string at `at` by dashes; returns the position after its zero. */
static size_t dash_string(struct span span, size_t at)
{
	const unsigned char *zero =
		memchr(span.data + at, '\0', span.size - at);
	const size_t end =
		zero == NULL ? span.size : (size_t)(zero - span.data);

	dash(slice(span, at, end));
	return end < span.size ? end + 1 : end;
}

/*
 * Skip the LEB128 number at `at`; with `clears`, set it to 0 without changing
 * its length. Returns the position after it.
 */
static size_t pass_number(struct span span, size_t at, bool clears)
{
	bool has_more = true;

	while (has_more && at < span.size) {
		has_more = (span.data[at] & 0x80) != 0;
		if (clears)
			span.data[at] &= 0x80;
		at++;
	}
	return at;
}

/*
 * Strip the tables of folders and files of DWARF 2 to 4, which end where the
 * line program begins.
 */
static void strip_tables(struct span tables)
{
	size_t at = 0;

	while (at < tables.size && tables.data[at] != 0)
		at = dash_string(tables, at);
	for (at++; at < tables.size && tables.data[at] != 0;) {
		at = dash_string(tables, at);
		at = pass_number(tables, at, false); /* folder */
		at = pass_number(tables, at, true);  /* time */
		at = pass_number(tables, at, true);  /* size */
	}
}

/* Strip one unit of .debug_line. */
static void strip_unit(struct span unit)
{
	enum {
		BEFORE_TABLES = 15,
		LENGTH_AT = 6,
		LENGTH_END = 10
	};
	uint16_t version;
	uint32_t length;
	size_t start = BEFORE_TABLES;

	if (unit.size < BEFORE_TABLES + 1)
		return;
	memcpy(&version, unit.data + 4, sizeof(version));
	memcpy(&length, unit.data + LENGTH_AT, sizeof(length));
	if (version < 2 || version > 4 || length > unit.size - LENGTH_END)
		return;
	start += version == 4;
	start += unit.data[start - 1] == 0 ? 0 : unit.data[start - 1] - 1u;
	if (start < LENGTH_END + (size_t)length)
		strip_tables(slice(unit, start, LENGTH_END + length));
}

static void strip_line_table(struct span section)
{
	uint32_t length;

	for (size_t at = 0; section.size - at > sizeof(length);
	     at += sizeof(length) + length) {
		memcpy(&length, section.data + at, sizeof(length));
		if (length > section.size - at - sizeof(length))
			return;
		strip_unit(slice(section, at, at + sizeof(length) + length));
	}
}

/* Replace strings that name a file or a folder by dashes. */
static void strip_strings(struct span section)
{
	for (size_t at = 0; at < section.size;) {
		const unsigned char *zero =
			memchr(section.data + at, '\0', section.size - at);
		const size_t end = zero == NULL ? section.size
		                                : (size_t)(zero - section.data);
		size_t start = end;

		while (start > at && section.data[start - 1] >= ' ' &&
		       section.data[start - 1] <= '~')
			start--;
		if (end - start >= NAME_MIN &&
		    (contains(slice(section, start, end), "/") ||
		     contains(slice(section, start, end), ".py")))
			dash(slice(section, start, end));
		at = end + 1;
	}
}

static void strip_section(const char *name, struct span section)
{
	if (strcmp(name, ".debug_line") == 0 ||
	    strcmp(name, ".nv_debug_line_sass") == 0)
		strip_line_table(section);
	else if (strcmp(name, ".nv_debug_ptx_txt") == 0)
		strip_ptx(section);
	else if (strcmp(name, ".debug_str") == 0 ||
	         strcmp(name, ".debug_line_str") == 0 ||
	         strcmp(name, ".debug_info") == 0)
		strip_strings(section);
}

static bool read_section(struct span file, const Elf64_Ehdr *header,
                         size_t index, Elf64_Shdr *out)
{
	const size_t at = header->e_shoff + index * sizeof(*out);

	if (header->e_shoff > file.size || at > file.size ||
	    file.size - at < sizeof(*out))
		return false;
	memcpy(out, file.data + at, sizeof(*out));
	return out->sh_type != SHT_NOBITS && out->sh_offset <= file.size &&
	       out->sh_size <= file.size - out->sh_offset;
}

static void strip_elf(struct span file)
{
	Elf64_Ehdr header;
	Elf64_Shdr names;
	Elf64_Shdr section;

	if (file.size < sizeof(header) || !span_begins_with(file, 0, ELFMAG))
		return;
	memcpy(&header, file.data, sizeof(header));
	if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_shentsize != sizeof(section) ||
	    !read_section(file, &header, header.e_shstrndx, &names))
		return;
	for (size_t i = 0; i < header.e_shnum; i++) {
		const char *name;

		if (!read_section(file, &header, i, &section) ||
		    (section.sh_flags & (SHF_ALLOC | SHF_COMPRESSED)) != 0 ||
		    section.sh_name >= names.sh_size)
			continue;
		name = (const char *)file.data + names.sh_offset +
		       section.sh_name;
		if (memchr(name, '\0', names.sh_size - section.sh_name) != NULL)
			strip_section(name, slice(file, section.sh_offset,
			                          section.sh_offset +
			                                  section.sh_size));
	}
}

void tkb_strip_locations(const char *name, unsigned char *data, size_t size)
{
	static const struct {
		const char *extension;
		void (*strip)(struct span span);
	} kinds[] = {
		{ "cubin", strip_elf },   { "hsaco", strip_elf },
		{ "llir", strip_llvm },   { "ptx", strip_ptx },
		{ "source", strip_mlir }, { "ttgir", strip_mlir },
		{ "ttir", strip_mlir },
	};
	const char *extension = tkb_name_extension(name);

	for (size_t i = 0; i < TKB_COUNT_OF(kinds); i++) {
		if (strcmp(extension, kinds[i].extension) == 0)
			kinds[i].strip((struct span){ data, size });
	}
}
