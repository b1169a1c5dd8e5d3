/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler/tools_memory.h"

#include <string.h>

#include "base/digest.h"
#include "compile/compiler/tools_file.h"
#include "compile/pool/fields.h"
#include "compile/pool/memory_file.h"

enum {
	ANSWER_LIMIT = 64 * 1024,
	FILE_LIMIT = 1024 * 1024,
	ANSWERS_LIMIT = 64
};

static const struct tkb_memory_file tools_file = {
	.name = "tools",
	.magic = "tkbundle tools 1\n",
	.limit = FILE_LIMIT,
};

bool tkb_tools_recall(const char *root, const struct tkb_digest *query,
                      struct tkb_buf *answer)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf buf = TKB_BUF_INIT(FILE_LIMIT + 1);
	struct tkb_bytes found;

	if (!tkb_memory_find(tkb_memory_file_read(&tools_file, root, &buf),
	                     query, &found) ||
	    !tkb_tool_files_hold(found))
		return false;
	tkb_buf_reset(answer);
	tkb_buf_add(answer, found);
	return answer->failure == 0;
}

void tkb_tools_note(struct tkb_buf *fresh, const struct tkb_digest *query,
                    struct tkb_bytes answer)
{
	if (answer.size <= ANSWER_LIMIT && tkb_tool_files_hold(answer))
		tkb_memory_add(fresh, query, answer);
}

/* Write the fresh answers, then the old ones that they do not replace. */
static void merge_answers(struct tkb_bytes fresh, struct tkb_bytes old,
                          struct tkb_buf *out)
{
	struct tkb_fields fields = { .bytes = fresh };
	struct tkb_digest query;
	struct tkb_bytes answer;
	struct tkb_bytes newer;
	size_t count = 0;

	while (tkb_memory_next(&fields, &query, &answer) &&
	       count++ < ANSWERS_LIMIT &&
	       out->size + answer.size < FILE_LIMIT - ANSWER_LIMIT)
		tkb_memory_add(out, &query, answer);
	fields = (struct tkb_fields){ .bytes = old };
	while (tkb_memory_next(&fields, &query, &answer) &&
	       count < ANSWERS_LIMIT &&
	       out->size + answer.size < FILE_LIMIT - ANSWER_LIMIT) {
		if (tkb_memory_find(fresh, &query, &newer))
			continue;
		tkb_memory_add(out, &query, answer);
		count++;
	}
}

static void merge_fresh(void *self, struct tkb_bytes old, struct tkb_buf *out)
{
	merge_answers(*(const struct tkb_bytes *)self, old, out);
}

void tkb_tools_remember(const char *root, struct tkb_bytes fresh)
{
	if (fresh.size != 0)
		tkb_memory_file_update(&tools_file, root, merge_fresh, &fresh);
}

void tkb_tools_forget(const char *root)
{
	tkb_memory_file_remove(&tools_file, root);
}
