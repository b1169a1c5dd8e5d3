/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_FIELDS_H
#define TKB_COMPILE_POOL_FIELDS_H

/*
 * What a compile job asks for, and what it answers: fields, one after another,
 * each a number that names it, a size, and bytes. One that is repeated is a list.
 */

#include <tkbundle/compile.h>

#include <tkbundle/finalize.h>

#include "base/base.h"
#include "base/buf.h"

enum tkb_field {
	/* Of a job. */
	TKB_FIELD_INPUT = 1, /* enum tkb_input, as a decimal number */
	TKB_FIELD_EMIT,      /* enum tkb_product: what to end with */
	TKB_FIELD_SOURCE,    /* the input's bytes */
	TKB_FIELD_ARCH,      /* "90" */
	TKB_FIELD_KERNEL,    /* its name */
	TKB_FIELD_NAME,      /* of the input, for messages */
	TKB_FIELD_PTXAS,     /* a path */
	TKB_FIELD_PTXAS_OPTION,
	TKB_FIELD_LINKER, /* nvjitlink, not ptxas: "1" */
	TKB_FIELD_NVRTC_OPTION,
	TKB_FIELD_LIBDEVICE,        /* a path; in an answer, "": none */
	TKB_FIELD_OPTIMIZE,         /* "1" */
	TKB_FIELD_NO_FUSION,        /* "1" */
	TKB_FIELD_NO_LINES,         /* "1" */
	TKB_FIELD_FINALIZE,         /* "1": run the steps of finalize */
	TKB_FIELD_FINALIZE_KEEP,    /* a kernel that stays; none: all of them */
	TKB_FIELD_FINALIZE_WITHOUT, /* the name of a step that is left out */
	TKB_FIELD_FINALIZE_RULES,   /* the text of a file of rules */
	TKB_FIELD_FINALIZE_FILE,    /* what that is called; all are, or none */
	TKB_FIELD_FINALIZE_FAST,    /* "1": rules that change rounding, too */
	TKB_FIELD_METADATA,         /* of keys alone */
	TKB_FIELD_BITCODE,          /* "1": answer LLVM IR as bitcode */
	TKB_FIELD_NO_NVRTC, /* "1", with TKB_INPUT_NONE: do not ask it */

	/* Of an answer. A kernel's name is in both. */
	TKB_FIELD_LLIR =
		64, /* the finalized module: a text, as Triton's llir */
	TKB_FIELD_PTX,
	TKB_FIELD_CUBIN,
	TKB_FIELD_LLVM, /* versions: "22.1.8" */
	TKB_FIELD_NVRTC,
	TKB_FIELD_PTXAS_VERSION,
	TKB_FIELD_NVJITLINK, /* its version, where it makes the cubin */
	TKB_FIELD_TOOLS, /* all of it, for people: what made it: "LLVM 22.1.8, ptxas 13.0.88 (/...)" */
	/* With TKB_INPUT_NONE, what the answer stands on: tools_file.h. */
	TKB_FIELD_FILE,
	TKB_FIELD_NO_FILE,

	/* Of what is remembered of tools: tools_memory.h. */
	TKB_FIELD_QUESTION = 96, /* its digest */
	TKB_FIELD_ANSWER
};

/* What a job begins with. */
enum tkb_input {
	TKB_INPUT_LLIR = 1, /* text or bitcode */
	TKB_INPUT_PTX,
	TKB_INPUT_CUDA,
	TKB_INPUT_NONE /* only the tools' versions are wanted */
};

void tkb_field_add(struct tkb_buf *out, enum tkb_field field,
                   struct tkb_bytes bytes);
void tkb_field_add_text(struct tkb_buf *out, enum tkb_field field,
                        const char *text);
void tkb_field_add_number(struct tkb_buf *out, enum tkb_field field,
                          uint64_t number);

/* Each of a list that ends with NULL, or is NULL. */
void tkb_field_add_list(struct tkb_buf *out, enum tkb_field field,
                        const char *const *texts);

/* What of finalize's options decides what comes out. */
void tkb_field_add_finalize(struct tkb_buf *out,
                            const struct tkb_finalize_options *options);

/* The names of rules decide nothing: no key has them. */
void tkb_field_add_rule_names(struct tkb_buf *out,
                              const struct tkb_finalize_options *options);

struct tkb_fields {
	struct tkb_bytes bytes; /* by reference */
	size_t at;
};

/* The next one. Returns 0, TKB_MISS at the end, or TKB_ERR_CORRUPT. */
TKB_NODISCARD int tkb_fields_next(struct tkb_fields *fields,
                                  enum tkb_field *field_out,
                                  struct tkb_bytes *bytes_out,
                                  struct tkb_error *err);

#endif
