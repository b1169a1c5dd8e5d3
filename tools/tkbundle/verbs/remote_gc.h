/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_GC_H
#define TKBUNDLE_REMOTE_GC_H

#include "cli/args.h"

/* Clean up a remote, as `tkbundle gc --remote` does. */
enum status remote_gc_run(struct cli *cli, const struct arguments *args);

#endif
