/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_OPTIONS_H
#define TKB_EMIT_OPTIONS_H

/*
 * Options of an emit, copied for functions that emit or open what they fetched.
 * NULL means all defaults. The watch still belongs to the caller.
 */

#include <tkbundle/emit.h>
#include <tkbundle/launcher.h>

#include "base/base.h"

TKB_NODISCARD int tkb_emit_options_read(struct tkb_emit_options *out,
                                        const struct tkb_emit_options *given,
                                        struct tkb_error *err);

/* As tkb_emit(), but leaves out entry i if `skips[i]` is true. */
TKB_NODISCARD int tkb_emit_without(const struct tkb_bundle *bundle,
                                   const char *cache_root, const bool *skips,
                                   const struct tkb_emit_options *options,
                                   struct tkb_emit_report *report,
                                   struct tkb_error *err);

TKB_NODISCARD int tkb_launchers_options_read(
	struct tkb_launchers_options *out,
	const struct tkb_launchers_options *given, struct tkb_error *err);

#endif
