/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_INPUT_H
#define TKBUNDLE_COMPILE_INPUT_H

#include <tkbundle/compile.h>

#include "cli/cli.h"

/*
 * An input of `compile`: a file, whose name says what it is. For IR or PTX of
 * an entry, the metadata file beside it is used automatically.
 */
struct compile_input {
	const char *path; /* borrowed */
	enum tkb_source_kind kind;
	struct tkb_bytes source;   /* owned */
	struct tkb_bytes metadata; /* owned; empty: none */
};

/* The suffixes that an input may have, for messages. */
#define COMPILE_INPUT_ENDINGS                                                  \
	".ll, .llir, .bc, .ptx, .cu, .ttir, .ttgir and .glir"

/* The kind of the file `path`, by its name; false: it cannot be compiled. */
bool compile_input_kind(const char *path, enum tkb_source_kind *out);

/*
 * Read the input.
 *
 * @param metadata  a file of metadata, or NULL
 * @return 0, TKB_MISS (there is no such file), TKB_ERR_INVALID (its name),
 *         TKB_ERR_IO, TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_NODISCARD int compile_input_read(const char *path, const char *metadata,
                                     struct compile_input *out,
                                     struct tkb_error *err);

/*
 * Read the metadata of the kernel in `path`: the file `named`, or, if that is
 * NULL, the file beside IR or PTX of an entry, if it exists. The caller frees
 * out->data.
 */
TKB_NODISCARD int compile_input_metadata(const char *path, const char *named,
                                         struct tkb_bytes *out,
                                         struct tkb_error *err);

/* For TKB_AUTO. */
void compile_input_release(struct compile_input *input);

/* Read a whole file, with a terminating zero; the caller frees out->data. */
TKB_NODISCARD int compile_input_file(const char *path, struct tkb_bytes *out,
                                     struct tkb_error *err);

#endif
