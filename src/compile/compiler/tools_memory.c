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

/* Read the next query and its answer. False at the end. */
static bool next_answer(struct tkb_fields *fields, struct tkb_digest *query_out,
                        struct tkb_bytes *answer_out)
{
	enum tkb_field field;
	struct tkb_bytes bytes;

	if (tkb_fields_next(fields, &field, &bytes, NULL) != 0 ||
	    field != TKB_FIELD_QUERY || bytes.size != sizeof(*query_out))
		return false;
	memcpy(query_out, bytes.data, bytes.size);
	return tkb_fields_next(fields, &field, answer_out, NULL) == 0 &&
	       field == TKB_FIELD_ANSWER;
}

static bool find_answer(struct tkb_bytes all, const struct tkb_digest *query,
                        struct tkb_bytes *answer_out)
{
	struct tkb_fields fields = { .bytes = all };
	struct tkb_digest found;

	while (next_answer(&fields, &found, answer_out)) {
		if (tkb_digest_equal(&found, query))
			return true;
	}
	return false;
}

bool tkb_tools_recall(const char *root, const struct tkb_digest *query,
                      struct tkb_buf *answer)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf buf = TKB_BUF_INIT(FILE_LIMIT + 1);
	struct tkb_bytes found;

	if (!find_answer(tkb_memory_file_read(&tools_file, root, &buf), query,
	                 &found) ||
	    !tkb_tool_files_hold(found))
		return false;
	tkb_buf_reset(answer);
	tkb_buf_add(answer, found);
	return answer->failure == 0;
}

static void add_answer(struct tkb_buf *out, const struct tkb_digest *query,
                       struct tkb_bytes answer)
{
	tkb_field_add(out, TKB_FIELD_QUERY,
	              (struct tkb_bytes){ query, sizeof(*query) });
	tkb_field_add(out, TKB_FIELD_ANSWER, answer);
}

void tkb_tools_note(struct tkb_buf *fresh, const struct tkb_digest *query,
                    struct tkb_bytes answer)
{
	if (answer.size <= ANSWER_LIMIT && tkb_tool_files_hold(answer))
		add_answer(fresh, query, answer);
}

/* The fresh answers, then those old ones that they do not replace. */
static void merge_answers(struct tkb_bytes fresh, struct tkb_bytes old,
                          struct tkb_buf *out)
{
	struct tkb_fields fields = { .bytes = fresh };
	struct tkb_digest query;
	struct tkb_bytes answer;
	struct tkb_bytes newer;
	size_t count = 0;

	while (next_answer(&fields, &query, &answer) &&
	       count++ < ANSWERS_LIMIT &&
	       out->size + answer.size < FILE_LIMIT - ANSWER_LIMIT)
		add_answer(out, &query, answer);
	fields = (struct tkb_fields){ .bytes = old };
	while (next_answer(&fields, &query, &answer) && count < ANSWERS_LIMIT &&
	       out->size + answer.size < FILE_LIMIT - ANSWER_LIMIT) {
		if (find_answer(fresh, &query, &newer))
			continue;
		add_answer(out, &query, answer);
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
