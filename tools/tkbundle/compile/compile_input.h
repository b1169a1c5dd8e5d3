/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_INPUT_H
#define TKBUNDLE_COMPILE_INPUT_H

#include <tkbundle/compile.h>

#include "cli/cli.h"

/*
 * What `compile` begins with: a file, whose name tells what it is. Beside IR or
 * PTX of an entry lies its metadata, which is taken by itself.
 */
struct compile_input {
	const char *path; /* borrowed */
	enum tkb_source_kind kind;
	struct tkb_bytes source;   /* owned */
	struct tkb_bytes metadata; /* owned; empty: none */
};

/* Which words an input's name may end in, for messages. */
#define COMPILE_INPUT_ENDINGS                                                  \
	".ll, .llir, .bc, .ptx, .cu, .ttir, .ttgir and .glir"

/* What is in the file `path`, by its name; false: none that is compiled. */
bool compile_input_kind(const char *path, enum tkb_source_kind *out);

/*
 * Read it.
 *
 * @param metadata  a file of metadata, or NULL
 * @return 0, TKB_MISS (there is no such file), TKB_ERR_INVALID (its name),
 *         TKB_ERR_IO, TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_NODISCARD int compile_input_read(const char *path, const char *metadata,
                                     struct compile_input *out,
                                     struct tkb_error *err);

/*
 * The metadata of the kernel in `path`: the file `named`, or with NULL the one
 * beside IR or PTX of an entry, if it is there. The caller frees out->data.
 */
TKB_NODISCARD int compile_input_metadata(const char *path, const char *named,
                                         struct tkb_bytes *out,
                                         struct tkb_error *err);

/* For TKB_AUTO. */
void compile_input_release(struct compile_input *input);

/* A whole file, with a zero behind it; the caller frees out->data. */
TKB_NODISCARD int compile_input_file(const char *path, struct tkb_bytes *out,
                                     struct tkb_error *err);

#endif
