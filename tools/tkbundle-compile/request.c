/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include <stdlib.h>
#include <string.h>

#include "worker/fail.h"

void order_release(struct order *order)
{
	free(order->ptxas_options.items);
	free(order->nvrtc_options.items);
	free(order->finalize.kernels.items);
	free(order->finalize.without.items);
	free(order->finalize.rules.items);
	free(order->finalize.rule_names.items);
	tkb_arena_release(&order->arena);
	*order = (struct order){ .arch = NULL };
}

static int keep_text(struct order *order, struct tkb_bytes bytes,
                     const char **out, struct tkb_error *err)
{
	if (memchr(bytes.data, '\0', bytes.size) != NULL)
		return fail(err, TKB_ERR_INVALID, "a text has a NUL in it");
	*out = tkb_arena_string(&order->arena, bytes);
	return *out == NULL ? fail(err, TKB_ERR_NOMEM, "out of memory") : 0;
}

static int keep_item(struct order *order, struct tkb_bytes bytes,
                     struct texts *texts, struct tkb_error *err)
{
	const char **items =
		realloc(texts->items, (texts->count + 1) * sizeof(*items));

	if (items == NULL)
		return fail(err, TKB_ERR_NOMEM, "out of memory");
	texts->items = items;
	items[texts->count] = NULL;
	return keep_text(order, bytes, &items[texts->count++], err);
}

static int keep_number(struct tkb_bytes bytes, uint32_t limit, uint32_t *out,
                       struct tkb_error *err)
{
	const char *digit = bytes.data;

	if (bytes.size != 1 || *digit < '1' || (uint32_t)(*digit - '0') > limit)
		return fail(err, TKB_ERR_INVALID, "a field makes no sense");
	*out = (uint32_t)(*digit - '0');
	return 0;
}

/* What a field that can only be "1" sets. */
static bool *choice_of(struct order *order, enum tkb_field field)
{
	switch (field) {
	case TKB_FIELD_WITH_NVJITLINK:
		return &order->with_nvjitlink;
	case TKB_FIELD_OPTIMIZED:
		return &order->is_optimized;
	case TKB_FIELD_FUSION_OFF:
		return &order->is_fusion_off;
	case TKB_FIELD_LINE_INFO_OFF:
		return &order->is_line_info_off;
	case TKB_FIELD_BITCODE:
		return &order->is_bitcode;
	case TKB_FIELD_WITHOUT_NVRTC:
		return &order->no_nvrtc;
	case TKB_FIELD_FINALIZE:
		return &order->finalize.is_wanted;
	default:
		return &order->finalize.is_fast;
	}
}

static int keep(struct order *order, enum tkb_field field,
                struct tkb_bytes bytes, struct tkb_error *err)
{
	uint32_t number = 0;
	int rc = 0;

	switch (field) {
	case TKB_FIELD_INPUT:
		rc = keep_number(bytes, TKB_INPUT_NONE, &number, err);
		order->input = (enum tkb_input)number;
		return rc;
	case TKB_FIELD_PRODUCT:
		rc = keep_number(bytes, TKB_PRODUCT_CUBIN, &number, err);
		order->product = (enum tkb_product)number;
		return rc;
	case TKB_FIELD_SOURCE:
		order->source = bytes;
		return 0;
	case TKB_FIELD_ARCH:
		return keep_text(order, bytes, &order->arch, err);
	case TKB_FIELD_KERNEL:
		return keep_text(order, bytes, &order->kernel, err);
	case TKB_FIELD_NAME:
		return keep_text(order, bytes, &order->name, err);
	case TKB_FIELD_PTXAS:
		return keep_text(order, bytes, &order->ptxas, err);
	case TKB_FIELD_LIBDEVICE:
		return keep_text(order, bytes, &order->libdevice, err);
	case TKB_FIELD_PTXAS_OPTION:
		return keep_item(order, bytes, &order->ptxas_options, err);
	case TKB_FIELD_NVRTC_OPTION:
		return keep_item(order, bytes, &order->nvrtc_options, err);
	case TKB_FIELD_FINALIZE_KEEP:
		return keep_item(order, bytes, &order->finalize.kernels, err);
	case TKB_FIELD_FINALIZE_WITHOUT:
		return keep_item(order, bytes, &order->finalize.without, err);
	case TKB_FIELD_FINALIZE_RULE:
		return keep_item(order, bytes, &order->finalize.rules, err);
	case TKB_FIELD_FINALIZE_RULE_NAME:
		return keep_item(order, bytes, &order->finalize.rule_names,
		                 err);
	case TKB_FIELD_WITH_NVJITLINK:
	case TKB_FIELD_OPTIMIZED:
	case TKB_FIELD_FUSION_OFF:
	case TKB_FIELD_LINE_INFO_OFF:
	case TKB_FIELD_BITCODE:
	case TKB_FIELD_WITHOUT_NVRTC:
	case TKB_FIELD_FINALIZE:
	case TKB_FIELD_FINALIZE_FAST:
		rc = keep_number(bytes, 1, &number, err);
		*choice_of(order, field) = rc == 0;
		return rc;
	default:
		return fail(err, TKB_ERR_INVALID,
		            "this worker knows no field %u", (unsigned)field);
	}
}

/* An architecture is a number, as in "90". */
static bool is_architecture(const char *text)
{
	return text[0] != '\0' && text[0] != '0' && strlen(text) <= 5 &&
	       text[strspn(text, "0123456789")] == '\0';
}

static int check(const struct order *order, struct tkb_error *err)
{
	if (order->input == 0 || order->arch == NULL)
		return fail(err, TKB_ERR_INVALID,
		            "a job names no input or no architecture");
	if (!is_architecture(order->arch))
		return fail(err, TKB_ERR_INVALID,
		            "'%s' is no architecture, as 90 is", order->arch);
	if (order->product == TKB_PRODUCT_LLIR &&
	    order->input != TKB_INPUT_LLIR && order->input != TKB_INPUT_NONE)
		return fail(err, TKB_ERR_INVALID,
		            "LLVM IR cannot be made of %s",
		            order->input == TKB_INPUT_PTX ? "PTX" : "CUDA C");
	return 0;
}

int order_read(struct tkb_bytes request, struct order *out,
               struct tkb_error *err)
{
	struct tkb_fields fields = { .bytes = request };
	struct order order = { .product = TKB_PRODUCT_CUBIN };
	enum tkb_field field;
	struct tkb_bytes bytes;
	int rc;

	for (;;) {
		rc = tkb_fields_next(&fields, &field, &bytes, err);
		if (rc == 0)
			rc = keep(&order, field, bytes, err);
		if (rc != 0)
			break;
	}
	if (rc == TKB_MISS)
		rc = check(&order, err);
	if (rc < 0)
		order_release(&order);
	else
		*out = order;
	return rc;
}
