/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_REQUEST_H
#define TKB_COMPILE_REQUEST_H

/* A compile request, parsed from its fields. */

#include <tkbundle/tkbundle.h>

#include "base/arena.h"
#include "compile/pool/fields.h"
#include "finalize/finalize_request.h"
#include "worker/texts.h"

struct compile_request {
	struct tkb_arena arena; /* owns the texts */
	enum tkb_input input;
	enum tkb_product product;
	struct tkb_bytes source; /* borrowed from the request */
	const char *arch;
	const char *kernel;         /* may be NULL */
	const char *name;           /* path of the input; or NULL */
	const char *ptxas;          /* may be NULL */
	const char *libdevice;      /* may be NULL */
	struct texts ptxas_options; /* these lists' items are owned */
	struct texts nvrtc_options;
	struct finalize_request finalize;
	bool uses_nvjitlink;
	bool is_optimized;
	bool is_bitcode;
	bool is_nvrtc_off; /* do not query its version */
	bool is_fusion_off;
	bool is_line_info_off;
};

/* Parse a request. Returns 0, TKB_ERR_INVALID or TKB_ERR_NOMEM. */
int compile_request_read(struct tkb_bytes bytes, struct compile_request *out,
                         struct tkb_error *err);
void compile_request_release(struct compile_request *request);

#endif
