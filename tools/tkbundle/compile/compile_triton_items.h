/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_TRITON_ITEMS_H
#define TKBUNDLE_COMPILE_TRITON_ITEMS_H

#include "compile/compile_modules.h"
#include "compile/compile_recorded.h"
#include "compile/compile_triton_request.h"

/*
 * The items: each kernel of the inputs, with each signature, for each target.
 */

struct triton_item {
	char *label;        /* owned: "kernels.py:add_kernel", for messages */
	const char *input;  /* borrowed: the same, without a configuration */
	const char *key;    /* borrowed: of a recorded kernel, or NULL */
	char *choice;       /* owned: the signature of the unit, or NULL */
	const char *python; /* NULL: the default one */
	char target[64];
	struct tkb_triton_unit unit;
	struct tkb_triton_compile *compile; /* owned; NULL: not begun */
	bool is_begun;
	bool has_ended;
	int status; /* failure to begin; also of a list that cannot be read,
	               which has no file */
	struct tkb_error err;
};

/* What was read of an input, which items point to. Only one is set. */
struct triton_input {
	struct tkb_triton_list *list;     /* owned */
	char *path;                       /* owned: of FILE.py:KERNEL */
	struct compile_modules modules;   /* of a folder */
	struct compile_recorded recorded; /* of a bundle or a root */
	struct tkb_bytes metadata;        /* owned: of IR */
};

struct triton_items {
	struct triton_item *items; /* owned */
	size_t count;
	struct triton_input *inputs; /* owned */
	size_t input_count;
	const char *stage; /* stage for all items; NULL: make entries */
	struct triton_item **chosen; /* owned, each */
	size_t chosen_count;
};

/* Make the items. Failures are printed. */
enum status triton_items_read(struct cli *cli,
                              const struct compile_triton_request *request,
                              struct triton_items *out);

/*
 * Make an item like `item`, which must not be in the array, for one of the
 * choices in its answer. NULL: out of memory.
 */
struct triton_item *triton_items_add_choice(struct triton_items *items,
                                            const struct triton_item *item,
                                            const char *choice);

/* "BLOCK=64 num_warps=4": the configuration that the item is for, or "". */
const char *triton_item_configuration(const struct triton_item *item);

/* For TKB_AUTO. */
void triton_items_release(struct triton_items *items);

#endif
