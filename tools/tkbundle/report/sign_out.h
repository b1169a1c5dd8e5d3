/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SIGN_OUT_H
#define TKBUNDLE_SIGN_OUT_H

#include <tkbundle/signatures.h>

#include "cli/follow.h"
#include "config/remote_use.h"
#include "trust/signers.h"

/* Common code of the verbs that sign a ref's records. */

/* Open the remote, read the keys, and call `work` with them. */
enum status sign_run(struct cli *cli, const struct arguments *args,
                     enum tkb_trust_stage stage,
                     enum status (*work)(struct remote_use *use,
                                         const struct arguments *args,
                                         const struct tkb_signing *signing));

/*
 * Fill in use->ref from the first operand, and the options of tkb_ref_sign()
 * and tkb_ref_promote(), and begin the document.
 */
enum status sign_begin(struct remote_use *use, const struct arguments *args,
                       const struct tkb_signing *signing,
                       struct tkb_sign_options *out);

/*
 * Call tkb_ref_sign() for use->ref, or, if `from` is not NULL,
 * tkb_ref_promote() from that to use->ref. `follow` is begun, shows the
 * progress meanwhile, and is ended.
 */
TKB_NODISCARD int sign_follow(struct remote_use *use, const char *from,
                              struct tkb_sign_options *chosen,
                              struct follow *follow,
                              struct tkb_sign_report *report,
                              struct tkb_error *err);

/*
 * Print the result. `verb`: "signed"; `ref`: the ref that has the signatures.
 */
enum status sign_out(struct remote_use *use, const struct arguments *args,
                     int rc, const struct tkb_error *err,
                     const struct tkb_sign_report *report, const char *verb,
                     const char *ref);

#endif
