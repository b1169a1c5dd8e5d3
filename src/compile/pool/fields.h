/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_FIELDS_H
#define TKB_COMPILE_POOL_FIELDS_H

/*
 * Requests and answers of compile jobs are sequences of fields. A field has a
 * number as its name, a size, and bytes. A field that occurs several times is a
 * list.
 */

#include <tkbundle/compile.h>

#include <tkbundle/finalize.h>

#include "base/base.h"
#include "base/buf.h"

enum tkb_field {
	/* In requests. */
	TKB_FIELD_INPUT = 1, /* enum tkb_input, in decimal */
	TKB_FIELD_PRODUCT,   /* enum tkb_product: the last product wanted */
	TKB_FIELD_SOURCE,    /* the input's bytes */
	TKB_FIELD_ARCH,      /* "90" */
	TKB_FIELD_KERNEL,    /* name of the kernel */
	TKB_FIELD_NAME,      /* name of the input, for messages */
	TKB_FIELD_PTXAS,     /* a path */
	TKB_FIELD_PTXAS_OPTION,
	TKB_FIELD_WITH_NVJITLINK, /* "1": nvJitLink, not ptxas */
	TKB_FIELD_NVRTC_OPTION,
	TKB_FIELD_LIBDEVICE,          /* a path; "" in an answer: none */
	TKB_FIELD_OPTIMIZED,          /* "1" */
	TKB_FIELD_FUSION_OFF,         /* "1" */
	TKB_FIELD_LINE_INFO_OFF,      /* "1" */
	TKB_FIELD_FINALIZE,           /* "1": run the finalize steps */
	TKB_FIELD_FINALIZE_KEEP,      /* a kernel to keep; absent: keep all */
	TKB_FIELD_FINALIZE_WITHOUT,   /* name of a step to skip */
	TKB_FIELD_FINALIZE_RULE,      /* text of a rule file */
	TKB_FIELD_FINALIZE_RULE_NAME, /* name of the rule file; given for all
	                                 or for none */
	TKB_FIELD_FINALIZE_FAST,      /* "1": rules may change rounding */
	TKB_FIELD_METADATA,           /* in keys only */
	TKB_FIELD_BITCODE,            /* "1": answer LLVM IR as bitcode */
	TKB_FIELD_WITHOUT_NVRTC,      /* "1": do not query NVRTC */
	TKB_FIELD_BIND_ARGUMENT,      /* an argument to bind; its value
	                                 follows */
	TKB_FIELD_BIND_VALUE,         /* in keys: all bindings as JSON */
	TKB_FIELD_BIND_BYTES,         /* bytes of an array; else empty */
	TKB_FIELD_FINALIZE_QUANT,     /* enum tkb_quant, in decimal */

	/* In answers. Requests and answers have the kernel's name. */
	TKB_FIELD_LLIR = 64, /* the finalized module as text, like Triton's
	                        llir */
	TKB_FIELD_PTX,
	TKB_FIELD_CUBIN,
	TKB_FIELD_LLVM, /* a version: "22.1.8, build 0123456789abcdef" */
	TKB_FIELD_NVRTC,
	TKB_FIELD_PTXAS_VERSION,
	TKB_FIELD_NVJITLINK, /* its version, if it made the cubin */
	TKB_FIELD_TOOLS, /* for messages: "LLVM 22.1.8, ptxas 13.0.88 (/...)" */
	/* With TKB_INPUT_NONE: what the answer depends on; see tools_file.h. */
	TKB_FIELD_FILE,
	TKB_FIELD_ABSENT_FILE,
	TKB_FIELD_WORKER, /* a digest of the worker's sources, in hex */

	/* In the remembered answers about tools; see tools_memory.h. */
	TKB_FIELD_QUERY = 96, /* digest of the request */
	TKB_FIELD_ANSWER
};

/* What a job starts from. */
enum tkb_input {
	TKB_INPUT_LLIR = 1, /* text or bitcode */
	TKB_INPUT_PTX,
	TKB_INPUT_CUDA,
	TKB_INPUT_NONE /* only report the tools' versions */
};

/* A field is one of enum tkb_field, or of another worker's fields. */
void tkb_field_add(struct tkb_buf *out, unsigned field, struct tkb_bytes bytes);
void tkb_field_add_text(struct tkb_buf *out, unsigned field, const char *text);
void tkb_field_add_number(struct tkb_buf *out, unsigned field, uint64_t number);

/* Add "1" if `is_set`, else nothing. */
void tkb_field_add_flag(struct tkb_buf *out, unsigned field, bool is_set);

/* Add each text of a list that ends with NULL; the list may be NULL. */
void tkb_field_add_list(struct tkb_buf *out, unsigned field,
                        const char *const *texts);

/* Add the finalize options that determine the output. */
void tkb_field_add_finalize(struct tkb_buf *out,
                            const struct tkb_finalize_options *options);

/* The same for a request: also adds fields that are not part of a key. */
void tkb_field_add_finalize_request(struct tkb_buf *out,
                                    const struct tkb_finalize_options *options);

struct tkb_fields {
	struct tkb_bytes bytes; /* borrowed */
	size_t at;
};

/* Read the next field. Returns 0, TKB_MISS at the end, or TKB_ERR_CORRUPT. */
TKB_NODISCARD int tkb_fields_next(struct tkb_fields *fields,
                                  unsigned *field_out,
                                  struct tkb_bytes *bytes_out,
                                  struct tkb_error *err);

enum {
	TKB_FIELD_PATH_SIZE = 4096
};

/* The path in a field, as a string; false: empty, too long, or with a NUL. */
TKB_NODISCARD bool tkb_field_path(struct tkb_bytes bytes,
                                  char out[TKB_FIELD_PATH_SIZE]);

#endif
