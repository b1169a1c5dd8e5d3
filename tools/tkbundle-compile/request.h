/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_ORDER_H
#define TKB_COMPILE_ORDER_H

/* What one job asks for, taken out of its fields. */

#include <tkbundle/tkbundle.h>

#include "base/arena.h"
#include "compile/pool/fields.h"
#include "finalize/finalize_request.h"
#include "worker/texts.h"

struct order {
	struct tkb_arena arena; /* owns the texts */
	enum tkb_input input;
	enum tkb_product product;
	struct tkb_bytes source; /* in the request */
	const char *arch;
	const char *kernel;         /* or NULL */
	const char *name;           /* of the input, its path; or NULL */
	const char *ptxas;          /* or NULL */
	const char *libdevice;      /* or NULL */
	struct texts ptxas_options; /* what has items is owned */
	struct texts nvrtc_options;
	struct finalize_request finalize;
	bool with_nvjitlink;
	bool is_optimized;
	bool is_bitcode;
	bool no_nvrtc; /* it is not asked for its version */
	bool is_fusion_off;
	bool is_line_info_off;
};

/* Returns 0, TKB_ERR_INVALID or TKB_ERR_NOMEM. */
int order_read(struct tkb_bytes request, struct order *out,
               struct tkb_error *err);
void order_release(struct order *order);

#endif
