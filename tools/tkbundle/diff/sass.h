/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SASS_H
#define TKBUNDLE_SASS_H

#include <stddef.h>

#include "cli/cli.h"
#include "report/source.h"

/*
 * Disassemble a cubin, with the lines of its source as far as it has them.
 *
 * @return 0, TKB_ERR_UNSUPPORTED (no such tool), TKB_ERR_IO (the tool
 *         failed), or the sink's own error
 */
TKB_NODISCARD int sass_write(struct tkb_bytes cubin, const struct tkb_sink *out,
                             struct tkb_error *err);

/*
 * Disassemble a file of an entry, and write the result to cli->out.
 *
 * @return a result of sass_write() or source_read()
 */
TKB_NODISCARD int sass_print(struct cli *cli, const struct source *source,
                             size_t index, size_t file, struct tkb_error *err);

#endif
