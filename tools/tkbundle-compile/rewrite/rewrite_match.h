/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_REWRITE_MATCH_H
#define TKB_COMPILE_REWRITE_MATCH_H

/*
 * Finds out whether a rule matches at an instruction, and the values of its
 * nodes. The search tries every order of operands, alternative and term, and
 * takes the first match; it gives up after a fixed number of steps.
 *
 *     TKB_AUTO(match_release) struct match match = { 0 };
 *
 *     rc = match_rule(&match, rule, root, MATCH_STRICT, err);
 *     if (rc == 0) ...
 */

#include "rewrite/match_state.h"

/*
 * Match `rule` at `root`. The match can be used again for another one.
 *
 * @return 0, TKB_MISS, or TKB_ERR_NOMEM
 */
TKB_NODISCARD int match_rule(struct match *match, const struct rule *rule,
                             LLVMValueRef root, enum match_mode mode,
                             struct tkb_error *err);

/* Forget the terms of sums, after instructions or the block changed. */
void match_forget(struct match *match);

void match_release(struct match *match);

/* `value` without its bitcasts. */
LLVMValueRef match_strip(LLVMValueRef value);

#endif
