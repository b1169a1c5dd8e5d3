/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include <stddef.h>
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
	free(request->finalize.bindings.items);
	tkb_arena_release(&request->arena);
	*request = (struct compile_request){ .arch = NULL };
}

static int read_request_text(struct compile_request *request,
                             struct tkb_bytes bytes, void *out,
                             struct tkb_error *err)
{
	if (memchr(bytes.data, '\0', bytes.size) != NULL)
		return fail(err, TKB_ERR_INVALID, "a text has a NUL in it");
	return tkb_arena_copy(&request->arena, bytes, out, err);
}

static int add_request_text(struct compile_request *request,
                            struct tkb_bytes bytes, void *out,
                            struct tkb_error *err)
{
	struct texts *texts = out;
	const char **items =
		realloc(texts->items, (texts->count + 1) * sizeof(*items));

	if (items == NULL)
		return fail(err, TKB_ERR_NOMEM, "out of memory");
	texts->items = items;
	items[texts->count] = NULL;
	return read_request_text(request, bytes, &items[texts->count++], err);
}

/* Begin a binding with its argument; the next fields belong to it. */
static int add_binding(struct compile_request *request, struct tkb_bytes bytes,
                       void *out, struct tkb_error *err)
{
	struct bindings *const bindings = out;
	struct tkb_binding *items = realloc(
		bindings->items, (bindings->count + 1) * sizeof(*items));

	if (items == NULL)
		return fail(err, TKB_ERR_NOMEM, "out of memory");
	bindings->items = items;
	items[bindings->count] = (struct tkb_binding){ .argument = NULL };
	return read_request_text(request, bytes,
	                         &items[bindings->count++].argument, err);
}

static int read_bound(struct compile_request *request, struct tkb_bytes bytes,
                      void *out, struct tkb_error *err)
{
	struct bindings *const bindings = out;

	if (bindings->count == 0)
		return fail(err, TKB_ERR_INVALID, "a value has no argument");
	return read_request_text(request, bytes,
	                         &bindings->items[bindings->count - 1].value,
	                         err);
}

/* Read the bytes of an array. They stay in the request, like its source. */
static int read_bound_bytes(struct compile_request *request,
                            struct tkb_bytes bytes, void *out,
                            struct tkb_error *err)
{
	struct bindings *const bindings = out;

	(void)request;
	if (bindings->count == 0)
		return fail(err, TKB_ERR_INVALID, "an array has no argument");
	bindings->items[bindings->count - 1].bytes = bytes;
	return 0;
}

static int read_request_number(struct tkb_bytes bytes, uint32_t limit,
                               uint32_t *out, struct tkb_error *err)
{
	const char *digit = bytes.data;

	if (bytes.size != 1 || *digit < '1' || (uint32_t)(*digit - '0') > limit)
		return fail(err, TKB_ERR_INVALID, "a field has a bad number");
	*out = (uint32_t)(*digit - '0');
	return 0;
}

/* Read a field whose only value is "1". */
static int read_flag(struct compile_request *request, struct tkb_bytes bytes,
                     void *out, struct tkb_error *err)
{
	uint32_t number = 0;
	const int rc = read_request_number(bytes, 1, &number, err);

	(void)request;
	*(bool *)out = rc == 0;
	return rc;
}

static int read_quant(struct compile_request *request, struct tkb_bytes bytes,
                      void *out, struct tkb_error *err)
{
	uint32_t number = 0;
	const int rc =
		read_request_number(bytes, TKB_QUANT_WEIGHT_ONLY, &number, err);

	(void)request;
	*(enum tkb_quant *)out = (enum tkb_quant)number;
	return rc;
}

#define AT(member) offsetof(struct compile_request, member)

static const struct {
	unsigned field;
	int (*read)(struct compile_request *request, struct tkb_bytes bytes,
	            void *out, struct tkb_error *err);
	size_t offset;
} readers[] = {
	{ TKB_FIELD_ARCH, read_request_text, AT(arch) },
	{ TKB_FIELD_KERNEL, read_request_text, AT(kernel) },
	{ TKB_FIELD_NAME, read_request_text, AT(name) },
	{ TKB_FIELD_PTXAS, read_request_text, AT(ptxas) },
	{ TKB_FIELD_LIBDEVICE, read_request_text, AT(libdevice) },
	{ TKB_FIELD_PTXAS_OPTION, add_request_text, AT(ptxas_options) },
	{ TKB_FIELD_NVRTC_OPTION, add_request_text, AT(nvrtc_options) },
	{ TKB_FIELD_FINALIZE_KEEP, add_request_text, AT(finalize.kernels) },
	{ TKB_FIELD_FINALIZE_WITHOUT, add_request_text, AT(finalize.without) },
	{ TKB_FIELD_FINALIZE_RULE, add_request_text, AT(finalize.rules) },
	{ TKB_FIELD_FINALIZE_RULE_NAME, add_request_text,
	  AT(finalize.rule_names) },
	{ TKB_FIELD_BIND_ARGUMENT, add_binding, AT(finalize.bindings) },
	{ TKB_FIELD_BIND_VALUE, read_bound, AT(finalize.bindings) },
	{ TKB_FIELD_BIND_BYTES, read_bound_bytes, AT(finalize.bindings) },
	{ TKB_FIELD_WITH_NVJITLINK, read_flag, AT(uses_nvjitlink) },
	{ TKB_FIELD_OPTIMIZED, read_flag, AT(is_optimized) },
	{ TKB_FIELD_FUSION_OFF, read_flag, AT(is_fusion_off) },
	{ TKB_FIELD_LINE_INFO_OFF, read_flag, AT(is_line_info_off) },
	{ TKB_FIELD_BITCODE, read_flag, AT(is_bitcode) },
	{ TKB_FIELD_WITHOUT_NVRTC, read_flag, AT(is_nvrtc_off) },
	{ TKB_FIELD_FINALIZE, read_flag, AT(finalize.is_wanted) },
	{ TKB_FIELD_FINALIZE_FAST, read_flag, AT(finalize.is_fast) },
	{ TKB_FIELD_FINALIZE_QUANT, read_quant, AT(finalize.quant) },
};

static int read_request_field(struct compile_request *request,
                              enum tkb_field field, struct tkb_bytes bytes,
                              struct tkb_error *err)
{
	uint32_t number = 0;
	int rc;

	if (field == TKB_FIELD_SOURCE) {
		request->source = bytes;
		return 0;
	}
	if (field == TKB_FIELD_INPUT) {
		rc = read_request_number(bytes, TKB_INPUT_NONE, &number, err);
		request->input = (enum tkb_input)number;
		return rc;
	}
	if (field == TKB_FIELD_PRODUCT) {
		rc = read_request_number(bytes, TKB_PRODUCT_CUBIN, &number,
		                         err);
		request->product = (enum tkb_product)number;
		return rc;
	}
	for (size_t i = 0; i < TKB_COUNT_OF(readers); i++) {
		if (readers[i].field == field)
			return readers[i].read(
				request, bytes,
				(char *)request + readers[i].offset, err);
	}
	return fail(err, TKB_ERR_INVALID, "this worker does not know field %u",
	            (unsigned)field);
}

/* Is it an architecture, which is a number such as "90"? */
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
	unsigned field;
	struct tkb_bytes value;
	int rc;

	for (;;) {
		rc = tkb_fields_next(&fields, &field, &value, err);
		if (rc == 0)
			rc = read_request_field(&request, field, value, err);
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
