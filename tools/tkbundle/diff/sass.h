/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SASS_H
#define TKBUNDLE_SASS_H

#include <stddef.h>

#include "cli/cli.h"
#include "report/source.h"

/*
 * Disassemble a cubin to cli->out, with a tool of the CUDA toolkit.
 *
 * @return 0, TKB_ERR_UNSUPPORTED (no such tool), TKB_ERR_IO (the tool
 *         failed), or what source_read() returned
 */
TKB_NODISCARD int sass_print(struct cli *cli, const struct source *source,
                             size_t index, size_t file, struct tkb_error *err);

#endif
