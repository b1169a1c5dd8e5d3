/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A worker that compiles nothing. It says of its tools what the variables LLVM,
 * NVRTC, PTXAS and NVJITLINK have, and gives each source the same products. Where
 * there are the variables TOOLS and ECHO, it says what TOOLS has instead, and
 * answers a source with the source itself.
 */

#include <stdio.h>
#include <stdlib.h>

#include <tkbundle/pool.h>

#include "compile/pool/fields.h"

/* The bytes of a field that is in the request once; else none. */
static struct tkb_bytes find(struct tkb_bytes request, enum tkb_field wanted)
{
	struct tkb_fields fields = { .bytes = request };
	struct tkb_bytes found = { NULL, 0 };
	unsigned field;
	struct tkb_bytes bytes;

	while (tkb_fields_next(&fields, &field, &bytes, NULL) == 0) {
		if (field == wanted)
			found = bytes;
	}
	return found;
}

static void add_tools(struct tkb_bytes request, struct tkb_buf *out)
{
	tkb_field_add_text(out, TKB_FIELD_LLVM, getenv("LLVM"));
	tkb_field_add_text(out, TKB_FIELD_WORKER, getenv("WORKER"));
	tkb_field_add_text(out, TKB_FIELD_NVRTC, getenv("NVRTC"));
	tkb_field_add_text(out, TKB_FIELD_PTXAS_VERSION, getenv("PTXAS"));
	tkb_field_add_text(out, TKB_FIELD_NVJITLINK, getenv("NVJITLINK"));
	tkb_field_add(out, TKB_FIELD_LIBDEVICE,
	              find(request, TKB_FIELD_LIBDEVICE));
}

static void add_products(struct tkb_buf *out)
{
	tkb_field_add_text(out, TKB_FIELD_KERNEL, "kernel");
	tkb_field_add_text(out, TKB_FIELD_LLIR, "IR");
	tkb_field_add_text(out, TKB_FIELD_PTX, "PTX");
	tkb_field_add_text(out, TKB_FIELD_CUBIN, "cubin");
}

static int answer_anything(void *self, struct tkb_bytes request,
                           const struct tkb_sink *answer,
                           const struct tkb_sink *log, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf said = TKB_BUF_INIT(1 << 16);
	const struct tkb_bytes source = find(request, TKB_FIELD_SOURCE);
	int rc;

	(void)self;
	(void)log;
	if (source.data != NULL && getenv("ECHO") != NULL)
		tkb_buf_add(&said, source);
	else if (source.data != NULL)
		add_products(&said);
	else if (getenv("TOOLS") != NULL)
		tkb_buf_add_text(&said, getenv("TOOLS"));
	else
		add_tools(request, &said);
	rc = tkb_buf_check(&said, err);
	return rc < 0 ? rc
	              : answer->write(answer->self, tkb_buf_bytes(&said), err);
}

int main(void)
{
	const struct tkb_worker_handler handler = { answer_anything, NULL };
	struct tkb_error err = { 0 };

	if (tkb_worker_serve(&handler, &err) == 0)
		return 0;
	(void)fprintf(stderr, "%s\n", err.message);
	return 1;
}
