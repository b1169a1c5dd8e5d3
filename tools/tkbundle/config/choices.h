/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_CHOICES_H
#define TKBUNDLE_CHOICES_H

#include <tkbundle/collect.h>
#include <tkbundle/emit.h>

#include "cli/args.h"
#include "config/root.h"

/*
 * Make the library's options from the command line. The lists are borrowed from
 * `args` and `root`; the caller adds the watch.
 */
struct tkb_collect_options choices_for_collect(const struct arguments *args,
                                               const struct root *root);
struct tkb_emit_options choices_for_emit(const struct arguments *args,
                                         const struct root *root);

#endif
