/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler/bindings.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/digest.h"
#include "text/json.h"

static const struct {
	const char *name;
	enum tkb_element_kind kind;
	unsigned bits;
} elements[] = {
	{ "i8", TKB_ELEMENT_KIND_INTEGER, 8 },
	{ "u8", TKB_ELEMENT_KIND_INTEGER, 8 },
	{ "i16", TKB_ELEMENT_KIND_INTEGER, 16 },
	{ "u16", TKB_ELEMENT_KIND_INTEGER, 16 },
	{ "i32", TKB_ELEMENT_KIND_INTEGER, 32 },
	{ "u32", TKB_ELEMENT_KIND_INTEGER, 32 },
	{ "i64", TKB_ELEMENT_KIND_INTEGER, 64 },
	{ "u64", TKB_ELEMENT_KIND_INTEGER, 64 },
	{ "f16", TKB_ELEMENT_KIND_FLOAT, 16 },
	{ "f32", TKB_ELEMENT_KIND_FLOAT, 32 },
	{ "f64", TKB_ELEMENT_KIND_FLOAT, 64 },
	{ "bf16", TKB_ELEMENT_KIND_BFLOAT, 16 },
};

bool tkb_binding_is_array(const struct tkb_binding *binding)
{
	return strchr(binding->value, '[') != NULL;
}

static int fail_type(const char *text, struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_INVALID,
	                "'%.64s' is not an array type, such as i8[256,256]: "
	                "elements are i8 to i64, u8 to u64, f16, bf16, f32 "
	                "and f64",
	                text);
}

/* Read "256,256]": the number of elements; 0: malformed, or too large. */
static uint64_t read_count(const char *at)
{
	uint64_t count = 1;

	for (;;) {
		char *end = NULL;
		const uint64_t size =
			*at >= '1' && *at <= '9' ? strtoull(at, &end, 10) : 0;

		if (size == 0 || size > UINT32_MAX || count > UINT32_MAX / size)
			return 0;
		count *= size;
		if (strcmp(end, "]") == 0)
			return count;
		if (*end != ',')
			return 0;
		at = end + 1;
	}
}

int tkb_array_type_read(const char *text, struct tkb_array_type *out,
                        struct tkb_error *err)
{
	const size_t length = strcspn(text, "[");

	for (size_t i = 0; i < TKB_COUNT_OF(elements); i++) {
		if (strlen(elements[i].name) != length ||
		    strncmp(elements[i].name, text, length) != 0)
			continue;
		*out = (struct tkb_array_type){
			.kind = elements[i].kind,
			.bits = elements[i].bits,
			.count = text[length] == '['
			                 ? read_count(text + length + 1)
			                 : 0,
		};
		return out->count == 0 ? fail_type(text, err) : 0;
	}
	return fail_type(text, err);
}

static int check_array(const struct tkb_binding *binding, struct tkb_error *err)
{
	struct tkb_array_type type;
	uint64_t size;
	int rc;

	rc = tkb_array_type_read(binding->value, &type, err);
	if (rc < 0)
		return tkb_fail_while(err, rc, "the argument '%.64s'",
		                      binding->argument);
	size = type.count * (type.bits / 8);
	if (size == binding->bytes.size)
		return 0;
	return tkb_fail(err, TKB_ERR_INVALID,
	                "%s%s%sthe argument '%.64s' is %.64s, of %" PRIu64
	                " bytes, and was given %zu",
	                binding->file == NULL ? "" : "'",
	                binding->file == NULL ? "" : binding->file,
	                binding->file == NULL ? "" : "': ", binding->argument,
	                binding->value, size, binding->bytes.size);
}

int tkb_bindings_check(const struct tkb_binding *bindings, size_t count,
                       struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++) {
		const struct tkb_binding *const binding = &bindings[i];

		if (binding->argument == NULL || binding->argument[0] == '\0' ||
		    binding->value == NULL || binding->value[0] == '\0')
			return tkb_fail(err, TKB_ERR_INVALID,
			                "a binding lacks its argument or "
			                "value");
		for (size_t k = 0; k < i; k++) {
			if (strcmp(bindings[k].argument, binding->argument) ==
			    0)
				return tkb_fail(err, TKB_ERR_INVALID,
				                "the argument '%.64s' is bound "
				                "twice",
				                binding->argument);
		}
		if (tkb_binding_is_array(binding))
			rc = check_array(binding, err);
		else if (binding->bytes.size != 0)
			rc = fail_type(binding->value, err);
	}
	return rc;
}

static int write_array(const struct tkb_binding *binding, struct tkb_buf *out,
                       struct tkb_error *err)
{
	struct tkb_digest digest;
	const int rc = tkb_digest_of(binding->bytes, &digest, err);

	if (rc < 0)
		return rc;
	tkb_buf_add_text(out, "{\"type\": ");
	tkb_json_quote(tkb_text(binding->value), out);
	tkb_print(out, ", \"sha256\": \"%s\"}", tkb_digest_hex(&digest).text);
	return 0;
}

int tkb_bindings_write(const struct tkb_binding *bindings, size_t count,
                       struct tkb_buf *out, struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++) {
		tkb_buf_add_text(out, i == 0 ? "{" : ", ");
		tkb_json_quote(tkb_text(bindings[i].argument), out);
		tkb_buf_add_text(out, ": ");
		if (tkb_binding_is_array(&bindings[i]))
			rc = write_array(&bindings[i], out, err);
		else
			tkb_json_quote(tkb_text(bindings[i].value), out);
	}
	if (count != 0)
		tkb_buf_add_byte(out, '}');
	return rc == 0 ? tkb_buf_check(out, err) : rc;
}
