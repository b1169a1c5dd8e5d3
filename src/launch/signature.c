/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/signature.h"

#include "base/digest.h"
#include "launch/names.h"
#include "launch/print.h"
#include "text/ascii.h"

enum {
	TEXT_LIMIT = 16 * 1024,
	ITEM_LIMIT = 4096 /* CUDA allows 32,764 bytes of parameters */
};

/* Types of Triton's ty_to_cpp(), and those that only pointers point to. */
static const struct tkb_type types[] = {
	{ "i1", TKB_CLASS_INTEGER, "int8_t", 1, "i1" },
	{ "i8", TKB_CLASS_INTEGER, "int8_t", 1, "i8" },
	{ "i16", TKB_CLASS_INTEGER, "int16_t", 2, "i16" },
	{ "i32", TKB_CLASS_INTEGER, "int32_t", 4, "i32" },
	{ "i64", TKB_CLASS_INTEGER, "int64_t", 8, "i64" },
	{ "u1", TKB_CLASS_INTEGER, "uint8_t", 1, "i1" },
	{ "u8", TKB_CLASS_INTEGER, "uint8_t", 1, "i8" },
	{ "u16", TKB_CLASS_INTEGER, "uint16_t", 2, "i16" },
	{ "u32", TKB_CLASS_INTEGER, "uint32_t", 4, "i32" },
	{ "u64", TKB_CLASS_INTEGER, "uint64_t", 8, "i64" },
	{ "fp16", TKB_CLASS_FLOAT, "double", 2, "f16" },
	{ "bf16", TKB_CLASS_FLOAT, "double", 2, "bf16" },
	{ "fp32", TKB_CLASS_FLOAT, "double", 4, "f32" },
	{ "f32", TKB_CLASS_FLOAT, "double", 4, "f32" },
	{ "fp64", TKB_CLASS_FLOAT, "double", 8, "f64" },
	{ "fp8e4nv", TKB_CLASS_POINTER, NULL, 0, "f8E4M3FN" },
	{ "fp8e4b8", TKB_CLASS_POINTER, NULL, 0, "f8E4M3FNUZ" },
	{ "fp8e4b15", TKB_CLASS_POINTER, NULL, 0, NULL },
	{ "fp8e5", TKB_CLASS_POINTER, NULL, 0, "f8E5M2" },
	{ "fp8e5b16", TKB_CLASS_POINTER, NULL, 0, "f8E5M2FNUZ" },
};

static const char known[] = "pointers as '*fp32', i1 i8 i16 i32 i64, u1 u8 u16 "
			    "u32 u64, fp16 bf16 fp32 fp64, and constants";

static const struct tkb_type *find_type(struct tkb_bytes name)
{
	for (size_t i = 0; i < TKB_COUNT_OF(types); i++) {
		if (tkb_bytes_equal(tkb_text(types[i].name), name))
			return &types[i];
	}
	return NULL;
}

const char *tkb_type_of_mlir(struct tkb_bytes mlir)
{
	for (size_t i = 0; i < TKB_COUNT_OF(types); i++) {
		if (types[i].mlir != NULL &&
		    tkb_bytes_equal(tkb_text(types[i].mlir), mlir))
			return types[i].name;
	}
	return NULL;
}

/* A number in the syntax of Python's int() and float(), with inf and nan. */
static bool is_python_number(const char *text)
{
	static const char *const words[] = { "inf", "infinity", "nan" };
	size_t digits = 0;
	bool has_dot = false;

	text += *text == '-' || *text == '+' ? 1 : 0;
	if (tkb_is_among(text, words, TKB_COUNT_OF(words)))
		return true;
	for (; tkb_is_digit(*text) || (*text == '.' && !has_dot) ||
	       (*text == '_' && digits > 0 && tkb_is_digit(text[1]));
	     text++) {
		digits += tkb_is_digit(*text) ? 1 : 0;
		has_dot = has_dot || *text == '.';
	}
	if (digits == 0)
		return false;
	if (*text == 'e' || *text == 'E') {
		text++;
		text += *text == '-' || *text == '+' ? 1 : 0;
		if (!tkb_is_digit(*text))
			return false;
		text += strspn(text, "0123456789");
	}
	return *text == '\0';
}

/* Is it True, None, tl.float16 or "text"? */
static bool is_constant_word(const char *text)
{
	const size_t length = strlen(text);
	static const char *const words[] = { "True", "False", "None" };

	if (tkb_is_among(text, words, TKB_COUNT_OF(words)))
		return true;
	if (*text == '"' || *text == '\'')
		return length > 1 && text[length - 1] == *text &&
		       memchr(text + 1, *text, length - 2) == NULL;
	if (!tkb_name_may_begin_with(*text) || strchr(text, '.') == NULL)
		return false;
	for (; *text != '\0'; text++) {
		if (!tkb_name_may_begin_with(*text) && !tkb_is_digit(*text) &&
		    !(*text == '.' && tkb_name_may_begin_with(text[1])))
			return false;
	}
	return true;
}

static int unknown_type(size_t index, const char *text, struct tkb_error *err)
{
	if (tkb_begins_with(text, "tensordesc") ||
	    strcmp(text, "nvTmaDesc") == 0)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "item %zu of the signature is '%s': tensor "
		                "descriptors cannot be passed from C",
		                index, text);
	return tkb_fail(err, TKB_ERR_INVALID,
	                "item %zu of the signature is '%s'; there are %s",
	                index, text, known);
}

/* Take a ":1" or ":16" from the end of `item`. */
static int parse_hint(size_t index, const char *text, struct tkb_bytes *item,
                      unsigned *out, struct tkb_error *err)
{
	const char *const colon = strchr(text, ':');

	*out = TKB_HINT_NONE;
	if (colon == NULL)
		return 0;
	if (strcmp(colon, ":1") == 0)
		*out = TKB_HINT_ONE;
	else if (strcmp(colon, ":16") == 0)
		*out = TKB_HINT_SIXTEEN;
	else
		return tkb_fail(err, TKB_ERR_INVALID,
		                "item %zu of the signature is '%s'; the hints "
		                "are ':1' and ':16'",
		                index, text);
	*item = tkb_bytes_slice(*item, 0, (size_t)(colon - text));
	return 0;
}

static int parse_type(size_t index, struct tkb_argument *out,
                      struct tkb_error *err)
{
	struct tkb_bytes item = tkb_text(out->text);
	bool is_pointer = false;
	int rc;

	rc = parse_hint(index, out->text, &item, &out->hint, err);
	if (rc < 0)
		return rc;
	while (item.size > 0 && *(const char *)item.data == '*') {
		out->is_pointer_to_pointer = is_pointer;
		is_pointer = true;
		item = tkb_bytes_slice(item, 1, item.size);
		/* "*k": read-only data. */
		if (item.size > 0 && *(const char *)item.data == 'k')
			item = tkb_bytes_slice(item, 1, item.size);
	}
	out->type = find_type(item);
	if (out->type == NULL || (!is_pointer && out->type->c == NULL))
		return unknown_type(index, out->text, err);

	out->what = is_pointer ? TKB_CLASS_POINTER : out->type->what;
	if ((out->hint != TKB_HINT_NONE && out->what == TKB_CLASS_FLOAT) ||
	    (out->hint == TKB_HINT_ONE && out->what == TKB_CLASS_POINTER))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "item %zu of the signature is '%s'; ':1' is "
		                "for integers, ':16' for integers and pointers",
		                index, out->text);
	return 0;
}

static int parse_item(size_t index, struct tkb_argument *out,
                      struct tkb_error *err)
{
	for (const char *at = out->text; *at != '\0'; at++) {
		if (*at < ' ' || *at > '~')
			return tkb_fail(err, TKB_ERR_INVALID,
			                "item %zu of the signature is '%s', "
			                "which is not plain ASCII",
			                index, out->text);
	}
	if (out->text[0] == '\0')
		return tkb_fail(err, TKB_ERR_INVALID,
		                "item %zu of the signature is empty", index);
	if (is_python_number(out->text) || is_constant_word(out->text)) {
		out->what = TKB_CLASS_CONSTANT;
		return 0;
	}
	return parse_type(index, out, err);
}

/* The end of the item at `at`: a comma outside quotes. */
static size_t item_end(struct tkb_bytes text, size_t at)
{
	const char *const data = text.data;
	char quote = '\0';

	for (; at < text.size; at++) {
		if (quote == '\0' && data[at] == ',')
			break;
		if (quote == '\0' && (data[at] == '"' || data[at] == '\''))
			quote = data[at];
		else if (data[at] == quote)
			quote = '\0';
	}
	return at;
}

/* Remove spaces only, as Triton does. */
static struct tkb_bytes strip(struct tkb_bytes item)
{
	while (item.size > 0 && *(const char *)item.data == ' ')
		item = tkb_bytes_slice(item, 1, item.size);
	while (item.size > 0 && ((const char *)item.data)[item.size - 1] == ' ')
		item.size--;
	return item;
}

static size_t count_items(struct tkb_bytes text)
{
	size_t count = 0;

	for (size_t at = 0; at <= text.size; at = item_end(text, at) + 1)
		count++;
	return count;
}

static int parse_items(struct tkb_bytes text, struct tkb_arena *arena,
                       struct tkb_argument *items, struct tkb_buf *joined,
                       struct tkb_error *err)
{
	size_t index = 0;
	int rc = 0;

	for (size_t at = 0; at <= text.size && rc == 0; index++) {
		const size_t end = item_end(text, at);
		const struct tkb_bytes item =
			strip(tkb_bytes_slice(text, at, end));

		at = end + 1;
		rc = tkb_arena_copy(arena, item, &items[index].text, err);
		if (rc < 0)
			return rc;
		tkb_buf_add_text(joined, index > 0 ? ", " : "");
		tkb_buf_add(joined, item);
		rc = parse_item(index, &items[index], err);
	}
	return rc;
}

int tkb_signature_parse(struct tkb_bytes text, struct tkb_arena *arena,
                        struct tkb_signature *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf joined = TKB_BUF_INIT(3 * TEXT_LIMIT);
	const size_t count = count_items(text);
	struct tkb_argument *items;
	int rc;

	if (text.size == 0)
		return tkb_fail(err, TKB_ERR_INVALID, "the signature is empty");
	if (text.size > TEXT_LIMIT || count > ITEM_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "the signature has %zu items in %zu bytes; "
		                "the limits are %d and %d",
		                count, text.size, ITEM_LIMIT, TEXT_LIMIT);
	if (memchr(text.data, '\0', text.size) != NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the signature has a zero byte");
	items = tkb_arena_alloc(arena, count, sizeof(*items));
	if (items == NULL)
		return tkb_fail_nomem(err);
	rc = parse_items(text, arena, items, &joined, err);
	if (rc == 0)
		rc = tkb_arena_copy_buf(arena, &joined, &out->text, err);
	if (rc < 0)
		return rc;
	out->items = items;
	out->count = count;
	return 0;
}

bool tkb_argument_is_passed(const struct tkb_argument *argument)
{
	return argument->what != TKB_CLASS_CONSTANT &&
	       argument->hint != TKB_HINT_ONE;
}

const char *tkb_argument_c_type(const struct tkb_argument *argument)
{
	return argument->what == TKB_CLASS_POINTER ? "CUdeviceptr"
	                                           : argument->type->c;
}

uint32_t tkb_argument_size(const struct tkb_argument *argument)
{
	return argument->what == TKB_CLASS_POINTER ? 8 : argument->type->size;
}

static int add_hash(const struct tkb_signature *signature, uint32_t num_warps,
                    uint32_t num_stages, struct tkb_buf *out,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(3 * TEXT_LIMIT);
	struct tkb_digest digest;
	int rc;

	for (size_t i = 0; i < signature->count; i++) {
		tkb_buf_add_text(&text, signature->items[i].text);
		tkb_buf_add_byte(&text, ' ');
	}
	tkb_print(&text, "warps%uxstages%u", num_warps, num_stages);
	rc = tkb_buf_check(&text, err);
	if (rc == 0)
		rc = tkb_digest_of(tkb_buf_bytes(&text), &digest, err);
	if (rc < 0)
		return rc;
	tkb_print(out, "%.8s_", tkb_digest_hex(&digest).text);
	return 0;
}

int tkb_signature_suffix(const struct tkb_signature *signature,
                         uint32_t num_warps, uint32_t num_stages,
                         struct tkb_buf *out, struct tkb_error *err)
{
	size_t position = 0;
	int rc;

	rc = add_hash(signature, num_warps, num_stages, out, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < signature->count; i++) {
		const struct tkb_argument *const item = &signature->items[i];

		if (item->what == TKB_CLASS_CONSTANT)
			continue;
		tkb_buf_add_number(out, position);
		if (item->hint == TKB_HINT_ONE)
			tkb_buf_add_byte(out, 'c');
		if (item->hint == TKB_HINT_SIXTEEN)
			tkb_buf_add_byte(out, 'd');
		position++;
	}
	return tkb_buf_check(out, err);
}

/* Replace the characters of a constant that an identifier cannot have. */
static void add_constant(const char *text, struct tkb_buf *out)
{
	for (; *text != '\0'; text++) {
		if (tkb_name_may_begin_with(*text) || tkb_is_digit(*text))
			tkb_buf_add_byte(out, *text);
		else if (*text == '-')
			tkb_buf_add_byte(out, 'm');
		else
			tkb_buf_add_byte(out, *text == '.' ? 'p' : '_');
	}
}

void tkb_signature_algo(const struct tkb_signature *signature,
                        uint32_t num_warps, uint32_t num_stages,
                        struct tkb_buf *out)
{
	bool is_first = true;

	for (size_t i = 0; i < signature->count; i++) {
		const struct tkb_argument *const item = &signature->items[i];

		if (item->what != TKB_CLASS_CONSTANT)
			continue;
		tkb_buf_add_text(out, is_first ? "" : "x");
		add_constant(item->text, out);
		is_first = false;
	}
	tkb_print(out, "_warps%uxstages%u", num_warps, num_stages);
}
