/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_COMPILER_TOOLS_FILE_H
#define TKB_COMPILE_COMPILER_TOOLS_FILE_H

/*
 * The files that an answer about tools depends on: the tools themselves, and
 * missing files at paths that are searched before them. Each is a field of the
 * answer. While they are unchanged, a worker would give the same answer.
 */

#include <tkbundle/cache.h>

#include "base/base.h"
#include "base/buf.h"

/* Add the identity of the file at `path`, or the fact that it is missing. */
void tkb_tool_file_add(struct tkb_buf *out, const char *path);

/* Does `answer`, which is untrusted, name files, and are all unchanged? */
bool tkb_tool_files_hold(struct tkb_bytes answer);

#endif
