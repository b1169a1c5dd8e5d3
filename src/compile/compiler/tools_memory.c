/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler/tools_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "base/path.h"
#include "emit/stage.h"
#include "compile/pool/fields.h"
#include "compile/compiler/tools_file.h"

enum {
	ANSWER_LIMIT = 64 * 1024,
	FILE_LIMIT = 1024 * 1024,
	ANSWERS_LIMIT = 64
};

static const char file_name[] = "tools";

/* The file begins with this, then the digest of the rest, which is fields. */
static const char magic[] = "tkbundle tools 1\n";

enum {
	HEAD_SIZE = sizeof(magic) - 1 + sizeof(struct tkb_digest)
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

/* The remembered answers; empty if the file is damaged. */
static struct tkb_bytes read_answers(int own_fd, struct tkb_buf *buf)
{
	const struct tkb_bytes nothing = { "", 0 };
	struct tkb_digest digest;
	struct tkb_bytes all;
	struct stat status;

	if (tkb_fd_read_file(own_fd, file_name, FILE_LIMIT, buf, &status,
	                     NULL) < 0 ||
	    buf->failure != 0 || buf->size < HEAD_SIZE ||
	    memcmp(buf->data, magic, sizeof(magic) - 1) != 0)
		return nothing;
	all = tkb_bytes_slice(tkb_buf_bytes(buf), HEAD_SIZE, buf->size);
	if (tkb_digest_of(all, &digest, NULL) < 0 ||
	    memcmp(&digest, buf->data + sizeof(magic) - 1, sizeof(digest)) != 0)
		return nothing;
	return all;
}

bool tkb_tools_recall(const char *root, const struct tkb_digest *query,
                      struct tkb_buf *answer)
{
	TKB_AUTO(tkb_fd_close_at) int own = tkb_own_folder_open_at(root);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf buf = TKB_BUF_INIT(FILE_LIMIT + 1);
	struct tkb_bytes found;

	if (own < 0 || !find_answer(read_answers(own, &buf), query, &found) ||
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

/* Written in the stage, then renamed. */
static void write_answers(const struct tkb_stage *stage, struct tkb_bytes all)
{
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf file = TKB_BUF_INIT(FILE_LIMIT);
	struct tkb_digest digest;

	if (tkb_digest_of(all, &digest, NULL) < 0)
		return;
	tkb_buf_add_text(&file, magic);
	tkb_buf_add(&file, (struct tkb_bytes){ &digest, sizeof(digest) });
	tkb_buf_add(&file, all);
	fd = tkb_fd_open(stage->fd, file_name,
	                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
	if (fd < 0 || file.failure != 0)
		return;
	tkb_share_apply(&stage->share, fd);
	if (tkb_fd_write_all(fd, tkb_buf_bytes(&file), file_name, NULL) < 0)
		return;
	(void)renameat(stage->fd, file_name, stage->own_fd, file_name);
}

void tkb_tools_remember(const char *root, struct tkb_bytes fresh)
{
	static const struct tkb_digest nothing = { { 0 } };
	TKB_AUTO(tkb_roots_release) struct tkb_roots roots = { 0 };
	TKB_AUTO(tkb_stage_close) struct tkb_stage stage = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf old = TKB_BUF_INIT(FILE_LIMIT + 1);
	TKB_AUTO(tkb_buf_release) struct tkb_buf all = TKB_BUF_INIT(FILE_LIMIT);

	tkb_stage_init(&stage, NULL);
	if (fresh.size == 0 ||
	    tkb_root_make(root, false, 0, false, &roots, NULL) < 0 ||
	    roots.items[0].fd < 0)
		return;
	tkb_stage_init(&stage, &roots.items[0]);
	tkb_stage_begin(&stage, &nothing, true);
	if (tkb_stage_open(&stage, NULL) < 0)
		return;
	merge_answers(fresh, read_answers(stage.own_fd, &old), &all);
	if (all.failure == 0)
		write_answers(&stage, tkb_buf_bytes(&all));
}

void tkb_tools_forget(const char *root)
{
	TKB_AUTO(tkb_fd_close_at) int own = tkb_own_folder_open_at(root);

	if (own >= 0)
		(void)unlinkat(own, file_name, 0);
}
