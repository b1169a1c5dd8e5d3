/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/parameters.h"

#include <tkbundle/cubin.h>

#include <stdio.h>

#include "launch/names.h"
#include "text/ascii.h"

enum {
	FORMAT_SIZED = 4, /* the value is a size of 2 bytes, then that many
	                     bytes */
	ATTRIBUTE_PARAMETER = 0x17,
	RECORD_SIZE = 12, /* size of that attribute's value */
	HEAD_SIZE = 4     /* of each record */
};

/* The section of the cubin to find. */
struct search {
	const char *symbol;
	struct tkb_bytes found;
	bool is_found;
};

static int on_part(void *self, const struct tkb_cubin_part *part,
                   struct tkb_error *err)
{
	static const char prefix[] = ".nv.info.";
	struct search *const search = self;

	(void)err;
	if (tkb_begins_with(part->name, prefix) &&
	    strcmp(part->name + sizeof(prefix) - 1, search->symbol) == 0) {
		search->found = part->bytes;
		search->is_found = true;
	}
	return 0;
}

static uint32_t number_at(struct tkb_bytes bytes, size_t at, size_t size)
{
	const unsigned char *const data = bytes.data;
	uint32_t number = 0;

	for (size_t i = 0; i < size; i++)
		number |= (uint32_t)data[at + i] << (8 * i);
	return number;
}

static int fail_table(struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_CORRUPT,
	                "the cubin's table of parameters is damaged");
}

/* Add the record whose value is at `at`. */
static int add_parameter_record(struct tkb_bytes table, size_t at,
                                struct tkb_parameters *out,
                                struct tkb_error *err)
{
	const uint32_t ordinal = number_at(table, at + 4, 2);
	const uint32_t flags = number_at(table, at + 8, 4);

	if (ordinal >= TKB_PARAMETER_LIMIT || flags >> 18 == 0 ||
	    out->items[ordinal].size != 0)
		return fail_table(err);
	out->items[ordinal].size = flags >> 18;
	out->items[ordinal].is_pointer = (flags >> 8 & 0xf) != 0;
	out->knows_pointers |= out->items[ordinal].is_pointer;
	if (ordinal >= out->count)
		out->count = ordinal + 1;
	return 0;
}

static int read_table(struct tkb_bytes table, struct tkb_parameters *out,
                      struct tkb_error *err)
{
	int rc = 0;

	for (size_t at = 0; at < table.size && rc == 0;) {
		size_t size = 0;

		if (table.size - at < HEAD_SIZE)
			return fail_table(err);
		if (number_at(table, at, 1) == FORMAT_SIZED)
			size = number_at(table, at + 2, 2);
		if (size > table.size - at - HEAD_SIZE)
			return fail_table(err);
		if (number_at(table, at, 1) == FORMAT_SIZED &&
		    number_at(table, at + 1, 1) == ATTRIBUTE_PARAMETER) {
			if (size != RECORD_SIZE)
				return fail_table(err);
			rc = add_parameter_record(table, at + HEAD_SIZE, out,
			                          err);
		}
		at += HEAD_SIZE + size;
	}
	for (size_t i = 0; i < out->count && rc == 0; i++)
		rc = out->items[i].size == 0 ? fail_table(err) : 0;
	return rc;
}

int tkb_parameters_read_cubin(struct tkb_bytes cubin, const char *symbol,
                              struct tkb_arena *arena,
                              struct tkb_parameters *out, struct tkb_error *err)
{
	struct search search = { .symbol = symbol };
	const struct tkb_cubin_visitor visitor = { on_part, &search };
	struct tkb_parameters read = { .count = 0 };
	int rc;

	rc = tkb_cubin_parts(cubin, "the cubin", &visitor, err);
	if (rc < 0)
		return rc;
	if (!search.is_found)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "the cubin lists no parameters of '%s'",
		                symbol);
	read.items = tkb_arena_alloc(arena, TKB_PARAMETER_LIMIT,
	                             sizeof(*read.items));
	if (read.items == NULL)
		return tkb_fail_nomem(err);
	rc = read_table(search.found, &read, err);
	if (rc == 0)
		*out = read;
	return rc;
}

/* The position of `what` in `text`; SIZE_MAX: not found. */
static size_t find_text(struct tkb_bytes text, const char *what)
{
	const char *const found = text.size == 0 ? NULL
	                                         : memmem(text.data, text.size,
	                                                  what, strlen(what));

	return found == NULL ? SIZE_MAX
	                     : (size_t)(found - (const char *)text.data);
}

static bool has_text(struct tkb_bytes text, const char *what)
{
	return find_text(text, what) != SIZE_MAX;
}

/* The end of the list item at `at`: a comma or bracket at its level. */
static size_t list_item_end(struct tkb_bytes text, size_t at)
{
	const char *const data = text.data;
	unsigned depth = 0;
	bool is_quoted = false;

	for (; at < text.size; at++) {
		if (data[at] == '"')
			is_quoted = !is_quoted;
		if (is_quoted)
			continue;
		if (depth == 0 && (data[at] == ',' || data[at] == ')'))
			break;
		if (strchr("([{<", data[at]) != NULL && data[at] != '\0')
			depth++;
		if (strchr(")]}>", data[at]) != NULL && data[at] != '\0')
			depth -= depth > 0 ? 1 : 0;
	}
	return at;
}

/* The position after `<prefix><symbol>(`; SIZE_MAX: not found. */
static size_t find_list(struct tkb_bytes text, const char *prefix,
                        const char *symbol)
{
	char name[1200]; /* the metadata allows a symbol of 1,024 */
	size_t at;

	if ((size_t)snprintf(name, sizeof(name), "%s%s(", prefix, symbol) >=
	    sizeof(name))
		return SIZE_MAX;
	at = find_text(text, name);
	return at == SIZE_MAX ? SIZE_MAX : at + strlen(name);
}

/* Read ".param .u32 add_kernel_param_3"; ".b32" says nothing about the type. */
static void read_ptx_type(struct tkb_bytes text, struct tkb_parameter *out)
{
	static const char *const integers[] = { " .u32 ", " .s32 ", " .u64 ",
		                                " .s64 " };

	out->is_float = has_text(text, " .f32 ") || has_text(text, " .f64 ");
	for (size_t i = 0; i < TKB_COUNT_OF(integers); i++)
		out->is_integer |= has_text(text, integers[i]);
}

void tkb_parameters_read_ptx(struct tkb_bytes ptx, const char *symbol,
                             struct tkb_parameters *parameters)
{
	size_t at = find_list(ptx, ".entry ", symbol);

	if (at == SIZE_MAX)
		return;
	for (size_t i = 0; i < parameters->count; i++) {
		const size_t end = list_item_end(ptx, at);
		const char stop = i + 1 == parameters->count ? ')' : ',';

		if (end >= ptx.size || ((const char *)ptx.data)[end] != stop)
			return;
		read_ptx_type(tkb_bytes_slice(ptx, at, end),
		              &parameters->items[i]);
		at = end + 1;
	}
}

/* Parse "%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc(...)". */
static bool read_formal(struct tkb_bytes text, struct tkb_formal *out)
{
	static const char divisibility[] = "tt.divisibility = 16 ";
	const char *const data = text.data;
	size_t at = 0;
	size_t start;

	while (at < text.size && (data[at] == ' ' || data[at] == '\n'))
		at++;
	if (at == text.size || data[at] != '%')
		return false;
	start = ++at;
	while (at < text.size &&
	       (tkb_name_may_begin_with(data[at]) || tkb_is_digit(data[at])))
		at++;
	out->name = tkb_bytes_slice(text, start, at);
	if (text.size - at < 2 || data[at] != ':' || data[at + 1] != ' ')
		return false;
	start = at + 2;
	for (at = start; at < text.size; at++) {
		if (data[at] == ' ' &&
		    (at + 1 == text.size || data[at + 1] == '{' ||
		     data[at + 1] == 'l'))
			break;
	}
	out->type = tkb_bytes_slice(text, start, at);
	out->is_divisible = has_text(text, divisibility);
	return true;
}

bool tkb_formals_read(struct tkb_bytes ttir, const char *symbol,
                      struct tkb_formal *out, size_t count)
{
	size_t at = find_list(ttir, "tt.func public @", symbol);

	if (at == SIZE_MAX)
		return false;
	for (size_t i = 0; i < count; i++) {
		const size_t end = list_item_end(ttir, at);
		const char stop = i + 1 == count ? ')' : ',';

		if (end >= ttir.size ||
		    ((const char *)ttir.data)[end] != stop ||
		    !read_formal(tkb_bytes_slice(ttir, at, end), &out[i]))
			return false;
		at = end + 1;
	}
	return true;
}

/* Remove the prefix `what` from `text`, if it is there. */
static bool skip_prefix(struct tkb_bytes *text, const char *what)
{
	const size_t length = strlen(what);

	if (text->size < length || memcmp(text->data, what, length) != 0)
		return false;
	*text = tkb_bytes_slice(*text, length, text->size);
	return true;
}

/* Write "!tt.ptr<f32>" or "!tt.ptr<f32, 1>" as "*fp32", also nested. */
static void write_type(struct tkb_bytes type, struct tkb_buf *out)
{
	struct tkb_bytes inner = type;
	size_t stars = 0;
	size_t end = 0;
	const char *name;

	while (skip_prefix(&inner, "!tt.ptr<"))
		stars++;
	while (end < inner.size &&
	       (stars == 0 ||
	        strchr(",>", ((const char *)inner.data)[end]) == NULL))
		end++;
	name = tkb_type_of_mlir(tkb_bytes_slice(inner, 0, end));
	if (name == NULL) {
		tkb_buf_add(out, type);
		return;
	}
	for (; stars > 0; stars--)
		tkb_buf_add_byte(out, '*');
	tkb_buf_add_text(out, name);
}

void tkb_formals_write(struct tkb_bytes ttir, const char *symbol,
                       struct tkb_buf *out)
{
	const size_t before = out->size;
	size_t at = find_list(ttir, "tt.func public @", symbol);

	while (at < ttir.size) {
		const size_t end = list_item_end(ttir, at);
		struct tkb_formal formal;

		if (end >= ttir.size ||
		    !read_formal(tkb_bytes_slice(ttir, at, end), &formal)) {
			out->size = before; /* all or nothing */
			return;
		}
		if (out->size > before)
			tkb_buf_add_text(out, ", ");
		write_type(formal.type, out);
		if (formal.is_divisible)
			tkb_buf_add_text(out, ":16");
		if (((const char *)ttir.data)[end] == ')')
			return;
		at = end + 1;
	}
}

bool tkb_formal_fits(struct tkb_bytes type, const struct tkb_argument *argument)
{
	const bool is_pointer = skip_prefix(&type, "!tt.ptr<");

	if (is_pointer != (argument->what == TKB_CLASS_POINTER))
		return false;
	if (argument->is_pointer_to_pointer)
		return skip_prefix(&type, "!tt.ptr<");
	if (argument->type->mlir == NULL)
		return true;
	return skip_prefix(&type, argument->type->mlir) &&
	       (is_pointer
	                ? type.size > 0 &&
	                          strchr(">,", *(const char *)type.data) != NULL
	                : type.size == 0);
}
