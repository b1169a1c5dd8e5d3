/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_COMPILER_TOOLS_FILE_H
#define TKB_COMPILE_COMPILER_TOOLS_FILE_H

/*
 * The files that an answer about tools stands on: the tools themselves, and the
 * places that were looked at before and had none. Each is a field of the answer.
 * While all of them are as they were, the tools would say the same again.
 */

#include <tkbundle/cache.h>

#include "base/base.h"
#include "base/buf.h"

/* Add the file at `path` as it is now, or that there is none. */
void tkb_tool_file_add(struct tkb_buf *out, const char *path);

/* Does `answer` name files, and is each as it was? Nothing in it is trusted. */
bool tkb_tool_files_hold(struct tkb_bytes answer);

#endif
