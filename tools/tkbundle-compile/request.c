/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include <stdlib.h>
#include <string.h>

#include "worker/fail.h"

void compile_request_release(struct compile_request *request)
{
	free(request->ptxas_options.items);
	free(request->nvrtc_options.items);
	free(request->finalize.kernels.items);
	free(request->finalize.without.items);
	free(request->finalize.rules.items);
	free(request->finalize.rule_names.items);
	tkb_arena_release(&request->arena);
	*request = (struct compile_request){ .arch = NULL };
}

static int copy_text(struct compile_request *request, struct tkb_bytes bytes,
                     const char **out, struct tkb_error *err)
{
	if (memchr(bytes.data, '\0', bytes.size) != NULL)
		return fail(err, TKB_ERR_INVALID, "a text has a NUL in it");
	return tkb_arena_copy(&request->arena, bytes, out, err);
}

static int add_text(struct compile_request *request, struct tkb_bytes bytes,
                    struct texts *texts, struct tkb_error *err)
{
	const char **items =
		realloc(texts->items, (texts->count + 1) * sizeof(*items));

	if (items == NULL)
		return fail(err, TKB_ERR_NOMEM, "out of memory");
	texts->items = items;
	items[texts->count] = NULL;
	return copy_text(request, bytes, &items[texts->count++], err);
}

static int read_number(struct tkb_bytes bytes, uint32_t limit, uint32_t *out,
                       struct tkb_error *err)
{
	const char *digit = bytes.data;

	if (bytes.size != 1 || *digit < '1' || (uint32_t)(*digit - '0') > limit)
		return fail(err, TKB_ERR_INVALID, "a field has a bad number");
	*out = (uint32_t)(*digit - '0');
	return 0;
}

/* A field whose only value is "1". */
static int read_flag(struct tkb_bytes bytes, bool *out, struct tkb_error *err)
{
	uint32_t number = 0;
	const int rc = read_number(bytes, 1, &number, err);

	*out = rc == 0;
	return rc;
}

static int read_field(struct compile_request *request, enum tkb_field field,
                      struct tkb_bytes bytes, struct tkb_error *err)
{
	uint32_t number = 0;
	int rc = 0;

	switch (field) {
	case TKB_FIELD_INPUT:
		rc = read_number(bytes, TKB_INPUT_NONE, &number, err);
		request->input = (enum tkb_input)number;
		return rc;
	case TKB_FIELD_PRODUCT:
		rc = read_number(bytes, TKB_PRODUCT_CUBIN, &number, err);
		request->product = (enum tkb_product)number;
		return rc;
	case TKB_FIELD_SOURCE:
		request->source = bytes;
		return 0;
	case TKB_FIELD_ARCH:
		return copy_text(request, bytes, &request->arch, err);
	case TKB_FIELD_KERNEL:
		return copy_text(request, bytes, &request->kernel, err);
	case TKB_FIELD_NAME:
		return copy_text(request, bytes, &request->name, err);
	case TKB_FIELD_PTXAS:
		return copy_text(request, bytes, &request->ptxas, err);
	case TKB_FIELD_LIBDEVICE:
		return copy_text(request, bytes, &request->libdevice, err);
	case TKB_FIELD_PTXAS_OPTION:
		return add_text(request, bytes, &request->ptxas_options, err);
	case TKB_FIELD_NVRTC_OPTION:
		return add_text(request, bytes, &request->nvrtc_options, err);
	case TKB_FIELD_FINALIZE_KEEP:
		return add_text(request, bytes, &request->finalize.kernels,
		                err);
	case TKB_FIELD_FINALIZE_WITHOUT:
		return add_text(request, bytes, &request->finalize.without,
		                err);
	case TKB_FIELD_FINALIZE_RULE:
		return add_text(request, bytes, &request->finalize.rules, err);
	case TKB_FIELD_FINALIZE_RULE_NAME:
		return add_text(request, bytes, &request->finalize.rule_names,
		                err);
	case TKB_FIELD_WITH_NVJITLINK:
		return read_flag(bytes, &request->with_nvjitlink, err);
	case TKB_FIELD_OPTIMIZED:
		return read_flag(bytes, &request->is_optimized, err);
	case TKB_FIELD_FUSION_OFF:
		return read_flag(bytes, &request->is_fusion_off, err);
	case TKB_FIELD_LINE_INFO_OFF:
		return read_flag(bytes, &request->is_line_info_off, err);
	case TKB_FIELD_BITCODE:
		return read_flag(bytes, &request->is_bitcode, err);
	case TKB_FIELD_WITHOUT_NVRTC:
		return read_flag(bytes, &request->is_nvrtc_off, err);
	case TKB_FIELD_FINALIZE:
		return read_flag(bytes, &request->finalize.is_wanted, err);
	case TKB_FIELD_FINALIZE_FAST:
		return read_flag(bytes, &request->finalize.is_fast, err);
	default:
		return fail(err, TKB_ERR_INVALID,
		            "this worker knows no field %u", (unsigned)field);
	}
}

/* An architecture is a number, such as "90". */
static bool is_architecture(const char *text)
{
	return text[0] != '\0' && text[0] != '0' && strlen(text) <= 5 &&
	       text[strspn(text, "0123456789")] == '\0';
}

static int check_request(const struct compile_request *request,
                         struct tkb_error *err)
{
	if (request->input == 0 || request->arch == NULL)
		return fail(err, TKB_ERR_INVALID,
		            "a request lacks its input or architecture");
	if (!is_architecture(request->arch))
		return fail(err, TKB_ERR_INVALID,
		            "'%s' is not an architecture, such as 90",
		            request->arch);
	if (request->product == TKB_PRODUCT_LLIR &&
	    request->input != TKB_INPUT_LLIR &&
	    request->input != TKB_INPUT_NONE)
		return fail(err, TKB_ERR_INVALID,
		            "LLVM IR cannot be made of %s",
		            request->input == TKB_INPUT_PTX ? "PTX" : "CUDA C");
	return 0;
}

int compile_request_read(struct tkb_bytes bytes, struct compile_request *out,
                         struct tkb_error *err)
{
	struct tkb_fields fields = { .bytes = bytes };
	struct compile_request request = { .product = TKB_PRODUCT_CUBIN };
	enum tkb_field field;
	struct tkb_bytes value;
	int rc;

	for (;;) {
		rc = tkb_fields_next(&fields, &field, &value, err);
		if (rc == 0)
			rc = read_field(&request, field, value, err);
		if (rc != 0)
			break;
	}
	if (rc == TKB_MISS)
		rc = check_request(&request, err);
	if (rc < 0)
		compile_request_release(&request);
	else
		*out = request;
	return rc;
}
