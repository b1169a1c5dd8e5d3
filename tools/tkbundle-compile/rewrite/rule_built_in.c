/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite/rewrite.h"

#include "base/buf.h"
#include "rewrite/rule_texts.h"

int rules_read_built_in(LLVMContextRef context, rule_choice *is_chosen,
                        const void *self, struct rule_set **rules,
                        struct tkb_error *err)
{
	for (size_t i = 0; i < rule_text_count; i++) {
		const struct rule_text *file = &rule_texts[i];
		TKB_AUTO(tkb_buf_release)
		struct tkb_buf text = TKB_BUF_INIT(TKB_MIB);
		int rc;

		if (is_chosen != NULL && !is_chosen(file->name, self))
			continue;
		for (size_t line = 0; line < file->line_count; line++)
			tkb_buf_add_text(&text, file->lines[line]);
		rc = tkb_buf_check(&text, err);
		if (rc == 0)
			rc = rules_read(context, tkb_buf_bytes(&text),
			                file->name, rules, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}
