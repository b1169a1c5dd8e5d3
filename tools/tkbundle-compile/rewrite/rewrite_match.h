/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_REWRITE_MATCH_H
#define TKB_COMPILE_REWRITE_MATCH_H

/*
 * Does a rule match at an instruction, and what is there? The search tries each
 * order of operands, way and term, and takes the first that fits; it gives up
 * after so many steps.
 *
 *     TKB_AUTO(match_release) struct match match = { 0 };
 *
 *     rc = match_rule(&match, rule, root, MATCH_STRICT, err);
 *     if (rc == 0) ...
 */

#include "rewrite/match_state.h"

/*
 * Match `rule` at `root`. The match may be used again for another.
 *
 * @return 0, TKB_MISS, or TKB_ERR_NOMEM
 */
TKB_NODISCARD int match_rule(struct match *match, const struct rule *rule,
                             LLVMValueRef root, enum match_mode mode,
                             struct tkb_error *err);

/*
 * Forget what was found of sums: instructions have changed, or it is another
 * block.
 */
void match_forget(struct match *match);

void match_release(struct match *match);

/* `value` without the bitcasts that made it. */
LLVMValueRef match_strip(LLVMValueRef value);

#endif
