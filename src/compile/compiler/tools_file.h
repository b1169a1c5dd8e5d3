/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_COMPILER_TOOLS_FILE_H
#define TKB_COMPILE_COMPILER_TOOLS_FILE_H

/*
 * The files that an answer about tools depends on: the tools themselves, and
 * paths that were searched before them and had no file. Each is a field of the
 * answer. As long as they are unchanged, a worker would give the same answer.
 */

#include <tkbundle/cache.h>

#include "base/base.h"
#include "base/buf.h"

/* Add the identity of the file at `path`, or that there is none. */
void tkb_tool_file_add(struct tkb_buf *out, const char *path);

/* True if `answer` names files, all unchanged. It may hold anything. */
bool tkb_tool_files_hold(struct tkb_bytes answer);

#endif
